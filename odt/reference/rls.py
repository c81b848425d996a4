"""Recursive least squares in Python: what native/kernels/online/rls_f32.c computes, from docs/reference/numerics.md
(Online).

The state changes by one assignment at the end, so that nothing that interrupts this leaves half a step.
"""

import struct
from array import array

from ..base.fixed import ONE, bit_length, bits_to_float, float_to_bits, hash32, multiplier, scale_shift
from ..base.primitives import exp2n, quantize, rescale
from .buffers import nbytes, typecode
from .float32 import rounded, store

_HEADER = 64
_LINEAR, _TANH, _SIGMOID, _RELU = 0, 1, 2, 3
_DONE, _X_FORM, _Y_FORM, _X_VALUE, _Y_VALUE, _DAMAGED = 0, 1, 2, 3, 4, 5
_TINY, _HUGE = bits_to_float(76 << 23), bits_to_float(167 << 23)  # 2^-51, 2^40
_LEAST = bits_to_float(87 << 23)  # 2^-40, of D
_FIELD = 147  # exponents of inputs are below: 2^20


def keep(x):
    """x as a float32 of the state: 0 below 2^-51, 2^40 at most."""
    x = rounded(x)
    if -_TINY < x < _TINY:
        return 0.0
    return x if -_HUGE < x < _HUGE else -_HUGE if x < 0 else _HUGE


def _floats(data, count):
    """Bits of ``count`` float32; None where the buffer does not hold exactly that many."""
    try:
        if typecode(data) != "f" or nbytes(data) != 4 * count:
            return None
    except TypeError:
        return None
    return [float_to_bits(data[i]) for i in range(count)]


def _is_state(state, words):
    K, N, M, activation = words[1], words[2], words[3], words[5]
    linear = activation == _LINEAR
    return (
        words[0] == 0x3152444F
        and 1 <= K <= 4096
        and 1 <= N <= 1024 + linear
        and 1 <= M <= 4096
        and activation <= _RELU
        and (not linear or N == K + 1)
        and 0x3F000000 <= words[7] <= 0x3F800000
        and 97 << 23 <= words[8] < 255 << 23
        and 97 << 23 <= words[9] < 255 << 23
        and 97 << 23 <= words[10] < 255 << 23
        and len(state) == _HEADER + 4 * (N * (N + 1) // 2 + N * M)
    )


def _activate(activation, z):
    if activation == _RELU:
        return max(0, min(z, 1 << 24)) / 65536
    a = min(abs(z), 393216 if activation == _TANH else 720896)
    decay = exp2n(a * 5909 >> (11 if activation == _TANH else 12))
    if activation == _TANH:
        v = ((65536 - decay) << 15) // (65536 + decay)
        return (-v if z < 0 else v) / 32768
    v = (1 << 31) // (65536 + decay)
    return (32768 - v if z < 0 else v) / 32768


def _features(words, x):
    K, N, seed, activation = words[1], words[2], words[4], words[5]
    if activation == _LINEAR:
        return [store(bits_to_float(bits)) for bits in x] + [1.0]
    field = max([bits >> 23 & 255 for bits in x])
    shift = 15 - max(1, field - 126) - max(0, bit_length(K) - 9)
    unit = scale_shift(ONE, shift)
    q = [quantize(bits, unit) for bits in x] + [quantize(ONE, unit)]
    m, s = multiplier(scale_shift(words[6], 9 - shift))
    h, at = [], 0
    for _ in range(N):
        total = 0
        for value in q:
            total += value * ((hash32(seed, at) >> 24 | 1) - 128)
            at += 1
        h.append(_activate(activation, rescale(total, m, s)))
    return h


def _trace(p, N):
    total, at = 0.0, 0
    for j in range(N):
        length = 1.0
        for i in range(j):
            length = rounded(length + rounded(p[at + i] * p[at + i]))
        total = rounded(total + rounded(p[at + j] * length))
        at += j + 1
    return total


def _remembered(words, p, d):
    forgetting = bits_to_float(words[7])
    if not forgetting < 1 or not d >= bits_to_float(words[8]):
        return 1.0
    start, at = bits_to_float(words[10]), 0
    for j in range(words[2]):
        at += j + 1
        if p[at - 1] >= start:
            return 1.0 if _trace(p, words[2]) > rounded(forgetting * bits_to_float(words[9])) else forgetting
    return forgetting


def _update(p, N, f, left, start):
    """Bierman's update of P = U D U'; returns P h."""
    k, a, inverse, at = [], left, rounded(1 / left), 0
    rise = inverse
    for j in range(N):
        D = p[at + j]
        v = keep(D * f[j])
        factor, before = keep(-rounded(f[j] * inverse)), a
        a = max(0.25, keep(a + rounded(v * f[j])))
        inverse = rounded(1 / a)
        D = keep(rounded(D * before) * inverse)
        D = keep(D * rise)
        p[at + j] = max(_LEAST, min(D, start))
        for i in range(j):
            u = p[at + i]
            p[at + i] = keep(u + rounded(factor * k[i]))
            k[i] = keep(k[i] + rounded(v * u))
        k.append(v)
        at += j + 1
    return k


def rls(state, work, x, y, learn):
    """As ``_odt.rls`` (native/bindings/entry_points.h)."""
    words = struct.unpack("<16I", state[:_HEADER]) if len(state) >= _HEADER else (0,) * 16
    K, N, M = words[1], words[2], words[3]
    if not _is_state(state, words) or nbytes(work) < 4 * (2 * M + 1 + N + max(N, K + 1)):
        return _DAMAGED
    x = _floats(x, K)
    if x is None:
        return _X_FORM
    targets = y is not None or learn
    if targets:
        y = _floats(y, M)
        if y is None:
            return _Y_FORM
    if max([bits >> 23 & 255 for bits in x]) >= _FIELD:
        return _X_VALUE
    if targets and max([bits >> 23 & 255 for bits in y]) >= _FIELD:
        return _Y_VALUE
    numbers = array("f", bytes(state[_HEADER:]))
    beta = N * (N + 1) // 2
    h = _features(words, x)
    errors, squares = [], 0.0
    for m in range(M):
        total = 0.0
        for n in range(N):
            total = rounded(total + rounded(h[n] * numbers[beta + n * M + m]))
        work[m] = total = keep(total)
        if targets:
            e = keep(bits_to_float(y[m]) - total)
            errors.append(e)
            squares = rounded(squares + rounded(e * e))
    if targets:
        work[M] = keep(squares / M)
    if not learn:
        return _DONE
    at = beta
    for j in range(N - 1, -1, -1):
        at -= j + 1
        total = h[j]
        for i in range(j):
            total = rounded(total + rounded(numbers[at + i] * h[i]))
        h[j] = keep(total)
    d = 0.0
    for j in range(N):
        d = rounded(d + rounded(keep(numbers[at + j] * h[j]) * h[j]))
        at += j + 1
    d = keep(d)
    left = _remembered(words, numbers, d)
    k = _update(numbers, N, h, left, bits_to_float(words[10]))
    rate = rounded(1 / rounded(left + d))
    for n in range(N):
        gain = keep(k[n] * rate)
        for m in range(M):
            i = beta + n * M + m
            numbers[i] = keep(numbers[i] + rounded(gain * errors[m]))
    seen = min(words[11] + (words[12] << 32) + 1, (1 << 64) - 1)
    header = bytes(state[:44]) + struct.pack("<2I", seen & 0xFFFFFFFF, seen >> 32) + bytes(state[52:_HEADER])
    state[:] = header + bytes(numbers)
    return _DONE
