"""Adam of int8 weights: its moments in int16, and the update of the weights in one with them."""

from ..base.fixed import bit_length, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import wrap32
from .data import rows
from .update_i8 import dither, halve_rows, needed_exponent, round_shift, short


def adam_i16(o):
    """m += (g - m) * (1 - beta1); v = sqrt(beta2 * v^2 + (1 - beta2) * g^2); d = m / v

    d+i32[N*K] ds=i32[N] m+i16[N*K] v+i16[N*K] ex+i8[N] gs:i32 c: ; N K factor id c1 r2 rc2 at
    """
    adam = _Adam(o)
    for n in range(o.N):
        for i in adam.row(n, o.at + n):
            o.d[i] = max(-32768, min(32767, _quotient(o.m[i] << 12, o.v[i])))
        o.ds[n] = scale_shift(adam.quotient, -12)


def adam_i8(o):
    """adam_i16 and w -= rate * d / sw[n] in one

    w+i8[N*K] r+i8[N*K] sw+i32[N] limited+i32 m+i16[R*K] v+i16[R*K] ex+i8[R] d:i32[R*K] gs:i32 rate:i32 c: ; N K
        factor id c1 r2 rc2 common at R
    """
    part = rows(o)
    if not part:
        return
    adam = _Adam(o)
    limited = bool(o.common and o.at and o.limited[0])
    for n in part:
        factor, shift = _short_step(o.rate[0], o.sw[n], adam.quotient)
        x = adam.dither_of(n)
        u = (x << 16 & 0xFFFFFFFF | x >> 16) >> (32 - shift)
        if o.K & 1:
            u ^= (1 << shift) - 1
        for i in adam.row(n - o.at, n):
            step = _quotient(o.m[i] * factor, o.v[i])
            i += o.at * o.K
            value = 256 * o.w[i] + o.r[i] - ((step + u) >> shift)
            if not -32640 <= value <= 32639:
                value = 32639 if value > 0 else -32640
                limited = True
            o.w[i] = (value + 128) >> 8
            o.r[i] = value - 256 * o.w[i]
            u ^= (1 << shift) - 1
        if limited and not o.common:
            halve_rows(o, n, n + 1)
            limited = False
    if limited and o.at + o.R == o.N:
        halve_rows(o, 0, o.N)
        limited = False
    if o.rate[0]:
        o.limited[0] = int(limited)


def _short_step(rate, sw, quotient):
    """(factor, shift) from a quotient of the moments to residual units of a weight."""
    if rate == 0:
        return 0, 1
    factor, exponent = short(scale_shift(scale_div(scale_mul(rate, quotient), sw), 8))
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
        self.c1 = max(1, min(4096, o.c1))
        root = max(1, min(16384, o.rc2))
        self.quotient = scale_div(scale_int(2 * self.c1), scale_int(root))
        self.level = min(13, 22 - bit_length(self.c1))
        while (self.c1 << (self.level + 2)) // root >= 1 << 15:
            self.level -= 1
        self.largest = (self.c1 << (self.level + 2)) // root

    def dither_of(self, index):
        """The word that rounds row ``index`` of all; every other element, the last among them, takes its complement."""
        return self.dither[0] + index * self.dither[1] & 0xFFFFFFFF

    def row(self, n, index):
        """Update the state's row n, which is row ``index`` of all; yield each element's place."""
        o, first = self.o, n * self.o.K
        bits, need = needed_exponent(o.d[first : first + o.K], self.scale, self.level)
        ex = max(need, o.ex[n])
        if ex > o.ex[n]:
            for i in range(first, first + o.K):
                o.m[i] = round_shift(o.m[i], ex - o.ex[n])
                o.v[i] = _signed16(round_shift(o.v[i] & 65535, ex - o.ex[n]))
        factor, exponent = short(scale_shift(self.scale, 4 - ex))
        before = max(0, bits - 16)
        exponent += before
        factor *= self.c1
        factor = factor >> min(-exponent, 31) if exponent < 0 else factor << min(exponent, 31)
        half = self.dither_of(index) >> 16
        if o.K & 1:
            half ^= 65535
        top = 0
        for i in range(first, first + o.K):
            mean = wrap32((o.d[i] >> before) * factor)
            o.m[i] = wrap32(o.m[i] * (65536 - 16 * self.c1) + mean + half) >> 16
            o.v[i] = _signed16(self._root(o.v[i] & 65535, (~mean if mean < 0 else mean) >> 11, half))
            top |= o.v[i] & 65535
            half ^= 65535
            yield i
        if need < ex - 3 and 0 < top < self.largest // 16 and ex > -100:
            for i in range(first, first + o.K):
                o.m[i] = max(-32767, min(32767, o.m[i] * 4))
                o.v[i] *= 4
            ex -= 2
        o.ex[n] = ex

    def _root(self, s, b, half):
        """sqrt(beta2 s^2 + (1 - beta2) g^2) from s and the second term's root, b * 2^-6."""
        base = s * self.o.r2
        if s << 6 <= b:
            base = b << 10
            rise = ((s << 6) ** 2 & 0xFFFFFFFF) // ((b >> 5) + 1)
        else:
            rise = (b * b & 0xFFFFFFFF) // (2 * s)
        return ((base + (rise << 4) & 0xFFFFFFFF) + half & 0xFFFFFFFF) >> 16


def _signed16(v):
    return v - ((v & 0x8000) << 1)
