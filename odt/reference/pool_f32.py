"""Max-pooling in float32, forward beside backward."""

from .data import blank
from .float32 import store
from .pool import choices_fit, chosen, pool, pool_choosing


def maxpool2d_f32(o):
    for _ in pool(o, 0.0):
        pass


def maxpool2d_choice_f32(o):
    pool_choosing(o, 0.0)


def unpool2d_f32(o):
    if not choices_fit(o):
        return
    blank(o.dx)
    for i, at in chosen(o):
        o.dx[i] = store(o.dx[i] + o.e[at])
