"""The int8 layers and losses of the reference executor, forward beside backward.

Sums are exact Python integers, wrapped to int32 before they are rescaled.
"""

from .fixed import (
    LOG2_E,
    ONE,
    exp2n,
    hash32,
    log2q,
    multiplier,
    quantize,
    rescale_random,
    sat32,
    scale_div,
    scale_int,
    scale_mul,
    scale_shift,
    wrap32,
)
from .fixed import rescale as rescaled  # an instruction has the name
from .opcodes import (
    CORRECT,
    FLOAT32,
    INT8,
    KEY,
    LOSS,
    LOSS_HIGH,
    UINT8,
    X_FORMAT,
    X_SCALE,
    X_ZERO,
    Y_FORMAT,
    Y_SCALE,
    Y_ZERO,
)
from .reference_data import (
    batch_count, blank, choices_fit, chosen, first_largest, label, pool, pool_choosing, positions, rows,
    samples, windows,
)  # fmt: skip

try:
    from operator import mul

    def _dot(a, b):
        return sum(map(mul, a, b))

except ImportError:

    def _dot(a, b):
        total = 0
        for u, v in zip(a, b):
            total += u * v
        return total


def gather_i8(o):
    kind = o.c[X_FORMAT]
    y, z, size = o.y, o.z, o.F
    top = o.peak[0]
    at = 0
    if kind == FLOAT32:
        inverse = scale_div(ONE, o.s[0])
    else:
        m, s = multiplier(scale_div(o.c[X_SCALE], o.s[0]))
        zero = o.c[X_ZERO]
    for raw in samples(o.c, X_FORMAT, o.x, o.B, size):
        for i in range(size):
            if raw is None:
                v = z
            elif kind == INT8:
                v = raw[i]
            elif kind == UINT8:
                v = raw[i] - 128
            else:
                if kind == FLOAT32:
                    some = raw[i] & 0x7FFFFFFF
                    v = quantize(raw[i], inverse)
                else:
                    some = raw[i] - zero
                    v = rescaled(sat32(some), m, s)
                top = max(top, v, -v, 1 if some else 0)  # what is not 0 counts, be it below a step
                v = max(-128, min(127, z + v))
            y[at + i] = v
        at += size
    o.peak[0] = top


# Forward and backward, int8


class Sink:
    """Where int8 results go: adds the zero point, clamps, collects the peak."""

    def __init__(self, out, peak, zero=0, lo=-127):
        self.out = out
        self.peak = peak
        self.zero = zero
        self.lo = lo
        self.top = peak[0]

    def put(self, i, v):
        if v > self.top:
            self.top = v
        elif -v > self.top and self.lo != self.zero:
            self.top = -v
        v += self.zero
        self.out[i] = self.lo if v < self.lo else 127 if v > 127 else v

    def close(self):
        self.peak[0] = self.top


def dense_i8(o):
    w, q, zx, size = o.w, o.q, o.zx, o.K
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for m in range(o.M):
        row = [v - zx for v in o.x[m * size : (m + 1) * size]]
        for n in range(o.N):
            total = wrap32(o.b[n] + _dot(row, w[n * size : (n + 1) * size]))
            sink.put(m * o.N + n, rescaled(total, q[2 * n], q[2 * n + 1]))
    sink.close()


def dense_dx_i8(o):
    w, size = o.w, o.K
    sink = Sink(o.dx, o.peak)
    for m in range(o.M):
        totals = [0] * size
        for n in range(o.N):
            e = o.e[m * o.N + n]
            if e:
                totals = [t + e * v for t, v in zip(totals, w[n * size : (n + 1) * size])]
        for k in range(size):
            sink.put(m * size + k, rescaled(wrap32(totals[k]), o.q[0], o.q[1]))
    sink.close()


def dense_dw_i8(o):
    x, zx, size = o.x, o.zx, o.K
    blank(o.dw)
    for n in rows(o):
        totals = [0] * size
        for m in range(o.M):
            e = o.e[m * o.N + n]
            if e:
                totals = [t + e * (v - zx) for t, v in zip(totals, x[m * size : (m + 1) * size])]
        for k in range(size):
            o.dw[(n - o.at) * size + k] = wrap32(totals[k])


