"""Concatenation: tensors as columns of a wider one, and these taken out again, which serves either dtype; in int8 rescaled."""

from ..fixed import rescale
from .data import Sink


def concat_i8(o):
    """y[m, at + k] = clamp(zy + q * (x[m, k] - zx))

    y+i8[M*N] peak+i32[1] x:i8[M*K] q:mul[1] ; M K N at zx zy lo
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


def _fits(o):
    """Whether columns at .. at + K lie among N."""
    return o.at >= 0 and o.K <= o.N and o.at <= o.N - o.K
