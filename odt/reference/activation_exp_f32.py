"""Activations with an exponential function in float32: sigmoid, tanh, softmax."""

from ..base.fixed import bits_to_float
from .float32 import divide, expf, rounded, store


def sigmoid_f32(o):
    """y = 1 / (1 + exp(-x))

    y=f32[N]~x x:f32[N] ; N'
    """
    for i in range(o.N):
        o.y[i] = store(sigmoid(o.x[i]))


def sigmoid_dx_f32(o):
    """dx = e * y * (1 - y)

    dx=f32[N]~e e:f32[N] y:f32[N] ; N'
    """
    for i in range(o.N):
        y = o.y[i]
        o.dx[i] = store(o.e[i] * rounded(y * rounded(1.0 - y)))


def sigmoid(x):
    """1 / (1 + exp(-x))."""
    if x >= 0:
        return divide(1.0, rounded(1.0 + expf(-x)))
    if x < 0:
        power = expf(x)
        return divide(power, rounded(1.0 + power))
    return x  # NaN


def tanh_f32(o):
    """y = tanh(x)

    y=f32[N]~x x:f32[N] ; N'
    """
    for i in range(o.N):
        o.y[i] = store(_tanh(o.x[i]))


def tanh_dx_f32(o):
    """dx = e * (1 - y^2)

    dx=f32[N]~e e:f32[N] y:f32[N] ; N'
    """
    for i in range(o.N):
        o.dx[i] = store(o.e[i] * rounded(1.0 - rounded(o.y[i] * o.y[i])))


# Taylor's series of tanh to x^9, for |x| < 0.25: 62 / 2835, -17 / 315, 2 / 15, -1 / 3, 1. With the exponential function beyond it,
# within 1.6e-7 of the true value, relatively.
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


def softmax_f32(o):
    """y = softmax(x)

    y=f32[M*N]~x x:f32[M*N] ; M N
    """
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
    """dx = y * (e - sum_n e * y)

    dx=f32[M*N]~e e:f32[M*N] y:f32[M*N] ; M N
    """
    size = o.N
    for at in range(0, o.M * size, size):
        mean = 0.0
        for i in range(at, at + size):
            mean = rounded(mean + rounded(o.e[i] * o.y[i]))
        for i in range(at, at + size):
            o.dx[i] = store(o.y[i] * rounded(o.e[i] - mean))
