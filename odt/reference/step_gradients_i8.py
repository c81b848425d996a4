"""Gradients of int8 networks, int32, summed over micro-batches and clipped by the norm of all."""

from ..base.fixed import ONE, bit_length, nearest_scale, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import scale_add, scale_sqrt, wrap32


def accumulate_i32(o):
    """y += d

    y+i32[N] d:i32[N] ; N
    """
    for i in range(o.N):
        o.y[i] = wrap32(o.y[i] + o.d[i])


def squares_i32(o):
    """total += sum of (factor * gs * d)^2, as a scale; 0 is none

    total+i32 d:i32[N] gs:i32 ; N factor
    """
    drop = max(bit_length(max([abs(v) for v in o.d])) - 18, 0)
    total = sum([(abs(v) >> drop) ** 2 for v in o.d])
    if not total:
        return
    k = max(bit_length(total) - 32, 0)
    unit = scale_shift(scale_mul(o.factor, o.gs[0]), drop)
    square = scale_mul(scale_shift(scale_int(total >> k), k), scale_mul(unit, unit))
    o.total[0] = scale_add(nearest_scale(o.total[0]), square) if o.total[0] else square


def clip_i32(o):
    """y = min(1, limit / sqrt(total))

    y=i32 total:i32 ; limit
    """
    if not o.total[0]:
        o.y[0] = ONE
        return
    root = scale_sqrt(o.total[0])
    limit = nearest_scale(o.limit)
    o.y[0] = scale_div(limit, root) if root > limit else ONE
