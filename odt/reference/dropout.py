"""Dropout, forward beside backward, in int8 and float32."""

from ..base.fixed import hash32, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import wrap32
from ..base.regions import KEY, POSITION
from .float32 import rounded


def begin(o):
    """The key of this step, before its tick; 0 outside of training."""
    if o.c[KEY]:
        o.c[KEY] = wrap32(hash32(o.h[1], o.h[0] + 1))
    return o.c[KEY]


def _dropped(o, key):
    """Yield, for each element, whether it is dropped."""
    drop = max(0, min(65535, o.drop)) if key else 0
    key = hash32(key, o.id)
    first = o.c[POSITION] * o.N
    for i in range(o.B * o.N):
        yield hash32(key, first + i) >> 16 < drop


def _kept(o):
    return 65536 - max(0, min(65535, o.drop))


def dropout_i8(o):
    """while KEY is not 0: y = z with probability drop, else x; sy = factor * sx / (1 - drop)

    y=i8[B*N]~x sy=i32 x:i8[B*N] sx:i32 h:i32[4] c+ ; B N z id drop factor
    """
    key = begin(o)
    scale = scale_mul(o.factor, o.sx[0])
    if key:
        scale = scale_div(scale, scale_shift(scale_int(_kept(o)), -16))
    for i, gone in enumerate(_dropped(o, key)):
        o.y[i] = o.z if gone else o.x[i]
    o.sy[0] = scale


def dropout_dx_i8(o):
    """dx = 0 where dropout_i8 dropped, else e

    dx=i8[B*N]~e e:i8[B*N] c: ; B N id drop
    """
    for i, gone in enumerate(_dropped(o, o.c[KEY])):
        o.dx[i] = 0 if gone else o.e[i]


def _scaled(o, out, values, key):
    factor = rounded(65536.0 / _kept(o)) if key else 1.0
    for i, gone in enumerate(_dropped(o, key)):
        out[i] = 0.0 if gone else values[i] * factor


def dropout_f32(o):
    """while KEY is not 0: y = 0 with probability drop, else x / (1 - drop)

    y=f32[B*N]~x x:f32[B*N] h:i32[4] c+ ; B N id drop
    """
    _scaled(o, o.y, o.x, begin(o))


def dropout_dx_f32(o):
    """dx = 0 where dropout_f32 dropped, else e / (1 - drop)

    dx=f32[B*N]~e e:f32[B*N] c: ; B N id drop
    """
    _scaled(o, o.dx, o.e, o.c[KEY])
