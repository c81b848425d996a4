"""The gradient of images enlarged in float32."""

from .float32 import rounded, store
from .join_upsample_i8 import copies


def upsample2d_dx_f32(o):
    """dx = sum_(sh,sw) e

    dx=f32[B*H*W*N] e:f32[B*H*SH*W*SW*N] ; B H W N SH SW
    """
    width = o.W * o.SW
    for row in range(o.B * o.H):
        for w in range(o.W):
            starts = list(copies(o, row, w, width))
            for n in range(o.N):
                total = 0.0
                for i in starts:
                    total = rounded(total + o.e[i + n])
                o.dx[(row * o.W + w) * o.N + n] = store(total)
