"""MiniRocket's features in Python: what native/kernels/features/rocket_i16.c computes, from docs/reference/numerics.md
(Features).
"""

from .buffers import is_int16, view16

_DONE, _STATE, _SAMPLES, _OUT = 0, 1, 2, 3
_MAGIC, _KERNELS, _MOST = 0x4D52, 84, 120


def _count(tables, work):
    """The number of features; 0 of tables or work that do not fit together."""
    if len(tables) < 4 or tables[0] != _MAGIC:
        return 0
    window, channels, dilations, count = tables[1], tables[2], tables[3], 0
    if not 9 <= window <= 2048 or not 1 <= channels <= 16 or not 1 <= dilations <= 32:
        return 0
    if len(tables) != 4 + (2 + _KERNELS) * dilations:
        return 0
    for i in range(4, 4 + dilations):
        if not 1 <= tables[i] <= (window - 1) // 8 or not 1 <= tables[dilations + i] <= _MOST:
            return 0
        count += tables[dilations + i]
    return _KERNELS * count if count <= _MOST and len(work) == _KERNELS * count + 3 * window else 0


def kernels():
    """Where each of the 84 kernels has its three 2; elsewhere it is -1."""
    return [(a, b, c) for a in range(7) for b in range(a + 1, 8) for c in range(b + 1, 9)]


def convolved(samples, window, channels, mask, dilation, kernel, padded):
    """A window's convolution with a kernel: of all its places, or of those where the kernel lies within the window."""
    x = [0] * (window + 8 * dilation)
    for t in range(window):
        x[4 * dilation + t] = sum([int(samples[t * channels + c]) for c in range(channels) if mask >> c & 1])
    first = 0 if padded else 4 * dilation
    weights = [2 if j in kernel else -1 for j in range(9)]
    return [sum([weights[j] * x[t + j * dilation] for j in range(9)]) for t in range(first, window - first)]


def rocket(out, samples, tables, work):
    """As ``_odt.rocket`` (native/bindings/entry_points.h)."""
    features = _count(tables, work)
    if not features or out is tables or out is work:
        return _STATE
    window, channels, dilations = tables[1], tables[2], tables[3]
    if not is_int16(samples, "hB", window * channels):
        return _SAMPLES
    if not is_int16(out, "h", features) or out is samples:
        return _OUT
    samples, at = view16(samples), 0
    for i in range(dilations):
        for k, kernel in enumerate(kernels()):
            mask = tables[4 + 2 * dilations + _KERNELS * i + k]
            found = convolved(samples, window, channels, mask, tables[4 + i], kernel, (i + k) % 2 == 0)
            for _ in range(tables[4 + dilations + i]):
                above = sum([v > work[at] for v in found])
                out[at] = ((above << 15) + len(found)) // (2 * len(found))
                at += 1
    return _DONE