def bias_dw_i8(o):
    for n in range(o.N):
        o.db[n] = wrap32(sum([o.e[m * o.N + n] for m in range(o.M)]))


def channel_scale_i8(o):
    q = o.q
    key = hash32(o.c[KEY], o.id)
    for i in range(o.M * o.N):
        n = i % o.N
        v = rescale_random(o.e[i], q[2 * n], q[2 * n + 1], hash32(key, i))
        o.y[i] = max(-127, min(127, v))


def conv2d_i8(o):
    x, w, q, zx, channels = o.x, o.w, o.q, o.zx, o.C
    size = o.KH * o.KW * channels
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    at = 0
    for window in windows(o):
        patch = [0] * size
        for tap, i in positions(o, window, channels):
            patch[tap * channels : (tap + 1) * channels] = [v - zx for v in x[i : i + channels]]
        for n in range(o.N):
            total = wrap32(o.b[n] + _dot(patch, w[n * size : (n + 1) * size]))
            sink.put(at, rescaled(total, q[2 * n], q[2 * n + 1]))
            at += 1
    sink.close()


def conv2d_dx_i8(o):
    w, channels = o.w, o.C
    size = o.KH * o.KW * channels
    totals = [0] * len(o.dx)
    at = 0
    for window in windows(o):
        taps = [(tap * channels, i) for tap, i in positions(o, window, channels)]
        for n in range(o.N):
            e = o.e[at]
            at += 1
            if not e:
                continue
            for first, i in taps:
                first += n * size
                for c in range(channels):
                    totals[i + c] += e * w[first + c]
    _put_totals(o, totals)


def _put_totals(o, totals):
    sink = Sink(o.dx, o.peak)
    for i in range(len(totals)):
        sink.put(i, rescaled(wrap32(totals[i]), o.q[0], o.q[1]))
    sink.close()


def conv2d_dw_i8(o):
    x, zx, channels = o.x, o.zx, o.C
    size = o.KH * o.KW * channels
    totals = [0] * len(o.dw)
    at = 0
    for window in windows(o):
        taps = [(tap * channels, i) for tap, i in positions(o, window, channels)]
        for n in rows(o):
            e = o.e[at + n]
            if not e:
                continue
            for first, i in taps:
                first += (n - o.at) * size
                for c in range(channels):
                    totals[first + c] += e * (x[i + c] - zx)
        at += o.N
    for i in range(len(totals)):
        o.dw[i] = wrap32(totals[i])


def depthwise2d_i8(o):
    x, w, q, zx, channels = o.x, o.w, o.q, o.zx, o.N
    size = o.KH * o.KW
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    at = 0
    for window in windows(o):
        totals = list(o.b)
        for tap, i in positions(o, window, channels):
            for n in range(channels):
                totals[n] += (x[i + n] - zx) * w[n * size + tap]
        for n in range(channels):
            sink.put(at, rescaled(wrap32(totals[n]), q[2 * n], q[2 * n + 1]))
            at += 1
    sink.close()


def depthwise2d_dx_i8(o):
    e, w, channels = o.e, o.w, o.N
    size = o.KH * o.KW
    totals = [0] * len(o.dx)
    at = 0
    for window in windows(o):
        for tap, i in positions(o, window, channels):
            for n in range(channels):
                totals[i + n] += e[at + n] * w[n * size + tap]
        at += channels
    sink = Sink(o.dx, o.peak)
    for i in range(len(totals)):
        n = i % channels
        sink.put(i, rescaled(wrap32(totals[i]), o.q[2 * n], o.q[2 * n + 1]))
    sink.close()


def depthwise2d_dw_i8(o):
    e, x, zx, channels = o.e, o.x, o.zx, o.N
    size = o.KH * o.KW
    totals = [0] * len(o.dw)
    at = 0
    for window in windows(o):
        for tap, i in positions(o, window, channels):
            for n in rows(o):
                totals[(n - o.at) * size + tap] += e[at + n] * (x[i + n] - zx)
        at += channels
    for i in range(len(totals)):
        o.dw[i] = wrap32(totals[i])


