"""Updates with float32 state, of float32 weights and (``_i32``) of int8 ones."""

import math

from ..fixed import ONE, bits_to_float, float_to_bits, log2_floor, scale_mul, scale_shift
from ..regions import RATE
from .float32 import divide, rounded, store, store2, to_int


# Decay


def decay_f32(o):
    """w -= RATE * decay * w

    w+f32[N] c:i32[16] ; N decay
    """
    if o.c[RATE] == 0:
        return
    rest = rounded(1.0 - rounded(bits_to_float(o.c[RATE]) * bits_to_float(o.decay)))
    for i in range(o.N):
        o.w[i] = store(o.w[i] * rest)


# Directions


def momentum_f32(o):
    """v = mu * v + d; d = v

    d+f32[N] v+f32[N] ; N mu
    """
    mu = bits_to_float(o.mu)
    for i in range(o.N):
        v = store(rounded(mu * o.v[i]) + o.d[i])
        o.v[i] = v
        o.d[i] = v


def nesterov_f32(o):
    """v = mu * v + d; d = d + mu * v

    d+f32[N] v+f32[N] ; N mu
    """
    mu = bits_to_float(o.mu)
    for i in range(o.N):
        d = o.d[i]
        o.v[i] = store(rounded(mu * o.v[i]) + d)
        o.d[i] = store(d + rounded(mu * o.v[i]))


def adam_f32(o):
    """m += (d - m) * (1 - beta1); v = beta2 * v + (1 - beta2) * d^2; d = m / (sqrt(v) + eps * rate[1])

    d+f32[N] m+f32[N] v+f32[N] rate:i32[2] ; N b1 c1 b2 c2 eps
    """
    constants = _adam_constants(o)
    for i in range(o.N):
        o.d[i] = store(_adam_step(o, i, o.d[i], *constants))


def _adam_step(o, i, g, b1, c1, b2, c2, eps):
    """Update m and v at i with the gradient g; the direction m / (sqrt(v) + eps)."""
    m = store(rounded(b1 * o.m[i]) + rounded(c1 * g))
    v = store2(rounded(b2 * o.v[i]) + rounded(c2 * rounded(g * g)))
    o.m[i] = m
    o.v[i] = v
    root = rounded(math.sqrt(v)) if v > 0 else v - v  # NaN stays NaN
    return divide(m, rounded(root + eps))


def _adam_constants(o):
    eps = rounded(bits_to_float(o.eps) * bits_to_float(o.rate[1]))
    return [bits_to_float(bits) for bits in (o.b1, o.c1, o.b2, o.c2)] + [eps]


def momentum_i32(o):
    """as momentum_i16 with v in float32

    d+i32[N*K] ds=i32[N] v+f32[N*K] gs:i32[1] ; N K factor mu
    """
    _momentum_i32(o, False)


def nesterov_i32(o):
    """as nesterov_i16 with v in float32

    d+i32[N*K] ds=i32[N] v+f32[N*K] gs:i32[1] ; N K factor mu
    """
    _momentum_i32(o, True)


def _momentum_i32(o, nesterov):
    size, v = o.K, o.v
    scale = bits_to_float(scale_mul(o.factor, o.gs[0]))
    mu = bits_to_float(o.mu)
    for n in range(o.N):
        row = range(n * size, (n + 1) * size)
        top = 0
        for i in row:
            g = rounded(rounded(float(o.d[i])) * scale)
            v[i] = store(rounded(mu * v[i]) + g)
            x = store(g + rounded(mu * v[i])) if nesterov else v[i]
            top = max(top, float_to_bits(x) & 0x7FFFFFFF)
        if top == 0:
            o.ds[n] = ONE
            for i in row:
                o.d[i] = 0
            continue
        e = max(-100, min(100, log2_floor(top) - 22))
        o.ds[n] = scale_shift(ONE, e)
        unit = bits_to_float(scale_shift(ONE, -e))
        for i in row:
            x = v[i]
            if nesterov:
                x = store(rounded(rounded(float(o.d[i])) * scale) + rounded(mu * v[i]))
            o.d[i] = to_int(x * unit)


def adam_i32(o):
    """as adam_i16 with m and v in float32

    d+i32[N*K] ds=i32[N] m+f32[N*K] v+f32[N*K] gs:i32[1] rate:i32[2] ; N K factor b1 c1 b2 c2 eps
    """
    scale = bits_to_float(scale_mul(o.factor, o.gs[0]))
    constants = _adam_constants(o)
    for i in range(o.N * o.K):
        g = rounded(rounded(float(o.d[i])) * scale)
        x = _adam_step(o, i, g, *constants)
        o.d[i] = to_int((4.0 if x > 4 else -4.0 if x < -4 else x) * 1048576)
    for n in range(o.N):
        o.ds[n] = scale_shift(ONE, -20)


# From directions to weights


def apply_f32(o):
    """w -= rate * d

    w+f32[N] d:f32[N] rate:i32[1] ; N
    """
    if o.rate[0] == 0:
        return
    rate = bits_to_float(o.rate[0])
    for i in range(o.N):
        o.w[i] = store(o.w[i] - rounded(rate * o.d[i]))
