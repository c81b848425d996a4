"""Sums of float32 numbers by integers: the same bits on every machine, in any order."""

from ..fixed import bit_length

UNIT = 64  # sums are in 2^-64


def whole(bits):
    """A float32 as an integer times 2^-64; None of NaN and infinity."""
    exponent = bits >> 23 & 255
    if exponent == 255:
        return None
    shift = exponent - 150 + UNIT
    value = bits & 0x7FFFFF | 0x800000 if exponent else 0
    value = value << shift if shift > 0 else value >> -shift
    return -value if bits >> 31 else value


def ratio(over, under, unit):
    """over / under * 2^-unit as float32 bits."""
    shift = 64 + bit_length(under)
    value = (abs(over) << shift) // under
    if not value:
        return 0
    drop = max(bit_length(value) - 24, 0)
    value = (value >> drop) + (value >> drop - 1 & 1 if drop else 0)
    if value >> 24:
        value >>= 1
        drop += 1
    while not value >> 23:
        value <<= 1
        drop -= 1
    exponent = drop - shift - unit + 150
    if exponent < 1:
        return 0
    bits = (exponent << 23) + (value & 0x7FFFFF) if exponent < 255 else 0x7F7FFFFF
    return bits | (0x80000000 if over < 0 else 0)
