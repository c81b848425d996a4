"""Adam of int8 weights: its moments in int16, and the update of the weights in one with them."""

from ..fixed import bit_length, scale_div, scale_mul, scale_shift, wrap32
from .data import rows
from .update_i8 import dither, halve_rows, needed_exponent, power_of_2, product, round_shift, short


def adam_i16(o):
    """m += (g - m) * (1 - beta1); v = sqrt(beta2 * v^2 + (1 - beta2) * g^2); d = m / v

    d+i32[N*K] ds=i32[N] m+i16[N*K] v+i16[N*K] ex+i8[N] gs:i32[1] c:i32[16] ; N K factor id c1 r2 rc2 at
    """
    adam = _Adam(o)
    for n in range(o.N):
        for i, _ in adam.row(n, n * o.K, (o.at + n) * o.K):
            o.d[i] = max(-32768, min(32767, _quotient(o.m[i] << 12, o.v[i])))
        o.ds[n] = power_of_2(-12 - adam.finer)


def adam_i8(o):
    """adam_i16 and w -= rate * d / sw[n] in one

    w+i8[N*K] r+i8[N*K] sw+i32[N] limited+i32[1] m+i16[R*K] v+i16[R*K] ex+i8[R] d:i32[R*K] gs:i32[1] rate:i32[1]
        c:i32[16] ; N K factor id c1 r2 rc2 common at R
    """
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
            halve_rows(o, n, n + 1)
            limited = False
    if limited and o.at + o.R == o.N:
        halve_rows(o, 0, o.N)
        limited = False
    if o.rate[0]:
        o.limited[0] = int(limited)


def _short_step(rate, sw, finer):
    """(factor, shift) from a quotient of the moments to residual units of a weight."""
    if rate == 0:
        return 0, 1
    factor, exponent = short(scale_shift(scale_div(rate, sw), 8 - finer))
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
        self.dither = dither(o)
        self.c1 = max(0, min(4096, o.c1))
        self.rc2 = max(0, min(16384, o.rc2))
        self.level = 13
        while self.rc2 << (self.level + 1) >= 1 << 24:
            self.level -= 1
        self.finer = 13 - self.level

    def row(self, n, first, index):
        """Update row n's state, which begins at ``first``; yield each element's place and dither."""
        o, level = self.o, self.level
        bits, need = needed_exponent(o.d[first : first + o.K], self.scale, level)
        ex = max(need, o.ex[n])
        if ex > o.ex[n]:
            for i in range(first, first + o.K):
                o.m[i] = round_shift(o.m[i], ex - o.ex[n])
                o.v[i] = _signed16(round_shift(o.v[i] & 65535, ex - o.ex[n]))
        factor, exponent = short(scale_shift(self.scale, 4 - ex))
        before = max(0, bits - 16)
        c1 = self.c1 << self.finer
        m_factor, m_shift = product(factor, exponent + before, c1, bit_length(c1))
        v_factor, v_shift = product(factor, exponent + before - 12, self.rc2, bit_length(self.rc2))
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
