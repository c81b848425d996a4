"""What the reference executor knows of users' buffers: their bytes, their elements, CRC-32."""

import struct
from array import array

from ..base.fixed import hash32
from ..base.regions import ARENA, STATE

try:
    import uctypes  # MicroPython, whose memoryview has no cast
except ImportError:
    uctypes = None


def as_bytes(buffer):
    """All bytes of a buffer, shared with it, whatever its elements are."""
    if uctypes:
        return uctypes.bytearray_at(uctypes.addressof(buffer), nbytes(buffer))
    return memoryview(buffer).cast("B") if len(buffer) else memoryview(bytearray())


def nbytes(buffer):
    """Bytes of a buffer, whatever its elements are."""
    view = memoryview(buffer)
    if hasattr(view, "nbytes"):
        return view.nbytes
    for size in (8, 4, 2):  # MicroPython's has none: the element size that just fits
        try:
            struct.unpack_from("B", buffer, len(buffer) * size - 1)
            return len(buffer) * size
        except (ValueError, IndexError):
            pass
    return len(buffer)


def count_samples(buffer, kind):
    """Samples in a buffer, 0 where it must be looked at closely: here always, for in Python that is as fast."""
    return 0


def predict(call, out, position=None):
    """Put the outputs of a part of the samples into an array of float32, see native/bindings/entry_points.h; whole
    predictions are for session.py to make: False. In integers, as floats may be shorter."""
    if position is None:
        return False
    _, regions, _, _, _, _, _, rows, width, offset, zero, scale = call
    to = as_bytes(out)
    count = max(0, min(rows, len(to) // 4 // width - position)) * width
    at = 4 * position * width
    arena = memoryview(regions[ARENA])[offset : offset + count * (4 if scale < 0 else 1)]
    if scale < 0:
        to[at : at + 4 * count] = arena
        return True
    scale = struct.unpack_from("<I", regions[STATE], scale)[0]
    known = {}
    for i in range(count):
        q = arena[i]
        if q not in known:
            known[q] = _product((q - 256 if q > 127 else q) - zero, scale)
        struct.pack_into("<I", to, at + 4 * i, known[q])
    return True


def _product(v, scale):
    """Float32 bits of an integer of 9 bits times a scale, rounded to nearest even."""
    scale = max(0x800000, min(0x7F7FFFFF, scale & 0x7FFFFFFF))
    product, shift = abs(v) * (scale & 0x7FFFFF | 0x800000), 0
    while product >> shift >= 1 << 24:
        shift += 1
    kept, rest = product >> shift, product & (1 << shift) - 1
    if 2 * rest + (kept & 1) > 1 << shift:
        kept += 1
    bits = min(((scale >> 23) + shift - 1 << 23) + kept, 0x7F800000) if v else 0
    return bits | (1 << 31 if v < 0 else 0)


def crc32(buffer, crc=0):
    """CRC-32 of a buffer's bytes, as zlib's, going on from crc."""
    try:
        from binascii import crc32 as fast

        return fast(buffer, crc) & 0xFFFFFFFF
    except ImportError:
        crc ^= 0xFFFFFFFF
        for byte in as_bytes(buffer):
            crc ^= byte
            for _ in range(8):
                crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)
        return crc ^ 0xFFFFFFFF


def find_nonfinite(buffer):
    """Index of the first NaN or infinity of a buffer of float32, -1 if there is none."""
    buffer = as_bytes(buffer)
    for i in range(len(buffer) // 4):
        # The exponent field, from the two upper bytes.
        if buffer[4 * i + 3] & 0x7F == 0x7F and buffer[4 * i + 2] & 0x80:
            return i
    return -1


def draw(buffer, key, first):
    """Fill a buffer with int16, -16384 .. 16383: the key's random numbers ``first``, ``first + 1`` and so on."""
    buffer = as_bytes(buffer)
    for i in range(len(buffer) // 2):
        value = (hash32(key, first + i) >> 17) - 16384
        buffer[2 * i] = value & 255
        buffer[2 * i + 1] = (value >> 8) & 255


def typecode(buffer):
    """The struct code of a buffer's elements ('b', 'f', ...); None where it cannot be known."""
    if isinstance(buffer, (bytes, bytearray)):
        return "B"
    if isinstance(buffer, array):
        return repr(buffer[:0])[7]
    code = getattr(buffer, "dtype", None)
    if isinstance(code, int):  # ulab's
        return chr(code)
    view = memoryview(buffer)
    code = getattr(view, "format", None)
    return _code_of(view) if code is None else code[1:] if code[0] in "@=<" else code


def _code_of(view):
    """The code of a memoryview that does not tell (MicroPython's, CircuitPython's), by the size of its elements and
    what they are.
    """
    if not len(view):
        return "B"
    size = nbytes(view) // len(view)
    if size == 1:
        return "b" if min(view) < 0 else "B"
    if isinstance(view[0], float):
        return "d" if size == 8 else "f"
    codes = "hH" if size == 2 else "qQ" if size == 8 else "iI"
    return codes[min(view) >= 0 and max(view) >> 8 * size - 1]


# Frames of int16 samples.


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
