"""The integer primitives of docs/reference/numerics.md that a model at work needs; all others are in primitives.py.

Everything here gives the same integers on CPython, MicroPython and CircuitPython: floats are met
only where a user's literal comes in, and only by operations that short mantissas survive.
A *scale* is the bits of a positive, normal float32. Nothing here knows tensors or programs.
"""

import struct

from .regions import const

ONE = const(0x3F800000)
UNSEEN = 0x30800000  # the scale before calibration, 2^-30: fine enough that it sees the smallest error

_MASK32 = 0xFFFFFFFF
_SMALLEST = const(0x00800000)
_LARGEST = const(0x7F7FFFFF)


def hash32(key, i):
    """Random unsigned 32-bit number i of a key.

    A Weyl sequence, its step 2^32 over the golden ratio, mixed by Wellons's lowbias32 (Prospecting for Hash Functions,
    2018).
    """
    u = (key + i * 0x9E3779B9) & _MASK32
    u ^= u >> 16
    u = u * 0x7FEB352D & _MASK32
    u ^= u >> 15
    u = u * 0x846CA68B & _MASK32
    return u ^ (u >> 16)


def bit_length(v):
    """Bits of an integer v >= 0 (MicroPython has no int.bit_length)."""
    n = 0
    while v >= 65536:
        v >>= 16
        n += 16
    while v:
        v >>= 1
        n += 1
    return n


def own(value):
    """A number of NumPy's as Python's own; anything else as it is."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def is_int(value):
    """Whether a user's value is an int; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def within(what, value, end):
    """The value; ValueError unless it is an int in 0 .. end - 1."""
    if not is_int(value) or not 0 <= value < end:
        raise ValueError("%s: %r, not in 0..%d" % (what, value, end - 1))
    return value


def is_number(value):
    """Whether a user's value is an int or a float; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def elements(shape):
    """How many numbers have this shape."""
    count = 1
    for extent in shape:
        count *= extent
    return count


# Scales


def pack(mantissa, exponent):
    field = exponent + 150
    if field < 1:
        return _SMALLEST
    if field > 254:
        return _LARGEST
    return (field << 23) | (mantissa & 0x7FFFFF)


def nearest_scale(word):
    """A word that should be a scale, with its sign dropped, limited to those that are."""
    return max(_SMALLEST, min(_LARGEST, word & 0x7FFFFFFF))


def unpack(scale):
    scale = nearest_scale(scale)
    return (scale & 0x7FFFFF) | 0x800000, (scale >> 23) - 150


def pack_rounded(value, h, exponent):
    """value / 2^h, rounded half up to 24 bits, times 2^(exponent + h)."""
    mantissa = (value + (1 << (h - 1))) >> h
    if mantissa == 1 << 24:
        mantissa >>= 1
        h += 1
    return pack(mantissa, exponent + h)


def scale_mul(a, b):
    """a * b."""
    ma, ea = unpack(a)
    mb, eb = unpack(b)
    product = ma * mb
    return pack_rounded(product, 24 if product >= 1 << 47 else 23, ea + eb)


def scale_div(a, b):
    """a / b."""
    ma, ea = unpack(a)
    mb, eb = unpack(b)
    quotient = (ma << 25) // mb
    return pack_rounded(quotient, 2 if quotient >= 1 << 25 else 1, ea - eb - 25)


def scale_int(n):
    """The scale nearest to an integer 1 <= n < 2^32; 0 counts as 1."""
    n = n or 1
    h = bit_length(n) - 24
    if h > 0:
        return pack_rounded(n, h, 0)
    return pack(n << -h, h)


def scale_shift(a, k):
    """a * 2^k."""
    m, e = unpack(a)
    return pack(m, e + k)


def multiplier(scale):
    """The pair (m, s) with m / 2^s = scale, as rescale takes it."""
    m, e = unpack(scale)
    s = 7 - e
    if s > 62:
        return 0, 62
    if s < 1:
        return 0x7FFFFFFF, 1
    return m << 7, s


# Floats


def bits_to_float(bits):
    """The float whose float32 bits these are."""
    return struct.unpack("<f", struct.pack("<I", bits & _MASK32))[0]


def float_to_bits(x):
    """Bits of the float32 nearest to x, as an unsigned integer."""
    return struct.unpack("<I", struct.pack("<f", x))[0]


def put(state, offset, value, size=4):
    """A little-endian integer into the state."""
    for index in range(size):
        state[offset + index] = value & 255
        value >>= 8


def get(state, offset):
    """A little-endian uint32 from the state."""
    return state[offset] | state[offset + 1] << 8 | state[offset + 2] << 16 | state[offset + 3] << 24
