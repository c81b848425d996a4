"""Depthwise convolution in float32, forward beside backward."""

from array import array

from .data import blank, outputs, positions, rows, windows, zeros
from .linear_f32 import put


def depthwise2d_f32(o):
    """y = b[n] + sum_(kh,kw) x * w

    y=f32[B*OH*OW*N] x:f32[B*H*W*N] w:f32[N*KH*KW] b:f32[N] ; @ relu
    """
    x, channels = o.x, o.N
    filters = _taps(o)
    at = 0
    for window in windows(o):
        totals = o.b[0:channels]
        for tap, i in positions(o, window, channels):
            totals = _add_products(totals, x[i : i + channels], filters[tap])
        put(o.y, at, totals, o.relu)
        at += channels


def depthwise2d_dx_f32(o):
    """dx = sum_(kh,kw) e * w

    dx=f32[B*H*W*N] e:f32[B*OH*OW*N] w:f32[N*KH*KW] ; @
    """
    e, channels = o.e, o.N
    filters = _taps(o)
    at = 0  # the loops are conv2d_dx_f32's, another module: a model loads those of its layers
    for b in range(o.B):
        for ih in range(o.H):
            for iw in range(o.W):
                totals = zeros(channels)
                for tap, position in outputs(o, ih, iw, o.OH, o.OW):
                    i = (b * o.OH * o.OW + position) * channels
                    totals = _add_products(totals, e[i : i + channels], filters[tap])
                put(o.dx, at, totals)
                at += channels


def depthwise2d_dw_f32(o):
    """dw[n - at] = sum_(b,oh,ow) e * x

    dw=f32[R*KH*KW] e:f32[B*OH*OW*N] x:f32[B*H*W*N] ; @ at R
    """
    e, x, channels = o.e, o.x, o.N
    size = o.KH * o.KW
    totals = [zeros(channels) for _ in range(size)]
    at = 0
    for window in windows(o):
        row = e[at : at + channels]
        for tap, i in positions(o, window, channels):
            totals[tap] = _add_products(totals[tap], row, x[i : i + channels])
        at += channels
    blank(o.dw)
    for n in rows(o):
        put(o.dw, (n - o.at) * size, [row[n] for row in totals])


def _taps(o):
    """The depthwise filters [N, KH, KW] as a list of rows [N], one for each tap."""
    size = o.KH * o.KW
    return [[o.w[n * size + tap] for n in range(o.N)] for tap in range(size)]


def _add_products(totals, a, b):
    """totals + a * b, elementwise, rounded at each step."""
    products = array("f", [u * v for u, v in zip(a, b)])
    return array("f", [t + p for t, p in zip(totals, products)])
