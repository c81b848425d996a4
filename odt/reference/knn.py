"""The k nearest neighbours of a sample in Python: what native/kernels/online/knn_i16.c computes, from
docs/reference/numerics.md (Online).
"""

import struct

from ..base.units import fixed_point
from .buffers import nbytes, typecode

_HEADER = 64
_NONE, _X_FORM, _X_VALUE, _DAMAGED = -1, -2, -3, -4


def _elements(data, count):
    """A buffer that holds exactly ``count`` float32 or int16; None of another, and of more dimensions."""
    if len(getattr(data, "shape", ())) > 1:
        return None
    try:
        code = typecode(data)
        if code == "f" and nbytes(data) == 4 * count or code == "h" and nbytes(data) == 2 * count:
            return data
    except TypeError:
        pass
    return None


def knn(state, work, x):
    """As ``_odt.knn`` (native/bindings/entry_points.h)."""
    words = struct.unpack_from("<12I", state) if len(state) >= _HEADER else (0,) * 12
    magic, kind, inputs, point, places, k, squares, condense = words[:8]
    step = 4 + 2 * inputs
    if (
        magic != 0x3154444E
        or kind != 2
        or not 1 <= inputs <= 65536
        or point > 15
        or not 1 <= places <= 65536
        or not 1 <= k <= places
        or len(state) != _HEADER + places * step
        or nbytes(work) < 4 * (1 + (inputs + 1) // 2 + 3 * k)
    ):
        return _DAMAGED
    if x is None:
        units = struct.unpack_from("<%dh" % inputs, work, 4)
    else:
        x = _elements(x, inputs)
        if x is None:
            return _X_FORM
        try:
            units = [max(-32768, min(32767, fixed_point("x", v, point))) for v in x]
        except ValueError:
            return _X_VALUE
        struct.pack_into("<%dh" % inputs, work, 4, *units)
    nearest = []  # (distance, place, label), the nearest first
    form = "<i%dh" % inputs
    for place in range(min(words[11], places)):
        label, *sample = struct.unpack_from(form, state, _HEADER + place * step)
        label &= 65535 if condense else 0x7FFFFFFF
        if squares:
            distance = sum([(a - b) * (a - b) for a, b in zip(sample, units)])
        else:
            distance = sum([abs(a - b) for a, b in zip(sample, units)])
        if len(nearest) < k or distance < nearest[-1][0]:
            nearest.append((distance, place, label))
            nearest.sort()
            nearest = nearest[:k]
    if not nearest:
        return _NONE
    votes = {}
    for _, _, label in nearest:
        votes[label] = votes.get(label, 0) + 1
    struct.pack_into("<I", work, 0, nearest[0][1])
    most = max(votes.values())
    return min([label for label in votes if votes[label] == most])
