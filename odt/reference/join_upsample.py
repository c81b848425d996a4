"""Images enlarged: x[h, w] becomes SH rows of SW columns, which serves either dtype; its gradients."""

from ..base.primitives import rescale, wrap32
from .data import Sink
from .float32 import rounded, store


def upsample2d(o):
    """y[h, w] = x[h / SH, w / SW], in bytes

    y=i8[B*H*SH*W*SW*N] x:i8[B*H*W*N] ; B H W N SH SW
    """
    size = o.N
    width = o.W * o.SW
    for row in range(o.B * o.H):
        for w in range(o.W):
            at = (row * o.W + w) * size
            for i in copies(o, row, w, width):
                o.y[i : i + size] = o.x[at : at + size]


def upsample2d_dx_i8(o):
    """dx = clamp(q * sum_(sh,sw) e)

    dx=i8[B*H*W*N] peak+i32 e:i8[B*H*SH*W*SW*N] q:mul ; B H W N SH SW
    """
    width = o.W * o.SW
    sink = Sink(o.dx, o.peak)
    for row in range(o.B * o.H):
        for w in range(o.W):
            starts = list(copies(o, row, w, width))
            for n in range(o.N):
                total = wrap32(sum([o.e[i + n] for i in starts]))
                sink.put((row * o.W + w) * o.N + n, rescale(total, o.q[0], o.q[1]))
    sink.close()


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


def copies(o, row, w, width):
    """Yield the offsets of x[row, w]'s copies in an enlarged image, of all batches' rows."""
    for sh in range(o.SH):
        for sw in range(o.SW):
            yield ((row * o.SH + sh) * width + w * o.SW + sw) * o.N
