"""Log-mel of a frame in Python: what native/kernels/features/logmel_i16.c computes,
from docs/reference/numerics.md (Features).
"""

from .buffers import is_int16, view16
from .spectrum import log2_256, power, spectrum

_DONE, _STATE, _SAMPLES, _OUT = 0, 1, 2, 3
_MAGIC = 0x4D31


def _is_good(tables, work):
    if len(tables) < 5 or tables[0] != _MAGIC:
        return False
    window, fft, channels, coefficients = tables[1], tables[2], tables[3], tables[4]
    if not 32 <= fft <= 2048 or fft & fft - 1 or not 1 <= window <= fft or not 1 <= channels <= 128:
        return False
    if not 0 <= coefficients <= channels:
        return False
    more = channels if coefficients else 0
    if len(tables) != channels + fft // 2 + 8 + (more and more + 3):
        return False
    if len(work) != fft // 4 + window - window // 2 + fft + 3 + more:
        return False
    last = 0
    for i in range(5, channels + 7):
        if not last <= tables[i] <= fft // 2 + 1:
            return False
        last = tables[i]
    return True


def _cosines(out, coefficients, heard, channels, tables, factors):
    for j in range(coefficients):
        total = 0
        for k in range(channels):
            at = j * (2 * k + 1) % (4 * channels)
            if at > 2 * channels:
                at = 4 * channels - at
            if at > channels:
                total -= heard[k] * tables[factors + 2 + 2 * channels - at]
            else:
                total += heard[k] * tables[factors + 2 + at]
        out[j] = total * (tables[factors + (j > 0)] & 0xFFFF) + (1 << 33) >> 34


def log_mel(out, samples, tables, work):
    """As ``_odt.log_mel`` (native/bindings/entry_points.h)."""
    if not _is_good(tables, work) or out is tables:
        return _STATE
    window, fft, channels, coefficients = tables[1], tables[2], tables[3], tables[4]
    if not is_int16(samples, "hB", window):
        return _SAMPLES
    if not is_int16(out, "h", coefficients or channels):
        return _OUT
    samples = view16(samples)
    m, quarter, left = fft // 2, fft // 4, window - window // 2
    sines, shape = memoryview(work)[: quarter + 1], memoryview(work)[quarter + 1 : quarter + 1 + left]
    z = memoryview(work)[quarter + 1 + left :]
    exponent = spectrum(z, samples, 0, 1, 0, window, fft, sines, shape) - 12
    heard = z[fft + 2 :] if coefficients else out
    falling = 0
    for c in range(channels + 1):
        rising = total = 0
        for k in range(tables[5 + c], tables[6 + c]):
            p = power(z, m, k, sines)
            rising += p * tables[channels + 7 + k]
            total += p
        if c:
            energy = falling + (total << 12) - rising
            v = log2_256(energy) + 256 * exponent if energy else 0
            heard[c - 1] = v if v > 0 else 0
        falling = rising
    if coefficients:
        _cosines(out, coefficients, heard, channels, tables, channels + 7 + m + 1)
    return _DONE
