"""Samples that a Normalization reads, in int8 and float32."""

import math

from ..base.fixed import ONE, bits_to_float, multiplier, scale_div, scale_shift
from ..base.primitives import quantize, rescale, sat32, scale_sqrt
from ..base.regions import FLOAT32, X_FORMAT, X_SCALE, X_ZERO
from .data import samples
from .float32 import affine, divide, rounded, store


def gather_norm_i8(o):
    """y[b] = clamp(z + (x[order(b)] - mean[c]) / sqrt(var[c]) / s)

    y=i8[B*S*C] peak+i32 c: x:buf s:i32 mean:i32[C] var:i32[C] ; B S C z
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


def gather_norm_f32(o):
    """y[b] = (x[order(b)] - mean[c]) / sqrt(var[c])

    y=f32[B*S*C] c: x:buf mean:f32[C] var:f32[C] ; B S C
    """
    kind, zero = o.c[X_FORMAT], o.c[X_ZERO]
    scale = bits_to_float(o.c[X_SCALE])
    inverses = [store(divide(1.0, rounded(math.sqrt(v)))) if v > 0 else 1.0 for v in o.var]
    at = 0
    for raw in samples(o.c, X_FORMAT, o.x, o.B, o.S * o.C, "f"):
        for i in range(o.S * o.C):
            v = 0.0
            if raw is not None:
                v = raw[i] if kind == FLOAT32 else affine(raw[i], zero, scale)
                v = store(store(v - o.mean[i % o.C]) * inverses[i % o.C])
            o.y[at + i] = v
        at += o.S * o.C
