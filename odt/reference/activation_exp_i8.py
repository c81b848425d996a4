"""Activations with an exponential function in int8: sigmoid (tanh with factor 2), softmax, ELU and GELU."""

from ..base.fixed import multiplier, scale_div, scale_mul, scale_shift
from ..base.primitives import LOG2_E, exp2n, rescale, wrap32
from .data import Sink


def sigmoid_i8(o):
    """y = 256 / (1 + exp(-factor * sx * (x - z))) - 128; with factor 2: 128 * tanh

    y=i8[N]~x x:i8[N] sx:i32 ; N' z factor
    """
    m, s = _exponent(o)
    for i in range(o.N):
        v = o.x[i] - o.z
        power = exp2n(rescale(abs(v) << 16, m, s))
        whole = 65536 + power
        part = (256 * (power if v < 0 else 65536) + whole // 2) // whole
        o.y[i] = min(part - 128, 127)


def sigmoid_dx_i8(o):
    """dx = clamp(q * e * (128 + y) * (128 - y))

    dx=i8[N] peak+i32 e:i8[N] y:i8[N] q:mul ; N'
    """
    sink = Sink(o.dx, o.peak)
    for i in range(o.N):
        v = o.e[i] * (16384 - o.y[i] * o.y[i])
        sink.put(i, rescale(v, o.q[0], o.q[1]))
    sink.close()


def softmax_i8(o):
    """y = 256 * softmax(factor * sx * x) - 128

    y=i8[M*N]~x x:i8[M*N] sx:i32 ; M N factor
    """
    size = o.N
    m, s = _exponent(o)
    for at in range(0, o.M * size, size):
        x = o.x[at : at + size]
        top = max(x)
        powers = [exp2n(rescale((top - v) << 16, m, s)) for v in x]
        total = min(1 << 30, sum(powers))
        for i in range(size):
            o.y[at + i] = min((512 * powers[i] + total) // (2 * total) - 128, 127)


def softmax_dx_i8(o):
    """dx = clamp(q * (y + 128) * (256 * e - sum_n e * (y + 128)))

    dx=i8[M*N] peak+i32 e:i8[M*N] y:i8[M*N] q:mul ; M N
    """
    size = o.N
    sink = Sink(o.dx, o.peak)
    for at in range(0, o.M * size, size):
        part = [v + 128 for v in o.y[at : at + size]]
        e = o.e[at : at + size]
        mean = sum([u * v for u, v in zip(e, part)])
        for i in range(size):
            v = wrap32(part[i] * (256 * e[i] - mean))
            sink.put(at + i, rescale(v, o.q[0], o.q[1]))
    sink.close()


def _exponent(o):
    """The multiplier that makes steps << 16 of x an argument of exp2n."""
    return multiplier(scale_mul(scale_mul(o.factor, o.sx[0]), LOG2_E))


_ELU = 0  # other kinds: GELU


def curve_i8(o):
    """y = clamp(zy + gain * f(factor * sx * (x - z)) / sy), f by kind: 0 ELU, else GELU

    y=i8[N] peak+i32 x:i8[N] sx:i32 sy:i32 ; N' z zy lo factor kind alpha gain
    """
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    scale, gain = scale_mul(o.factor, o.sx[0]), scale_div(o.gain, o.sy[0])
    line = multiplier(scale_mul(scale, gain))
    bend = multiplier(scale_shift(gain, -8))
    bends = _bends(o, scale)
    for i in range(o.N):
        v, added, _ = bends(o.x[i])
        v = (rescale(max(0, v) * 256, *line) >> 2) + (rescale(added, *bend) >> 2)
        sink.put(i, max(-32767, min(32767, (v + 32) >> 6)))
    sink.close()


def curve_dx_i8(o):
    """dx = clamp(q * e * 2^14 * f'(factor * sx * (x - z))), f as of curve_i8

    dx=i8[N] peak+i32 e:i8[N] x:i8[N] sx:i32 q:mul ; N' z factor kind alpha
    """
    sink = Sink(o.dx, o.peak)
    bends = _bends(o, scale_mul(o.factor, o.sx[0]))
    for i in range(o.N):
        sink.put(i, rescale(o.e[i] * bends(o.x[i])[2], o.q[0], o.q[1]))
    sink.close()


def _bends(o, scale):
    """The function that gives of a byte x - z, the bend in Q16 and the gradient in Q14;
    it computes each byte's once.
    """
    exponent = multiplier(scale_mul(scale, LOG2_E) if o.kind == _ELU else scale)
    alpha = min(32766, rescale(16384, *multiplier(o.alpha)))
    z, found = max(-128, min(127, o.z)), {}

    def bends(x):
        if x not in found:
            v = x - z
            a = rescale(abs(v) << 16, *exponent)
            found[x] = (v,) + (_elu(v, a, alpha) if o.kind == _ELU else _gelu(v, a))
        return found[x]

    return bends


def _elu(v, a, alpha):
    if v > 0:
        return 0, 16384
    power = exp2n(a)
    return (power - 65536) * alpha >> 14, (power >> 1) * alpha >> 15


def _gelu(v, a):
    """By the normal distribution's tail, 2 to a polynomial."""
    b = min(a, 8 << 16) >> 4
    p = (((1499 * b >> 12) + 33150) * b >> 12) + 73551
    tail = exp2n(((p >> 3) * b >> 9) + 65890)
    bend = b * tail >> 12
    p = (((3117 * b >> 12) + 45955) * b >> 12) + 50982
    slope = (tail - (bend * (p >> 4) >> 12)) >> 2
    return -bend, slope if v < 0 else 16384 - slope
