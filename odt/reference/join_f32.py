"""Several float32 tensors into one, and the gradient of images enlarged."""

from .float32 import rounded, store
from .join import copies


def add_f32(o):
    for i in range(o.N):
        v = store(o.a[i] + o.b[i])
        o.y[i] = 0.0 if o.relu and v < 0 else v


def multiply_f32(o):
    for i in range(o.N):
        o.y[i] = store(o.a[i] * o.b[i])


def upsample2d_dx_f32(o):
    width = o.W * o.SW
    for row in range(o.B * o.H):
        for w in range(o.W):
            starts = list(copies(o, row, w, width))
            for n in range(o.N):
                total = 0.0
                for i in starts:
                    total = rounded(total + o.e[i + n])
                o.dx[(row * o.W + w) * o.N + n] = store(total)
