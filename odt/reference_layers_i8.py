"""More int8 layers of the reference executor: joins, average pooling, activations.

What only moves bytes (place, slice, upsample2d) serves float32 too.
"""

from .fixed import (
    LOG2_E,
    exp2n,
    hash32,
    multiplier,
    rescale,
    rescale_random,
    scale_mul,
    wrap32,
)
from .opcodes import KEY
from .reference_data import average_windows, copies, masked, open_bits
from .reference_i8 import Sink


# Joins


def _fits(o):
    """Whether columns at .. at + K lie among N."""
    return 0 <= o.at and o.K <= o.N and o.at <= o.N - o.K


def concat_i8(o):
    if not _fits(o):
        return
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for m in range(o.M):
        for k in range(o.K):
            v = rescale(o.x[m * o.K + k] - o.zx, o.q[0], o.q[1])
            sink.put(m * o.N + o.at + k, v)
    sink.close()


def place(o):
    if _fits(o):
        for m in range(o.M):
            first = m * o.N + o.at
            o.y[first : first + o.K] = o.x[m * o.K : (m + 1) * o.K]


def slice(o):
    fits = _fits(o)
    for m in range(o.M):
        first = m * o.N + o.at
        for k in range(o.K):
            o.y[m * o.K + k] = o.x[first + k] if fits else 0


def multiply_i8(o):
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for i in range(o.N):
        v = wrap32((o.a[i] - o.za) * (o.b[i] - o.zb))
        sink.put(i, rescale(v, o.q[0], o.q[1]))
    sink.close()


# Images enlarged: x[h, w] becomes SH rows of SW columns


def upsample2d(o):
    size = o.N
    width = o.W * o.SW
    for row in range(o.B * o.H):
        for w in range(o.W):
            at = (row * o.W + w) * size
            for i in copies(o, row, w, width):
                o.y[i : i + size] = o.x[at : at + size]


def upsample2d_dx_i8(o):
    width = o.W * o.SW
    sink = Sink(o.dx, o.peak)
    for row in range(o.B * o.H):
        for w in range(o.W):
            starts = list(copies(o, row, w, width))
            for n in range(o.N):
                total = wrap32(sum([o.e[i + n] for i in starts]))
                sink.put((row * o.W + w) * o.N + n, rescale(total, o.q[0], o.q[1]))
    sink.close()


# Average pooling


def avgpool2d_i8(o):
    at = 0
    for offsets in average_windows(o):
        count = len(offsets)
        for n in range(o.N):
            total = 2 * sum([o.x[i + n] + 128 for i in offsets]) + count
            o.y[at] = (total & 0xFFFFFFFF) // (2 * count) - 128 if count else 0
            at += 1


def avgpool2d_dx_i8(o):
    totals = [0] * len(o.dx)
    top = (o.top << 8) & 0xFFFFFFFF
    at = 0
    for offsets in average_windows(o):
        share = top // len(offsets) if offsets else 0
        for n in range(o.N):
            part = o.e[at] * share
            at += 1
            for i in offsets:
                totals[i + n] += part
    sink = Sink(o.dx, o.peak)
    for i in range(len(totals)):
        sink.put(i, rescale(wrap32(totals[i]), o.q[0], o.q[1]))
    sink.close()


# Activations


def relu6_dx_i8(o):
    for i in range(o.N):
        o.dx[i] = o.e[i] if -128 < o.y[i] < 127 else 0


def leaky_relu_i8(o):
    m, s = multiplier(o.slope)
    for i in range(o.N):
        v = o.x[i] - o.z
        if v < 0:
            v = rescale(v, m, s)
        o.y[i] = max(-128, min(127, o.z + v))


def leaky_relu_dx_i8(o):
    m, s = multiplier(o.slope)
    key = hash32(o.c[KEY], o.id)
    for i in range(o.N):
        v = o.e[i]
        if o.x[i] <= o.z:
            v = rescale_random(v, m, s, hash32(key, i))
        o.dx[i] = max(-127, min(127, v))


def _exponent(o):
    """The multiplier that makes steps << 16 of x an argument of exp2n."""
    return multiplier(scale_mul(scale_mul(o.factor, o.sx[0]), LOG2_E))


def sigmoid_i8(o):
    m, s = _exponent(o)
    for i in range(o.N):
        v = o.x[i] - o.z
        power = exp2n(rescale(abs(v) << 16, m, s))
        whole = 65536 + power
        part = (256 * (power if v < 0 else 65536) + whole // 2) // whole
        o.y[i] = min(part - 128, 127)


def sigmoid_dx_i8(o):
    sink = Sink(o.dx, o.peak)
    for i in range(o.N):
        v = o.e[i] * (16384 - o.y[i] * o.y[i])
        sink.put(i, rescale(v, o.q[0], o.q[1]))
    sink.close()


def softmax_i8(o):
    size = o.N
    m, s = _exponent(o)
    for at in range(0, o.M * size, size):
        x = o.x[at : at + size]
        top = max(x)
        powers = [exp2n(rescale((top - v) << 16, m, s)) for v in x]
        total = min(1 << 30, sum(powers))
        for i in range(size):
            o.y[at + i] = min((512 * powers[i] + total) // (2 * total) - 128, 127)


def softmax_dx_i8(o):
    size = o.N
    sink = Sink(o.dx, o.peak)
    for at in range(0, o.M * size, size):
        part = [v + 128 for v in o.y[at : at + size]]
        e = o.e[at : at + size]
        mean = sum([u * v for u, v in zip(e, part)])
        for i in range(size):
            v = wrap32(part[i] * (256 * e[i] - mean))
            sink.put(at + i, rescale(v, o.q[0], o.q[1]))
    sink.close()


# Clamps as bits


def open_i8(o):
    open_bits(o, o.lo, o.hi)


masked_i8 = masked
