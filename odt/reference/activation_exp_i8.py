"""Activations with an exponential function in int8: sigmoid (tanh with factor 2) and softmax."""

from ..fixed import LOG2_E, exp2n, multiplier, rescale, scale_mul, wrap32
from .data import Sink


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


def _exponent(o):
    """The multiplier that makes steps << 16 of x an argument of exp2n."""
    return multiplier(scale_mul(scale_mul(o.factor, o.sx[0]), LOG2_E))
