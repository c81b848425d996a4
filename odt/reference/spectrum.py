"""The power spectrum of int16 samples in Python: what native/kernels/features/spectrum.h computes, from
docs/reference/numerics.md (Features).
"""

from ..base.fixed import bit_length


def _twiddle(sines, quarter, k):
    if k <= quarter:
        return sines[quarter - k], sines[k]
    return -sines[k - quarter], sines[2 * quarter - k]


def _times(z, at, w):
    """z W / 2."""
    r, i = z[at], z[at + 1]
    return (r * w[0] >> 32) + (i * w[1] >> 32) + 1, (i * w[0] >> 32) - (r * w[1] >> 32)


def _butterfly(z, at, q, b, c, d, up):
    ar, ai = z[at], z[at + 1]
    er, ei, fr, fi = ar + up * b[0], ai + up * b[1], ar - up * b[0], ai - up * b[1]
    gr, gi, hr, hi = up * (c[0] + d[0]), up * (c[1] + d[1]), up * (c[0] - d[0]), up * (c[1] - d[1])
    z[at], z[at + 1] = er + gr, ei + gi
    z[at + 2 * q], z[at + 2 * q + 1] = fr + hi, fi - hr
    z[at + 4 * q], z[at + 4 * q + 1] = er - gr, ei - gi
    z[at + 6 * q], z[at + 6 * q + 1] = fr - hi, fi + hr


def _transform(z, m, sines):
    """z is M complex numbers as pairs, bit-reversed; its transform stays in place."""
    q = 1
    if bit_length(m) % 2 == 0:
        for at in range(0, 2 * m, 4):
            ar, ai, br, bi = z[at], z[at + 1], z[at + 2], z[at + 3]
            z[at], z[at + 1], z[at + 2], z[at + 3] = ar + br, ai + bi, ar - br, ai - bi
        q = 2
    while q < m:
        step = m // (2 * q)
        for k in range(q):
            w, w2 = _twiddle(sines, m // 2, k * step), _twiddle(sines, m // 2, 2 * k * step)
            third = 3 * k * step
            w3 = _twiddle(sines, m // 2, third - m if third > m else third)
            if third > m:
                w3 = -w3[0], -w3[1]
            for at in range(2 * k, 2 * m, 8 * q):
                b, c, d = at + 2 * q, at + 4 * q, at + 6 * q
                if k:
                    _butterfly(z, at, q, _times(z, b, w2), _times(z, c, w), _times(z, d, w3), 2)
                else:
                    _butterfly(z, at, q, (z[b], z[b + 1]), (z[c], z[c + 1]), (z[d], z[d + 1]), 1)
        q *= 4


def _squares(r, i):
    r = r + 16 >> 5
    i = i + 16 >> 5
    return r * r + i * i


def power(z, m, k, sines):
    """|X[k]|^2 / 2^10 of the real signal X whose even and odd samples, as pairs, have the transform z."""
    if k == 0 or k == m:
        return _squares(z[0] - z[1] if k else z[0] + z[1], 0)
    low = min(k, m - k)
    p, q = 2 * low, 2 * (m - low)
    ar, ai = z[p] + z[q] >> 1, z[p + 1] - z[q + 1] >> 1
    tr, ti = _times((z[p] - z[q], z[p + 1] + z[q + 1]), 0, _twiddle(sines, m // 2, low))
    if k > m // 2:
        return _squares(ar - ti, ai + tr)
    return _squares(ar + ti, ai - tr)


def log2_256(v):
    """256 log2(v), v > 0, rounded down: a bit per squaring."""
    n = bit_length(v) - 1
    mantissa = v >> n - 15 if n > 15 else v << 15 - n
    for _ in range(8):
        square = mantissa * mantissa
        bit = square >> 31
        n = 2 * n + bit
        mantissa = square >> 15 + bit
    return n


def spectrum(z, samples, first, step, mean, window, fft, sines, shape):
    """Into z: the transform of samples[first], samples[first + step], .., less mean; the exponent of their power()."""
    m, left = fft // 2, window - window // 2
    bits, top = bit_length(m) - 1, 0
    for i in range(window):
        v = int(samples[first + i * step]) - mean
        top |= ~v if v < 0 else v
    up = 15 - bit_length(top)
    half = 1 << bits >> 1
    for i in range(m):
        to = 0
        for b in range(bits):
            to |= (i >> b & 1) << bits - 1 - b
        for at in (2 * i, 2 * i + 1):
            v = 0
            if at < window:
                w = shape[at if at < left else window - 1 - at]
                v = ((int(samples[first + at * step]) - mean << 16 + up) * w >> 32) + half >> bits
            z[2 * to + (at & 1)] = v
    _transform(z, m, sines)
    return 2 * (bits - 15 - up) + 10
