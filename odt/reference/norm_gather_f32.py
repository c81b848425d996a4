"""Samples that a Normalization reads, of a float32 network."""

import math

from ..base.fixed import bits_to_float
from ..base.regions import FLOAT32, X_FORMAT, X_SCALE, X_ZERO
from .data import samples
from .float32 import affine, divide, rounded, store


def gather_norm_f32(o):
    """y[b] = (x[order(b)] - mean[c]) / sqrt(var[c])

    y=f32[B*S*C] c:i32[16] x:buf mean:f32[C] var:f32[C] ; B S C
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
