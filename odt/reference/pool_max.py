"""Max-pooling, forward beside backward."""

from .data import Sink, blank
from .float32 import store
from .pool import argmax, choices_fit, pool, pool_choosing


def maxpool2d_i8(o):
    """y = max_(kh,kw) x

    y=i8[B*OH*OW*N] x:i8[B*H*W*N] ; @
    """
    for _ in pool(o, -128):
        pass


def maxpool2d_choice_i8(o):
    """y = max_(kh,kw) x; choice = kh * KW + kw of the first largest

    y=i8[B*OH*OW*N] choice=i8[S] x:i8[B*H*W*N] ; @ S bits
    """
    pool_choosing(o, -128)


def unpool2d_i8(o):
    """dx = sum of e over the windows that chose this position

    dx=i8[B*H*W*N] peak+i32 e:i8[B*OH*OW*N] choice:i8[S] ; @ S bits
    """
    if not choices_fit(o):
        return
    blank(o.dx)
    sink = Sink(o.dx, o.peak)
    for i, at in argmax(o):
        sink.put(i, o.dx[i] + o.e[at])
    sink.close()


def maxpool2d_f32(o):
    """y = max_(kh,kw) x

    y=f32[B*OH*OW*N] x:f32[B*H*W*N] ; @
    """
    for _ in pool(o, 0.0):
        pass


def maxpool2d_choice_f32(o):
    """y = max_(kh,kw) x; choice = kh * KW + kw of the first largest

    y=f32[B*OH*OW*N] choice=i8[S] x:f32[B*H*W*N] ; @ S bits
    """
    pool_choosing(o, 0.0)


def unpool2d_f32(o):
    """dx = sum of e over the windows that chose this position

    dx=f32[B*H*W*N] e:f32[B*OH*OW*N] choice:i8[S] ; @ S bits
    """
    if not choices_fit(o):
        return
    blank(o.dx)
    for i, at in argmax(o):
        o.dx[i] = store(o.dx[i] + o.e[at])
