"""Convolution in groups, and transposed convolution, in int8: sums of the products that linear_group.py lists."""

from ..base.primitives import rescale, wrap32
from .data import Sink, rows
from .linear_group import group_products, transposed_products


def group_conv2d_i8(o):
    """as conv2d_i8; output n reads the C channels of its group, n * G / N

    y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*G*C] w:i8[N*KH*KW*C] b:i32[N] q:mul[N] ; @ G zx zy lo
    """
    _forward(o, group_products)


def group_conv2d_dx_i8(o):
    """dx = clamp(q * sum_(kh,kw,n of the group) e * w)

    dx=i8[B*H*W*G*C] peak+i32 e:i8[B*OH*OW*N] w:i8[N*KH*KW*C] q:mul ; @ G
    """
    _dx(o, group_products)


def group_conv2d_dw_i8(o):
    """dw[n - at] = sum_(b,oh,ow) e * (x - zx)

    dw=i32[R*KH*KW*C] e:i8[B*OH*OW*N] x:i8[B*H*W*G*C] ; @ G zx at R
    """
    _dw(o, group_products)


def transposed2d_i8(o):
    """y[oh, ow] = clamp(zy + q[n] * (b[n] + sum_(kh,kw,c) (x[ih, iw] - zx) * w)), oh = ih * SH - PT + kh

    y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*C] w:i8[N*KH*KW*C] b:i32[N] q:mul[N] ; @ zx zy lo
    """
    _forward(o, transposed_products)


def transposed2d_dx_i8(o):
    """dx[ih, iw] = clamp(q * sum_(kh,kw,n) e[oh, ow] * w)

    dx=i8[B*H*W*C] peak+i32 e:i8[B*OH*OW*N] w:i8[N*KH*KW*C] q:mul ; @
    """
    _dx(o, transposed_products)


def transposed2d_dw_i8(o):
    """dw[n - at] = sum_(b,ih,iw) e[oh, ow] * (x[ih, iw] - zx)

    dw=i32[R*KH*KW*C] e:i8[B*OH*OW*N] x:i8[B*H*W*C] ; @ zx at R
    """
    _dw(o, transposed_products)


def _forward(o, products):
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


def _dx(o, products):
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


def _dw(o, products):
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
