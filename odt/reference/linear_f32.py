"""Dense layers and convolution in float32, forward beside backward: docs/reference/numerics.md orders every sum."""

from array import array

from .data import blank, outputs, positions, rows, windows, zeros
from .float32 import cell, rounded, store


def _dot(total, a, b):
    """total + a[0] * b[0] + a[1] * b[1] + ..., rounded at each step."""
    one = cell
    for p in array("f", [u * v for u, v in zip(a, b)]):
        one[0] = total + p
        total = one[0]
    return total


def _add_scaled(totals, factor, row):
    """totals + factor * row, rounded at each step."""
    products = array("f", [factor * v for v in row])
    return array("f", [t + p for t, p in zip(totals, products)])


def put(out, at, totals, relu=0):
    for i in range(len(totals)):
        v = store(totals[i])
        out[at + i] = 0.0 if relu and v < 0 else v


def dense_f32(o):
    """y = b[n] + sum_k x * w

    y=f32[M*N] x:f32[M*K] w:f32[N*K] b:f32[N] ; M K N relu
    """
    w, size = o.w, o.K
    for m in range(o.M):
        x = o.x[m * size : (m + 1) * size]
        totals = [_dot(o.b[n], x, w[n * size : (n + 1) * size]) for n in range(o.N)]
        put(o.y, m * o.N, totals, o.relu)


def dense_dx_f32(o):
    """dx = sum_n e * w

    dx=f32[M*K] e:f32[M*N] w:f32[N*K] ; M K N
    """
    w, size = o.w, o.K
    for m in range(o.M):
        totals = zeros(size)
        for n in range(o.N):
            totals = _add_scaled(totals, o.e[m * o.N + n], w[n * size : (n + 1) * size])
        put(o.dx, m * size, totals)


def dense_dw_f32(o):
    """dw[n - at] = sum_m e * x

    dw=f32[R*K] e:f32[M*N] x:f32[M*K] ; M K N at R
    """
    x, size = o.x, o.K
    blank(o.dw)
    for n in rows(o):
        totals = zeros(size)
        for m in range(o.M):
            totals = _add_scaled(totals, o.e[m * o.N + n], x[m * size : (m + 1) * size])
        put(o.dw, (n - o.at) * size, totals)


def bias_dw_f32(o):
    """db = sum_m e

    db=f32[N] e:f32[M*N] ; M N
    """
    for n in range(o.N):
        total = 0.0
        for m in range(o.M):
            total = rounded(total + o.e[m * o.N + n])
        o.db[n] = store(total)


# Convolution


def conv2d_f32(o):
    """y = b[n] + sum_(kh,kw,c) x * w

    y=f32[B*OH*OW*N] x:f32[B*H*W*C] w:f32[N*KH*KW*C] b:f32[N] ; @ relu
    """
    x, w, channels = o.x, o.w, o.C
    size = o.KH * o.KW * channels
    at = 0
    for window in windows(o):
        patch = []
        taps = []
        for tap, i in positions(o, window, channels):
            patch.extend(x[i : i + channels])
            taps.append(tap * channels)
        totals = []
        for n in range(o.N):
            filters = []
            for first in taps:
                filters.extend(w[n * size + first : n * size + first + channels])
            totals.append(_dot(o.b[n], patch, filters))
        put(o.y, at, totals, o.relu)
        at += o.N


def conv2d_dx_f32(o):
    """dx = sum_(kh,kw,n) e * w

    dx=f32[B*H*W*C] e:f32[B*OH*OW*N] w:f32[N*KH*KW*C] ; @
    """
    e, w, channels = o.e, o.w, o.C
    size = o.KH * o.KW * channels
    at = 0
    for b in range(o.B):
        for ih in range(o.H):
            for iw in range(o.W):
                totals = zeros(channels)
                for tap, position in outputs(o, ih, iw, o.OH, o.OW):
                    i = (b * o.OH * o.OW + position) * o.N
                    for n in range(o.N):
                        first = n * size + tap * channels
                        totals = _add_scaled(totals, e[i + n], w[first : first + channels])
                put(o.dx, at, totals)
                at += channels


def conv2d_dw_f32(o):
    """dw[n - at] = sum_(b,oh,ow) e * x

    dw=f32[R*KH*KW*C] e:f32[B*OH*OW*N] x:f32[B*H*W*C] ; @ at R
    """
    e, x, channels = o.e, o.x, o.C
    size = o.KH * o.KW * channels
    blank(o.dw)
    at = 0
    for window in windows(o):
        for tap, i in positions(o, window, channels):
            row = x[i : i + channels]
            for n in rows(o):
                first = (n - o.at) * size + tap * channels
                last = first + channels
                o.dw[first:last] = _add_scaled(o.dw[first:last], e[at + n], row)
        at += o.N
    put(o.dw, 0, o.dw)


# In groups, and transposed: sums have the order of the lists, but for two gradients
