"""Frames of int16 samples, in Python: whether a buffer is one, and its elements."""

from array import array

from .buffers import nbytes, typecode


def is_int16(data, codes, count):
    """Whether a buffer has that many int16: elements of one of these typecodes, "B" being raw bytes."""
    try:
        code = typecode(data)
        if code == "H" and not hasattr(memoryview(data), "format"):  # that of a view is not told
            code = "h"
        return code in codes and nbytes(data) == 2 * count
    except TypeError:
        return False


def view16(samples):
    """What is_int16 found good, by its int16."""
    return array("h", bytes(samples)) if typecode(samples) == "B" else samples


def int16_of(data, codes):
    """The int16 of a buffer whose typecode is one of these, "B" being raw bytes; None of another."""
    try:
        count = nbytes(data) // 2
    except TypeError:
        return None
    return view16(data) if is_int16(data, codes, count) else None
