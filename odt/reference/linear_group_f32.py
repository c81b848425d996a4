"""Convolution in groups, and transposed convolution, in float32: sums of the products that linear_group.py lists.

The sums have the order of the lists, but for two gradients.
"""

from .data import rows, zeros
from .float32 import rounded, store
from .linear_group import group_products, transposed_products


def group_conv2d_f32(o):
    """y = b[n] + sum_(kh,kw,c of the group) x * w

    y=f32[B*OH*OW*N] x:f32[B*H*W*G*C] w:f32[N*KH*KW*C] b:f32[N] ; @ G relu
    """
    _forward(o, group_products)


def group_conv2d_dx_f32(o):
    """dx = sum_(kh,kw,n of the group) e * w

    dx=f32[B*H*W*G*C] e:f32[B*OH*OW*N] w:f32[N*KH*KW*C] ; @ G
    """
    _sums(o.dx, _dx_terms(o, group_products), o.C)


def group_conv2d_dw_f32(o):
    """dw[n - at] = sum_(b,oh,ow) e * x

    dw=f32[R*KH*KW*C] e:f32[B*OH*OW*N] x:f32[B*H*W*G*C] ; @ G at R
    """
    _sums(o.dw, _dw_terms(o, group_products), o.C)


def transposed2d_f32(o):
    """y[oh, ow] = b[n] + sum_(kh,kw,c) x[ih, iw] * w, oh = ih * SH - PT + kh

    y=f32[B*OH*OW*N] x:f32[B*H*W*C] w:f32[N*KH*KW*C] b:f32[N] ; @ relu
    """
    _forward(o, transposed_products)


def transposed2d_dx_f32(o):
    """dx[ih, iw] = sum_(kh,kw,n) e[oh, ow] * w

    dx=f32[B*H*W*C] e:f32[B*OH*OW*N] w:f32[N*KH*KW*C] ; @
    """
    _sums(o.dx, _dx_terms(o, transposed_products), o.C)


def transposed2d_dw_f32(o):
    """dw[n - at] = sum_(b,ih,iw) e[oh, ow] * x[ih, iw]

    dw=f32[R*KH*KW*C] e:f32[B*OH*OW*N] x:f32[B*H*W*C] ; @ at R
    """
    _sums(o.dw, _dw_terms(o, transposed_products), o.C)


def _forward(o, products):
    at = 0
    for n, x, w in products(o):
        total = o.b[n]
        for i, k in zip(x, w):
            for c in range(o.C):
                total = rounded(total + rounded(o.x[i + c] * o.w[k + c]))
        total = store(total)
        o.y[at] = 0.0 if o.relu and total < 0 else total
        at += 1


def _sums(out, terms, size):
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
