"""float32 by Python's floats: each operation is rounded on its own, in the order docs/reference/numerics.md gives.

That is a store into an ``array("f")``. Where Python's floats are doubles, rounding so after a double operation is
exact; where they are float32, it does nothing; CircuitPython's 30-bit floats come close only.
"""

from array import array

from ..base.fixed import ONE, bits_to_float, float_to_bits, scale_shift
from ..base.primitives import log2_floor, sat32

cell = array("f", [0.0])
_TINY = bits_to_float(76 << 23)  # 2^-51
_TINY2 = bits_to_float(25 << 23)  # 2^-102


def rounded(x):
    """x as a float32."""
    cell[0] = x
    return cell[0]


def store(x):
    """x as a float32, 0 below 2^-51."""
    cell[0] = x
    x = cell[0]
    return 0.0 if -_TINY < x < _TINY else x


def store2(x):
    """x as a float32, 0 below 2^-102."""
    cell[0] = x
    x = cell[0]
    return 0.0 if -_TINY2 < x < _TINY2 else x


def divide(a, b):
    """a / b as IEEE 754 has it, for a diverged model must not end in ZeroDivisionError."""
    if b:
        return rounded(a / b)
    return a * float("inf") if a == a and a else float("nan")


def to_int(x):
    """x truncated, limited to 32 bits; NaN gives 0."""
    if not -2147483647 < x < 2147483647:
        return 2147483647 if x > 0 else -2147483647 if x < 0 else 0
    return int(x)


def affine(raw, zero, scale):
    """(raw - zero) * scale, in float32."""
    return rounded(rounded(sat32(raw - zero)) * scale)


# Functions


# Taylor's series, of degree 7 on -ln 2 .. 0 and of log((1 + s) / (1 - s)) to s^9. ln 2 in two parts (Cody and Waite),
# the first of 15 bits: n times it is exact. Within 1e-7 and 1.7e-7 of the true values, relatively.
_EXP = [rounded(1.0 / n) for n in (5040, 720, 120, 24, 6, 2, 1, 1)]
_LOG = [rounded(1.0 / n) for n in (9, 7, 5, 3)]
_LOG2_E = bits_to_float(0x3FB8AA3B)  # log2(e), as the float32 nearest to it
_LN2_HIGH = bits_to_float(0x3F317200)
_LN2_LOW = bits_to_float(0x35BFBE8E)
_LN2 = bits_to_float(0x3F317218)  # ln 2, as the float32 nearest to it
_SQRT2_BITS = 0x3FB504F3  # sqrt(2): mantissas beyond it are halved


def expf(x):
    """e^x for x <= 0."""
    if not x >= -35:
        return 0.0
    n = int(rounded(rounded(x * _LOG2_E) - 0.5))
    r = rounded(rounded(x - rounded(n * _LN2_HIGH)) - rounded(n * _LN2_LOW))
    p = _EXP[0]
    for c in _EXP[1:]:
        p = rounded(rounded(p * r) + c)
    return p * bits_to_float(scale_shift(ONE, n))


def logf(x):
    """log x for x > 0 that is not subnormal."""
    bits = float_to_bits(x)
    k = log2_floor(bits & 0x7FFFFFFF)
    bits -= k << 23
    m = bits_to_float(bits)
    if bits > _SQRT2_BITS:
        m *= 0.5
        k += 1
    f = m - 1.0
    s = rounded(f / rounded(2.0 + f))
    z = rounded(s * s)
    p = _LOG[0]
    for c in _LOG[1:]:
        p = rounded(rounded(p * z) + c)
    two_s = 2 * s
    return rounded(rounded(k * _LN2) + rounded(rounded(two_s * rounded(p * z)) + two_s))