def relu_i8(o):
    for i in range(o.N):
        o.y[i] = max(o.x[i], o.z)


def relu_dx_i8(o):
    for i in range(o.N):
        o.dx[i] = o.e[i] if o.y[i] > o.lo else 0


def maxpool2d_i8(o):
    for _ in pool(o, -128):
        pass


def maxpool2d_choice_i8(o):
    pool_choosing(o, -128)


def unpool2d_i8(o):
    if not choices_fit(o):
        return
    blank(o.dx)
    sink = Sink(o.dx, o.peak)
    for i, at in chosen(o):
        sink.put(i, o.dx[i] + o.e[at])
    sink.close()


def globalavg_i8(o):
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for b in range(o.B):
        for n in range(o.N):
            total = sum([o.x[(b * o.S + s) * o.N + n] - o.zx for s in range(o.S)])
            sink.put(b * o.N + n, rescaled(wrap32(total), o.q[0], o.q[1]))
    sink.close()


def globalavg_dx_i8(o):
    for b in range(o.B):
        row = o.e[b * o.N : (b + 1) * o.N]
        for s in range(b * o.S, (b + 1) * o.S):
            o.dx[s * o.N : (s + 1) * o.N] = row


def add_i8(o):
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for i in range(o.N):
        a = rescaled((o.a[i] - o.za) * 256, o.qa[0], o.qa[1])
        b = rescaled((o.b[i] - o.zb) * 256, o.qb[0], o.qb[1])
        sink.put(i, (sat32(a + b) + 128) >> 8)
    sink.close()


# Losses, int8


def softmax_xent_i8(o):
    c, size = o.c, o.N
    m, s = multiplier(scale_mul(o.sx[0], LOG2_E))
    at = 0
    for raw in samples(c, Y_FORMAT, o.labels, o.B, 1):
        x = list(o.x[at : at + size])
        right = -1
        if raw is None:
            errors = [0] * size
        else:
            top = max(x)
            t = [rescaled((top - v) << 16, m, s) for v in x]
            powers = [exp2n(v) for v in t]
            total = min(1 << 30, sum(powers))
            errors = [(p * 254 + total) // (2 * total) for p in powers]
            right = label(c, raw, size)
        if right >= 0:
            errors[right] -= 127
            loss = log2q(total) - 16 * 65536 + min(t[right], 1 << 24)
            add_loss(c, max(0, (loss * 45426 + 32768) >> 16))
            if x.index(top) == right:
                c[CORRECT] += 1
        for i in range(size):
            o.e[at + i] = errors[i]
        at += size
    o.se[0] = scale_div(ONE, scale_int(127 * batch_count(c, o.B)))


def add_loss(c, loss):
    loss += (c[LOSS_HIGH] << 32) + (c[LOSS] & 0xFFFFFFFF)
    c[LOSS] = wrap32(loss)
    c[LOSS_HIGH] = wrap32(loss >> 32)


def mse_i8(o):
    c, size = o.c, o.N
    sink = Sink(o.e, o.peak)
    kind = c[Y_FORMAT]
    sx = o.sx[0]
    inverse = scale_div(scale_shift(ONE, 8), sx)
    m, s = multiplier(scale_div(scale_shift(c[Y_SCALE], 8), sx))
    me, se = multiplier(scale_div(scale_shift(sx, -8), o.se[0]))
    loss = at = 0
    for raw in samples(c, Y_FORMAT, o.target, o.B, size):
        for i in range(at, at + size):
            if raw is None:
                o.e[i] = 0
                continue
            target = raw[i - at]
            if kind == FLOAT32:
                target = quantize(target, inverse)
            else:
                target = rescaled(sat32(target - c[Y_ZERO]), m, s)
            d = max(-(1 << 24), min(1 << 24, ((o.x[i] - o.z) << 8) - target))
            loss += d * d
            sink.put(i, rescaled(d, me, se))
        at += size
    sink.close()
    add_loss(c, loss)
    o.so[0] = scale_div(scale_shift(o.se[0], 1), scale_int(size * batch_count(c, o.B)))
