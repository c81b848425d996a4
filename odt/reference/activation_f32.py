"""Activations in float32, forward beside backward, and their masks as bits."""

from ..fixed import bits_to_float
from .data import masked, open_bits
from .float32 import divide, expf, rounded, store


def relu_f32(o):
    for i in range(o.N):
        v = o.x[i]
        o.y[i] = 0.0 if v < 0 else v


def relu_dx_f32(o):
    for i in range(o.N):
        o.dx[i] = o.e[i] if o.y[i] > 0 else 0.0


def relu6_f32(o):
    for i in range(o.N):
        x = o.x[i]
        o.y[i] = 0.0 if x < 0 else 6.0 if x > 6 else x


def relu6_dx_f32(o):
    for i in range(o.N):
        o.dx[i] = o.e[i] if 0 < o.y[i] < 6 else 0.0


def leaky_relu_f32(o):
    slope = bits_to_float(o.slope)
    for i in range(o.N):
        o.y[i] = o.x[i] if o.x[i] > 0 else store(o.x[i] * slope)


def leaky_relu_dx_f32(o):
    slope = bits_to_float(o.slope)
    for i in range(o.N):
        o.dx[i] = o.e[i] if o.y[i] > 0 else store(o.e[i] * slope)


def sigmoid(x):
    """1 / (1 + exp(-x))."""
    if x >= 0:
        return divide(1.0, rounded(1.0 + expf(-x)))
    if x < 0:
        power = expf(x)
        return divide(power, rounded(1.0 + power))
    return x  # NaN


def sigmoid_f32(o):
    for i in range(o.N):
        o.y[i] = store(sigmoid(o.x[i]))


def sigmoid_dx_f32(o):
    for i in range(o.N):
        y = o.y[i]
        o.dx[i] = store(o.e[i] * rounded(y * rounded(1.0 - y)))


_TANH = [bits_to_float(bits) for bits in (0x3CB327A4, 0xBD5D0DD1, 0x3E088889, 0xBEAAAAAB, 0x3F800000)]


def _tanh(x):
    size = -x if x < 0 else x
    if size < 0.25:
        z = rounded(x * x)
        p = _TANH[0]
        for c in _TANH[1:]:
            p = rounded(rounded(p * z) + c)
        return x * p
    if size >= 0.25:
        power = expf(rounded(size * -2.0))
        y = divide(rounded(1.0 - power), rounded(1.0 + power))
        return -y if x < 0 else y
    return x  # NaN


def tanh_f32(o):
    for i in range(o.N):
        o.y[i] = store(_tanh(o.x[i]))


def tanh_dx_f32(o):
    for i in range(o.N):
        o.dx[i] = store(o.e[i] * rounded(1.0 - rounded(o.y[i] * o.y[i])))


def softmax_f32(o):
    size = o.N
    for at in range(0, o.M * size, size):
        x = o.x[at : at + size]
        top = x[0]
        for v in x[1:]:
            top = v if v > top else top
        total = 0.0
        powers = [expf(rounded(v - top)) for v in x]
        for p in powers:
            total = rounded(total + p)
        for i in range(size):
            o.y[at + i] = store(divide(powers[i], total))


def softmax_dx_f32(o):
    size = o.N
    for at in range(0, o.M * size, size):
        mean = 0.0
        for i in range(at, at + size):
            mean = rounded(mean + rounded(o.e[i] * o.y[i]))
        for i in range(at, at + size):
            o.dx[i] = store(o.y[i] * rounded(o.e[i] - mean))


# Masks


def open_f32(o):
    open_bits(o, 0.0, bits_to_float(o.hi))


def masked_f32(o):
    masked(o)
