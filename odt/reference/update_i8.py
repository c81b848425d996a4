"""Updates of int8 weights and int32 biases: decay, momentum and Adam in int16."""

from ..fixed import (
    ONE,
    bit_length,
    hash32,
    log2_floor,
    multiplier,
    rescale,
    rescale_random,
    scale_div,
    scale_mul,
    scale_shift,
    wrap32,
)
from ..opcodes import KEY, RATE
from .data import limit30, rows


# Decay


def decay_i8(o):
    m, s, key = _decayed(o)
    for i in range(o.N if m else 0):
        value = 256 * o.w[i] + o.r[i]
        value -= rescale_random(value, m, s, hash32(key, i))
        value = max(-32639, min(32639, value))
        o.w[i] = (value + 128) >> 8
        o.r[i] = value - 256 * ((value + 128) >> 8)


def decay_i32(o):
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
    for n in range(o.N):
        o.ds[n] = scale_mul(o.factor, o.gs[0])


def momentum_i16(o):
    _momentum_i16(o, False)


def nesterov_i16(o):
    _momentum_i16(o, True)


def _momentum_i16(o, nesterov):
    size, v = o.K, o.v
    scale = scale_mul(o.factor, o.gs[0])
    x, step = _dither(o)
    x += o.at * size * step
    for n in range(o.N):
        row = range(n * size, (n + 1) * size)
        bits, need = _needed_exponent(o.d[n * size : (n + 1) * size], scale, 11)
        ex = max(need, o.ex[n])
        if ex > o.ex[n]:
            for i in row:
                v[i] = _round_shift(v[i], ex - o.ex[n])
        before = max(0, bits - 16)
        factor, exponent = _short(scale_shift(scale, 16 - ex))
        factor, shift = _product(factor, exponent + before, 1, 0)
        top = 0
        for i in row:
            g = wrap32((o.d[i] >> before) * factor) >> shift
            v[i] = wrap32(v[i] * o.mu + g + (x & 65535)) >> 16
            o.d[i] = wrap32(g + v[i] * o.mu) >> 12 if nesterov else v[i]
            top |= v[i] if v[i] >= 0 else ~v[i]
            x += step
        o.ds[n] = _power(ex - 4 if nesterov else ex)
        if top >= 1 << 14:
            for i in row:
                v[i] = (v[i] + 1) >> 1
            ex += 1
        elif need < ex - 3 and 0 < top < 1 << 8 and ex > -100:
            for i in row:
                v[i] <<= 2
            ex -= 2
        o.ex[n] = ex


def adam_i16(o):
    adam = _Adam(o)
    for n in range(o.N):
        for i, _ in adam.row(n, n * o.K, (o.at + n) * o.K):
            o.d[i] = max(-32768, min(32767, _quotient(o.m[i] << 12, o.v[i])))
        o.ds[n] = _power(-12 - adam.finer)


def adam_i8(o):
    part = rows(o)
    if not part:
        return
    adam = _Adam(o)
    limited = bool(o.common and o.at and o.limited[0])
    for n in part:
        factor, shift = _short_step(o.rate[0], o.sw[n], adam.finer)
        for i, x in adam.row(n - o.at, (n - o.at) * o.K, n * o.K):
            step = _quotient(o.m[i] * factor, o.v[i])
            i += o.at * o.K
            u = (x << 8 & 0xFFFFFFFF) >> (32 - shift)
            value = 256 * o.w[i] + o.r[i] - ((step + u) >> shift)
            if not -32640 <= value <= 32639:
                value = 32639 if value > 0 else -32640
                limited = True
            o.w[i] = (value + 128) >> 8
            o.r[i] = value - 256 * o.w[i]
        if limited and not o.common:
            _halve_rows(o, n, n + 1)
            limited = False
    if limited and o.at + o.R == o.N:
        _halve_rows(o, 0, o.N)
        limited = False
    if o.rate[0]:
        o.limited[0] = int(limited)


def _short_step(rate, sw, finer):
    """(factor, shift) from a quotient of the moments to residual units of a weight."""
    if rate == 0:
        return 0, 1
    factor, exponent = _short(scale_shift(scale_div(rate, sw), 8 - finer))
    if exponent > -1:
        return 32767, 1
    return (factor, -exponent) if exponent >= -30 else (factor >> min(31, -30 - exponent), 30)


def _quotient(value, v):
    """value / (v + 1), rounded to 0; v without sign in 16 bits."""
    quotient = abs(value) // ((v & 65535) + 1)
    return -quotient if value < 0 else quotient


