"""Samples that a Normalization reads, of an int8 network."""

from ..base.fixed import ONE, multiplier, sat32, scale_div, scale_shift
from ..base.primitives import quantize, rescale, scale_sqrt
from ..base.regions import FLOAT32, X_FORMAT, X_SCALE, X_ZERO
from .data import samples


def gather_norm_i8(o):
    """y[b] = clamp(z + (x[order(b)] - mean[c]) / sqrt(var[c]) / s)

    y=i8[B*S*C] peak+i32[1] c:i32[16] x:buf s:i32[1] mean:i32[C] var:i32[C] ; B S C z
    """
    kind, zero = o.c[X_FORMAT], o.c[X_ZERO]
    m, s = multiplier(scale_div(scale_shift(ONE, -12), o.s[0]))
    features = []  # of each: what reads it, its mean
    for mean, variance in zip(o.mean, o.var):
        unit = scale_shift(scale_sqrt(variance if variance & 0x7FFFFFFF else ONE), -12)
        inverse = scale_div(ONE, unit)
        by = inverse if kind == FLOAT32 else multiplier(scale_div(o.c[X_SCALE], unit))
        features.append((by, quantize(mean & 0xFFFFFFFF, inverse)))
    top, at = o.peak[0], 0
    for raw in samples(o.c, X_FORMAT, o.x, o.B, o.S * o.C):
        for i in range(o.S * o.C):
            v = 0
            if raw is not None:
                by, mean = features[i % o.C]
                t = quantize(raw[i], by) if kind == FLOAT32 else rescale(sat32(raw[i] - zero), *by)
                d = sat32(t - mean)
                v = rescale(d, m, s)
                top = max(top, v, -v, 1 if d else 0)
            o.y[at + i] = max(-128, min(127, o.z + v))
        at += o.S * o.C
    o.peak[0] = top
