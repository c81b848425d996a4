"""Statistics and spectral power of a window in Python: what native/kernels/features/motion_i16.c computes, from
docs/reference/numerics.md (Features).
"""

from .buffers import is_int16, view16
from .spectrum import log2_256, power, spectrum

_DONE, _STATE, _SAMPLES, _OUT = 0, 1, 2, 3
_MAGIC, _STATISTICS = 0x4D4F, 6


def _is_good(tables, work):
    if len(tables) < 5 or tables[0] != _MAGIC:
        return False
    window, fft, channels, bands = tables[1], tables[2], tables[3], tables[4]
    if not 32 <= fft <= 2048 or fft & fft - 1 or not 2 <= window <= fft or not 1 <= channels <= 16:
        return False
    if not 0 <= bands <= 64 or len(tables) != 5 + (bands and bands + 1):
        return False
    if len(work) != (fft // 4 + window - window // 2 + fft + 3 if bands else 1):
        return False
    last = 0
    for i in range(5, len(tables)):
        if not last <= tables[i] <= fft // 2 + 1:
            return False
        last = tables[i]
    return True


def _root(v):
    root = 0
    for i in range(30, -1, -1):
        if (root | 1 << i) ** 2 <= v:
            root |= 1 << i
    return root


def _limited(v):
    return max(-32768, min(32767, v))


def _statistics(out, at, samples, first, channels, window):
    total = squares = crossings = 0
    highest, lowest = -32768, 32767
    for i in range(window):
        v = int(samples[first + i * channels])
        total += v
        squares += v * v
        highest, lowest = max(v, highest), min(v, lowest)
    mean = (2 * total + window) // (2 * window)
    above = samples[first] >= mean
    for i in range(1, window):
        now = samples[first + i * channels] >= mean
        crossings += now != above
        above = now
    squares *= window
    out[at] = mean
    out[at + 1] = _limited((2 * _root(squares - total * total) + window) // (2 * window))
    out[at + 2] = _limited((2 * _root(squares) + window) // (2 * window))
    out[at + 3] = crossings
    out[at + 4] = _limited(highest - mean)
    out[at + 5] = _limited(lowest - mean)
    return mean


def motion(out, samples, tables, work):
    """As ``_odt.motion`` (native/bindings/entry_points.h)."""
    if not _is_good(tables, work) or out is tables:
        return _STATE
    window, fft, channels, bands = tables[1], tables[2], tables[3], tables[4]
    each = _STATISTICS + bands
    if not is_int16(samples, "hB", window * channels):
        return _SAMPLES
    if not is_int16(out, "h", channels * each):
        return _OUT
    samples, m, left = view16(samples), fft // 2, window - window // 2
    sines, shape = memoryview(work)[: fft // 4 + 1], memoryview(work)[fft // 4 + 1 : fft // 4 + 1 + left]
    z = memoryview(work)[fft // 4 + 1 + left :]
    for c in range(channels):
        mean = _statistics(out, c * each, samples, c, channels, window)
        if not bands:
            continue
        exponent = spectrum(z, samples, c, channels, mean, window, fft, sines, shape)
        for b in range(bands):
            total = 0
            for k in range(tables[5 + b], tables[6 + b]):
                total += power(z, m, k, sines)
            v = log2_256(total) + 256 * exponent if total else 0
            out[c * each + _STATISTICS + b] = _limited(max(v, 0))
    return _DONE
