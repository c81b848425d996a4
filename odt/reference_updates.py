"""A step's scales and counters, and the integer updates, of the reference executor.

Everything here works on int32, int16 and int8; float32 state is in odt/reference_f32.py.
"""

from .fixed import (
    ONE,
    bit_length,
    hash32,
    isqrt,
    log2_floor,
    multiplier,
    nearest_scale,
    rescale_random,
    scale_add,
    scale_div,
    scale_int,
    scale_mul,
    scale_shift,
    scale_sqrt,
    wrap32,
)
from .fixed import rescale as rescaled  # an instruction has the name
from .opcodes import KEY, RATE
from .reference_data import rows


def limit30(v):
    return max(-(1 << 30), min(1 << 30, v))


# Scales and the step's counters


def clear(o):
    for i in range(o.N):
        o.y[i] = 0


def tick(o):
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
    if o.c[KEY]:
        o.c[KEY] = wrap32(hash32(o.h[1], o.h[0] + o.ahead))


def rescale(o):
    first = scale_mul(o.factor, o.sx[0])
    for n in range(o.N):
        o.q[2 * n], o.q[2 * n + 1] = multiplier(scale_div(scale_mul(first, o.sw[n]), o.sy[0]))


def ratio(o):
    o.q[0], o.q[1] = multiplier(scale_div(scale_mul(o.factor, o.sx[0]), o.sy[0]))


def rescale_dx(o):
    top = max([nearest_scale(word) for word in o.sw])
    for n in range(o.N):
        o.qc[2 * n], o.qc[2 * n + 1] = multiplier(scale_div(o.sw[n], top))
    scale = scale_mul(scale_mul(o.factor, o.se[0]), top)
    o.q[0], o.q[1] = multiplier(scale_div(scale, o.sdx[0]))


def product(o):
    o.y[0] = scale_mul(scale_mul(o.factor, o.a[0]), o.b[0])


def bias_i8(o):
    unit = scale_shift(ONE, -20)
    for n in range(o.N):
        m, s = multiplier(scale_div(unit, scale_mul(o.sx[0], o.sw[n])))
        o.y[n] = limit30(rescaled(o.b[n], m, s))


def range_i8(o):
    peak = o.peak[0]
    if peak > o.limit:
        o.s[0] = scale_mul(o.s[0], scale_div(scale_int(peak), scale_int(o.limit)))


# Updates


def _round_shift(v, k):
    return 0 if k > 15 else (v + (1 << (k - 1))) >> k


def _power(k):
    return scale_shift(ONE, k)


def _raise_exponent(d, ex, scale, level, states):
    """The exponent of a row's state for its new gradient d; the state is shifted to it."""
    p = max(max(d), -min(d))
    if p == 0:
        return ex
    need = log2_floor(scale_mul(scale_int(p), scale)) - level
    need = max(-100, min(100, need))
    k = need - ex
    if k <= 0:
        return ex
    for state, first in states:
        for i in range(first, first + len(d)):
            state[i] = _round_shift(state[i], k)
    return need


def momentum_i16(o):
    _momentum_i16(o, False)


def nesterov_i16(o):
    _momentum_i16(o, True)


def _momentum_i16(o, nesterov):
    size, v = o.K, o.v
    scale = scale_mul(o.factor, o.gs[0])
    key = hash32(o.c[KEY], o.id)
    for n in range(o.N):
        first = n * size
        ex = _raise_exponent(o.d[first : first + size], o.ex[n], scale, 10, ((v, first),))
        m, s = multiplier(scale_div(scale, _power(ex - 4)))
        top = top_v = 0
        for i in range(first, first + size):
            g = rescaled(o.d[i], m, s)
            low = hash32(key, o.at * size + i) & 65535
            v[i] = wrap32(v[i] * o.mu + (g << 12) + low) >> 16
            o.d[i] = wrap32(g + (v[i] * o.mu >> 12)) if nesterov else v[i]
            top = max(top, abs(g) >> 4)
            top_v = max(top_v, abs(v[i]))
        o.ds[n] = _power(ex - 4 if nesterov else ex)
        top = max(top, top_v)
        if top_v >= 1 << 14:
            for i in range(first, first + size):
                v[i] = (v[i] + 1) >> 1
            ex += 1
        elif 0 < top < 1 << 7 and ex > -100:
            for i in range(first, first + size):
                v[i] <<= 2
            ex -= 2
        o.ex[n] = ex


