"""Max-pooling in int8, forward beside backward."""

from .data import Sink, blank
from .pool import choices_fit, chosen, pool, pool_choosing


def maxpool2d_i8(o):
    for _ in pool(o, -128):
        pass


def maxpool2d_choice_i8(o):
    pool_choosing(o, -128)


def unpool2d_i8(o):
    if not choices_fit(o):
        return
    blank(o.dx)
    sink = Sink(o.dx, o.peak)
    for i, at in chosen(o):
        sink.put(i, o.dx[i] + o.e[at])
    sink.close()
