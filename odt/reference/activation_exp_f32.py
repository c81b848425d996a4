"""Activations with an exponential function in float32: sigmoid, tanh, softmax, ELU, GELU."""

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
        o.y[i] = store(tanh(o.x[i]))


def tanh_dx_f32(o):
    """dx = e * (1 - y^2)

    dx=f32[N]~e e:f32[N] y:f32[N] ; N'
    """
    for i in range(o.N):
        o.dx[i] = store(o.e[i] * rounded(1.0 - rounded(o.y[i] * o.y[i])))


# Taylor's series of tanh to x^9, for |x| < 0.25: 62 / 2835, -17 / 315, 2 / 15, -1 / 3, 1. With the exponential function
# beyond it, within 1.6e-7 of the true value, relatively.
_TANH = [bits_to_float(bits) for bits in (0x3CB327A4, 0xBD5D0DD1, 0x3E088889, 0xBEAAAAAB, 0x3F800000)]


def tanh(x):
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


_ELU = 0  # other kinds: GELU


def curve_f32(o):
    """y = gain * f(x), f by kind: 0 ELU, else GELU

    y=f32[N]~x x:f32[N] ; N' kind alpha gain
    """
    alpha, gain = bits_to_float(o.alpha), bits_to_float(o.gain)
    for i in range(o.N):
        o.y[i] = store(gain * _curve(o.x[i], o.kind, alpha)[0])


def curve_dx_f32(o):
    """dx = e * gain * f'(x), f as of curve_f32

    dx=f32[N]~e e:f32[N] x:f32[N] ; N' kind alpha gain
    """
    alpha, gain = bits_to_float(o.alpha), bits_to_float(o.gain)
    for i in range(o.N):
        o.dx[i] = store(o.e[i] * rounded(gain * _curve(o.x[i], o.kind, alpha)[1]))


# Abramowitz and Stegun 7.1.26: a5 to a1 and p; sqrt 1/2, 1 / sqrt(2 pi).
_TERMS = [bits_to_float(bits) for bits in (0x3F87DC22, 0xBFBA00E3, 0x3FB5F0E3, 0xBE91A98E, 0x3E827906)]
_P, _HALF_ROOT, _DENSITY = [bits_to_float(bits) for bits in (0x3EA7BA05, 0x3F3504F3, 0x3ECC422A)]


def _curve(x, kind, alpha):
    """f(x) and its gradient."""
    if kind == _ELU:
        if not x <= 0:
            return x, 1.0
        power = expf(x)
        return rounded(alpha * rounded(power - 1.0)), rounded(alpha * power)
    size = -x if x < 0 else x
    u = rounded(size * _HALF_ROOT)
    t = divide(1.0, rounded(1.0 + rounded(u * _P)))
    p = 0.0
    for term in _TERMS:
        p = rounded(rounded(p + term) * t)
    power = expf(-rounded(u * u))
    part = rounded(p * power) * 0.5
    part = part if x < 0 else rounded(1.0 - part)
    return rounded(x * part), rounded(part + rounded(x * rounded(power * _DENSITY)))
