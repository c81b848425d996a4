"""A step of an int8 network: its batch, scales and ranges."""

from ..base.fixed import ONE, multiplier, nearest_scale, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import quantize, sat32
from ..base.primitives import rescale as to_nearest  # an instruction has the name
from ..base.regions import FLOAT32, INT8, UINT8, X_FORMAT, X_SCALE, X_ZERO
from .data import limit30, samples

# The batch


def gather_i8(o):
    """y[b] = clamp(z + x[order(b)] / s)

    y=i8[B*F] peak+i32 c: x:buf s:i32 ; B F z
    """
    kind = o.c[X_FORMAT]
    y, z, size = o.y, o.z, o.F
    top = o.peak[0]
    at = 0
    if kind == FLOAT32:
        inverse = scale_div(ONE, o.s[0])
    else:
        m, s = multiplier(scale_div(o.c[X_SCALE], o.s[0]))
        zero = o.c[X_ZERO]
    for raw in samples(o.c, X_FORMAT, o.x, o.B, size):
        for i in range(size):
            if raw is None:
                v = z
            elif kind == INT8:
                v = raw[i]
            elif kind == UINT8:
                v = raw[i] - 128
            else:
                if kind == FLOAT32:
                    some = raw[i] & 0x7FFFFFFF
                    v = quantize(raw[i], inverse)
                else:
                    some = raw[i] - zero
                    v = to_nearest(sat32(some), m, s)
                top = max(top, v, -v, 1 if some else 0)  # what is not 0 counts, be it below a step
                v = max(-128, min(127, z + v))
            y[at + i] = v
        at += size
    o.peak[0] = top


# Scales


def rescale(o):
    """q[n] = factor * sx * sw[n] / sy

    q=mul[N] sx:i32 sw:i32[N] sy:i32 ; N factor
    """
    first = scale_mul(o.factor, o.sx[0])
    for n in range(o.N):
        o.q[2 * n], o.q[2 * n + 1] = multiplier(scale_div(scale_mul(first, o.sw[n]), o.sy[0]))


def ratio(o):
    """q = factor * sx / sy

    q=mul sx:i32 sy:i32 ; factor
    """
    o.q[0], o.q[1] = multiplier(scale_div(scale_mul(o.factor, o.sx[0]), o.sy[0]))


def rescale_dx(o):
    """qc[n] = sw[n] / max sw; q = factor * se * max sw / sdx

    qc=mul[N] q=mul sw:i32[N] se:i32 sdx:i32 ; N factor
    """
    top = max([nearest_scale(word) for word in o.sw])
    for n in range(o.N):
        o.qc[2 * n], o.qc[2 * n + 1] = multiplier(scale_div(o.sw[n], top))
    scale = scale_mul(scale_mul(o.factor, o.se[0]), top)
    o.q[0], o.q[1] = multiplier(scale_div(scale, o.sdx[0]))


def product(o):
    """y = factor * a * b

    y=i32 a:i32 b:i32 ; factor
    """
    o.y[0] = scale_mul(scale_mul(o.factor, o.a[0]), o.b[0])


def bias_i8(o):
    """y[n] = b[n] * 2^-20 / (sx * sw[n])

    y=i32[N] b:i32[N] sx:i32 sw:i32[N] ; N
    """
    unit = scale_shift(ONE, -20)
    for n in range(o.N):
        m, s = multiplier(scale_div(unit, scale_mul(o.sx[0], o.sw[n])))
        o.y[n] = limit30(to_nearest(o.b[n], m, s))


# Ranges


_GROWTH = 0x3FA00000  # 5/4, as a scale: an input's range grows at most by this factor in a step


def range_i8(o):
    """s *= peak / limit if peak > limit, less where peak is far below it

    s+i32 peak:i32 ; limit fall fine
    """
    peak, limit, fall = o.peak[0], o.limit, o.fall
    if peak > limit:
        o.s[0] = scale_mul(o.s[0], scale_div(scale_int(peak), scale_int(limit)))
        return
    if peak <= 0 or not 1 <= fall <= 15:
        return
    if peak < limit >> 2:
        fall += 0 if peak < limit >> 4 else 2
    elif o.fine:
        fall += 5 if peak < limit >> 1 else 8
    else:
        return
    o.s[0] = scale_mul(o.s[0], ONE - (1 << (24 - fall)))  # 1 - 2^-fall


def range_x_i8(o):
    """as range_i8 of inputs: s grows by a quarter at most; seen = max(seen, peak * s)

    s+i32 seen+i32 peak:i32 ; limit
    """
    peak, limit, s = o.peak[0], o.limit, o.s[0]
    if peak <= 0:
        return
    o.seen[0] = max(nearest_scale(o.seen[0]), scale_mul(scale_int(peak), s))
    factor = ONE
    if peak > limit:
        factor = min(scale_div(scale_int(peak), scale_int(limit)), _GROWTH)
    elif peak < limit >> 2:
        factor = ONE - (1 << (21 if peak < limit >> 4 else 20))  # 7/8, 15/16
    o.s[0] = scale_mul(s, factor)
