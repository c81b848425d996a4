"""A cascade of biquads in Python: what native/kernels/features/biquads_i16.c computes, from docs/reference/numerics.md
(Features).
"""

from .buffers import int16_of

_DONE, _STATE, _SAMPLES, _OUT = 0, 1, 2, 3
_MAGIC = 0x4649
_LIMIT = 1 << 29


def _is_good(tables, work):
    if len(tables) < 3 or tables[0] != _MAGIC or not 1 <= tables[1] <= 16 or not 1 <= tables[2] <= 16:
        return False
    return len(tables) == 3 + 5 * tables[1] and len(work) == tables[2] * (3 * tables[1] + 2)


def biquads(out, samples, tables, work):
    """As ``_odt.biquads`` (native/bindings/entry_points.h)."""
    if not _is_good(tables, work) or out is tables or out is work:
        return _STATE
    sections, channels = tables[1], tables[2]
    samples = int16_of(samples, "hB")
    if samples is None or not len(samples) or len(samples) % channels:
        return _SAMPLES
    if int16_of(out, "h") is None or len(out) != len(samples):
        return _OUT
    size = 3 * sections + 2
    for at in range(len(samples)):
        v = at % channels * size
        rest = v + 2 * sections + 2
        x = int(samples[at]) << 12
        for s in range(sections):
            b = 3 + 5 * s
            total = x * tables[b] + work[v] * tables[b + 1] + work[v + 1] * tables[b + 2] + work[rest + s]
            total -= work[v + 2] * tables[b + 3] + work[v + 3] * tables[b + 4]
            work[v + 1] = work[v]
            work[v] = x
            work[rest + s] = total & (1 << 29) - 1
            x = max(-_LIMIT, min(_LIMIT - 1, total >> 29))
            v += 2
        work[v + 1] = work[v]
        work[v] = x
        out[at] = max(-32768, min(32767, x + 2048 >> 12))
    return _DONE
