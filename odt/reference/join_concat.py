"""Concatenation: tensors as columns of a wider one, and these taken out again, which serves either dtype; in int8 rescaled."""

from ..fixed import rescale
from .data import Sink


def concat_i8(o):
    if not _fits(o):
        return
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for m in range(o.M):
        for k in range(o.K):
            v = rescale(o.x[m * o.K + k] - o.zx, o.q[0], o.q[1])
            sink.put(m * o.N + o.at + k, v)
    sink.close()


def place(o):
    if _fits(o):
        for m in range(o.M):
            first = m * o.N + o.at
            o.y[first : first + o.K] = o.x[m * o.K : (m + 1) * o.K]


def slice(o):
    inside = _fits(o)
    for m in range(o.M):
        first = m * o.N + o.at
        for k in range(o.K):
            o.y[m * o.K + k] = o.x[first + k] if inside else 0


def _fits(o):
    """Whether columns at .. at + K lie among N."""
    return 0 <= o.at and o.K <= o.N and o.at <= o.N - o.K
