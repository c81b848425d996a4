"""Several int8 tensors into one, each in a scale of its own, and the gradient of images enlarged."""

from ..fixed import rescale, sat32, wrap32
from .int8 import Sink
from .join import copies, fits


def add_i8(o):
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for i in range(o.N):
        a = rescale((o.a[i] - o.za) * 256, o.qa[0], o.qa[1])
        b = rescale((o.b[i] - o.zb) * 256, o.qb[0], o.qb[1])
        sink.put(i, (sat32(a + b) + 128) >> 8)
    sink.close()


def multiply_i8(o):
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for i in range(o.N):
        v = wrap32((o.a[i] - o.za) * (o.b[i] - o.zb))
        sink.put(i, rescale(v, o.q[0], o.q[1]))
    sink.close()


def concat_i8(o):
    if not fits(o):
        return
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    for m in range(o.M):
        for k in range(o.K):
            v = rescale(o.x[m * o.K + k] - o.zx, o.q[0], o.q[1])
            sink.put(m * o.N + o.at + k, v)
    sink.close()


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
