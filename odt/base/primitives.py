"""The integer primitives of docs/reference/numerics.md that a model at work on compiled kernels does without, and the
way from users' decimals to integers.

On stock firmware this module lies in RAM once it is imported. Floats are met
only where a user's literal comes in, and only by operations that short mantissas survive.
"""

from .fixed import bit_length, hash32, is_int, own, pack, pack_rounded, scale_mul, unpack
from .regions import DEFAULT_LIMIT, const

LOG2_E = const(0x3FB8AA3B)
INT32_MAX = const(0x7FFFFFFF)


def sat32(v):
    """v limited to -(2^31 - 1) .. 2^31 - 1."""
    if v > 0x7FFFFFFF:
        return 0x7FFFFFFF
    return v if v > -0x7FFFFFFF else -0x7FFFFFFF


def wrap32(v):
    """v modulo 2^32, as a signed integer."""
    return ((v + 0x80000000) & 0xFFFFFFFF) - 0x80000000


# Scales


def scale_add(a, b):
    """a + b."""
    if a < b:
        a, b = b, a
    ma, ea = unpack(a)
    mb, eb = unpack(b)
    total = (ma << 6) + (mb << 6 >> (ea - eb))
    return pack_rounded(total, 7 if total >= 1 << 30 else 6, ea - 6)


def scale_sqrt(a):
    """The square root of a, rounded down."""
    m, e = unpack(a)
    h = 23 if e & 1 else 24
    return pack(isqrt(m << h), (e - h) // 2)


def log2_floor(a):
    """The largest integer k with 2^k <= a."""
    return (a >> 23) - 127


# Rescaling


def rescale(v, m, s):
    """v * m / 2^s, to nearest, half up, limited to 32 bits."""
    return sat32((v * m + (1 << (s - 1))) >> s)


def rescale_random(v, m, s, u):
    """v * m / 2^s, rounded up with the probability of the lost fraction; u from hash32."""
    return sat32((v * m + ((u << s) >> 32)) >> s)


# Functions


def exp2n(t):
    """2^-(t / 65536) in Q16, for t >= 0; within 2.6 / 65536.

    Of 2^-f: the polynomial of degree 4 of least largest error among those that are exact at f = 0 and 1 (0.16 / 65536);
    its coefficients rounded to Q16 (1.0 / 65536), the rest by the shifts.
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
        m, e = unpack(scale_mul(bits & 0x7FFFFFFF, inverse))
        if e >= 8:
            v = 0x7FFFFFFF
        elif e >= 0:
            v = m << e
        elif e < -25:
            v = 0
        else:
            v = (m + (1 << (-e - 1))) >> -e
    return -v if bits & 0x80000000 else v


# What users give


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
    return pack(m, e)


def millionths(value):
    """value, 0 <= value < 1, as an integer number of millionths."""
    if not 0 <= value < 1:
        raise ValueError("expected 0 <= value < 1, got %r" % (value,))
    return int(value * 1000000 + 0.5)


def count_of(value):
    """len() of what has one, else None. MicroPython's hasattr() finds no __len__ in its own types."""
    try:
        return len(value)
    except TypeError:
        return None


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
