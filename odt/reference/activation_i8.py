"""Activations in int8, forward beside backward, and their masks as bits."""

from ..fixed import LOG2_E, exp2n, hash32, multiplier, rescale, rescale_random, scale_mul, wrap32
from ..opcodes import KEY
from .data import masked, open_bits
from .int8 import Sink


def relu_i8(o):
    for i in range(o.N):
        o.y[i] = max(o.x[i], o.z)


def relu_dx_i8(o):
    for i in range(o.N):
        o.dx[i] = o.e[i] if o.y[i] > o.lo else 0


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


# Masks


def open_i8(o):
    open_bits(o, o.lo, o.hi)


def masked_i8(o):
    masked(o)
