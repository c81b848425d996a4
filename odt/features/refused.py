"""What a feature's kernel found wrong, as the ValueError that names it. Loaded when there is one."""

from .. import executor


def refuse(error, samples, out, expected, outputs):
    """``error``: what the kernel returned, of samples that should be ``expected`` int16, an out that should be ``outputs``."""
    if error == 1:
        raise ValueError("out: memory of its own is expected, not that of the tables")
    name, value, count = ("out", out, outputs) if error == 3 else ("samples", samples, expected)
    try:
        engine = executor.engine
        found = "%d bytes of typecode %r" % (engine.nbytes(value), engine.typecode(value))
    except Exception:  # of CPython a BufferError, too, which boards do not have
        found = repr(type(value))
    raise ValueError("%s: %d int16 are expected, got %s" % (name, count, found))
