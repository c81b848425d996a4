"""The float32 instructions of the reference executor (imported when a program has one).

Each operation is rounded to float32 on its own, in the order docs/numerics.md gives: by a store
into an ``array("f")``. Where Python's floats are doubles, that rounding after a double operation
is exact; where they are float32, it does nothing; CircuitPython's 30-bit floats come close only.
"""

import math
from array import array

from .fixed import ONE, bits_to_float, float_to_bits, log2_floor, sat32, scale_mul, scale_shift
from .opcodes import (
    CORRECT,
    FLOAT32,
    LOSS,
    RATE,
    X_FORMAT,
    X_SCALE,
    X_ZERO,
    Y_FORMAT,
    Y_SCALE,
    Y_ZERO,
)
from .reference_data import (
    batch_count, blank, choices_fit, chosen, first_largest, label, outputs, pool, pool_choosing, positions,
    rows, samples, windows,
)  # fmt: skip

_cell = array("f", [0.0])
_TINY = bits_to_float(76 << 23)  # 2^-51
_TINY2 = bits_to_float(25 << 23)  # 2^-102


def rounded(x):
    """x as a float32."""
    _cell[0] = x
    return _cell[0]


def store(x):
    """x as a float32, 0 below 2^-51."""
    _cell[0] = x
    x = _cell[0]
    return 0.0 if -_TINY < x < _TINY else x


def _store2(x):
    """x as a float32, 0 below 2^-102."""
    _cell[0] = x
    x = _cell[0]
    return 0.0 if -_TINY2 < x < _TINY2 else x


def divide(a, b):
    """a / b as IEEE 754 has it, for a diverged model must not end in ZeroDivisionError."""
    if b:
        return rounded(a / b)
    return a * float("inf") if a == a and a else float("nan")


def _to_int(x):
    """x truncated, limited to 32 bits; NaN gives 0."""
    if not -2147483647 < x < 2147483647:
        return 2147483647 if x > 0 else -2147483647 if x < 0 else 0
    return int(x)


def _dot(total, a, b):
    """total + a[0] * b[0] + a[1] * b[1] + ..., rounded at each step."""
    cell = _cell
    for p in array("f", [u * v for u, v in zip(a, b)]):
        cell[0] = total + p
        total = cell[0]
    return total


def _add_scaled(totals, factor, row):
    """totals + factor * row, rounded at each step."""
    products = array("f", [factor * v for v in row])
    return array("f", [t + p for t, p in zip(totals, products)])


def _put(out, at, totals, relu=0):
    for i in range(len(totals)):
        v = store(totals[i])
        out[at + i] = 0.0 if relu and v < 0 else v


def zeros(n):
    return array("f", bytes(4 * n))


def affine(raw, zero, scale):
    """(raw - zero) * scale, in float32."""
    return rounded(rounded(sat32(raw - zero)) * scale)


def gather_f32(o):
    kind, zero, size = o.c[X_FORMAT], o.c[X_ZERO], o.F
    scale = bits_to_float(o.c[X_SCALE])
    at = 0
    for raw in samples(o.c, X_FORMAT, o.x, o.B, size, "f"):
        for i in range(size):
            if raw is None:
                v = 0.0
            elif kind == FLOAT32:
                v = raw[i]
            else:
                v = affine(raw[i], zero, scale)
            o.y[at + i] = store(v)
        at += size


def dense_f32(o):
    w, size = o.w, o.K
    for m in range(o.M):
        x = o.x[m * size : (m + 1) * size]
        totals = [_dot(o.b[n], x, w[n * size : (n + 1) * size]) for n in range(o.N)]
        _put(o.y, m * o.N, totals, o.relu)


def dense_dx_f32(o):
    w, size = o.w, o.K
    for m in range(o.M):
        totals = zeros(size)
        for n in range(o.N):
            totals = _add_scaled(totals, o.e[m * o.N + n], w[n * size : (n + 1) * size])
        _put(o.dx, m * size, totals)


def dense_dw_f32(o):
    x, size = o.x, o.K
    blank(o.dw)
    for n in rows(o):
        totals = zeros(size)
        for m in range(o.M):
            totals = _add_scaled(totals, o.e[m * o.N + n], x[m * size : (m + 1) * size])
        _put(o.dw, (n - o.at) * size, totals)


def bias_dw_f32(o):
    for n in range(o.N):
        total = 0.0
        for m in range(o.M):
            total = rounded(total + o.e[m * o.N + n])
        o.db[n] = store(total)


