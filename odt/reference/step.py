"""A step of either dtype: its counters and random numbers."""

from ..base.fixed import ONE, hash32, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import isqrt, wrap32
from ..base.regions import KEY, RATE


def clear(o):
    """y = 0

    y=i32[N] ; N
    """
    for i in range(o.N):
        o.y[i] = 0


def tick(o):
    """t += 1; KEY = hash(seed, t); rate = RATE * sqrt(1 - beta2^t) / (1 - beta1^t), sqrt(1 - beta2^t)

    rate=i32[2] h+i32[4] c+ ; beta1 beta2
    """
    t, seed, p1, p2 = o.h
    t = (t + 1) & 0xFFFFFFFF
    o.c[KEY] = wrap32(hash32(seed, t))
    rate = o.c[RATE]
    if o.beta1 or o.beta2:
        p1 = (p1 * o.beta1 + (1 << 29)) >> 30
        p2 = (p2 * o.beta2 + (1 << 29)) >> 30
        c = scale_int(isqrt(((1 << 30) - p2) << 30))
        if rate:
            rate = scale_mul(rate, scale_div(c, scale_int((1 << 30) - p1)))
        o.rate[1] = scale_shift(c, -30)
    else:
        o.rate[1] = ONE
    o.rate[0] = rate
    o.h[0] = wrap32(t)
    o.h[2] = p1
    o.h[3] = p2


def step_key(o):
    """KEY = hash(seed, t + ahead), while KEY is not 0

    c+ h:i32[4] ; ahead
    """
    if o.c[KEY]:
        o.c[KEY] = wrap32(hash32(o.h[1], o.h[0] + o.ahead))
