"""ReLU and its kin in int8, forward beside backward, and their masks as bits."""

from ..base.fixed import hash32, multiplier
from ..base.primitives import rescale, rescale_random
from ..base.regions import KEY
from .data import masked, open_bits


def relu_i8(o):
    """y = max(x, z)

    y=i8[N]~x x:i8[N] ; N' z
    """
    for i in range(o.N):
        o.y[i] = max(o.x[i], o.z)


def relu_dx_i8(o):
    """dx = e where y > lo, else 0

    dx=i8[N]~e e:i8[N] y:i8[N] ; N' lo
    """
    for i in range(o.N):
        o.dx[i] = o.e[i] if o.y[i] > o.lo else 0


def relu6_dx_i8(o):
    """dx = e where -128 < y < 127, else 0

    dx=i8[N]~e e:i8[N] y:i8[N] ; N'
    """
    for i in range(o.N):
        o.dx[i] = o.e[i] if -128 < o.y[i] < 127 else 0


def leaky_relu_i8(o):
    """y = x where x > z, else z + slope * (x - z)

    y=i8[N]~x x:i8[N] ; N' z slope
    """
    m, s = multiplier(o.slope)
    for i in range(o.N):
        v = o.x[i] - o.z
        if v < 0:
            v = rescale(v, m, s)
        o.y[i] = max(-128, min(127, o.z + v))


def lookup_i8(o):
    """y = table[x + 128]

    y=i8[N]~x x:i8[N] table:i8[4*64] ; N'
    """
    for i in range(o.N):
        o.y[i] = o.table[o.x[i] + 128]


def leaky_relu_dx_i8(o):
    """dx = e where x > z, else slope * e

    dx=i8[N]~e e:i8[N] x:i8[N] c: ; N' z slope id
    """
    m, s = multiplier(o.slope)
    key = hash32(o.c[KEY], o.id)
    for i in range(o.N):
        v = o.e[i]
        if o.x[i] <= o.z:
            v = rescale_random(v, m, s, hash32(key, i))
        o.dx[i] = max(-127, min(127, v))


# Masks


def open_i8(o):
    """bit i = lo < y[i] < hi

    bits=i8[S] y:i8[N] ; N' S lo hi
    """
    open_bits(o, o.lo, o.hi)


def masked_i8(o):
    """dx[i] = e[i] where bit i, else 0

    dx=i8[N]~e e:i8[N] bits:i8[S] ; N' S
    """
    masked(o)