def conv2d_f32(o):
    x, w, channels = o.x, o.w, o.C
    size = o.KH * o.KW * channels
    at = 0
    for window in windows(o):
        patch = []
        taps = []
        for tap, i in positions(o, window, channels):
            patch.extend(x[i : i + channels])
            taps.append(tap * channels)
        totals = []
        for n in range(o.N):
            filters = []
            for first in taps:
                filters.extend(w[n * size + first : n * size + first + channels])
            totals.append(_dot(o.b[n], patch, filters))
        _put(o.y, at, totals, o.relu)
        at += o.N


def conv2d_dx_f32(o):
    e, w, channels = o.e, o.w, o.C
    size = o.KH * o.KW * channels
    at = 0
    for b in range(o.B):
        for ih in range(o.H):
            for iw in range(o.W):
                totals = zeros(channels)
                for tap, position in outputs(o, ih, iw, o.OH, o.OW):
                    i = (b * o.OH * o.OW + position) * o.N
                    for n in range(o.N):
                        first = n * size + tap * channels
                        totals = _add_scaled(totals, e[i + n], w[first : first + channels])
                _put(o.dx, at, totals)
                at += channels


def conv2d_dw_f32(o):
    e, x, channels = o.e, o.x, o.C
    size = o.KH * o.KW * channels
    blank(o.dw)
    at = 0
    for window in windows(o):
        for tap, i in positions(o, window, channels):
            row = x[i : i + channels]
            for n in rows(o):
                first = (n - o.at) * size + tap * channels
                last = first + channels
                o.dw[first:last] = _add_scaled(o.dw[first:last], e[at + n], row)
        at += o.N
    _put(o.dw, 0, o.dw)


def depthwise2d_f32(o):
    x, channels = o.x, o.N
    filters = _taps(o)
    at = 0
    for window in windows(o):
        totals = o.b[0:channels]
        for tap, i in positions(o, window, channels):
            totals = _add_products(totals, x[i : i + channels], filters[tap])
        _put(o.y, at, totals, o.relu)
        at += channels


def _taps(o):
    """The depthwise filters [N, KH, KW] as a list of rows [N], one for each tap."""
    size = o.KH * o.KW
    return [[o.w[n * size + tap] for n in range(o.N)] for tap in range(size)]


def _add_products(totals, a, b):
    """totals + a * b, elementwise, rounded at each step."""
    products = array("f", [u * v for u, v in zip(a, b)])
    return array("f", [t + p for t, p in zip(totals, products)])


def depthwise2d_dx_f32(o):
    e, channels = o.e, o.N
    filters = _taps(o)
    at = 0
    for b in range(o.B):
        for ih in range(o.H):
            for iw in range(o.W):
                totals = zeros(channels)
                for tap, position in outputs(o, ih, iw, o.OH, o.OW):
                    i = (b * o.OH * o.OW + position) * channels
                    totals = _add_products(totals, e[i : i + channels], filters[tap])
                _put(o.dx, at, totals)
                at += channels


def depthwise2d_dw_f32(o):
    e, x, channels = o.e, o.x, o.N
    size = o.KH * o.KW
    totals = [zeros(channels) for _ in range(size)]
    at = 0
    for window in windows(o):
        row = e[at : at + channels]
        for tap, i in positions(o, window, channels):
            totals[tap] = _add_products(totals[tap], row, x[i : i + channels])
        at += channels
    blank(o.dw)
    for n in rows(o):
        _put(o.dw, (n - o.at) * size, [row[n] for row in totals])


def relu_f32(o):
    for i in range(o.N):
        v = o.x[i]
        o.y[i] = 0.0 if v < 0 else v


def relu_dx_f32(o):
    for i in range(o.N):
        o.dx[i] = o.e[i] if o.y[i] > 0 else 0.0


def maxpool2d_f32(o):
    for _ in pool(o, 0.0):
        pass


def maxpool2d_choice_f32(o):
    pool_choosing(o, 0.0)


def unpool2d_f32(o):
    if not choices_fit(o):
        return
    blank(o.dx)
    for i, at in chosen(o):
        o.dx[i] = store(o.dx[i] + o.e[at])


def globalavg_f32(o):
    factor = rounded(1.0 / o.S)
    for b in range(o.B):
        for n in range(o.N):
            total = 0.0
            for s in range(o.S):
                total = rounded(total + o.x[(b * o.S + s) * o.N + n])
            o.y[b * o.N + n] = store(total * factor)


