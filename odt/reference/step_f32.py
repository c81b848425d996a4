"""A step of a float32 network: its batch, gradients summed and clipped."""

import math

from ..fixed import bits_to_float
from ..opcodes import FLOAT32, X_FORMAT, X_SCALE, X_ZERO
from .data import samples
from .float32 import affine, divide, rounded, store, store2


def gather_f32(o):
    kind, zero, size = o.c[X_FORMAT], o.c[X_ZERO], o.F
    scale = bits_to_float(o.c[X_SCALE])
    at = 0
    for raw in samples(o.c, X_FORMAT, o.x, o.B, size, "f"):
        for i in range(size):
            if raw is None:
                v = 0.0
            elif kind == FLOAT32:
                v = raw[i]
            else:
                v = affine(raw[i], zero, scale)
            o.y[at + i] = store(v)
        at += size


# Gradients summed, and clipped by the norm of all


def squares_f32(o):
    total = o.total[0]
    for v in o.d:
        total = rounded(total + rounded(v * v))
    o.total[0] = store2(total)


def clip_f32(o):
    total = o.total[0]
    root = rounded(math.sqrt(total)) if total > 0 else 0.0
    limit = bits_to_float(o.limit)
    o.y[0] = store(divide(limit, root)) if root > limit else 1.0


def scale_f32(o):
    factor = o.factor[0]
    for i in range(o.N):
        o.d[i] = store(o.d[i] * factor)


def accumulate_f32(o):
    for i in range(o.N):
        o.y[i] = store(o.y[i] + o.d[i])
