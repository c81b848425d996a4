"""Zeroth order, float32: weights along directions drawn again from the step's key, the losses along them."""

from ..base.fixed import bits_to_float, float_to_bits
from ..base.primitives import wrap32
from ..base.regions import CORRECT, LOSS, RATE
from .data import batch_count
from .float32 import rounded, store
from .update_zeroth_i8 import direction, key_of, moving


def passed_f32(o):
    """the same

    m+f32[3] k+i32 c+ ; which
    """
    if not moving(o):
        return
    m, c = o.m, o.c
    loss = bits_to_float(c[LOSS])
    if o.which in (0, 3):
        if o.which:
            m[0] = m[1] = 0.0
        m[2] = loss
        o.k[0] = c[CORRECT]
        c[CORRECT] = 0
        loss = 0.0
    elif o.which == 1:
        m[0] = m[0] + loss
        m[2] = m[2] + rounded(loss * 0.5)
        loss = 0.0
    elif o.which == 2:
        m[1] = m[1] + loss
        loss = rounded(m[2] + rounded(loss * 0.5))
        c[CORRECT] = wrap32(o.k[0] + (c[CORRECT] >> 1))
    else:
        return
    c[LOSS] = wrap32(float_to_bits(loss))


def slope_f32(o):
    """g = RATE * factor * D / COUNT, D = m[0] - m[1]; with sign: RATE * factor * sign(D)

    g=f32 m:f32[3] c: ; B factor sign
    """
    distance = rounded(o.m[0] - o.m[1])
    r = rounded(bits_to_float(o.c[RATE]) * bits_to_float(o.factor))
    o.g[0] = 0.0
    if o.c[RATE] == 0 or distance == 0 or distance - distance != 0:  # the last: infinity or NaN
        return
    if o.sign:
        r = -r if distance < 0 else r
    else:
        r = rounded(r * rounded(distance / batch_count(o.c, o.B)))
    o.g[0] = store(r) if r - r == 0 else 0.0


def _along(o, step):
    key = key_of(o)
    for i in range(o.N):
        z = direction(key, i)
        if z:
            o.w[i] = store(o.w[i] + step if z > 0 else o.w[i] - step)


def perturb_f32(o):
    """while KEY is above 1: w += z * epsilon

    w+f32[N] c: ; N id epsilon
    """
    if moving(o):
        _along(o, bits_to_float(o.epsilon))


def walk_f32(o):
    """w -= g * z

    w+f32[N] g:f32 c: ; N id
    """
    if o.g[0] != 0:
        _along(o, -o.g[0])