class _Adam:
    """What the rows of adam_i16 and adam_i8 share."""

    def __init__(self, o):
        self.o = o
        self.scale = scale_mul(o.factor, o.gs[0])
        self.dither = _dither(o)
        self.c1 = max(0, min(4096, o.c1))
        self.rc2 = max(0, min(16384, o.rc2))
        self.level = 13
        while self.rc2 << (self.level + 1) >= 1 << 24:
            self.level -= 1
        self.finer = 13 - self.level

    def row(self, n, first, index):
        """Update row n's state, which begins at ``first``; yield each element's place and dither."""
        o, level = self.o, self.level
        bits, need = _needed_exponent(o.d[first : first + o.K], self.scale, level)
        ex = max(need, o.ex[n])
        if ex > o.ex[n]:
            for i in range(first, first + o.K):
                o.m[i] = _round_shift(o.m[i], ex - o.ex[n])
                o.v[i] = _signed16(_round_shift(o.v[i] & 65535, ex - o.ex[n]))
        factor, exponent = _short(scale_shift(self.scale, 4 - ex))
        before = max(0, bits - 16)
        c1 = self.c1 << self.finer
        m_factor, m_shift = _product(factor, exponent + before, c1, bit_length(c1))
        v_factor, v_shift = _product(factor, exponent + before - 12, self.rc2, bit_length(self.rc2))
        top = 0
        for i in range(first, first + o.K):
            x = self.dither[0] + (index + i - first) * self.dither[1] & 0xFFFFFFFF
            d = o.d[i] >> before
            mean = wrap32(d * m_factor) >> m_shift
            o.m[i] = wrap32(o.m[i] * (65536 - 16 * self.c1) + mean + (x & 65535)) >> 16
            root = wrap32(d * v_factor) >> v_shift
            o.v[i] = _signed16(self._root(o.v[i] & 65535, root, x >> 16))
            top |= o.v[i] & 65535
            yield i, x
        if need < ex - 3 and 0 < top < 1 << (level - 3) and ex > -100:
            for i in range(first, first + o.K):
                o.m[i] = max(-32767, min(32767, o.m[i] * 4))
                o.v[i] *= 4
            ex -= 2
        o.ex[n] = ex

    def _root(self, s, b, high):
        """sqrt(beta2 s^2 + (1 - beta2) g^2) from s and the second term's root, b * 2^-6."""
        if b < 0:
            b = ~b
        base = s * self.o.r2
        if s << 6 <= b:
            base = b << 10
            rise = ((s << 6) ** 2 & 0xFFFFFFFF) // ((b >> 5) + 1)
        else:
            rise = (b * b & 0xFFFFFFFF) // (2 * s)
        return ((base + (rise << 4) & 0xFFFFFFFF) + high & 0xFFFFFFFF) >> 16


def _signed16(v):
    return v - ((v & 0x8000) << 1)


# What momentum and Adam share


def _round_shift(v, k):
    return 0 if k > 15 else (v + (1 << (k - 1))) >> k


def _power(k):
    return scale_shift(ONE, k)


def _needed_exponent(d, scale, level):
    """(bits of the row's gradient, the least exponent of its state)."""
    bits = 0
    for value in d:
        bits |= value if value >= 0 else ~value
    bits = bit_length(bits)
    return bits, max(-100, min(100, bits + log2_floor(scale) - level))


def _short(scale):
    """A scale as (factor, exponent), the factor of 15 bits."""
    return ((scale & 0x7FFFFF) | 0x800000) >> 9, (scale >> 23) - 141


def _product(factor, exponent, by, bits):
    """factor * 2^exponent * by as (factor, shift); bits are of ``by``."""
    exponent += bits
    return (factor * by >> bits) << max(0, min(31, exponent)) & 0xFFFFFFFF, max(0, min(31, -exponent))


def _dither(o):
    """(of element 0, from one element to the next)."""
    key = hash32(o.c[KEY], o.id)
    return key, hash32(key, 1) | 1


# From directions to weights


def apply_i8(o):
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
            _halve_rows(o, n, n + 1)
            limited = False
    if limited and o.at + o.R == o.N:
        _halve_rows(o, 0, o.N)
        limited = False
    o.limited[0] = int(limited)


def settle_i8(o):
    if o.limited[0]:
        _halve_rows(o, 0, o.N)


def _halve_rows(o, first, stop):
    for i in range(first * o.K, stop * o.K):
        value = (256 * o.w[i] + o.r[i] + 1) >> 1
        o.w[i] = (value + 128) >> 8
        o.r[i] = value - 256 * o.w[i]
    for n in range(first, stop):
        o.sw[n] = scale_shift(o.sw[n], 1)


def apply_i32(o):
    rate = o.rate[0]
    if rate == 0:
        return
    m, s = multiplier(scale_shift(scale_mul(rate, o.ds[0]), 20))
    for n in range(o.N):
        o.b[n] = limit30(o.b[n] - rescale(o.d[n], m, s))
