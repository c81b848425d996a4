"""Sums of float32 numbers by integers: the same bits on every machine, in any order."""

import struct

from .fixed import ONE, bit_length, scale_mul

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


def statistics(count, sums, squares, unit, scale=ONE, zero=0):
    """Bytes of means and variances, float32 by feature, of ``count`` numbers each: times 2^-unit, less ``zero``, times
    ``scale``.
    """
    means, variances = bytearray(), bytearray()
    for total, square in zip(sums, squares):
        spread = count * square - total * total  # count^2 times the variance
        mean = _times(ratio(total - count * zero, count, unit), scale)
        variance = _times(ratio(spread, count * count, 2 * unit), scale_mul(scale, scale))
        means += struct.pack("<I", mean)
        variances += struct.pack("<I", variance)
    return bytes(means), bytes(variances)


def _times(bits, scale):
    """The product with a scale, 0 of 0."""
    return scale_mul(bits & 0x7FFFFFFF, scale) | bits & 0x80000000 if bits else 0
