"""Updates with float32 state, of float32 weights and (``_i32``) of int8 ones."""

import math

from ..base.fixed import ONE, bit_length, bits_to_float, float_to_bits, scale_mul, scale_shift
from ..base.primitives import log2_floor
from ..base.regions import RATE
from .float32 import divide, rounded, store, store2, to_int

# Decay


def decay_f32(o):
    """w -= RATE * decay * w

    w+f32[N] c: ; N decay
    """
    if o.c[RATE] == 0:
        return
    rest = rounded(1.0 - rounded(bits_to_float(o.c[RATE]) * bits_to_float(o.decay)))
    for i in range(o.N):
        o.w[i] = store(o.w[i] * rest)


# Directions


def momentum_f32(o):
    """v = mu * v + d; d = v

    d+f32[N] v+f32[N] ; N mu
    """
    mu = bits_to_float(o.mu)
    for i in range(o.N):
        v = store(rounded(mu * o.v[i]) + o.d[i])
        o.v[i] = v
        o.d[i] = v


def nesterov_f32(o):
    """v = mu * v + d; d = d + mu * v

    d+f32[N] v+f32[N] ; N mu
    """
    mu = bits_to_float(o.mu)
    for i in range(o.N):
        d = o.d[i]
        o.v[i] = store(rounded(mu * o.v[i]) + d)
        o.d[i] = store(d + rounded(mu * o.v[i]))


def adam_f32(o):
    """m += (d - m) * (1 - beta1); v = beta2 * v + (1 - beta2) * d^2; d = m / (sqrt(v) + eps * rate[1])

    d+f32[N] m+f32[N] v+f32[N] rate:i32[2] ; N b1 c1 b2 c2 eps
    """
    b1, c1, b2, c2 = [bits_to_float(bits) for bits in (o.b1, o.c1, o.b2, o.c2)]
    eps = rounded(bits_to_float(o.eps) * bits_to_float(o.rate[1]))
    for i in range(o.N):
        g = o.d[i]
        m = store(rounded(b1 * o.m[i]) + rounded(c1 * g))
        v = store2(rounded(b2 * o.v[i]) + rounded(c2 * rounded(g * g)))
        o.m[i] = m
        o.v[i] = v
        root = rounded(math.sqrt(v)) if v > 0 else v - v  # NaN stays NaN
        o.d[i] = store(divide(m, rounded(root + eps)))


def momentum_i32(o):
    """as momentum_i16 with v in float32

    d+i32[N*K] ds=i32[N] v+f32[N*K] gs:i32 ; N K factor mu
    """
    _momentum_i32(o, False)


def nesterov_i32(o):
    """as nesterov_i16 with v in float32

    d+i32[N*K] ds=i32[N] v+f32[N*K] gs:i32 ; N K factor mu
    """
    _momentum_i32(o, True)


def _momentum_i32(o, nesterov):
    size, v = o.K, o.v
    scale = bits_to_float(scale_mul(o.factor, o.gs[0]))
    mu = bits_to_float(o.mu)
    for n in range(o.N):
        row = range(n * size, (n + 1) * size)
        top = 0
        for i in row:
            g = rounded(rounded(float(o.d[i])) * scale)
            v[i] = store(rounded(mu * v[i]) + g)
            x = store(g + rounded(mu * v[i])) if nesterov else v[i]
            top = max(top, float_to_bits(x) & 0x7FFFFFFF)
        if top == 0:
            o.ds[n] = ONE
            for i in row:
                o.d[i] = 0
            continue
        e = max(-100, min(100, log2_floor(top) - 22))
        o.ds[n] = scale_shift(ONE, e)
        unit = bits_to_float(scale_shift(ONE, -e))
        for i in row:
            x = v[i]
            if nesterov:
                x = store(rounded(rounded(float(o.d[i])) * scale) + rounded(mu * v[i]))
            o.d[i] = to_int(x * unit)


