"""The user's data where they are not in a plain buffer: lists, arrays with a shape, numbers of 64 bits."""

from array import array

from ..fixed import elements

_CODES = {"int8": "b", "uint8": "B", "int16": "h", "int32": "i", "float32": "f"}
_LIMITS = {"int8": 127, "uint8": 255, "int16": 32767, "int32": 2147483647}


def one_axis(argument, data, dtypes, row, one=()):
    """A list, or an array of a shape, as a buffer of a single axis; arguments and errors as of data.samples()."""
    if isinstance(data, (list, tuple)):
        return _from_list(argument, data, dtypes, row)
    return _flat(argument, data, row, one)


def _flat(argument, data, row, one=()):
    """An array with a shape (NumPy's, ulab's, a memoryview's) as one of a single axis."""
    shape = getattr(data, "shape", None)
    if shape is None:
        return data
    if not getattr(memoryview(data), "c_contiguous", True):
        if hasattr(data, "copy"):  # a view of NumPy's
            return _flat(argument, data.copy(), row, one)
        raise ValueError("%s: an array without gaps, in C order, is expected; give a copy" % argument)
    if len(shape) == 1:
        return data
    if tuple(shape) == tuple(one):
        shape = (1,) + tuple(one)
    count = elements(shape[1:])
    if not shape or count != row:
        hint = '; one-hot labels want the loss "categorical_crossentropy"' if row == 1 and argument[-1:] == "y" else ""
        raise ValueError("%s: shape %s, expected (samples, ..) of %d elements%s" % (argument, shape, row, hint))
    if hasattr(data, "reshape"):
        return data.reshape(shape[0] * row)
    return data.cast("B").cast(data.format) if shape[0] else b""


def _from_list(argument, data, dtypes, row):
    """Numbers, or lists of ``row`` numbers each, as an array."""
    dtype = "float32" if "float32" in dtypes else "int32" if "int32" in dtypes else dtypes[0]
    limit = _LIMITS.get(dtype)
    flat = array(_CODES[dtype])
    for index, item in enumerate(data):
        before = len(flat)
        try:
            _append(item, flat, limit)
        except (TypeError, ValueError):
            raise TypeError("%s: item %d is not of numbers (%s)" % (argument, index, dtype))
        except OverflowError:
            raise ValueError("%s: item %d does not fit into %s" % (argument, index, dtype))
        if isinstance(item, (list, tuple)) and len(flat) - before != row:
            place = (argument, index, len(flat) - before, row)
            raise ValueError("%s: sample %d has %d numbers, expected %d" % place)
    return flat


def _append(item, into, limit):
    if isinstance(item, (list, tuple)):
        for part in item:
            _append(part, into, limit)
        return
    if limit and not (0 if limit == 255 else -limit - 1) <= item <= limit:
        raise OverflowError  # MicroPython's array would wrap
    into.append(item)


def narrow(argument, data, dtypes, code):
    """A 64-bit array as float32 or int32."""
    dtype = "float32" if code == "d" else "int32"
    if dtype not in dtypes:
        return data
    data = memoryview(data)
    if hasattr(data, "cast"):
        data = data.cast("B").cast(code)  # whose numbers are Python's, not NumPy's
    if dtype == "int32":
        limit = _LIMITS[dtype]
        for index, number in enumerate(data):
            if not -limit - 1 <= number <= limit:
                raise ValueError("%s: element %d does not fit into int32: %d" % (argument, index, number))
    return array(_CODES[dtype], data)
