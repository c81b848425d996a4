"""Updates of int8 weights and int32 biases: decay, plain directions, and what every optimizer ends with."""

from ..base.fixed import ONE, bit_length, hash32, multiplier, scale_div, scale_mul, scale_shift
from ..base.primitives import log2_floor, rescale, rescale_random
from ..base.regions import KEY, RATE
from .data import limit30, rows

# Decay


def decay_i8(o):
    """the same of 256 * w + r

    w+i8[N] r+i8[N] c: ; N decay id
    """
    m, s, key = _decayed(o)
    for i in range(o.N if m else 0):
        value = 256 * o.w[i] + o.r[i]
        value -= rescale_random(value, m, s, hash32(key, i))
        value = max(-32639, min(32639, value))
        o.w[i] = (value + 128) >> 8
        o.r[i] = value - 256 * ((value + 128) >> 8)


def decay_i32(o):
    """b -= RATE * decay * b

    b+i32[N] c: ; N decay id
    """
    m, s, key = _decayed(o)
    for i in range(o.N if m else 0):
        o.b[i] = limit30(o.b[i] - rescale_random(o.b[i], m, s, hash32(key, i)))


def _decayed(o):
    """The part of a weight that decays in this step, and the key of its rounding."""
    if o.c[RATE] == 0:
        return 0, 0, 0
    return multiplier(scale_mul(o.c[RATE], o.decay)) + (hash32(o.c[KEY], o.id),)


# Directions


def plain_i32(o):
    """ds[n] = factor * gs

    ds=i32[N] gs:i32 ; N factor
    """
    for n in range(o.N):
        o.ds[n] = scale_mul(o.factor, o.gs[0])


# From directions to weights


def apply_i8(o):
    """w -= rate * ds[n] * d / sw[n]

    w+i8[N*K] r+i8[N*K] sw+i32[N] limited+i32 d:i32[R*K] ds:i32[R] rate:i32 c: ; N K id common at R
    """
    rate = o.rate[0]
    if rate == 0:
        return
    part = rows(o)
    if not part:
        return
    w, r, size = o.w, o.r, o.K
    key = hash32(o.c[KEY], o.id)
    limited = bool(o.common and o.at and o.limited[0])
    for n in part:
        step = scale_div(scale_mul(rate, o.ds[n - o.at]), o.sw[n])
        m, s = multiplier(scale_shift(step, 8))
        for i in range(n * size, (n + 1) * size):
            d = o.d[i - o.at * size]
            value = 256 * w[i] + r[i] - rescale_random(d, m, s, hash32(key, i))
            if not -32639 <= value <= 32639:
                value = 32639 if value > 0 else -32639
                limited = True
            w[i] = (value + 128) >> 8
            r[i] = value - 256 * w[i]
        if limited and not o.common:
            halve_rows(o, n, n + 1)
            limited = False
    if limited and o.at + o.R == o.N:
        halve_rows(o, 0, o.N)
        limited = False
    o.limited[0] = int(limited)


def settle_i8(o):
    """w in a scale twice as large, where a row has outgrown it

    w+i8[N*K] r+i8[N*K] sw+i32[N] limited:i32 ; N K
    """
    if o.limited[0]:
        halve_rows(o, 0, o.N)


def halve_rows(o, first, stop):
    for i in range(first * o.K, stop * o.K):
        value = (256 * o.w[i] + o.r[i] + 1) >> 1
        o.w[i] = (value + 128) >> 8
        o.r[i] = value - 256 * o.w[i]
    for n in range(first, stop):
        o.sw[n] = scale_shift(o.sw[n], 1)


def apply_i32(o):
    """b -= rate * ds * d * 2^20

    b+i32[N] d:i32[N] ds:i32 rate:i32 ; N
    """
    rate = o.rate[0]
    if rate == 0:
        return
    m, s = multiplier(scale_shift(scale_mul(rate, o.ds[0]), 20))
    for n in range(o.N):
        o.b[n] = limit30(o.b[n] - rescale(o.d[n], m, s))


# What momentum and Adam in int16 share


def round_shift(v, k):
    return 0 if k > 15 else (v + (1 << (k - 1))) >> k


def power_of_2(k):
    return scale_shift(ONE, k)


def needed_exponent(d, scale, level):
    """(bits of the row's gradient, the least exponent of its state)."""
    bits = 0
    for value in d:
        bits |= value if value >= 0 else ~value
    bits = bit_length(bits)
    return bits, max(-100, min(100, bits + log2_floor(scale) - level))


def short(scale):
    """A scale as (factor, exponent), the factor of 15 bits."""
    return ((scale & 0x7FFFFF) | 0x800000) >> 9, (scale >> 23) - 141


def product(factor, exponent):
    """factor * 2^exponent as (factor, shift)."""
    return factor << max(0, min(31, exponent)) & 0xFFFFFFFF, max(0, min(31, -exponent))


def dither(o):
    """(of element or row 0, from one to the next)."""
    key = hash32(o.c[KEY], o.id)
    return key, hash32(key, 1) | 1
