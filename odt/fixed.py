"""The integer primitives of docs/numerics.md, and the way from users' decimals to integers.

Everything here gives the same integers on CPython, MicroPython and CircuitPython: floats are met
only where a user's literal comes in, and only by operations that short mantissas survive.
A *scale* is the bits of a positive, normal float32. Nothing here knows tensors or programs.
"""

import struct

from .regions import DEFAULT_LIMIT, const

ONE = const(0x3F800000)
LOG2_E = const(0x3FB8AA3B)
INT32_MAX = const(0x7FFFFFFF)

_MASK32 = 0xFFFFFFFF
_SMALLEST = const(0x00800000)
_LARGEST = const(0x7F7FFFFF)


def sat32(v):
    """v limited to -(2^31 - 1) .. 2^31 - 1."""
    if v > 0x7FFFFFFF:
        return 0x7FFFFFFF
    return v if v > -0x7FFFFFFF else -0x7FFFFFFF


def wrap32(v):
    """v modulo 2^32, as a signed integer."""
    return ((v + 0x80000000) & _MASK32) - 0x80000000


def hash32(key, i):
    """Random unsigned 32-bit number i of a key.

    A Weyl sequence, its step 2^32 over the golden ratio, mixed by Wellons's lowbias32 (Prospecting for Hash Functions, 2018).
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


def count_of(value):
    """len() of what has one, else None. MicroPython's hasattr() finds no __len__ in its own types."""
    try:
        return len(value)
    except TypeError:
        return None


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


def size_of(kind, argument, value, limit=DEFAULT_LIMIT):
    """A size that was given for an argument, checked: TypeError, ValueError."""
    value = own(value)
    if not is_int(value):
        raise TypeError("%s: %s is an int, got %r" % (kind, argument, value))
    if not 1 <= value <= limit:
        raise ValueError("%s: %s is in 1..%d, got %d" % (kind, argument, limit, value))
    return value


def sizes_of(kind, argument, value, count, limit=65535):
    """``value`` as a tuple of ``count`` sizes; an int stands for all of them."""
    value = own(value)
    if isinstance(value, int):
        value = (value,) * (count or 1)
    if not isinstance(value, (tuple, list)) or not 1 <= len(value) <= 3 or count not in (None, len(value)):
        raise ValueError("%s: %s is %s sizes, got %r" % (kind, argument, count or "1 to 3", value))
    return tuple([size_of(kind, argument, size, limit) for size in value])


def elements(shape):
    """How many numbers have this shape."""
    count = 1
    for extent in shape:
        count *= extent
    return count


# Scales


def _pack(mantissa, exponent):
    field = exponent + 150
    if field < 1:
        return _SMALLEST
    if field > 254:
        return _LARGEST
    return (field << 23) | (mantissa & 0x7FFFFF)


def nearest_scale(word):
    """A word that should be a scale, with its sign dropped, limited to those that are."""
    return max(_SMALLEST, min(_LARGEST, word & 0x7FFFFFFF))


def _unpack(scale):
    scale = nearest_scale(scale)
    return (scale & 0x7FFFFF) | 0x800000, (scale >> 23) - 150


def _pack_rounded(value, h, exponent):
    """value / 2^h, rounded half up to 24 bits, times 2^(exponent + h)."""
    mantissa = (value + (1 << (h - 1))) >> h
    if mantissa == 1 << 24:
        mantissa >>= 1
        h += 1
    return _pack(mantissa, exponent + h)


def scale_mul(a, b):
    """a * b."""
    ma, ea = _unpack(a)
    mb, eb = _unpack(b)
    product = ma * mb
    return _pack_rounded(product, 24 if product >= 1 << 47 else 23, ea + eb)


def scale_div(a, b):
    """a / b."""
    ma, ea = _unpack(a)
    mb, eb = _unpack(b)
    quotient = (ma << 25) // mb
    return _pack_rounded(quotient, 2 if quotient >= 1 << 25 else 1, ea - eb - 25)


def scale_int(n):
    """The scale nearest to an integer 1 <= n < 2^32; 0 counts as 1."""
    n = n or 1
    h = bit_length(n) - 24
    if h > 0:
        return _pack_rounded(n, h, 0)
    return _pack(n << -h, h)


def scale_shift(a, k):
    """a * 2^k."""
    m, e = _unpack(a)
    return _pack(m, e + k)


def scale_add(a, b):
    """a + b."""
    if a < b:
        a, b = b, a
    ma, ea = _unpack(a)
    mb, eb = _unpack(b)
    total = (ma << 6) + (mb << 6 >> (ea - eb))
    return _pack_rounded(total, 7 if total >= 1 << 30 else 6, ea - 6)


