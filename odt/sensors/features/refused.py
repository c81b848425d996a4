"""What a feature's kernel found wrong, as the ValueError that names it, and the windows that MiniRocket.fit takes.

Loaded when needed.
"""

from ...base import executor
from ...run.data import samples as samples_of


def windows(x, window, axes):
    """int16 windows one after the other, of an array of ints or of a list; each (window, axes), or flat."""
    shape, row = getattr(x, "shape", ()), window * axes
    if hasattr(x, "astype") and x.dtype.kind in "iu" and x.dtype.itemsize != 2:
        if x.size and not -32768 <= x.min() <= x.max() <= 32767:
            raise ValueError("MiniRocket.fit: x: a number is beyond int16")
        x = x.astype("int16")
    if len(shape) == 2 and shape[1] == row:
        x = x.reshape(-1)
    return samples_of("MiniRocket.fit: x", x, ("int16",), row, (window, axes))[0]


def refuse(error, samples, out, expected, outputs):
    """``error``: what the kernel returned, of samples that should be ``expected`` int16, an out that should be
    ``outputs``.
    """
    if error == 1:
        raise ValueError("out: memory of its own is expected, not that of the tables")
    name, value, count = ("out", out, outputs) if error == 3 else ("samples", samples, expected)
    raise ValueError("%s: %d int16 are expected, got %s" % (name, count, told(name, value, count)))


def told(name, value, count):
    """What came, with what makes int16 of it."""
    if isinstance(value, (list, tuple)):
        return "a list: give array('h', %s)" % name
    try:
        engine = executor.engine
        code, size = engine.typecode(value), engine.nbytes(value)
    except Exception:  # of CPython a BufferError, too, which boards do not have
        if (
            getattr(value, "c_contiguous", True)
            and getattr(value, "contiguous", True)
            and not hasattr(value, "strides")
        ):
            return repr(type(value))
        return "an array with gaps, as a column of another: give %s.copy()" % name
    hint = ""
    if code in "fd":
        hint = ": of floats of -1..1 as of sound make (x * 32767).astype('int16')"
    elif code not in "hbB" and len(value) == count:
        hint = ": if all are in -32768..32767, give x.astype('int16')"
    return "%d bytes of typecode %r%s" % (size, code, hint)
