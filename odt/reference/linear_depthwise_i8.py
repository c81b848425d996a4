"""Depthwise convolution in int8, forward beside backward."""

from ..base.primitives import rescale, wrap32
from .data import Sink, positions, rows, windows


def depthwise2d_i8(o):
    """y = clamp(zy + q[n] * (b[n] + sum_(kh,kw) (x - zx) * w))

    y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*N] w:i8[N*KH*KW] b:i32[N] q:mul[N] ; @ zx zy lo
    """
    x, w, q, zx, channels = o.x, o.w, o.q, o.zx, o.N
    size = o.KH * o.KW
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    at = 0
    for window in windows(o):
        totals = list(o.b)
        for tap, i in positions(o, window, channels):
            for n in range(channels):
                totals[n] += (x[i + n] - zx) * w[n * size + tap]
        for n in range(channels):
            sink.put(at, rescale(wrap32(totals[n]), q[2 * n], q[2 * n + 1]))
            at += 1
    sink.close()


def depthwise2d_dx_i8(o):
    """dx = clamp(q[n] * sum_(kh,kw) e * w)

    dx=i8[B*H*W*N] peak+i32 e:i8[B*OH*OW*N] w:i8[N*KH*KW] q:mul[N] ; @
    """
    e, w, channels = o.e, o.w, o.N
    size = o.KH * o.KW
    totals = [0] * len(o.dx)
    at = 0
    for window in windows(o):
        for tap, i in positions(o, window, channels):
            for n in range(channels):
                totals[i + n] += e[at + n] * w[n * size + tap]
        at += channels
    sink = Sink(o.dx, o.peak)
    for i in range(len(totals)):
        n = i % channels
        sink.put(i, rescale(wrap32(totals[i]), o.q[2 * n], o.q[2 * n + 1]))
    sink.close()


def depthwise2d_dw_i8(o):
    """dw[n - at] = sum_(b,oh,ow) e * (x - zx)

    dw=i32[R*KH*KW] e:i8[B*OH*OW*N] x:i8[B*H*W*N] ; @ zx at R
    """
    e, x, zx, channels = o.e, o.x, o.zx, o.N
    size = o.KH * o.KW
    totals = [0] * len(o.dw)
    at = 0
    for window in windows(o):
        for tap, i in positions(o, window, channels):
            for n in rows(o):
                totals[(n - o.at) * size + tap] += e[at + n] * (x[i + n] - zx)
        at += channels
    for i in range(len(totals)):
        o.dw[i] = wrap32(totals[i])
