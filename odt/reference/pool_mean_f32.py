"""Mean pooling in float32, forward beside backward: of windows, and of all."""

from .data import zeros
from .float32 import rounded, store
from .pool import average_windows


def globalavg_f32(o):
    """y = sum_s x / S

    y=f32[B*N] x:f32[B*S*N] ; B S N
    """
    factor = rounded(1.0 / o.S)
    for b in range(o.B):
        for n in range(o.N):
            total = 0.0
            for s in range(o.S):
                total = rounded(total + o.x[(b * o.S + s) * o.N + n])
            o.y[b * o.N + n] = store(total * factor)


def globalavg_dx_f32(o):
    """dx[s] = e / S

    dx=f32[B*S*N] e:f32[B*N] ; B S N
    """
    factor = rounded(1.0 / o.S)
    for b in range(o.B):
        for s in range(b * o.S, (b + 1) * o.S):
            for n in range(o.N):
                o.dx[s * o.N + n] = store(o.e[b * o.N + n] * factor)


def avgpool2d_f32(o):
    """y = mean of x over the window's positions inside x

    y=f32[B*OH*OW*N] x:f32[B*H*W*N] ; @ adaptive
    """
    at = 0
    for offsets in average_windows(o):
        for n in range(o.N):
            total = 0.0
            for i in offsets:
                total = rounded(total + o.x[i + n])
            o.y[at] = store(total / rounded(float(len(offsets)))) if offsets else 0.0
            at += 1


def avgpool2d_dx_f32(o):
    """dx = sum of e / count over the windows that hold it

    dx=f32[B*H*W*N] e:f32[B*OH*OW*N] ; @ adaptive
    """
    totals = zeros(len(o.dx))
    at = 0
    for offsets in average_windows(o):
        for n in range(o.N):
            if offsets:
                part = rounded(o.e[at] / rounded(float(len(offsets))))
            at += 1
            for i in offsets:
                totals[i + n] = totals[i + n] + part
    for i in range(len(totals)):
        o.dx[i] = store(totals[i])