def adam_i32(o):
    """as adam_i16 with m and v in float32

    d+i32[N*K] ds=i32[N] m+f32[N*K] v+f32[N*K] gs:i32 rate:i32[2] ; N K factor b1 c1 b2 c2 eps
    """
    scale, c1, c2 = _number(scale_mul(o.factor, o.gs[0])), _number(o.c1), _number(o.c2)
    root = _upper(scale)
    of_d = _factor(root * _upper(c1), scale[1] + c1[1] - 134, 14)
    of_square = _factor((root * root + 0x8000 >> 16) * _upper(c2), 2 * scale[1] + c2[1] - 260, 15)
    eps = _number(scale_mul(o.eps, o.rate[1]))
    of_m, of_v = _decay(o.c1), _decay(o.c2)
    for i in range(o.N * o.K):
        size, m, v = abs(o.d[i]), float_to_bits(o.m[i]), float_to_bits(o.v[i])
        cut = max(bit_length(size) - 16, 0)
        size >>= cut
        more = size * of_d[0]
        if m >> 31 & 1 != (o.d[i] < 0):
            more = -more
        moment = _moved(m, of_m, more, of_d[1] + cut)
        sign = -1 if (m >> 31 & 1) != (moment[0] < 0) else 1
        m = _packed(abs(moment[0]), moment[1])
        square = size * size
        half = 16 if square >> 16 else 0
        v = _packed(*_moved(v, of_v, square * of_square[0] >> half, of_square[1] + 2 * cut + half))
        o.m[i] = bits_to_float(m | (1 << 31 if sign < 0 else 0))
        o.v[i] = bits_to_float(v)
        o.d[i] = sign * _direction(_number(m), _number(v), eps[0] >> 8, eps[1] - 142)
    for n in range(o.N):
        o.ds[n] = scale_shift(ONE, -20)


def _number(bits):
    """(man, field) of float bits: man * 2^(field - 150), man of 24 bits or 0, without the sign."""
    field = bits >> 23 & 255
    return (bits & 0x7FFFFF | 0x800000 if field else 0), field


def _packed(v, field):
    """Float bits of v * 2^(field - 150), v not negative: cut off to 24 bits."""
    more = bit_length(v) - 24
    field += more
    if v == 0 or field < 1:
        return 0
    if field > 254:
        return 0x7F7FFFFF
    return (field << 23) + ((v >> more if more > 0 else v << -more) - 0x800000)


def _upper(number):
    """A mantissa's upper 16 bits, rounded."""
    return min(number[0] + 128 >> 8, 65535)


def _factor(v, field, bits):
    """v * 2^(field - 150), v of more bits than these or 0, rounded to them, and its field."""
    more = bit_length(v) - bits
    return ((v >> more - 1) + 1 >> 1 if v else 0), field + more


def _decay(rate):
    """What a moment loses by: man * factor >> shift, of the upper 16 bits of man."""
    man, field = _number(rate)
    return (65536, 8) if field > 126 else (man + 128 >> 8, min(134 - field, 31))


def _moved(bits, decay, more, unit):
    """A moment (without its sign) after its decay plus more * 2^(unit - 150): (v, field)."""
    man, field = _number(bits)
    man -= (man >> 8) * decay[0] >> decay[1]
    if more == 0:
        return man, field
    if field >= unit:
        size = abs(more) >> field - unit
        return man + (size if more > 0 else -size), field
    return (man >> unit - field) + more, unit


def _direction(m, v, below, unit):
    """m / (sqrt(v) + below * 2^unit) in units of 2^-20, 4 at most."""
    if v[0]:
        other = v[1] - 157 >> 1
        square = v[0] << 8 - (v[1] & 1)
        y = 22528 + (square >> 17) + (square >> 19) + (square >> 20)  # within 3.2 %
        y = y + square // y >> 1
        y = y + square // y >> 1
        below = y + (below >> other - unit) if other >= unit else below + (y >> unit - other)
        unit = max(other, unit)
    quotient, shift = (m[0] << 8) // below, m[1] - 138 - unit
    return min(quotient << shift, 1 << 22) if shift >= 0 else quotient >> -shift


# From directions to weights


def apply_f32(o):
    """w -= rate * d

    w+f32[N] d:f32[N] rate:i32 ; N
    """
    if o.rate[0] == 0:
        return
    rate = bits_to_float(o.rate[0])
    for i in range(o.N):
        o.w[i] = store(o.w[i] - rounded(rate * o.d[i]))
