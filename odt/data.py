"""The user's data: which format it has, how many samples it is, and whether it can be learnt from."""

from array import array

from . import executor
from .opcodes import FLOAT32, INT8, INT16, INT32, UINT8

FORMATS = {"int8": INT8, "uint8": UINT8, "int16": INT16, "int32": INT32, "float32": FLOAT32}
_BYTES = (1, 1, 2, 4, 4)  # by format
_CODES = ("b", "B", "h", "il", "f")
_WIDE = "qQdlL"  # eight bytes on a PC: what NumPy makes when it is not asked


def samples(argument, data, dtypes, row):
    """``(buffer, format, count)`` of ``data`` as samples of ``row`` elements.

    ``dtypes`` are the names that are accepted, the preferred first. ``bytes``, ``bytearray`` and a
    memoryview of bytes are taken as raw data of that one. Lists and 64-bit arrays are copied.
    Raises TypeError for other formats, ValueError for an amount that is not whole samples.
    """
    raw = isinstance(data, (bytes, bytearray, memoryview))
    if isinstance(data, (list, tuple)):
        data = _from_list(argument, data, dtypes)
    try:
        code = executor.engine.typecode(data)
        size = executor.engine.nbytes(data)
    except TypeError:
        raise TypeError("%s: a buffer or a list is expected, got %r" % (argument, type(data)))
    if code and code in _WIDE and hasattr(data, "itemsize") and data.itemsize == 8:
        data = _narrow(data, dtypes)
        code = executor.engine.typecode(data)
        size = executor.engine.nbytes(data)
    chosen = None
    for dtype in dtypes:
        number = FORMATS[dtype]
        if code is None or (raw and code == "B") or code in _CODES[number]:
            chosen = number
            break
    if chosen is None:
        expected = " or ".join(dtypes)
        raise TypeError("%s: elements are of type %r, expected %s" % (argument, code, expected))
    width = row * _BYTES[chosen]
    if size % width:
        raise ValueError(
            "%s: %d bytes are not whole samples of %d bytes (%d %s)"
            % (argument, size, width, row, dtype)
        )
    if size == 0:
        raise ValueError("%s: empty, at least one sample is expected" % argument)
    return data, chosen, size // width


def _flat(data, into):
    for item in data:
        if isinstance(item, (list, tuple)):
            _flat(item, into)
        else:
            into.append(item)


def _from_list(argument, data, dtypes):
    code = "f" if "float32" in dtypes else "i"
    flat = array(code)
    try:
        _flat(data, flat)
    except (TypeError, OverflowError):
        raise TypeError("%s: a list of numbers is expected" % argument)
    if code == "f" or "int32" in dtypes:
        return flat
    code = _CODES[FORMATS[dtypes[0]]]
    try:
        return array(code, flat)
    except OverflowError:
        raise ValueError("%s: a number does not fit into %s" % (argument, dtypes[0]))


def _narrow(data, dtypes):
    """A PC's 64-bit array as float32 or int32."""
    view = memoryview(data)
    if view.format == "d":
        code = "f" if "float32" in dtypes else None
    else:
        code = "i" if "int32" in dtypes else None
    return array(code, view.cast("B").cast(view.format)) if code else data


def check_finite(argument, data, format, row):
    """ValueError that names the first NaN or infinity of float32 data."""
    if format == FLOAT32:
        index = executor.engine.find_nonfinite(data)
        if index >= 0:
            place = (argument, index // row, index % row)
            raise ValueError("%s: sample %d, element %d is NaN or infinite" % place)


def check_labels(data, classes):
    """ValueError that names the first label that is not in 0 .. classes-1."""
    for index, label in enumerate(data):
        if not 0 <= label < classes:
            raise ValueError("y: label %d of sample %d is not in 0..%d" % (label, index, classes - 1))
