"""Gradients in float32, summed over micro-batches and clipped by the norm of all."""

import math

from ..base.fixed import bits_to_float
from .float32 import divide, rounded, store, store2


def accumulate_f32(o):
    """y += d

    y+f32[N] d:f32[N] ; N
    """
    for i in range(o.N):
        o.y[i] = store(o.y[i] + o.d[i])


def squares_f32(o):
    """total += sum of d^2

    total+f32 d:f32[N] ; N
    """
    total = o.total[0]
    for v in o.d:
        total = rounded(total + rounded(v * v))
    o.total[0] = store2(total)


def clip_f32(o):
    """y = min(1, limit / sqrt(total))

    y=f32 total:f32 ; limit
    """
    total = o.total[0]
    root = rounded(math.sqrt(total)) if total > 0 else 0.0
    limit = bits_to_float(o.limit)
    o.y[0] = store(divide(limit, root)) if root > limit else 1.0


def scale_f32(o):
    """d *= factor

    d+f32[N] factor:f32 ; N
    """
    factor = o.factor[0]
    for i in range(o.N):
        o.d[i] = store(o.d[i] * factor)
