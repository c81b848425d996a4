"""The user's data where they are not in a plain buffer: lists, arrays with a shape, numbers of 64 bits.

An array with a shape has the Input's axes, in its order: what has as many elements, but other axes, is refused. Axes of
1 do not count.
"""

from array import array

from ..base.fixed import elements
from ..base.primitives import count_of

_CODES = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "float32": "f"}
_LIMITS = {"int8": 127, "uint8": 255, "int16": 32767, "uint16": 65535, "int32": 2147483647}
_FLAT = []  # the axes of a number
_NAMES = "write names = sorted(set(y)), then y = [names.index(name) for name in y]"


def one_axis(argument, data, dtypes, row, one=()):
    """A list, or an array of a shape, as a buffer of a single axis; arguments and errors as of data.samples()."""
    if isinstance(data, (list, tuple)):
        return _from_list(argument, data, dtypes, row, one or (row,))
    return _flat(argument, data, row, one)


def _flat(argument, data, row, one=()):
    """An array with a shape (NumPy's, ulab's, a memoryview's, what NumPy reads) as one of a single axis."""
    shape = tuple(data.shape)
    if hasattr(data, "filled") and data.mask.any():  # numpy.ma
        raise ValueError(
            "%s: a masked array: %s.filled(value) says what stands where it is masked" % (argument, argument)
        )
    if len(shape) != 1:
        if shape == tuple(one):
            shape = (1,) + shape
        if not shape or _long(shape[1:]) != _long(one or (row,)):
            refuse(argument, data, shape, one or (row,))
    try:
        view = memoryview(data)
    except Exception:  # of pandas, PyTorch, or of dates
        data = read(argument, data)
        view = memoryview(data)
    texts = argument[-1:] == "y" and getattr(view, "format", "b")[-1:] in "wsO" and shape[0]
    if texts and isinstance(data.reshape(-1)[0], (str, bytes)):
        raise TypeError("%s: numbers are expected, got texts: %s" % (argument, _NAMES))
    if not getattr(view, "c_contiguous", True):
        if not hasattr(data, "copy"):
            raise ValueError("%s: an array without gaps, in C order, is expected; give a copy" % argument)
        data = data.copy()  # a view of NumPy's
    if len(shape) == 1:
        return data
    if hasattr(data, "reshape"):
        return data.reshape(shape[0] * row)
    return data.cast("B").cast(data.format) if shape[0] else b""


def read(argument, data):
    """What is no buffer as NumPy reads it."""
    try:
        found = __import__("numpy").asarray(data)
        memoryview(found)
        return found
    except Exception as error:
        raise TypeError("%s: an array of numbers is expected, got %r: %s" % (argument, type(data), error))


def refuse_type(argument, data, dtypes, code):
    """TypeError for elements of another type, with what makes the right one of them."""
    hint = ": " + retyped(argument, data, dtypes) if hasattr(data, "astype") else ""
    raise TypeError("%s: elements are of type %r, expected %s%s" % (argument, code, " or ".join(dtypes), hint))


def refuse_label(argument, data, classes):
    """ValueError for the first label that is not in 0 .. classes-1."""
    for index, label in enumerate(data):
        if not 0 <= label < classes:
            place = (argument, label, index, classes - 1)
            raise ValueError("%s: label %d of sample %d is not in 0..%d" % place)


def retyped(argument, data, dtypes):
    """What makes an array of NumPy's one of these types, and leaves its numbers what they are."""
    name, dtype = argument.split(" ")[-1], dtypes[0]
    kind = data.dtype.kind
    if "float32" in dtypes or kind not in "fiu":
        return "%s.astype(%r)" % (name, dtype)
    whole = kind != "f" or not len(data) or bool((data == data.round()).all()) and float(abs(data).max()) < 1e18
    if not whole and name == "y":
        return "labels are whole numbers, without NaN"
    low, high = (int(data.min()), int(data.max())) if whole and len(data) else (0, 0)
    fits = [other for other in dtypes if other in _LIMITS and _low(other) <= low and high <= _LIMITS[other]]
    if kind == "f" and name != "y" and not (fits and low < high > 1):
        return "an Input of dtype 'float32' takes floats; %s is rint(x / scale + zero_point)" % dtype
    if fits:
        return "%s.astype(%r)" % (name, fits[0])
    return "they are %d..%d, beyond %s: an Input of another dtype" % (low, high, dtype)


def _low(dtype):
    return 0 if dtype[0] == "u" else -_LIMITS[dtype] - 1


def _long(shape):
    return [extent for extent in shape if extent != 1]


def one_sample(argument, data, shape):
    """One sample, an array of several axes, as one of a single axis; ValueError where its axes are not those of
    ``shape``.
    """
    found = tuple(data.shape)
    if _long(found) != _long(shape):
        refuse(argument, data, found, shape, 0)
    return _joined(argument, data)


def rows(argument, data, row):
    """The same of an array (samples, row)."""
    found = tuple(data.shape)
    if _long(found[1:]) != _long((row,)):
        refuse(argument, data, found, (row,))
    return _joined(argument, data)


