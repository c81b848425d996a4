"""Convolutions in groups and transposed ones of the reference executor, int8 and float32."""

from .fixed import rescale, wrap32
from .reference_data import outputs, positions, rows, windows
from .reference_f32 import rounded, store, zeros
from .reference_i8 import Sink

# Both kinds are a list of products: for each output element, in order, the pairs of an offset in x
# and one in w whose products it sums. The gradients sum the same products, sorted otherwise.


def _group_products(o):
    """Yield (output n, offsets of the taps in x, offsets in w) for each element of y."""
    per = max(1, o.N // o.G)
    size = o.KH * o.KW * o.C
    for window in windows(o):
        taps = list(positions(o, window, o.G * o.C))
        for n in range(o.N):
            first = min(n // per, o.G - 1) * o.C
            yield n, [i + first for _, i in taps], [n * size + tap * o.C for tap, _ in taps]


def _transposed_products(o):
    size = o.KH * o.KW * o.C
    for b in range(o.B):
        for oh in range(o.OH):
            for ow in range(o.OW):
                x = []
                taps = []
                for tap, i in outputs(o, oh, ow, o.H, o.W):
                    x.append((b * o.H * o.W + i) * o.C)
                    taps.append(tap * o.C)
                for n in range(o.N):
                    yield n, x, [n * size + tap for tap in taps]


# int8


def _forward_i8(o, products):
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    at = 0
    for n, x, w in products(o):
        total = o.b[n]
        for i, k in zip(x, w):
            for c in range(o.C):
                total += (o.x[i + c] - o.zx) * o.w[k + c]
        sink.put(at, rescale(wrap32(total), o.q[2 * n], o.q[2 * n + 1]))
        at += 1
    sink.close()


def _dx_i8(o, products):
    totals = [0] * len(o.dx)
    at = 0
    for n, x, w in products(o):
        e = o.e[at]
        at += 1
        for i, k in zip(x, w):
            for c in range(o.C):
                totals[i + c] += e * o.w[k + c]
    sink = Sink(o.dx, o.peak)
    for i in range(len(totals)):
        sink.put(i, rescale(wrap32(totals[i]), o.q[0], o.q[1]))
    sink.close()


def _dw_i8(o, products):
    totals = [0] * len(o.dw)
    first = o.at * o.KH * o.KW * o.C
    at = 0
    for n, x, w in products(o):
        e = o.e[at]
        at += 1
        if n not in rows(o):
            continue
        for i, k in zip(x, w):
            for c in range(o.C):
                totals[k - first + c] += e * (o.x[i + c] - o.zx)
    for i in range(len(totals)):
        o.dw[i] = wrap32(totals[i])


def group_conv2d_i8(o):
    _forward_i8(o, _group_products)


def group_conv2d_dx_i8(o):
    _dx_i8(o, _group_products)


def group_conv2d_dw_i8(o):
    _dw_i8(o, _group_products)


def transposed2d_i8(o):
    _forward_i8(o, _transposed_products)


def transposed2d_dx_i8(o):
    _dx_i8(o, _transposed_products)


def transposed2d_dw_i8(o):
    _dw_i8(o, _transposed_products)


# float32: sums have an order, which is that of the lists, but for two gradients


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


def group_conv2d_f32(o):
    _forward_f32(o, _group_products)


def group_conv2d_dx_f32(o):
    _sums_f32(o.dx, _dx_terms(o, _group_products), o.C)


def group_conv2d_dw_f32(o):
    _sums_f32(o.dw, _dw_terms(o, _group_products), o.C)


def transposed2d_f32(o):
    _forward_f32(o, _transposed_products)


def transposed2d_dx_f32(o):
    _sums_f32(o.dx, _dx_terms(o, _transposed_products), o.C)


def transposed2d_dw_f32(o):
    _sums_f32(o.dw, _dw_terms(o, _transposed_products), o.C)
