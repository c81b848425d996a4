"""Normalisation in float32: statistics, forward, backward."""

import math

from ..base.fixed import bits_to_float
from ..base.regions import COUNT, KEY
from .float32 import divide, rounded, store
from .norm import counted, groups, limit

# Statistics


def _inverse(variance, eps):
    v = rounded(variance + bits_to_float(eps))
    return store(divide(1.0, rounded(math.sqrt(v)))) if v > 0 else 0.0


def _sum(values):
    total = 0.0
    for v in values:
        total = rounded(total + v)
    return total


def _moments(values, eps):
    n = rounded(float(len(values)))
    mean = store(_sum(values) / n)
    differences = [store(v - mean) for v in values]
    variance = store(_sum([rounded(d * d) for d in differences]) / n)
    return mean, _inverse(variance, eps), variance


def norm_stats_f32(o):
    """st[m, g] = mean of x; 1 / sqrt(variance of x + eps)

    st=f32[M*G*2] x:f32[M*S*G*C] ; M S' G C eps
    """
    for group, places in groups(o, o.S):
        mean, inverse, _ = _moments([o.x[i] for i, _ in places], o.eps)
        o.st[2 * group], o.st[2 * group + 1] = mean, inverse


def batch_stats_f32(o):
    """while KEY is not 0: st[n] of COUNT rows, as norm_stats_f32; va[n] = variance of x

    st+f32[N*2] va+f32[N] x:f32[B*S*N] c: ; B S N eps
    """
    if o.c[KEY] == 0:
        return
    size = limit(o.c[COUNT], 1, o.B) * o.S * o.N
    for n in range(o.N):
        mean, inverse, variance = _moments([o.x[i] for i in range(n, size, o.N)], o.eps)
        o.st[2 * n], o.st[2 * n + 1], o.va[n] = mean, inverse, variance


def running_stats_f32(o):
    """st[n] = mean[n]; 1 / sqrt(var[n] + eps)

    st=f32[N*2] mean:f32[N] var:f32[N] ; N eps
    """
    for n in range(o.N):
        o.st[2 * n] = o.mean[n]
        o.st[2 * n + 1] = _inverse(o.var[n], o.eps)


def track_f32(o):
    """mean = keep * mean + rest * st; var = keep * var + rest * va

    mean+f32[N] var+f32[N] st:f32[N*2] va:f32[N] ; N keep rest
    """
    keep, rest = bits_to_float(o.keep), bits_to_float(o.rest)
    for n in range(o.N):
        o.mean[n] = store(rounded(keep * o.mean[n]) + rounded(rest * o.st[2 * n]))
        o.var[n] = store(rounded(keep * o.var[n]) + rounded(rest * o.va[n]))


# Forward and backward


def _hats(o, group, places):
    mean, inverse = o.st[2 * group], o.st[2 * group + 1]
    return [store(store(o.x[i] - mean) * inverse) for i, _ in places]


def norm_f32(o):
    """y = (x - mean) / deviation * gamma[n] + beta[n]

    y=f32[M*S*G*C]~x x:f32[M*S*G*C] st:f32[M*G*2] gamma:f32[G*C] beta:f32[G*C] ; M S' G C relu
    """
    for group, places in groups(o, o.S):
        for (i, n), h in zip(places, _hats(o, group, places)):
            y = rounded(rounded(h * o.gamma[n]) + o.beta[n])
            o.y[i] = 0.0 if o.relu and y < 0 else store(y)


def norm_dw_f32(o):
    """dw[n] = sum_(m,s) e * (x - mean) / deviation

    dw=f32[G*C] e:f32[M*S*G*C] x:f32[M*S*G*C] st:f32[M*G*2] ; M S' G C
    """
    totals = [0.0] * (o.G * o.C)
    for group, places in groups(o, o.S):
        for (i, n), h in zip(places, _hats(o, group, places)):
            totals[n] = rounded(totals[n] + rounded(o.e[i] * h))
    for n in range(len(totals)):
        o.dw[n] = store(totals[n])


def norm_dx_f32(o):
    """dx = (g - mean(g) - h * mean(g * h)) / deviation, g = e * gamma[n], h = (x - mean) / deviation

    dx=f32[M*S*G*C]~e e:f32[M*S*G*C] x:f32[M*S*G*C] st:f32[M*G*2] gamma:f32[G*C] c: ; M S' G C rows
    """
    errors = list(o.e)
    for i in range(len(o.dx)):
        o.dx[i] = 0.0
    for group, places in groups(o, counted(o)):
        count = rounded(float(len(places)))
        hats = _hats(o, group, places)
        parts = [store(errors[i] * o.gamma[n]) for i, n in places]
        mean = store(_sum(parts) / count)
        slope = store(_sum([rounded(v * h) for v, h in zip(parts, hats)]) / count)
        inverse = o.st[2 * group + 1]
        for (i, _), v, h in zip(places, parts, hats):
            v = store(rounded(v - mean) - rounded(h * slope))
            o.dx[i] = store(v * inverse)


def affine_dx_f32(o):
    """dx = e * gamma[n] / deviation[n]

    dx=f32[M*N]~e e:f32[M*N] st:f32[N*2] gamma:f32[N] ; M N
    """
    for m in range(o.M):
        for n in range(o.N):
            i = m * o.N + n
            o.dx[i] = store(store(o.e[i] * o.gamma[n]) * o.st[2 * n + 1])
