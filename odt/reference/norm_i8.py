"""Normalisation in int8: statistics, forward, backward."""

from ..base.fixed import (
    ONE,
    bit_length,
    hash32,
    multiplier,
    nearest_scale,
    scale_div,
    scale_int,
    scale_mul,
    scale_shift,
)
from ..base.primitives import rescale, rescale_random, sat32, scale_add, scale_sqrt, wrap32
from ..base.regions import COUNT, KEY, POSITION
from .data import Sink
from .norm import counted, groups, limit

# Statistics


_LIMIT = 1 << 30


def _truncated(a, b):
    """a / b towards zero, b > 0."""
    return -(-a // b) if a < 0 else a // b


def _wrap64(v):
    return ((v + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


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
    """st[m, g] = mean of x - z in steps / 1024; 1 / sqrt(variance of x + eps / (factor * sx)^2)

    st=i32[M*G*2] x:i8[M*S*G*C] sx:i32 ; M S' G C z factor eps
    """
    unit = _unit(o)
    eps = scale_div(o.eps, scale_mul(unit, unit))
    z = limit(o.z, -128, 127)
    for group, places in groups(o, o.S):
        mean, inverse, _ = _moments([o.x[i] - z for i, _ in places], eps)
        o.st[2 * group], o.st[2 * group + 1] = mean, inverse


def batch_stats_i8(o):
    """while KEY is not 0: st[n] of COUNT rows, as norm_stats_i8; va[n] = (factor * sx)^2 * variance of x

    st+i32[N*2] va+i32[N] x:i8[B*S*N] sx:i32 c: ; B S N z factor eps
    """
    if o.c[KEY] == 0:
        return
    unit = _unit(o)
    eps = scale_div(o.eps, scale_mul(unit, unit))
    z = limit(o.z, -128, 127)
    size = limit(o.c[COUNT], 1, o.B) * o.S * o.N
    for n in range(o.N):
        mean, inverse, variance = _moments([o.x[i] - z for i in range(n, size, o.N)], eps)
        o.st[2 * n], o.st[2 * n + 1] = mean, inverse
        o.va[n] = scale_mul(variance, scale_mul(unit, unit)) if variance else 0


def running_stats_i8(o):
    """st[n] = mean * 2^-20 / (factor * sx) in steps / 1024; factor * sx / sqrt(var + eps)

    st=i32[N*2] mean:i32[N] var:i32[N] sx:i32 ; N factor eps
    """
    unit = _unit(o)
    square = scale_mul(unit, unit)
    eps = scale_div(o.eps, square)
    m, s = multiplier(scale_div(scale_shift(ONE, -10), unit))
    for n in range(o.N):
        o.st[2 * n] = limit(rescale(o.mean[n], m, s), -_LIMIT, _LIMIT)
        o.st[2 * n + 1] = _inverse(scale_div(o.var[n], square), eps)


def track_i8(o):
    """mean = keep * mean + rest * mean of the batch; var = keep * var + rest * va

    mean+i32[N] var+i32[N] st:i32[N*2] va:i32[N] sx:i32 ; N factor keep rest
    """
    steps, shift = multiplier(scale_shift(_unit(o), 10))
    part = multiplier(o.rest)
    for n in range(o.N):
        mean = limit(o.mean[n], -_LIMIT, _LIMIT)
        target = limit(rescale(o.st[2 * n], steps, shift), -_LIMIT, _LIMIT)
        o.mean[n] = limit(mean + rescale(target - mean, part[0], part[1]), -_LIMIT, _LIMIT)
        o.var[n] = scale_add(scale_mul(o.var[n], o.keep), scale_mul(o.va[n], o.rest))


# Forward and backward


def affine_i8(o):
    """q[n] = gamma[n] * 2^-24 / sy; b[n] = beta[n] * 2^-12 / sy

    q=mul[N] b=i32[N] gamma:i32[N] beta:i32[N] sy:i32 ; N
    """
    sy = o.sy[0]
    m, s = multiplier(scale_div(scale_shift(ONE, -12), sy))
    for n in range(o.N):
        gain, shift = 0, 62
        gamma = o.gamma[n]
        if gamma:
            gain, shift = multiplier(scale_div(scale_shift(scale_int(abs(gamma)), -24), sy))
        o.q[2 * n], o.q[2 * n + 1] = -gain if gamma < 0 else gain, shift
        o.b[n] = limit(rescale(o.beta[n], m, s), -_LIMIT, _LIMIT)


def _hats(o, group, places, bits):
    """The group's x, normalised, with this many bits after the binary point."""
    m, s = multiplier(scale_shift(o.st[2 * group + 1], bits - 10))
    mean = o.st[2 * group]
    z = limit(o.zx, -128, 127)
    return [rescale(wrap32((o.x[i] - z) * 1024 - mean), m, s) for i, _ in places]


def norm_i8(o):
    """y = clamp(zy + (q[n] * h + b[n]) / 256), h = (x - zx - mean) * 4096 / deviation

    y=i8[M*S*G*C] peak+i32 x:i8[M*S*G*C] st:i32[M*G*2] q:mul[G*C] b:i32[G*C] ; M S' G C zx zy lo
    """
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for group, places in groups(o, o.S):
        for (i, n), h in zip(places, _hats(o, group, places, 12)):
            v = sat32(rescale(h, o.q[2 * n], limit(o.q[2 * n + 1], 1, 62)) + o.b[n])
            sink.put(i, (v + 128) >> 8)
    sink.close()


def norm_dw_i8(o):
    """dw[n] = sum_(m,s) e * (x - zx - mean) * 2^bits / deviation

    dw=i32[G*C] e:i8[M*S*G*C] x:i8[M*S*G*C] st:i32[M*G*2] ; M S' G C zx bits
    """
    totals = [0] * (o.G * o.C)
    bits = limit(o.bits, 0, 12)
    for group, places in groups(o, o.S):
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
    """dx = clamp(factor * se / (sx * sdx) / deviation * (g - mean(g) - h * mean(g * h))), g = e * gamma, rounded at
        random

    dx=i8[M*S*G*C] peak+i32 e:i8[M*S*G*C] x:i8[M*S*G*C] st:i32[M*G*2] gamma:i32[G*C] se:i32 sx:i32 sdx:i32 c: ; M S'
        G C zx factor rows id F
    """
    gains, shift = _gains(o.gamma)
    outer = _outer(o, shift)
    for i in range(len(o.dx)):
        o.dx[i] = 0
    sink = Sink(o.dx, o.peak)
    key = hash32(o.c[KEY], o.id)
    first = o.c[POSITION] * o.F
    for group, places in groups(o, counted(o)):
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
    """dx = clamp(factor * se / (sx * sdx) / deviation[n] * e * gamma[n])

    dx=i8[M*N] peak+i32 e:i8[M*N] st:i32[N*2] gamma:i32[N] se:i32 sx:i32 sdx:i32 ; M N factor
    """
    gains, shift = _gains(o.gamma)
    outer = _outer(o, shift)
    sink = Sink(o.dx, o.peak)
    for n in range(o.N):
        m, s = multiplier(scale_mul(nearest_scale(o.st[2 * n + 1]), outer))
        for i in range(n, o.M * o.N, o.N):
            sink.put(i, rescale(o.e[i] * gains[n], m, s))
    sink.close()
