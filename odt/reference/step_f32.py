"""A step of a float32 network: its batch."""

from ..base.fixed import bits_to_float
from ..base.regions import FLOAT32, X_FORMAT, X_SCALE, X_ZERO
from .data import samples
from .float32 import affine, store


def gather_f32(o):
    """y[b] = x[order(b)]

    y=f32[B*F] c: x:buf ; B F
    """
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
