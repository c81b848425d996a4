"""ReLU and its kin in float32, forward beside backward, and their masks as bits."""

from ..base.fixed import bits_to_float
from .data import masked, open_bits
from .float32 import store


def relu_f32(o):
    """y = max(x, 0)

    y=f32[N]~x x:f32[N] ; N'
    """
    for i in range(o.N):
        v = o.x[i]
        o.y[i] = 0.0 if v < 0 else v


def relu_dx_f32(o):
    """dx = e where y > 0, else 0

    dx=f32[N]~e e:f32[N] y:f32[N] ; N'
    """
    for i in range(o.N):
        o.dx[i] = o.e[i] if o.y[i] > 0 else 0.0


def relu6_f32(o):
    """y = min(max(x, 0), 6)

    y=f32[N]~x x:f32[N] ; N'
    """
    for i in range(o.N):
        x = o.x[i]
        o.y[i] = 0.0 if x < 0 else 6.0 if x > 6 else x


def relu6_dx_f32(o):
    """dx = e where 0 < y < 6, else 0

    dx=f32[N]~e e:f32[N] y:f32[N] ; N'
    """
    for i in range(o.N):
        o.dx[i] = o.e[i] if 0 < o.y[i] < 6 else 0.0


def leaky_relu_f32(o):
    """y = x where x > 0, else slope * x

    y=f32[N]~x x:f32[N] ; N' slope
    """
    slope = bits_to_float(o.slope)
    for i in range(o.N):
        o.y[i] = o.x[i] if o.x[i] > 0 else store(o.x[i] * slope)


def leaky_relu_dx_f32(o):
    """dx = e where y > 0, else slope * e

    dx=f32[N]~e e:f32[N] y:f32[N] ; N' slope
    """
    slope = bits_to_float(o.slope)
    for i in range(o.N):
        o.dx[i] = o.e[i] if o.y[i] > 0 else store(o.e[i] * slope)


# Masks


def open_f32(o):
    """bit i = 0 < y[i] < hi

    bits=i8[S] y:f32[N] ; N' S hi
    """
    open_bits(o, 0.0, bits_to_float(o.hi))


def masked_f32(o):
    """dx[i] = e[i] where bit i, else 0

    dx=f32[N]~e e:f32[N] bits:i8[S] ; N' S
    """
    masked(o)
