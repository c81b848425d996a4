"""Dense layers and convolution in int8, forward beside backward.

Sums are exact Python integers, wrapped to int32 before they are rescaled.
"""

from ..base.fixed import hash32
from ..base.primitives import rescale, rescale_random, wrap32
from ..base.regions import KEY
from .data import Sink, blank, positions, rows, windows

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


def dense_i8(o):
    """y = clamp(zy + q[n] * (b[n] + sum_k (x - zx) * w))

    y=i8[M*N] peak+i32 x:i8[M*K] w:i8[N*K] b:i32[N] q:mul[N] ; M K N zx zy lo
    """
    w, q, zx, size = o.w, o.q, o.zx, o.K
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for m in range(o.M):
        row = [v - zx for v in o.x[m * size : (m + 1) * size]]
        for n in range(o.N):
            total = wrap32(o.b[n] + _dot(row, w[n * size : (n + 1) * size]))
            sink.put(m * o.N + n, rescale(total, q[2 * n], q[2 * n + 1]))
    sink.close()


def dense_dx_i8(o):
    """dx = clamp(q * sum_n e * w)

    dx=i8[M*K] peak+i32 e:i8[M*N] w:i8[N*K] q:mul ; M K N
    """
    w, size = o.w, o.K
    sink = Sink(o.dx, o.peak)
    for m in range(o.M):
        totals = [0] * size
        for n in range(o.N):
            e = o.e[m * o.N + n]
            if e:
                totals = [t + e * v for t, v in zip(totals, w[n * size : (n + 1) * size])]
        for k in range(size):
            sink.put(m * size + k, rescale(wrap32(totals[k]), o.q[0], o.q[1]))
    sink.close()


def dense_dw_i8(o):
    """dw[n - at] = sum_m e * (x - zx)

    dw=i32[R*K] e:i8[M*N] x:i8[M*K] ; M K N zx at R
    """
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
    """db = sum_m e

    db=i32[N] e:i8[M*N] ; M N
    """
    for n in range(o.N):
        o.db[n] = wrap32(sum([o.e[m * o.N + n] for m in range(o.M)]))


def channel_scale_i8(o):
    """y = clamp(q[n] * e); id >> 16 rows lie before

    y=i8[M*N]~e e:i8[M*N] q:mul[N] c: ; M N id
    """
    q = o.q
    key = hash32(o.c[KEY], o.id & 0xFFFF)
    first = (o.id >> 16 & 0xFFFF) * o.N  # elements of the rows before these
    for i in range(o.M * o.N):
        n = i % o.N
        v = rescale_random(o.e[i], q[2 * n], q[2 * n + 1], hash32(key, first + i))
        o.y[i] = max(-127, min(127, v))


# Convolution


def conv2d_i8(o):
    """y = clamp(zy + q[n] * (b[n] + sum_(kh,kw,c) (x - zx) * w))

    y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*C] w:i8[N*KH*KW*C] b:i32[N] q:mul[N] ; @ zx zy lo
    """
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
            sink.put(at, rescale(total, q[2 * n], q[2 * n + 1]))
            at += 1
    sink.close()


def conv2d_dx_i8(o):
    """dx = clamp(q * sum_(kh,kw,n) e * w)

    dx=i8[B*H*W*C] peak+i32 e:i8[B*OH*OW*N] w:i8[N*KH*KW*C] q:mul ; @
    """
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


def conv2d_dw_i8(o):
    """dw[n - at] = sum_(b,oh,ow) e * (x - zx)

    dw=i32[R*KH*KW*C] e:i8[B*OH*OW*N] x:i8[B*H*W*C] ; @ zx at R
    """
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


def _put_totals(o, totals):
    sink = Sink(o.dx, o.peak)
    for i in range(len(totals)):
        sink.put(i, rescale(wrap32(totals[i]), o.q[0], o.q[1]))
    sink.close()


# In groups, and transposed


def unpack_i4(o):
    """y = the nibbles of x times 16, as int8: of each word the four low ones, then the high ones

    y=i32[N*2] x:i32[N] ; N
    """
    for n in range(o.N):
        word = o.x[n] & 0xFFFFFFFF
        for half in range(2):
            y = word << 4 - 4 * half & 0xF0F0F0F0
            o.y[2 * n + half] = y - (y >> 31 << 32)
