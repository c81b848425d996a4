"""Sums and products of tensors: in int8 each in a scale of its own; in float32."""

from ..base.primitives import rescale, sat32, wrap32
from .data import Sink
from .float32 import store


def add_i8(o):
    """y = clamp(zy + qa * (a - za) + qb * (b - zb))

    y=i8[N]~a peak+i32 a:i8[N] b:i8[N] qa:mul qb:mul ; N' za zb zy lo
    """
    _add(o, 8)


def add_once_i8(o):
    """as add_i8, with terms in 2^-16 of y's steps

    y=i8[N]~a peak+i32 a:i8[N] b:i8[N] qa:mul qb:mul ; N' za zb zy lo
    """
    _add(o, 16)


def _add(o, bits):
    """The sum of terms in 2^-bits of y's steps."""
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for i in range(o.N):
        a = rescale((o.a[i] - o.za) << bits, o.qa[0], o.qa[1])
        b = rescale((o.b[i] - o.zb) << bits, o.qb[0], o.qb[1])
        sink.put(i, (sat32(a + b) + (1 << (bits - 1))) >> bits)
    sink.close()


def multiply_i8(o):
    """y = clamp(zy + q * (a - za) * (b - zb))

    y=i8[N] peak+i32 a:i8[N] b:i8[N] q:mul ; N' za zb zy lo
    """
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for i in range(o.N):
        v = wrap32((o.a[i] - o.za) * (o.b[i] - o.zb))
        sink.put(i, rescale(v, o.q[0], o.q[1]))
    sink.close()


# float32


def add_f32(o):
    """y = a + b

    y=f32[N]~a a:f32[N] b:f32[N] ; N' relu
    """
    for i in range(o.N):
        v = store(o.a[i] + o.b[i])
        o.y[i] = 0.0 if o.relu and v < 0 else v


def multiply_f32(o):
    """y = a * b

    y=f32[N]~a a:f32[N] b:f32[N] ; N'
    """
    for i in range(o.N):
        o.y[i] = store(o.a[i] * o.b[i])
