"""Mean pooling in int8, forward beside backward: of windows, and of all."""

from ..base.fixed import ONE, multiplier, scale_div, scale_int, scale_mul
from ..base.primitives import rescale, wrap32
from .data import Sink
from .pool import average_windows


def globalavg_i8(o):
    """y = clamp(zy + q * sum_s (x - zx))

    y=i8[B*N] peak+i32 x:i8[B*S*N] q:mul ; B S N zx zy lo
    """
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for b in range(o.B):
        for n in range(o.N):
            total = sum([o.x[(b * o.S + s) * o.N + n] - o.zx for s in range(o.S)])
            sink.put(b * o.N + n, rescale(wrap32(total), o.q[0], o.q[1]))
    sink.close()


def globalavg_dx_i8(o):
    """dx[s] = e

    dx=i8[B*S*N] e:i8[B*N] ; B S N
    """
    for b in range(o.B):
        row = o.e[b * o.N : (b + 1) * o.N]
        for s in range(b * o.S, (b + 1) * o.S):
            o.dx[s * o.N : (s + 1) * o.N] = row


def avgpool2d_i8(o):
    """y = mean of x over the window's positions inside x

    y=i8[B*OH*OW*N] x:i8[B*H*W*N] ; @ adaptive
    """
    at = 0
    for offsets in average_windows(o):
        count = len(offsets)
        for n in range(o.N):
            total = 2 * sum([o.x[i + n] + 128 for i in offsets]) + count
            o.y[at] = (total & 0xFFFFFFFF) // (2 * count) - 128 if count else 0
            at += 1


def mean2d_i8(o):
    """y = clamp(zy + factor * sx / sy * mean of x - zx over the window's positions inside x)

    y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*N] sx:i32 sy:i32 ; @ adaptive zx zy lo factor away
    """
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    ratio = scale_div(scale_mul(o.factor, o.sx[0]), o.sy[0])
    at = 0
    for offsets in average_windows(o):
        count = len(offsets)
        m, s = multiplier(scale_div(ratio, scale_int(count)))
        for n in range(o.N):
            total = wrap32(sum([o.x[i + n] - o.zx for i in offsets]))
            if ratio == ONE and count:
                v, rest = divmod(total, count)
                y = wrap32(v + o.zy)
                v += 2 * rest > count or 2 * rest == count and (y >= 0 if o.away else y & 1 == 1)
            else:
                v = rescale(total, m, s)
            sink.put(at, v)
            at += 1
    sink.close()


def avgpool2d_dx_i8(o):
    """dx = clamp(q * sum of e * (256 * top / count) over the windows that hold it)

    dx=i8[B*H*W*N] peak+i32 e:i8[B*OH*OW*N] q:mul ; @ adaptive top
    """
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
