"""What odt.sensors.MicroFrontend computes once, by integers alone: native/kernels/features/frontend.h says what lies
where.

Loaded by one that is made, and dropped again on boards. Sizes were checked.
"""

from array import array

from ...base.fixed import bit_length
from .tables import cosine

_MAGIC = 0x4631
_POINT = 48
_LN2 = 0xB17217F7D1CF  # ln 2, 48 bits after the point
_TURN = 0x6487ED5110B46  # 2 pi
_TURN_SINGLE = 0x6487ED8000000  # that as a float32


def _log2(v):
    """log2 of v / 2^48 >= 1, 48 bits after the point."""
    n = bit_length(v) - 1
    mantissa = v << 63 >> n
    n -= _POINT
    for _ in range(_POINT):
        mantissa = mantissa * mantissa >> 63
        bit = mantissa >> 64
        mantissa >>= bit
        n = 2 * n + bit
    return n


def _exp2(v):
    """2^v, v >= -32 and the result with 48 bits after the point."""
    n, x = v >> _POINT, (v & (1 << _POINT) - 1) * _LN2 >> _POINT
    total, term, i = 0, 1 << _POINT, 0
    while term:
        total += term
        i += 1
        term = (term * x >> _POINT) // i
    return total << 32 >> 32 - n


def _single(v):
    """v >= 0 with the 24 bits of a float32, to the nearest."""
    drop = bit_length(v) - 24
    if drop <= 0:
        return v
    half = 1 << drop - 1
    rest = v & 2 * half - 1
    v >>= drop
    return v + (rest > half or rest == half and v & 1) << drop


def _mel(numerator, denominator):
    """1127 ln(1 + f / 700), f = numerator / denominator, of float32s, 48 bits after the point."""
    part = _single((numerator << _POINT) // (700 * denominator))
    return _single(1127 * _single(_LN2 * _log2((1 << _POINT) + part) >> _POINT))


def _hann(i, window):
    """4096 (1/2 - cos(2 pi (i + 1/2) / W) / 2) to the nearest, of float32s."""
    angle = _single(_single(_TURN_SINGLE // window) * (2 * i + 1) >> 1)
    wave = cosine(min(angle, max(_TURN - angle, 0)), _TURN)
    half = _single(abs(wave) >> 1)
    v = _single((1 << 63) - (half if wave > 0 else -half))
    return _single(v + (1 << 51)) >> 52


def _bands(rate, fft, channels, low, high):
    """Two lists: the first bin of each of channels + 1 bands, then the end of the last; and for each bin its distance
    below its band's upper edge, in 1/4096.
    """
    first = upper = _mel(low, 1)
    spacing = _single(_single(_mel(high, 1) - first) // (channels + 1))
    k = min((3 * rate + 2 * low * fft) // (2 * rate), fft // 2 + 1)
    edges, weights = [k], [0] * (fft // 2 + 1)
    for c in range(1, channels + 2):
        lower, upper = upper, _single(first + _single(spacing * c))
        while k <= fft // 2:
            mel = _mel(k * rate, fft)
            if mel > upper:
                break
            part = (_single(upper - mel) << _POINT) // _single(upper - lower)
            weights[k] = min(_single(_single(part) + (1 << _POINT - 13)) >> _POINT - 12, 4096)
            k += 1
        edges.append(k)
    if (rate, fft, channels, low, high) == (16000, 512, 40, 125, 7500):
        for k in (149, 221):  # where glibc's logarithm, with which networks are trained, is not the nearest float32
            weights[k] += 1
    return edges, weights


def _gain(x, bits):
    """2^21 (x / 2^bits + 80)^-0.95, to the nearest, at most 32767."""
    gain = _exp2((21 << _POINT) - 19 * _log2((80 << _POINT) + (x << _POINT >> bits)) // 20)
    return min(gain + (1 << _POINT - 1) >> _POINT, 0x7FFF)


def _gains(bits):
    """The gain at 0 and 1; for 2^i, i = 1 .. 31: the gain there, and the two factors of a parabola up to the next."""
    gains = [_gain(0, bits), _gain(1, bits)]
    for i in range(1, 32):
        x = 1 << i
        y = _gain(x, bits)
        middle, end = _gain(x + x // 2, bits) - y, _gain(min(2 * x, 0xFFFFFFFF), bits) - y
        gains += [y, 4 * middle - end, 2 * end - 4 * middle]
    return gains


def tables(rate, window, fft, channels, low, high):
    """Head, bands, the window, sines of a quarter, gains, logarithms: array("h")."""
    edges, weights = _bands(rate, fft, channels, low, high)
    made = array("h", (_MAGIC, window, fft, channels))
    for part in (edges, weights):
        for value in part:
            made.append(value)
    for i in range(window):
        made.append(_hann(i, window))
    for i in range(fft // 4 + 1):
        made.append(0x7FFF * cosine(fft // 4 - i, fft) + (1 << 63) >> 64)
    for value in _gains(10 - (bit_length(fft) - 7)):
        made.append(value)
    for i in range(129):
        made.append((_log2((128 + i) << _POINT - 7) - (i << _POINT - 7) + (1 << _POINT - 17)) >> _POINT - 16)
    return made


def work(fft, channels):
    """Scratch, and of each channel what noise is in it: array("i")."""
    return array("i", bytes(4 * (fft // 2 + 1 + channels)))
