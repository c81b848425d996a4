"""Momentum and Nesterov momentum of int8 weights, in int16; and weights that have no residuals."""

from ..base.fixed import hash32, multiplier, scale_div, scale_mul, scale_shift
from ..base.primitives import rescale_random, wrap32
from ..base.regions import KEY
from .data import rows
from .update_i8 import dither, needed_exponent, power_of_2, product, round_shift, short


def momentum_i16(o):
    """v = mu * v + d * factor * gs; d = v

    d+i32[N*K] ds=i32[N] v+i16[N*K] ex+i8[N] gs:i32 c: ; N K factor id mu at
    """
    _momentum_i16(o, False)


def nesterov_i16(o):
    """v = mu * v + d * factor * gs; d = d * factor * gs + mu * v

    d+i32[N*K] ds=i32[N] v+i16[N*K] ex+i8[N] gs:i32 c: ; N K factor id mu at
    """
    _momentum_i16(o, True)


def _momentum_i16(o, nesterov):
    size, v = o.K, o.v
    scale = scale_mul(o.factor, o.gs[0])
    x, step = dither(o)
    x += o.at * size * step
    for n in range(o.N):
        row = range(n * size, (n + 1) * size)
        bits, need = needed_exponent(o.d[n * size : (n + 1) * size], scale, 11)
        ex = max(need, o.ex[n])
        if ex > o.ex[n]:
            for i in row:
                v[i] = round_shift(v[i], ex - o.ex[n])
        before = max(0, bits - 16)
        factor, exponent = short(scale_shift(scale, 16 - ex))
        factor, shift = product(factor, exponent + before)
        top = 0
        for i in row:
            g = wrap32((o.d[i] >> before) * factor) >> shift
            v[i] = wrap32(v[i] * o.mu + g + (x & 65535)) >> 16
            o.d[i] = wrap32(g + v[i] * o.mu) >> 12 if nesterov else v[i]
            top |= v[i] if v[i] >= 0 else ~v[i]
            x += step
        o.ds[n] = power_of_2(ex - 4 if nesterov else ex)
        if top >= 1 << 14:
            for i in row:
                v[i] = (v[i] + 1) >> 1
            ex += 1
        elif need < ex - 3 and 0 < top < 1 << 8 and ex > -100:
            for i in row:
                v[i] <<= 2
            ex -= 2
        o.ex[n] = ex


# Weights without residuals


def round_i8(o):
    """w -= rate * ds[n] * d / sw[n], rounded at random

    w+i8[N*K] sw+i32[N] limited+i32 d:i32[R*K] ds:i32[R] rate:i32 c: ; N K id common at R
    """
    rate = o.rate[0]
    part = rows(o)
    if rate == 0 or not part:
        return
    key, size = hash32(o.c[KEY], o.id), o.K
    limited = bool(o.common and o.at and o.limited[0])
    for n in part:
        m, s = multiplier(scale_div(scale_mul(rate, o.ds[n - o.at]), o.sw[n]))
        for i in range(n * size, (n + 1) * size):
            value = o.w[i] - rescale_random(o.d[i - o.at * size], m, s, hash32(key, i))
            if not -127 <= value <= 127:
                value = 127 if value > 0 else -127
                limited = True
            o.w[i] = value
        if limited and not o.common:
            _halve_rounded(o, n, n + 1)
            limited = False
    if limited and o.at + o.R == o.N:
        _halve_rounded(o, 0, o.N)
        limited = False
    o.limited[0] = int(limited)


def _halve_rounded(o, first, stop):
    """A half goes to the even number."""
    for i in range(first * o.K, stop * o.K):
        o.w[i] = o.w[i] + (o.w[i] >> 1 & 1) >> 1
    for n in range(first, stop):
        o.sw[n] = scale_shift(o.sw[n], 1)
