"""Concatenation: tensors as columns of a wider one, and these taken out again, which serves either dtype; in int8
rescaled.

And images as batches of every second, third .. pixel, for dilated convolutions: plan/dilated.py.
"""

from ..base.primitives import rescale
from .data import Sink


def concat_i8(o):
    """y[m, at + k] = clamp(zy + q * (x[m, k] - zx))

    y+i8[M*N] peak+i32 x:i8[M*K] q:mul ; M K N at zx zy lo
    """
    if not _fits(o):
        return
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for m in range(o.M):
        for k in range(o.K):
            v = rescale(o.x[m * o.K + k] - o.zx, o.q[0], o.q[1])
            sink.put(m * o.N + o.at + k, v)
    sink.close()


def place(o):
    """y[m, at + k] = x[m, k], in bytes

    y+i8[M*N] x:i8[M*K] ; M K N at
    """
    if _fits(o):
        for m in range(o.M):
            first = m * o.N + o.at
            o.y[first : first + o.K] = o.x[m * o.K : (m + 1) * o.K]


def slice(o):
    """y[m, k] = x[m, at + k], in bytes

    y=i8[M*K] x:i8[M*N] ; M K N at
    """
    inside = _fits(o)
    for m in range(o.M):
        first = m * o.N + o.at
        for k in range(o.K):
            o.y[m * o.K + k] = o.x[first + k] if inside else 0


def space_to_batch(o):
    """y[b, p, q, i, j] = x[b, i * SH + p - PT, j * SW + q - PL], beside x fill, in bytes

    y=i8[B*SH*SW*OH*OW*U] x:i8[B*H*W*U] ; B H W U SH SW PT PL OH OW fill
    """
    size = o.U
    fill = (o.fill + 128 & 255) - 128
    at = 0
    for i in _spread(o):
        for k in range(size):
            o.y[at + k] = fill if i is None else o.x[i + k]
        at += size


def batch_to_space(o):
    """the inverse of space_to_batch; beside its y 0

    y=i8[B*H*W*U] x:i8[B*SH*SW*OH*OW*U] ; B H W U SH SW PT PL OH OW
    """
    size = o.U
    for k in range(len(o.y)):
        o.y[k] = 0
    at = 0
    for i in _spread(o):
        if i is not None:
            o.y[i : i + size] = o.x[at : at + size]
        at += size


def _spread(o):
    """Yield, for each pixel of the phases (b, p, q, i, j), where it is in the image [B, H, W, U], None beside it."""
    for b in range(o.B):
        for p in range(o.SH):
            for q in range(o.SW):
                for i in range(o.OH):
                    h = i * o.SH + p - o.PT
                    for j in range(o.OW):
                        w = j * o.SW + q - o.PL
                        yield ((b * o.H + h) * o.W + w) * o.U if 0 <= h < o.H and 0 <= w < o.W else None


def _fits(o):
    """Whether columns at .. at + K lie among N."""
    return o.at >= 0 and o.K <= o.N and o.at <= o.N - o.K
