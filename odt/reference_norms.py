"""Normalisation in the reference executor, int8 and float32: a tensor is [M][S][G][C].

Each group's S * C numbers are listed by their places; the arithmetic is docs/numerics.md's.
"""

import math

from .fixed import (
    ONE,
    bit_length,
    bits_to_float,
    hash32,
    multiplier,
    nearest_scale,
    rescale,
    rescale_random,
    sat32,
    scale_add,
    scale_div,
    scale_int,
    scale_mul,
    scale_shift,
    scale_sqrt,
    wrap32,
)
from .opcodes import COUNT, KEY, POSITION
from .reference_f32 import divide, rounded, store
from .reference_i8 import Sink

_LIMIT = 1 << 30


def _limit(v, low, high):
    return low if v < low else high if v > high else v


def _truncated(a, b):
    """a / b towards zero, b > 0."""
    return -(-a // b) if a < 0 else a // b


def _wrap64(v):
    return ((v + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def _groups(o, positions):
    """Yield (group, [(place in x, channel)]) over the first so many positions."""
    width = o.G * o.C
    for m in range(o.M):
        for g in range(o.G):
            places = []
            for s in range(positions):
                row = (m * o.S + s) * width
                for n in range(g * o.C, (g + 1) * o.C):
                    places.append((row + n, n))
            yield m * o.G + g, places


def _counted(o):
    """Positions that hold a sample: of the first COUNT rows, where the batch's are meant."""
    return min(o.S, max(o.c[COUNT], 1) * o.rows) if o.rows > 0 else o.S


# int8: statistics


def _unit(o):
    return scale_mul(o.factor, o.sx[0])


def _inverse(variance, eps):
    """1 / sqrt(variance + eps), a variance of None being none."""
    return scale_div(ONE, scale_sqrt(scale_add(variance, eps) if variance else eps))


def _moments(values, eps):
    """(mean in 2^-10, 1 / deviation, variance as a scale or None)."""
    n = len(values)
    total = sum(values)
    spread = (n * sum([v * v for v in values]) - total * total) & ((1 << 64) - 1)
    variance = None
    if spread:
        k = max(bit_length(spread) - 32, 0)
        count = scale_int(n)
        variance = scale_div(scale_shift(scale_int(spread >> k), k), scale_mul(count, count))
    return _truncated(total * 1024, n), _inverse(variance, eps), variance


def norm_stats_i8(o):
    unit = _unit(o)
    eps = scale_div(o.eps, scale_mul(unit, unit))
    z = _limit(o.z, -128, 127)
    for group, places in _groups(o, o.S):
        mean, inverse, _ = _moments([o.x[i] - z for i, _ in places], eps)
        o.st[2 * group], o.st[2 * group + 1] = mean, inverse


def batch_stats_i8(o):
    if o.c[KEY] == 0:
        return
    unit = _unit(o)
    eps = scale_div(o.eps, scale_mul(unit, unit))
    z = _limit(o.z, -128, 127)
    size = _limit(o.c[COUNT], 1, o.B) * o.S * o.N
    for n in range(o.N):
        mean, inverse, variance = _moments([o.x[i] - z for i in range(n, size, o.N)], eps)
        o.st[2 * n], o.st[2 * n + 1] = mean, inverse
        o.va[n] = scale_mul(variance, scale_mul(unit, unit)) if variance else 0


def running_stats_i8(o):
    unit = _unit(o)
    square = scale_mul(unit, unit)
    eps = scale_div(o.eps, square)
    m, s = multiplier(scale_div(scale_shift(ONE, -10), unit))
    for n in range(o.N):
        o.st[2 * n] = _limit(rescale(o.mean[n], m, s), -_LIMIT, _LIMIT)
        o.st[2 * n + 1] = _inverse(scale_div(o.var[n], square), eps)


def track_i8(o):
    steps, shift = multiplier(scale_shift(_unit(o), 10))
    part = multiplier(o.rest)
    for n in range(o.N):
        mean = _limit(o.mean[n], -_LIMIT, _LIMIT)
        target = _limit(rescale(o.st[2 * n], steps, shift), -_LIMIT, _LIMIT)
        o.mean[n] = _limit(mean + rescale(target - mean, part[0], part[1]), -_LIMIT, _LIMIT)
        o.var[n] = scale_add(scale_mul(o.var[n], o.keep), scale_mul(o.va[n], o.rest))


# int8: forward and backward


def affine_i8(o):
    sy = o.sy[0]
    m, s = multiplier(scale_div(scale_shift(ONE, -12), sy))
    for n in range(o.N):
        gain, shift = 0, 62
        gamma = o.gamma[n]
        if gamma:
            gain, shift = multiplier(scale_div(scale_shift(scale_int(abs(gamma)), -24), sy))
        o.q[2 * n], o.q[2 * n + 1] = -gain if gamma < 0 else gain, shift
        o.b[n] = _limit(rescale(o.beta[n], m, s), -_LIMIT, _LIMIT)


def _hats(o, group, places, bits):
    """The group's x, normalised, with so many bits behind the point."""
    m, s = multiplier(scale_shift(o.st[2 * group + 1], bits - 10))
    mean = o.st[2 * group]
    z = _limit(o.zx, -128, 127)
    return [rescale(wrap32((o.x[i] - z) * 1024 - mean), m, s) for i, _ in places]


def norm_i8(o):
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for group, places in _groups(o, o.S):
        for (i, n), h in zip(places, _hats(o, group, places, 12)):
            v = sat32(rescale(h, o.q[2 * n], _limit(o.q[2 * n + 1], 1, 62)) + o.b[n])
            sink.put(i, (v + 128) >> 8)
    sink.close()


def norm_dw_i8(o):
    totals = [0] * (o.G * o.C)
    bits = _limit(o.bits, 0, 12)
    for group, places in _groups(o, o.S):
        for (i, n), h in zip(places, _hats(o, group, places, bits)):
            totals[n] += o.e[i] * h
    for n in range(len(totals)):
        o.dw[n] = wrap32(totals[n])


def _gains(gamma):
    """(gammas of which the largest has 14 bits, the shift that was taken off)."""
    shift = bit_length(max([abs(v) for v in gamma])) - 14
    return [v >> shift if shift > 0 else v << -shift for v in gamma], shift


def _outer(o, shift):
    scale = scale_div(scale_div(scale_mul(o.factor, o.se[0]), o.sx[0]), o.sdx[0])
    return scale_shift(scale, shift - 20)


def norm_dx_i8(o):
    gains, shift = _gains(o.gamma)
    outer = _outer(o, shift)
    for i in range(len(o.dx)):
        o.dx[i] = 0
    sink = Sink(o.dx, o.peak)
    key = hash32(o.c[KEY], o.id)
    first = o.c[POSITION] * o.F
    for group, places in _groups(o, _counted(o)):
        m, s = multiplier(scale_mul(nearest_scale(o.st[2 * group + 1]), outer))
        hats = _hats(o, group, places, 12)
        errors = [o.e[i] * gains[n] for i, n in places]
        mean = _truncated(sum(errors), len(places))
        products = _wrap64(sum([v * h for v, h in zip(errors, hats)]))
        slope = sat32(_truncated(products, 4096 * len(places)))
        for (i, _), v, h in zip(places, errors, hats):
            v = sat32(v - mean - ((h * slope + 2048) >> 12))
            sink.put(i, rescale_random(v, m, s, hash32(key, first + i)))
    sink.close()


def affine_dx_i8(o):
    gains, shift = _gains(o.gamma)
    outer = _outer(o, shift)
    sink = Sink(o.dx, o.peak)
    for n in range(o.N):
        m, s = multiplier(scale_mul(nearest_scale(o.st[2 * n + 1]), outer))
        for i in range(n, o.M * o.N, o.N):
            sink.put(i, rescale(o.e[i] * gains[n], m, s))
    sink.close()


# float32


def _inverse_f32(variance, eps):
    v = rounded(variance + bits_to_float(eps))
    return store(divide(1.0, rounded(math.sqrt(v)))) if v > 0 else 0.0


def _sum(values):
    total = 0.0
    for v in values:
        total = rounded(total + v)
    return total


def _moments_f32(values, eps):
    n = rounded(float(len(values)))
    mean = store(_sum(values) / n)
    differences = [store(v - mean) for v in values]
    variance = store(_sum([rounded(d * d) for d in differences]) / n)
    return mean, _inverse_f32(variance, eps), variance


def norm_stats_f32(o):
    for group, places in _groups(o, o.S):
        mean, inverse, _ = _moments_f32([o.x[i] for i, _ in places], o.eps)
        o.st[2 * group], o.st[2 * group + 1] = mean, inverse


def batch_stats_f32(o):
    if o.c[KEY] == 0:
        return
    size = _limit(o.c[COUNT], 1, o.B) * o.S * o.N
    for n in range(o.N):
        mean, inverse, variance = _moments_f32([o.x[i] for i in range(n, size, o.N)], o.eps)
        o.st[2 * n], o.st[2 * n + 1], o.va[n] = mean, inverse, variance


def running_stats_f32(o):
    for n in range(o.N):
        o.st[2 * n] = o.mean[n]
        o.st[2 * n + 1] = _inverse_f32(o.var[n], o.eps)


def track_f32(o):
    keep, rest = bits_to_float(o.keep), bits_to_float(o.rest)
    for n in range(o.N):
        o.mean[n] = store(rounded(keep * o.mean[n]) + rounded(rest * o.st[2 * n]))
        o.var[n] = store(rounded(keep * o.var[n]) + rounded(rest * o.va[n]))


def _hats_f32(o, group, places):
    mean, inverse = o.st[2 * group], o.st[2 * group + 1]
    return [store(store(o.x[i] - mean) * inverse) for i, _ in places]


def norm_f32(o):
    for group, places in _groups(o, o.S):
        for (i, n), h in zip(places, _hats_f32(o, group, places)):
            y = rounded(rounded(h * o.gamma[n]) + o.beta[n])
            o.y[i] = 0.0 if o.relu and y < 0 else store(y)


def norm_dw_f32(o):
    totals = [0.0] * (o.G * o.C)
    for group, places in _groups(o, o.S):
        for (i, n), h in zip(places, _hats_f32(o, group, places)):
            totals[n] = rounded(totals[n] + rounded(o.e[i] * h))
    for n in range(len(totals)):
        o.dw[n] = store(totals[n])


def norm_dx_f32(o):
    errors = list(o.e)
    for i in range(len(o.dx)):
        o.dx[i] = 0.0
    for group, places in _groups(o, _counted(o)):
        count = rounded(float(len(places)))
        hats = _hats_f32(o, group, places)
        parts = [store(errors[i] * o.gamma[n]) for i, n in places]
        mean = store(_sum(parts) / count)
        slope = store(_sum([rounded(v * h) for v, h in zip(parts, hats)]) / count)
        inverse = o.st[2 * group + 1]
        for (i, _), v, h in zip(places, parts, hats):
            v = store(rounded(v - mean) - rounded(h * slope))
            o.dx[i] = store(v * inverse)


def affine_dx_f32(o):
    for m in range(o.M):
        for n in range(o.N):
            i = m * o.N + n
            o.dx[i] = store(store(o.e[i] * o.gamma[n]) * o.st[2 * n + 1])
