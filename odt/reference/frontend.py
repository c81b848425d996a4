"""TensorFlow's microfrontend, a frame, in Python: what native/kernels/features/frontend_i16.c computes, from
docs/reference/numerics.md (Features).
"""

from ..base.fixed import bit_length
from .buffers import is_int16, view16

_DONE, _STATE, _SAMPLES, _OUT = 0, 1, 2, 3
_MAGIC = 0x4631
_GAINS, _LOGARITHMS = 95, 129
_MASK32 = 0xFFFFFFFF


def _is_good(tables, work):
    if len(tables) < 4 or tables[0] != _MAGIC:
        return False
    window, fft, channels = tables[1], tables[2], tables[3]
    if not 32 <= fft <= 2048 or fft & fft - 1 or not 1 <= window <= fft or not 1 <= channels <= 128:
        return False
    if len(tables) != 4 + channels + 2 + fft // 2 + 1 + window + fft // 4 + 1 + _GAINS + _LOGARITHMS:
        return False
    if len(work) != fft // 2 + 1 + channels:
        return False
    last = 0
    for i in range(4, channels + 6):
        if not last <= tables[i] <= fft // 2 + 1:
            return False
        last = tables[i]
    return True


def _wrap16(v):
    return (v + 32768 & 65535) - 32768


def _part(v, factor):
    return v * factor + 16384 >> 15


def _twiddle(sines, at, quarter, k):
    if k <= quarter:
        return sines[at + quarter - k], sines[at + k]
    if k <= 2 * quarter:
        return -sines[at + k - quarter], sines[at + 2 * quarter - k]
    return -sines[at + 3 * quarter - k], -sines[at + k - 2 * quarter]


def _times(r, i, w):
    """(r + i j) W, W = cos - sin j."""
    return r * w[0] + i * w[1] + 16384 >> 15, i * w[0] - r * w[1] + 16384 >> 15


def _transform(z, m, tables, at):
    q, quarter = 1, m // 2
    if bit_length(m) % 2 == 0:
        for p in range(0, 2 * m, 4):
            for j in (p, p + 1):
                a, b = _part(z[j], 16383), _part(z[j + 2], 16383)
                z[j], z[j + 2] = a + b, a - b
        q = 2
    while q < m:
        step = m // (2 * q)
        for k in range(q):
            w = [_twiddle(tables, at, quarter, i * k * step) for i in (2, 1, 3)]
            for first in range(k, m, 4 * q):
                ar, ai = _part(z[2 * first], 8191), _part(z[2 * first + 1], 8191)
                parts = []
                for i in (1, 2, 3):
                    p = 2 * (first + i * q)
                    parts.append(_times(_part(z[p], 8191), _part(z[p + 1], 8191), w[i - 1]))
                (br, bi), (cr, ci), (dr, di) = parts
                er, ei, fr, fi = ar + br, ai + bi, ar - br, ai - bi
                gr, gi, hr, hi = cr + dr, ci + di, cr - dr, ci - di
                p = 2 * first
                z[p], z[p + 1] = _wrap16(er + gr), _wrap16(ei + gi)
                z[p + 2 * q], z[p + 2 * q + 1] = _wrap16(fr + hi), _wrap16(fi - hr)
                z[p + 4 * q], z[p + 4 * q + 1] = _wrap16(er - gr), _wrap16(ei - gi)
                z[p + 6 * q], z[p + 6 * q + 1] = _wrap16(fr - hi), _wrap16(fi + hr)
        q *= 4


