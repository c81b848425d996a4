"""What odt.sensors.LogMel computes once, by integers alone: native/kernels/features/logmel.h says what lies where.

Loaded by a LogMel that is made, and dropped again on boards. Sizes were checked.
"""

from array import array

from ...base.fixed import bit_length

_MAGIC = 0x4D31
_PI = 0x3243F6A8885A308D3  # pi, 64 bits after the point
_POINT = 64


def _sine(numerator, denominator):
    """sin and cos of pi/4 * numerator / denominator <= pi/4, times 2^64, by their series."""
    x = _PI * numerator // (4 * denominator)
    term = 1 << _POINT
    parts = [0, 0]
    n = 0
    while term:
        parts[n & 1] += -term if n & 2 else term
        n += 1
        term = (term * x >> _POINT) // n
    return parts[1], parts[0]


def cosine(a, b):
    """cos of 2 pi a/b times 2^64, for 0 <= a <= b/2."""
    octant, rest = divmod(8 * a, b)
    s, c = _sine(b - rest if octant & 1 else rest, b)
    if octant in (1, 2):
        c = s
    return -c if octant in (2, 3, 4) else c


def _nearest(v):
    """A value times 2^64 as int32 of 31 bits, to the nearest."""
    return min(v + (1 << _POINT - 32) >> _POINT - 31, 0x7FFFFFFF)


def log2(v):
    """log2 of v / 2^24 > 0, 24 bits after the point."""
    n = bit_length(v) - 1
    mantissa = v << 40 >> n
    n -= 24
    for _ in range(24):
        mantissa = mantissa * mantissa >> 40
        bit = mantissa >> 41
        mantissa >>= bit
        n = 2 * n + bit
    return n


def _mel(numerator, denominator):
    """A frequency's place on the mel scale, up to a factor: log2(1 + f / 700), f = numerator / denominator."""
    return log2((1 << 24) + (numerator << 24) // (700 * denominator))


def _root(v):
    """The square root of an integer, rounded down."""
    root = 1 << (bit_length(v) + 1) // 2
    while root * root > v:
        root = (root + v // root) // 2
    return root


def _factors(channels):
    """Of the orthonormal cosine transform of C channels: 2^16 sqrt(1/C) and sqrt(2/C), unsigned, and 2^15 cos(2 pi i /
    4C), i = 0..C.
    """
    factors = []
    for i in (0, 1):
        root = min(_root((1 << 64 + i) // channels) + (1 << 15) >> 16, 0xFFFF)
        factors.append(root - ((root & 0x8000) << 1))
    for i in range(channels + 1):
        factors.append(min(cosine(i, 4 * channels) + (1 << _POINT - 16) >> _POINT - 15, 0x7FFF))
    return factors


def bands(rate, window, fft, channels, low, high, coefficients=0):
    """Head, the first bin of each band and, of each bin, its place within the band in 1/4096: array("h").

    With coefficients, then the factors of the cosine transform.
    """
    head = array("h", (_MAGIC, window, fft, channels, coefficients))
    first, last = _mel(low, 1), _mel(high, 1)
    edges = [fft // 2 + 1] * (channels + 2)
    weights = array("h", bytes(fft + 2))
    begun = -1
    for k in range(fft // 2 + 1):
        band, rest = divmod((_mel(k * rate, fft) - first) * (channels + 1), last - first)
        weights[k] = (rest << 12) // (last - first)
        while begun < min(band, channels + 1):
            begun += 1
            edges[begun] = k
    for edge in edges:
        head.append(edge)
    for weight in weights:
        head.append(weight)
    if coefficients:
        for factor in _factors(channels):
            head.append(factor)
    return head


def waves(window, fft, channels=0):
    """Sines of a quarter, the first half of Hann's window at the samples' middles, scratch, that of channels:
    array("i").
    """
    quarter, left = fft // 4, window - window // 2
    work = array("i", bytes(4 * (quarter + 1 + left + fft + 2 + channels)))
    for k in range(quarter + 1):
        work[k] = _nearest(cosine(quarter - k, fft))
    for i in range(left):
        work[quarter + 1 + i] = _nearest((1 << _POINT) - cosine(2 * i + 1, 2 * window) >> 1)
    return work
