"""Zeroth order, int8: directions drawn again from the step's key, the losses along them, the step."""

from ..base.fixed import hash32, multiplier, nearest_scale, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import rescale, rescale_random, wrap32
from ..base.regions import CORRECT, KEY, LOSS, LOSS_HIGH, RATE
from .data import batch_count, limit30
from .update_i8 import halve_rows

_MOST_STEPS = 31
_ALL = (1 << 64) - 1


def moving(o):
    """Whether weights are to move: neither in prediction nor in calibration."""
    return o.c[KEY] & 0xFFFFFFFF > 1


def key_of(o):
    """The key of z."""
    return hash32(o.c[KEY], o.id)


def direction(key, i):
    """z of element i: -1, 0 or 1."""
    two = hash32(key, i >> 4) >> 2 * (i & 15) & 3
    return 0 if two & 1 == 0 else 1 if two == 1 else -1


# The losses of both passes


def _read(words, at):
    return words[at] & 0xFFFFFFFF | (words[at + 1] & 0xFFFFFFFF) << 32


def _write(words, at, value):
    words[at] = wrap32(value)
    words[at + 1] = wrap32(value >> 32)


def passed_i8(o):
    """while KEY is above 1: m = sums of LOSS of the passes with w + e z, with w - e z; LOSS and CORRECT as before plus
        the mean of both passes

    m+i32[6] k+i32 c+ ; which
    """
    if not moving(o):
        return
    m, c = o.m, o.c
    loss = c[LOSS] & 0xFFFFFFFF | (c[LOSS_HIGH] & 0xFFFFFFFF) << 32
    if o.which in (0, 3):
        for i in range(4 if o.which else 0):
            m[i] = 0
        _write(m, 4, loss)
        o.k[0] = c[CORRECT]
        c[CORRECT] = 0
        loss = 0
    elif o.which == 1:
        _write(m, 0, _read(m, 0) + loss)
        _write(m, 4, _read(m, 4) + (loss >> 1))
        loss = 0
    elif o.which == 2:
        _write(m, 2, _read(m, 2) + loss)
        loss = _read(m, 4) + (loss >> 1)
        c[CORRECT] = wrap32(o.k[0] + (c[CORRECT] >> 1))
    c[LOSS], c[LOSS_HIGH] = wrap32(loss), wrap32(loss >> 32)


def slope_i8(o):
    """g = RATE * factor * so^degree * abs(D) / COUNT, sign(D), D = m[0] - m[1]; with sign: RATE * factor, sign(D)

    g=i32[2] m:i32[6] so:i32 c: ; B factor degree sign
    """
    distance = (_read(o.m, 0) - _read(o.m, 2)) & _ALL
    if distance >> 63:
        distance -= 1 << 64
    o.g[0] = o.g[1] = 0
    if o.c[RATE] == 0 or distance == 0:
        return
    o.g[1] = 1 if distance > 0 else -1
    g = scale_mul(o.c[RATE], o.factor)
    if not o.sign:
        distance, shift = abs(distance), 0
        while distance >> shift >> 32:
            shift += 1
        g = scale_mul(g, scale_shift(scale_int(distance >> shift), shift))
        g = scale_div(g, scale_int(batch_count(o.c, o.B)))
        for _ in range(max(0, min(2, o.degree))):
            g = scale_mul(g, o.so[0])
    o.g[0] = g


# Weights there and back


def _steps(epsilon, sw):
    """The number of an int8 weight's steps that is nearest to epsilon."""
    return max(1, min(_MOST_STEPS, rescale(1, *multiplier(scale_div(nearest_scale(epsilon), nearest_scale(sw))))))


def room_i8(o):
    """w in a scale twice as large, where perturb_i8 would pass 127

    w+i8[N*K] r+i8[N*K] sw+i32[N] c: ; N K epsilon common
    """
    if not moving(o):
        return
    for n in range(o.N):
        most = 127 - _steps(o.epsilon, o.sw[n])
        if any([abs(o.w[i]) > most for i in range(n * o.K, (n + 1) * o.K)]):
            if o.common:
                halve_rows(o, 0, o.N)
                return
            halve_rows(o, n, n + 1)


def perturb_i8(o):
    """while KEY is above 1: w += z * max(1, epsilon / sw[n]); back: -=

    w+i8[N*K] sw:i32[N] c: ; N K id epsilon back
    """
    if not moving(o):
        return
    key = key_of(o)
    for n in range(o.N):
        step = _steps(o.epsilon, o.sw[n])
        for i in range(n * o.K, (n + 1) * o.K):
            moved = o.w[i] + direction(key, i) * (-step if o.back else step)
            o.w[i] = (moved + 128 & 255) - 128


def perturb_i32(o):
    """while KEY is above 1: b += z * epsilon

    b+i32[N] c: ; N id epsilon
    """
    if not moving(o):
        return
    key = key_of(o)
    for n in range(o.N):
        o.b[n] = wrap32(o.b[n] + direction(key, n) * o.epsilon)


# The step


def _change(o, key, i, m, s):
    """What element i loses, in the units of (m, s); None where z is 0."""
    z = direction(key, i)
    if z == 0:
        return None
    return rescale_random(z if o.g[1] > 0 else -z, m, s, hash32(hash32(key, 0xFFFFFFFF), i))


def walk_i8(o):
    """w -= g * z / sw[n]

    w+i8[N*K] r+i8[N*K] sw+i32[N] g:i32[2] c: ; N K id common
    """
    if o.g[0] == 0:
        return
    key = key_of(o)
    limited = False
    for n in range(o.N):
        m, s = multiplier(scale_shift(scale_div(o.g[0], o.sw[n]), 8))
        for i in range(n * o.K, (n + 1) * o.K):
            change = _change(o, key, i, m, s)
            if change is None:
                continue
            value = 256 * o.w[i] + o.r[i] - change
            if not -32639 <= value <= 32639:
                value = 32639 if value > 0 else -32639
                limited = True
            o.w[i] = (value + 128) >> 8
            o.r[i] = value - 256 * ((value + 128) >> 8)
        if limited and not o.common:
            halve_rows(o, n, n + 1)
            limited = False
    if limited:
        halve_rows(o, 0, o.N)


def walk_i32(o):
    """b -= g * z * 2^20

    b+i32[N] g:i32[2] c: ; N id
    """
    if o.g[0] == 0:
        return
    key = key_of(o)
    m, s = multiplier(scale_shift(o.g[0], 20))
    for n in range(o.N):
        change = _change(o, key, n, m, s)
        if change is not None:
            o.b[n] = limit30(o.b[n] - change)