def _energies(z, m, tables, at):
    energies = [0] * (m + 1)
    r, i = _part(z[0], 16383), _part(z[1], 16383)
    energies[0], energies[m] = _wrap16(r + i) ** 2, _wrap16(r - i) ** 2
    for k in range(1, m // 2 + 1):
        p, q = 2 * k, 2 * (m - k)
        ar, ai, br, bi = _part(z[p], 16383), _part(z[p + 1], 16383), _part(z[q], 16383), _part(-z[q + 1], 16383)
        c, s = _twiddle(tables, at, m // 2, k)
        tr, ti = _times(ar - br, ai - bi, (-s, c))
        tr, ti, ar, ai = _wrap16(tr), _wrap16(ti), ar + br, ai + bi
        energies[k] = (ar + tr >> 1) ** 2 + (ai + ti >> 1) ** 2
        energies[m - k] = (ar - tr >> 1) ** 2 + (ti - ai >> 1) ** 2
    return energies


def _root(v):
    root, bit = 0, 1 << (bit_length(v) + 1 & ~1)
    while bit:
        if v >= root + bit:
            v -= root + bit
            root = (root >> 1) + bit
        else:
            root >>= 1
        bit >>= 2
    return root + (v > root and root != 0xFFFF)


def _gain(x, tables, at):
    if x < 2:
        return tables[at + x]
    n = bit_length(x)
    at += 3 * n - 4
    rest = (x << 11 - n if n < 11 else x >> n - 11) & 1023
    v = (tables[at + 2] * rest >> 5) + tables[at + 1] * 32
    return _wrap16((v * rest + 16384 >> 15) + tables[at])


def _shrink(x):
    return x * x >> 20 if x < 8192 else (x >> 6) - 64


def _log(x, tables, at):
    """64 ln(x)."""
    n = bit_length(x) - 1
    rest = (x << 16 >> n) - 65536
    at += rest >> 9
    v = (n << 16) + rest + tables[at] + ((tables[at + 1] - tables[at]) * (rest & 511) >> 16)
    return ((v * 45426 + 32768 >> 16) * 64 + 32768) >> 16


def frontend(out, samples, tables, work):
    """0, or what is wrong: 1 the tables or work, 2 samples, 3 out; then nothing is written."""
    if not _is_good(tables, work) or out is tables:
        return _STATE
    window, fft, channels = tables[1], tables[2], tables[3]
    if not is_int16(samples, "hB", window):
        return _SAMPLES
    if not is_int16(out, "h", channels):
        return _OUT
    samples = view16(samples)
    m, bits = fft // 2, bit_length(fft) - 7
    weights = channels + 6
    shape = weights + m + 1
    sines = shape + window
    gains = sines + fft // 4 + 1
    shaped = [int(samples[i]) * tables[shape + i] >> 12 for i in range(window)]
    top = 0
    for v in shaped:
        top = max(top, abs(v))
    shift = 15 - min(bit_length(top), 15)
    shaped += [0] * (fft - window)
    z = [0] * fft
    to = 0
    for i in range(0, fft, 2):
        z[2 * to], z[2 * to + 1] = _wrap16(shaped[i] << shift), _wrap16(shaped[i + 1] << shift)
        bit = m >> 1
        while to & bit:
            to ^= bit
            bit >>= 1
        to |= bit
    _transform(z, m, tables, sines)
    energies = _energies(z, m, tables, sines)
    rising = 0
    for c in range(channels + 1):
        falling = total = 0
        for k in range(tables[4 + c], tables[5 + c]):
            falling += energies[k] * tables[weights + k]
            total += energies[k]
        if c:
            out[c - 1] = _channel(c - 1, _root(rising + falling) >> shift, bits, m + c, work, tables, gains)
        rising = (total << 12) - falling
    return _DONE


def _channel(c, signal, bits, at, work, tables, gains):
    smoothing = 983 if c & 1 else 409
    scaled = signal << 10 & _MASK32
    noise = scaled * smoothing + (work[at] & _MASK32) * (16384 - smoothing) >> 14
    work[at] = (noise + 0x80000000 & _MASK32) - 0x80000000
    signal = max(scaled - min(noise, scaled) >> 10, signal * 819 >> 14)
    signal = _shrink(signal * _gain(noise, tables, gains) >> 9 - bits & _MASK32)
    signal = (signal << bits if bits >= 0 else signal >> -bits) & _MASK32
    return min(_log(signal, tables, gains + _GAINS), 0x7FFF) if signal > 1 else 0
