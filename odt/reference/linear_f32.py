"""Dense layers and convolutions in float32, forward beside backward: docs/numerics.md orders every sum."""

from array import array

from .data import blank, outputs, positions, rows, windows
from .float32 import _cell, rounded, store, zeros
from .linear import group_products, transposed_products


def _dot(total, a, b):
    """total + a[0] * b[0] + a[1] * b[1] + ..., rounded at each step."""
    cell = _cell
    for p in array("f", [u * v for u, v in zip(a, b)]):
        cell[0] = total + p
        total = cell[0]
    return total


def _add_scaled(totals, factor, row):
    """totals + factor * row, rounded at each step."""
    products = array("f", [factor * v for v in row])
    return array("f", [t + p for t, p in zip(totals, products)])


def _put(out, at, totals, relu=0):
    for i in range(len(totals)):
        v = store(totals[i])
        out[at + i] = 0.0 if relu and v < 0 else v


def dense_f32(o):
    w, size = o.w, o.K
    for m in range(o.M):
        x = o.x[m * size : (m + 1) * size]
        totals = [_dot(o.b[n], x, w[n * size : (n + 1) * size]) for n in range(o.N)]
        _put(o.y, m * o.N, totals, o.relu)


def dense_dx_f32(o):
    w, size = o.w, o.K
    for m in range(o.M):
        totals = zeros(size)
        for n in range(o.N):
            totals = _add_scaled(totals, o.e[m * o.N + n], w[n * size : (n + 1) * size])
        _put(o.dx, m * size, totals)


def dense_dw_f32(o):
    x, size = o.x, o.K
    blank(o.dw)
    for n in rows(o):
        totals = zeros(size)
        for m in range(o.M):
            totals = _add_scaled(totals, o.e[m * o.N + n], x[m * size : (m + 1) * size])
        _put(o.dw, (n - o.at) * size, totals)


def bias_dw_f32(o):
    for n in range(o.N):
        total = 0.0
        for m in range(o.M):
            total = rounded(total + o.e[m * o.N + n])
        o.db[n] = store(total)


# Convolution


def conv2d_f32(o):
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
        _put(o.y, at, totals, o.relu)
        at += o.N


def conv2d_dx_f32(o):
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
                _put(o.dx, at, totals)
                at += channels


def conv2d_dw_f32(o):
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
    _put(o.dw, 0, o.dw)


# Depthwise


def depthwise2d_f32(o):
    x, channels = o.x, o.N
    filters = _taps(o)
    at = 0
    for window in windows(o):
        totals = o.b[0:channels]
        for tap, i in positions(o, window, channels):
            totals = _add_products(totals, x[i : i + channels], filters[tap])
        _put(o.y, at, totals, o.relu)
        at += channels


def depthwise2d_dx_f32(o):
    e, channels = o.e, o.N
    filters = _taps(o)
    at = 0
    for b in range(o.B):
        for ih in range(o.H):
            for iw in range(o.W):
                totals = zeros(channels)
                for tap, position in outputs(o, ih, iw, o.OH, o.OW):
                    i = (b * o.OH * o.OW + position) * channels
                    totals = _add_products(totals, e[i : i + channels], filters[tap])
                _put(o.dx, at, totals)
                at += channels


def depthwise2d_dw_f32(o):
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
        _put(o.dw, (n - o.at) * size, [row[n] for row in totals])


def _taps(o):
    """The depthwise filters [N, KH, KW] as a list of rows [N], one for each tap."""
    size = o.KH * o.KW
    return [[o.w[n * size + tap] for n in range(o.N)] for tap in range(size)]


def _add_products(totals, a, b):
    """totals + a * b, elementwise, rounded at each step."""
    products = array("f", [u * v for u, v in zip(a, b)])
    return array("f", [t + p for t, p in zip(totals, products)])


# In groups, and transposed: sums have the order of the lists, but for two gradients


def group_conv2d_f32(o):
    _forward_f32(o, group_products)


def group_conv2d_dx_f32(o):
    _sums_f32(o.dx, _dx_terms(o, group_products), o.C)


def group_conv2d_dw_f32(o):
    _sums_f32(o.dw, _dw_terms(o, group_products), o.C)


def transposed2d_f32(o):
    _forward_f32(o, transposed_products)


def transposed2d_dx_f32(o):
    _sums_f32(o.dx, _dx_terms(o, transposed_products), o.C)


def transposed2d_dw_f32(o):
    _sums_f32(o.dw, _dw_terms(o, transposed_products), o.C)


def _forward_f32(o, products):
    at = 0
    for n, x, w in products(o):
        total = o.b[n]
        for i, k in zip(x, w):
            for c in range(o.C):
                total = rounded(total + rounded(o.x[i + c] * o.w[k + c]))
        total = store(total)
        o.y[at] = 0.0 if o.relu and total < 0 else total
        at += 1


def _sums_f32(out, terms, size):
    """out[to] = sum of e * values[first ..] over terms (to, e, values, first), each of size."""
    totals = zeros(len(out))
    for to, e, values, first in terms:
        for c in range(size):
            totals[to + c] = totals[to + c] + rounded(e * values[first + c])
    for i in range(len(out)):
        out[i] = store(totals[i])


def _dx_terms(o, products):
    """Terms (kh, kw, n) ascending for each position of x."""
    by_tap = []
    at = 0
    for n, x, w in products(o):
        for i, k in zip(x, w):
            by_tap.append((k % (o.KH * o.KW * o.C), n, i, o.e[at], k))
        at += 1
    by_tap.sort()
    for _, _, i, e, k in by_tap:
        yield i, e, o.w, k


def _dw_terms(o, products):
    """Terms (b, ih, iw), or (b, oh, ow), ascending for each tap."""
    first = o.at * o.KH * o.KW * o.C
    at = 0
    for n, x, w in products(o):
        for i, k in zip(x, w) if n in rows(o) else ():
            yield k - first, o.e[at], o.x, i
        at += 1