def globalavg_dx_f32(o):
    factor = rounded(1.0 / o.S)
    for b in range(o.B):
        for s in range(b * o.S, (b + 1) * o.S):
            for n in range(o.N):
                o.dx[s * o.N + n] = store(o.e[b * o.N + n] * factor)


def add_f32(o):
    for i in range(o.N):
        v = store(o.a[i] + o.b[i])
        o.y[i] = 0.0 if o.relu and v < 0 else v


# Losses


_EXP = [rounded(1.0 / n) for n in (5040, 720, 120, 24, 6, 2, 1, 1)]
_LOG = [rounded(1.0 / n) for n in (9, 7, 5, 3)]
_LOG2_E = bits_to_float(0x3FB8AA3B)
_LN2_HIGH = bits_to_float(0x3F317200)
_LN2_LOW = bits_to_float(0x35BFBE8E)
_LN2 = bits_to_float(0x3F317218)
_SQRT2_BITS = 0x3FB504F3


def expf(x):
    """e^x for x <= 0."""
    if not x >= -35:
        return 0.0
    n = int(rounded(rounded(x * _LOG2_E) - 0.5))
    r = rounded(rounded(x - rounded(n * _LN2_HIGH)) - rounded(n * _LN2_LOW))
    p = _EXP[0]
    for c in _EXP[1:]:
        p = rounded(rounded(p * r) + c)
    return p * bits_to_float(scale_shift(ONE, n))


def logf(x):
    """log x for x >= 1."""
    bits = float_to_bits(x)
    k = log2_floor(bits & 0x7FFFFFFF)
    bits -= k << 23
    m = bits_to_float(bits)
    if bits > _SQRT2_BITS:
        m *= 0.5
        k += 1
    f = m - 1.0
    s = rounded(f / rounded(2.0 + f))
    z = rounded(s * s)
    p = _LOG[0]
    for c in _LOG[1:]:
        p = rounded(rounded(p * z) + c)
    two_s = 2 * s
    return rounded(rounded(k * _LN2) + rounded(rounded(two_s * rounded(p * z)) + two_s))


def softmax_xent_f32(o):
    c, size = o.c, o.N
    count = rounded(float(batch_count(c, o.B)))
    at = 0
    for raw in samples(c, Y_FORMAT, o.labels, o.B, 1):
        if raw is None:
            for i in range(at, at + size):
                o.e[i] = 0.0
            at += size
            continue
        x = list(o.x[at : at + size])
        right = label(c, raw, size)
        best = first_largest(x, range(size))
        powers = [expf(rounded(v - x[best])) for v in x]
        total = 0.0
        for p in powers:
            total = rounded(total + p)
        for i in range(size):
            v = divide(powers[i], total)
            if i == right:
                v = rounded(v - 1.0)
            o.e[at + i] = store(v / count)
        if right >= 0:
            loss = rounded(logf(total) - rounded(x[right] - x[best]))
            c[LOSS] = add_float_loss(c[LOSS], loss)
            if right == best:
                c[CORRECT] += 1
        at += size


def add_float_loss(bits, loss):
    """bits + loss as the bits of a float32 that fit an int32 word."""
    bits = float_to_bits(rounded(bits_to_float(bits) + loss))
    return bits - (1 << 32) if bits >> 31 else bits


def mse_f32(o):
    c, size = o.c, o.N
    kind, zero = c[Y_FORMAT], c[Y_ZERO]
    scale = bits_to_float(c[Y_SCALE])
    count = rounded(float(size * batch_count(c, o.B)))
    at = 0
    for raw in samples(c, Y_FORMAT, o.target, o.B, size, "f"):
        for i in range(size):
            if raw is None:
                o.e[at + i] = 0.0
                continue
            target = raw[i] if kind == FLOAT32 else affine(raw[i], zero, scale)
            d = store(o.x[at + i] - target)
            o.e[at + i] = store(rounded(d * 2) / count)
            c[LOSS] = add_float_loss(c[LOSS], rounded(d * d))
        at += size


# Updates


def momentum_f32(o):
    mu = bits_to_float(o.mu)
    for i in range(o.N):
        v = store(rounded(mu * o.v[i]) + o.d[i])
        o.v[i] = v
        o.d[i] = v