def adam_i16(o):
    size, m, v = o.K, o.m, o.v
    scale = scale_mul(o.factor, o.gs[0])
    key = hash32(o.c[KEY], o.id)
    for n in range(o.N):
        first = n * size
        states = ((m, first), (v, first))
        ex = _raise_exponent(o.d[first : first + size], o.ex[n], scale, 12, states)
        qm, qs = multiplier(scale_div(scale, _power(ex - 4)))
        top = 0
        for i in range(first, first + size):
            g = rescaled(o.d[i], qm, qs)
            u = hash32(key, o.at * size + i)
            change = wrap32((g - (m[i] << 4)) * o.c1 + (u & 65535)) >> 16
            m[i] = max(-32767, min(32767, m[i] + change))
            a = v[i] * o.r2 & 0xFFFFFFFF
            b = (abs(g) * o.rc2 & 0xFFFFFFFF) >> 2
            root = (_hypotenuse(a, b) + (u >> 16)) & 0xFFFFFFFF
            v[i] = min(32767, root >> 16)
            d = min(65535, (abs(m[i]) << 14) // (v[i] + 1))
            o.d[i] = -d if m[i] < 0 else d
            top = max(top, abs(g) >> 4, abs(m[i]), v[i])
        o.ds[n] = _power(-14)
        if 0 < top < 1 << 9 and ex > -100:
            for i in range(first, first + size):
                m[i] <<= 2
                v[i] <<= 2
            ex -= 2
        o.ex[n] = ex


def _hypotenuse(a, b):
    """sqrt(a^2 + b^2), at most 6 % too large."""
    hi = max(a, b)
    lo = min(a, b)
    if hi == 0:
        return 0
    k = 0
    while hi >> k >= 1 << 16:
        k += 1
    lo >>= k
    return hi + (((lo * lo) // (2 * (hi >> k))) << k)


def plain_i32(o):
    for n in range(o.N):
        o.ds[n] = scale_mul(o.factor, o.gs[0])


def apply_i8(o):
    rate = o.rate[0]
    if rate == 0:
        return
    part = rows(o)
    if not part:
        return
    w, r, size = o.w, o.r, o.K
    key = hash32(o.c[KEY], o.id)
    limited = bool(o.common and o.at and o.limited[0])
    for n in part:
        step = scale_div(scale_mul(rate, o.ds[n - o.at]), o.sw[n])
        m, s = multiplier(scale_shift(step, 8))
        for i in range(n * size, (n + 1) * size):
            d = o.d[i - o.at * size]
            value = 256 * w[i] + r[i] - rescale_random(d, m, s, hash32(key, i))
            if not -32639 <= value <= 32639:
                value = 32639 if value > 0 else -32639
                limited = True
            w[i] = (value + 128) >> 8
            r[i] = value - 256 * w[i]
        if limited and not o.common:
            _halve_rows(o, n, n + 1)
            limited = False
    if limited and o.at + o.R == o.N:
        _halve_rows(o, 0, o.N)
        limited = False
    o.limited[0] = int(limited)


def settle_i8(o):
    if o.limited[0]:
        _halve_rows(o, 0, o.N)


def _halve_rows(o, first, stop):
    for i in range(first * o.K, stop * o.K):
        value = (256 * o.w[i] + o.r[i] + 1) >> 1
        o.w[i] = (value + 128) >> 8
        o.r[i] = value - 256 * o.w[i]
    for n in range(first, stop):
        o.sw[n] = scale_shift(o.sw[n], 1)


def apply_i32(o):
    rate = o.rate[0]
    if rate == 0:
        return
    m, s = multiplier(scale_shift(scale_mul(rate, o.ds[0]), 20))
    for n in range(o.N):
        o.b[n] = limit30(o.b[n] - rescaled(o.d[n], m, s))


def accumulate_i32(o):
    for i in range(o.N):
        o.y[i] = wrap32(o.y[i] + o.d[i])


def decay_i8(o):
    m, s, key = _decayed(o)
    for i in range(o.N if m else 0):
        value = 256 * o.w[i] + o.r[i]
        value -= rescale_random(value, m, s, hash32(key, i))
        value = max(-32639, min(32639, value))
        o.w[i] = (value + 128) >> 8
        o.r[i] = value - 256 * ((value + 128) >> 8)


def decay_i32(o):
    m, s, key = _decayed(o)
    for i in range(o.N if m else 0):
        o.b[i] = limit30(o.b[i] - rescale_random(o.b[i], m, s, hash32(key, i)))


def _decayed(o):
    """The part of a weight that decays in this step, and the key of its rounding."""
    if o.c[RATE] == 0:
        return 0, 0, 0
    return multiplier(scale_mul(o.c[RATE], o.decay)) + (hash32(o.c[KEY], o.id),)


# Clipping by the norm of all gradients


def squares_i32(o):
    drop = max(bit_length(max([abs(v) for v in o.d])) - 18, 0)
    total = sum([(abs(v) >> drop) ** 2 for v in o.d])
    if not total:
        return
    k = max(bit_length(total) - 32, 0)
    unit = scale_shift(scale_mul(o.factor, o.gs[0]), drop)
    square = scale_mul(scale_shift(scale_int(total >> k), k), scale_mul(unit, unit))
    o.total[0] = scale_add(nearest_scale(o.total[0]), square) if o.total[0] else square


def clip_i32(o):
    if not o.total[0]:
        o.y[0] = ONE
        return
    root = scale_sqrt(o.total[0])
    limit = nearest_scale(o.limit)
    o.y[0] = scale_div(limit, root) if root > limit else ONE


# Fisher information


def fisher_i8(o):
    z = max(-128, min(127, o.z))
    unit = scale_mul(scale_mul(o.factor, o.se[0]), o.sy[0])
    width = o.S * o.N
    for b in range(o.B):
        for n in range(o.N):
            places = range(b * width + n, (b + 1) * width, o.N)
            size = abs(wrap32(sum([o.e[i] * (o.y[i] - z) for i in places])))
            if size:
                v = scale_mul(unit, scale_int(size))
                v = scale_mul(v, v)
                o.total[n] = scale_add(nearest_scale(o.total[n]), v) if o.total[n] else v