def _joined(argument, data):
    if isinstance(data, memoryview):
        return data.cast("B").cast(data.format)
    joined = (data if hasattr(data, "reshape") else read(argument, data)).reshape(-1)
    flags = getattr(joined, "flags", None)  # of NumPy's: a view may have gaps
    return joined if flags is None or flags.c_contiguous else joined.copy()


def check_axes(argument, found, shape):
    """ValueError where samples of a file are of the shape ``found``, not ``shape``, of several axes; (): it does not
    say.
    """
    if found and len(shape) > 1 and _long(found) != _long(shape):
        refuse(argument, None, (-1,) + tuple(found), shape)


def refuse(argument, data, shape, expected, first=1):
    """ValueError for an array of this shape, with what would be right; ``first``: its first axis of a sample."""
    expected, found, name = tuple(expected), shape[first:], argument.split(" ")[-1]
    order, several = _order(found, expected), first
    if not order and first:
        order = _order(shape, expected)  # of one sample
        several = 0 if order else 1
        if several and len(shape) == 2 and shape[:1] == expected:
            order = [1, 0]
        first = 0 if order else 1
    if ": sample" in argument:  # of a list
        name, first = "numpy.array(%s)" % argument.partition(":")[0].split(" ")[-1], 1
    hint = ""
    if order:
        order = ["0"] * first + [str(axis + first) for axis in order]
        hint = ": %s.%s(%s)" % (name, "permute" if hasattr(data, "permute") else "transpose", ", ".join(order))
    elif _joins(found, expected):
        hint = ": %s.reshape(%s)" % (name, ", ".join(["-1"] * first + [str(extent) for extent in expected]))
    elif len(found) == len(expected) > 1 and found[:-1] == expected[:-1] and expected[-1] == 1:
        hint = ": one channel is expected, as %s[..., :1]" % name
    elif several and _long(shape) == _long(expected):  # one sample
        hint = ": %s.reshape(%s)" % (name, ", ".join([str(extent) for extent in expected]))
    elif elements(expected) == 1 and name == "y":
        hint = '; one-hot labels want the loss "categorical_crossentropy"'
    text = str(shape).replace("(-1,", "(samples,").replace(",)", ")" if shape[:1] == (-1,) else ",)")
    wanted = str(expected)
    if several:
        wanted = "(samples,)" if expected == (1,) else "(samples, %s)" % wanted[1:-1].rstrip(",")
    raise ValueError("%s: shape %s, expected %s%s" % (argument, text, wanted, hint))


def _order(found, expected):
    """The axes of ``found`` that make it ``expected``, channels first before others; None where there are none."""
    order = []
    for extent in expected:
        for axis in list(range(1, len(found))) + [0]:
            if axis < len(found) and axis not in order and found[axis] == extent:
                order.append(axis)
                break
    return order if len(order) == len(found) == len(expected) else None


def _joins(found, expected):
    """Whether one shape's axes are the other's, some of them joined."""
    ends = []
    for shape in (found, expected):
        ends.append([elements(shape[: k + 1]) for k in range(len(shape))])
    few, many = sorted(ends, key=len)
    return few[-1:] == many[-1:] and all([end in many for end in few])


def _from_list(argument, data, dtypes, row, shape):
    """Numbers, or lists of the Input's shape each, as an array."""
    dtype = "float32" if "float32" in dtypes else "int32" if "int32" in dtypes else dtypes[0]
    limit = _LIMITS.get(dtype)
    flat, long = array(_CODES[dtype]), _long(shape)
    for index, item in enumerate(data):
        before = len(flat)
        try:
            axes = _append(item, flat, limit)
        except (TypeError, ValueError):
            hint = ": %r: %s" % (item, _NAMES) if isinstance(item, str) and argument[-1:] == "y" else ""
            raise TypeError("%s: item %d is not of numbers (%s)%s" % (argument, index, dtype, hint))
        except OverflowError:
            raise ValueError("%s: item %d does not fit into %s" % (argument, index, dtype))
        if axes is None:
            raise ValueError("%s: sample %d: its lists differ in length" % (argument, index))
        if axes is not _FLAT or isinstance(item, (list, tuple)):
            if len(flat) - before != row:
                place = (argument, index, len(flat) - before, row)
                raise ValueError("%s: sample %d has %d numbers, expected %d" % place)
            if axes != long and (axes != [row] or isinstance(item, (list, tuple))):  # an array of one axis is flat
                refuse("%s: sample %d" % (argument, index), None, tuple(axes), shape, 0)
    return flat


def _append(item, into, limit):
    """Put an item's numbers there; returns its axes but those of 1, None where lists differ."""
    if isinstance(item, (list, tuple)):
        axes = first = None
        for part in item:
            axes = _append(part, into, limit)
            if first is None:
                first = axes
            if axes is None or axes != first:
                return None
        return first if len(item) == 1 else [len(item)] + (first or [])
    if not isinstance(item, (int, float, str, bytes)) and count_of(item) is not None:  # an array
        for number in item.reshape(-1).tolist() if hasattr(item, "tolist") and hasattr(item, "reshape") else item:
            _append(number, into, limit)
        axes = _long(getattr(item, "shape", ()) or (len(item),))
        return axes or [1]
    if limit and not (0 if limit in (255, 65535) else -limit - 1) <= item <= limit:
        raise OverflowError  # MicroPython's array would wrap
    into.append(item)
    return _FLAT


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