def scale_sqrt(a):
    """The square root of a, rounded down."""
    m, e = _unpack(a)
    h = 23 if e & 1 else 24
    return _pack(isqrt(m << h), (e - h) // 2)


def log2_floor(a):
    """The largest integer k with 2^k <= a."""
    return (a >> 23) - 127


# Rescaling


def multiplier(scale):
    """The pair (m, s) with m / 2^s = scale, as rescale takes it."""
    m, e = _unpack(scale)
    s = 7 - e
    if s > 62:
        return 0, 62
    if s < 1:
        return 0x7FFFFFFF, 1
    return m << 7, s


def rescale(v, m, s):
    """v * m / 2^s, to nearest, half up, limited to 32 bits."""
    return sat32((v * m + (1 << (s - 1))) >> s)


def rescale_random(v, m, s, u):
    """v * m / 2^s, rounded up with the probability of the lost fraction; u from hash32."""
    return sat32((v * m + ((u << s) >> 32)) >> s)


# Functions


def exp2n(t):
    """2^-(t / 65536) in Q16, for t >= 0; within 2.6 / 65536.

    Of 2^-f: the polynomial of degree 4 of least largest error among those that are exact at f = 0 and 1 (0.16 / 65536); its
    coefficients rounded to Q16 (1.0 / 65536), the rest by the shifts.
    """
    n = t >> 16
    if n > 16:
        return 0
    f = t & 65535
    r = 449
    r = 3491 - (r * f >> 16)
    r = 15696 - (r * f >> 16)
    r = 45421 - (r * f >> 16)
    r = 65536 - (r * (f >> 8) + (r * (f & 255) >> 8) >> 8)  # r * f >> 16, in 30 bits
    return (r + ((1 << n) >> 1)) >> n


def log2q(v):
    """log2 in Q16 of an integer 1 <= v < 2^32; within 4 / 65536.

    Of log2(1 + f): as exp2n's, of degree 5 (1.0 / 65536, with rounded coefficients 1.1); bits of v below f are dropped.
    """
    n = bit_length(v) - 1
    f = ((v << 16) >> n) - 65536
    r = 2959
    r = 12687 - (r * f >> 16)
    r = 27238 - (r * f >> 16)
    r = 46471 - (r * f >> 16)
    r = 94497 - (r * f >> 16)
    return (n << 16) + (r * f >> 16)


def isqrt(v):
    """The largest r with r * r <= v: Newton's method, from above."""
    if v == 0:
        return 0
    r = 1 << ((bit_length(v) + 1) >> 1)
    while True:
        better = (r + v // r) >> 1
        if better >= r:
            return r
        r = better


def order(p, samples, key):
    """Which sample stands at p (0 <= p < samples) in the epoch of this key; key 0: sample p.

    A Feistel network of 4 rounds, which permutes 4^h numbers, walked until one is a sample (Black and Rogaway, 2002).
    """
    if key == 0:
        return p
    h = 1
    while 1 << (2 * h) < samples:
        h += 1
    mask = (1 << h) - 1
    while True:
        left = p >> h
        right = p & mask
        for i in range(4):
            left, right = right, left ^ (hash32(key + i, right) & mask)
        p = (left << h) | right
        if p < samples:
            return p


def quantize(bits, inverse):
    """A float32, given as its bits, times the scale inverse, rounded to an int32."""
    field = (bits >> 23) & 255
    if field == 0:
        return 0
    if field == 255:
        v = 0x7FFFFFFF
    else:
        m, e = _unpack(scale_mul(bits & 0x7FFFFFFF, inverse))
        if e >= 8:
            v = 0x7FFFFFFF
        elif e >= 0:
            v = m << e
        elif e < -25:
            v = 0
        else:
            v = (m + (1 << (-e - 1))) >> -e
    return -v if bits & 0x80000000 else v


# Floats


def bits_to_float(bits):
    """The float whose float32 bits these are."""
    return struct.unpack("<f", struct.pack("<I", bits & _MASK32))[0]


def float_to_bits(x):
    """Bits of the float32 nearest to x, as an unsigned integer."""
    return struct.unpack("<I", struct.pack("<f", x))[0]


def decimal(value):
    """The pair (mantissa, exponent10) of a user's number, with 4 significant digits.

    decimal(0.0003) is (3000, -7): 1000 <= abs(mantissa) <= 9999, or (0, 0) for zero. A literal of
    at most 4 digits comes out exactly, on interpreters with short mantissas too; one of more
    digits is rounded, and may differ in the fourth between interpreters. ValueError for NaN and
    infinity.
    """
    if value < 0:
        mantissa, exponent = decimal(-value)
        return -mantissa, exponent
    if value != value or (value and value == value / 2):
        raise ValueError("expected a finite number, got %r" % (value,))
    if value == 0:
        return 0, 0
    exponent = 0
    if isinstance(value, int):
        while value >= 100000:
            value //= 10
            exponent += 1
    while value < 1000:
        value *= 10
        exponent -= 1
    while value >= 10000:
        value /= 10
        exponent += 1
    mantissa = int(value + 0.5)
    if mantissa == 10000:
        return 1000, exponent + 1
    return mantissa, exponent


def scale_of(value):
    """The float32 bits nearest to decimal(value); ValueError unless they are a scale."""
    mantissa, exponent = decimal(value)
    if mantissa <= 0:
        raise ValueError("expected a positive number, got %r" % (value,))
    over = under = 1
    if exponent > 0:
        over = 10**exponent
    else:
        under = 10**-exponent
    over *= mantissa
    e = bit_length(over) - bit_length(under) - 24  # over / under / 2^e is in 2^23 .. 2^25
    if e > 0:
        under <<= e
    else:
        over <<= -e
    if over >= under << 24:
        under <<= 1
        e += 1
    m = over // under
    rest = 2 * (over - m * under)
    if rest > under or (rest == under and m & 1):
        m += 1
    if m == 1 << 24:
        m >>= 1
        e += 1
    if not 1 <= e + 150 <= 254:
        raise ValueError("%r is out of float32's range" % (value,))
    return _pack(m, e)


def millionths(value):
    """value, 0 <= value < 1, as an integer number of millionths."""
    if not 0 <= value < 1:
        raise ValueError("expected 0 <= value < 1, got %r" % (value,))
    return int(value * 1000000 + 0.5)


def put(state, offset, value, size=4):
    """A little-endian integer into the state."""
    for index in range(size):
        state[offset + index] = value & 255
        value >>= 8


def get(state, offset):
    """A little-endian uint32 from the state."""
    return state[offset] | state[offset + 1] << 8 | state[offset + 2] << 16 | state[offset + 3] << 24
