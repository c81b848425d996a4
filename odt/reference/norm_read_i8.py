"""A BatchNorm whose running statistics scale the samples as they are read, of an int8 network."""

from ..base.fixed import ONE, multiplier, nearest_scale, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import quantize, rescale, sat32, scale_add, scale_sqrt
from ..base.regions import KEY


def read_stats_i8(o):
    """of samples that var has scaled: st[n] = 0; factor * sx; while KEY is not 0, with batch: st[n, 1] = factor * sx /
        sqrt(va + eps / var)

    st+i32[N*2] va:i32[N] var:i32[N] sx:i32 c: ; N factor eps batch
    """
    unit = scale_mul(o.factor, o.sx[0])
    for n in range(o.N):
        if not (o.batch and o.c[KEY]):
            o.st[2 * n], o.st[2 * n + 1] = 0, unit
            continue
        spread = scale_div(o.eps, o.var[n])
        if o.va[n]:
            spread = scale_add(nearest_scale(o.va[n]), spread)
        o.st[2 * n + 1] = scale_div(unit, scale_sqrt(spread))


def track_read_i8(o):
    """of such samples: mean += rest * sqrt(var) * mean of the batch; var = keep * var + rest * (va * var + eps)

    mean+i32[N] var+i32[N] st:i32[N*2] va:i32[N] sx:i32 ; N factor eps keep rest
    """
    steps, shift = multiplier(scale_shift(scale_mul(o.factor, o.sx[0]), 2))
    part = multiplier(o.rest)
    for n in range(o.N):
        unit = scale_shift(scale_sqrt(o.var[n]), -12)
        moved = rescale(rescale(o.st[2 * n], steps, shift), *part)
        mean = sat32(quantize(o.mean[n] & 0xFFFFFFFF, scale_div(ONE, unit)) + moved)
        size = scale_mul(scale_int(abs(mean)), unit) if mean else 0
        o.mean[n] = size - (1 << 31) if mean < 0 else size
        spread = scale_add(scale_mul(nearest_scale(o.va[n]), o.var[n]), o.eps) if o.va[n] else o.eps
        o.var[n] = scale_add(scale_mul(o.var[n], o.keep), scale_mul(o.rest, spread))
