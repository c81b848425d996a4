"""The user's data: which format it has, how many samples it is, and whether it can be learnt from."""

import struct
from array import array

from ..base import executor
from ..base.fixed import float_to_bits
from ..base.regions import FLOAT32, INT8, INT16, INT32, UINT8, UINT16

FORMATS = {  # uint32 of labels only: below 2**31 they are read as int32
    "int8": INT8, "uint8": UINT8, "int16": INT16, "int32": INT32, "float32": FLOAT32, "uint16": UINT16, "uint32": INT32,
}  # fmt: skip
_BYTES = (1, 1, 2, 4, 4, 2)  # by format
_CODES = {"int8": "b", "uint8": "B", "int16": "h", "int32": "il", "float32": "f", "uint16": "H", "uint32": "IL"}
_PLAIN = bytes, bytearray  # whose type code is asked of no engine, which makes a string
_RAW = bytes, bytearray, memoryview
_LISTS = list, tuple
_WIDE = "qQdlL"  # eight bytes on a PC: what NumPy makes when it is not asked


def samples(argument, data, dtypes, row, one=()):
    """``(buffer, format, count, type code)`` of ``data`` as samples of ``row`` elements.

    ``dtypes`` are the names that are accepted, the preferred first; ``one`` is the shape that one sample may come in.
    ``bytes``, ``bytearray`` and a memoryview of bytes are taken as raw data of that one. Lists and 64-bit arrays are
    copied. Raises TypeError for other formats, ValueError for an amount or a shape that is not whole samples.
    """
    raw = isinstance(data, _RAW)
    if isinstance(data, _LISTS) or hasattr(data, "shape"):
        from .arrays import one_axis

        data = one_axis(argument, data, dtypes, row, one)
    try:
        code = "B" if isinstance(data, _PLAIN) else executor.engine.typecode(data)
        size = executor.engine.nbytes(data)
    except TypeError:
        raise TypeError("%s: a buffer or a list is expected, got %r" % (argument, type(data)))
    if code == "?" and "uint8" in dtypes and hasattr(data, "view"):  # NumPy's bools
        data = data.view("uint8")
        code = "B"
    if code and code in _WIDE and len(data) and size // len(data) == 8:
        from .arrays import narrow

        data = narrow(argument, data, dtypes, code)
        code = executor.engine.typecode(data)
        size = executor.engine.nbytes(data)
    chosen = None
    for dtype in dtypes:
        if code is None or (raw and code == "B") or code in _CODES[dtype]:
            chosen = FORMATS[dtype]
            break
    if chosen is None:
        from .arrays import refuse_type

        refuse_type(argument, data, dtypes, code)
    width = row * _BYTES[chosen]
    if size % width:
        raise ValueError("%s: %d bytes are not whole samples of %d bytes (%d %s)" % (argument, size, width, row, dtype))
    if size == 0:
        raise ValueError("%s: empty, at least one sample is expected" % argument)
    return data, chosen, size // width, code


def check_finite(argument, data, format, row):
    """ValueError that names the first NaN or infinity of float32 data."""
    if format == FLOAT32:
        index = executor.engine.find_nonfinite(data)
        if index >= 0:
            place = (argument, index // row, index % row)
            raise ValueError("%s: sample %d, element %d is NaN or infinite" % place)


def check_probabilities(argument, data, row):
    """ValueError that names the first target that is not from 0 to 1."""
    for index, value in enumerate(memoryview(data)):
        if not 0 <= value <= 1:
            place = (argument, index // row, index % row, value)
            raise ValueError("%s: sample %d, element %d is %r, not from 0 to 1" % place)


def check_labels(argument, data, classes):
    """ValueError that names the first label that is not in 0 .. classes-1."""
    if min(data) < 0 or max(data) >= classes:  # to look at each takes longer
        from .arrays import refuse_label

        refuse_label(argument, data, classes)


def float32_bits(values, index):
    """A value's float32 bits; of an array('f') as they are, for floats may be shorter."""
    if isinstance(values, array) and executor.engine.typecode(values) == "f":
        return struct.unpack_from("<I", values, 4 * index)[0]
    return float_to_bits(values[index])
