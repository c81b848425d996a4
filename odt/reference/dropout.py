"""Dropout, forward beside backward, in int8 and float32."""

from ..fixed import hash32, scale_div, scale_int, scale_mul, scale_shift, wrap32
from ..opcodes import KEY, POSITION
from .float32 import rounded


def _begin(o):
    """The key of this step, whose tick is still to come; 0 outside of training."""
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
    key = _begin(o)
    scale = scale_mul(o.factor, o.sx[0])
    if key:
        scale = scale_div(scale, scale_shift(scale_int(_kept(o)), -16))
    for i, gone in enumerate(_dropped(o, key)):
        o.y[i] = o.z if gone else o.x[i]
    o.sy[0] = scale


def dropout_dx_i8(o):
    for i, gone in enumerate(_dropped(o, o.c[KEY])):
        o.dx[i] = 0 if gone else o.e[i]


def _scaled(o, out, values, key):
    factor = rounded(65536.0 / _kept(o)) if key else 1.0
    for i, gone in enumerate(_dropped(o, key)):
        out[i] = 0.0 if gone else values[i] * factor


def dropout_f32(o):
    _scaled(o, o.y, o.x, _begin(o))


def dropout_dx_f32(o):
    _scaled(o, o.dx, o.e, o.c[KEY])