def nesterov_f32(o):
    mu = bits_to_float(o.mu)
    for i in range(o.N):
        d = o.d[i]
        o.v[i] = store(rounded(mu * o.v[i]) + d)
        o.d[i] = store(d + rounded(mu * o.v[i]))


def accumulate_f32(o):
    for i in range(o.N):
        o.y[i] = store(o.y[i] + o.d[i])


def decay_f32(o):
    if o.c[RATE] == 0:
        return
    rest = rounded(1.0 - rounded(bits_to_float(o.c[RATE]) * bits_to_float(o.decay)))
    for i in range(o.N):
        o.w[i] = store(o.w[i] * rest)


def _adam_step(o, i, g, b1, c1, b2, c2, eps):
    """Update m and v at i with the gradient g; the direction m / (sqrt(v) + eps)."""
    m = store(rounded(b1 * o.m[i]) + rounded(c1 * g))
    v = _store2(rounded(b2 * o.v[i]) + rounded(c2 * rounded(g * g)))
    o.m[i] = m
    o.v[i] = v
    root = rounded(math.sqrt(v)) if v > 0 else v - v  # NaN stays NaN
    return divide(m, rounded(root + eps))


def _adam_constants(o):
    eps = rounded(bits_to_float(o.eps) * bits_to_float(o.rate[1]))
    return [bits_to_float(bits) for bits in (o.b1, o.c1, o.b2, o.c2)] + [eps]


def adam_f32(o):
    constants = _adam_constants(o)
    for i in range(o.N):
        o.d[i] = store(_adam_step(o, i, o.d[i], *constants))


def apply_f32(o):
    if o.rate[0] == 0:
        return
    rate = bits_to_float(o.rate[0])
    for i in range(o.N):
        o.w[i] = store(o.w[i] - rounded(rate * o.d[i]))


def momentum_i32(o):
    _momentum_i32(o, False)


def nesterov_i32(o):
    _momentum_i32(o, True)


def _momentum_i32(o, nesterov):
    size, v = o.K, o.v
    scale = bits_to_float(scale_mul(o.factor, o.gs[0]))
    mu = bits_to_float(o.mu)
    for n in range(o.N):
        row = range(n * size, (n + 1) * size)
        top = 0
        for i in row:
            g = rounded(rounded(float(o.d[i])) * scale)
            v[i] = store(rounded(mu * v[i]) + g)
            x = store(g + rounded(mu * v[i])) if nesterov else v[i]
            top = max(top, float_to_bits(x) & 0x7FFFFFFF)
        if top == 0:
            o.ds[n] = ONE
            for i in row:
                o.d[i] = 0
            continue
        e = max(-100, min(100, log2_floor(top) - 22))
        o.ds[n] = scale_shift(ONE, e)
        unit = bits_to_float(scale_shift(ONE, -e))
        for i in row:
            x = v[i]
            if nesterov:
                x = store(rounded(rounded(float(o.d[i])) * scale) + rounded(mu * v[i]))
            o.d[i] = _to_int(x * unit)


def adam_i32(o):
    scale = bits_to_float(scale_mul(o.factor, o.gs[0]))
    constants = _adam_constants(o)
    for i in range(o.N * o.K):
        g = rounded(rounded(float(o.d[i])) * scale)
        x = _adam_step(o, i, g, *constants)
        o.d[i] = _to_int((4.0 if x > 4 else -4.0 if x < -4 else x) * 1048576)
    for n in range(o.N):
        o.ds[n] = scale_shift(ONE, -20)


# Clipping by the norm of all gradients


def squares_f32(o):
    total = o.total[0]
    for v in o.d:
        total = rounded(total + rounded(v * v))
    o.total[0] = _store2(total)


def clip_f32(o):
    total = o.total[0]
    root = rounded(math.sqrt(total)) if total > 0 else 0.0
    limit = bits_to_float(o.limit)
    o.y[0] = store(divide(limit, root)) if root > limit else 1.0


def scale_f32(o):
    factor = o.factor[0]
    for i in range(o.N):
        o.d[i] = store(o.d[i] * factor)


# Fisher information


def fisher_f32(o):
    width = o.S * o.N
    for b in range(o.B):
        for n in range(o.N):
            acc = 0.0
            for i in range(b * width + n, (b + 1) * width, o.N):
                acc = rounded(acc + rounded(o.e[i] * o.y[i]))
            acc = store(acc)
            o.total[n] = _store2(o.total[n] + rounded(acc * acc))
