"""A frozen BatchNorm as part of the frozen weights before it: y * gain + offset, row by row.

By integers alone, as weights.write: the same bits on every machine.
"""

import struct
from array import array

from ..base.exact import UNIT, whole
from ..base.fixed import ONE, bit_length, bits_to_float, float_to_bits, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import scale_add, scale_sqrt
from .data import float32_bits


def fold(values, weights, norm_values):
    """Kernel and bias that do what kernel, bias (or none) and then the BatchNorm's weights do."""
    layer, _ = weights.folded
    gamma, beta, mean, variance = norm_values
    kernel = array("f", bytes(4 * weights.rows * weights.columns))
    bias = array("f", bytes(4 * weights.rows))
    for row in range(weights.rows):
        gain = float32_bits(gamma, row)
        if gain & 0x7FFFFFFF:
            root = scale_sqrt(scale_add(float32_bits(variance, row), layer.epsilon))
            gain = scale_div(gain & 0x7FFFFFFF, root) | gain & 0x80000000
        for index in range(row * weights.columns, (row + 1) * weights.columns):
            struct.pack_into("<I", kernel, 4 * index, _times(float32_bits(values[0], index), gain))
        offset = -whole(float32_bits(mean, row))
        if len(values) > 1:
            offset += whole(float32_bits(values[1], row))
        offset = (offset * whole(gain) >> UNIT) + whole(float32_bits(beta, row))
        struct.pack_into("<I", bias, 4 * row, _bits(offset))
    return [kernel, bias]


def identity(layer, rows, bias):
    """Weights of a BatchNorm that add ``bias`` (None: nothing), and change nothing else."""
    one = float_to_bits(1 - bits_to_float(layer.epsilon))
    while scale_add(one, layer.epsilon) < ONE:
        one += 1
    while scale_add(one, layer.epsilon) > ONE:
        one -= 1
    zeros = array("f", bytes(4 * rows))
    variance = array("f", bytes(4 * rows))
    for row in range(rows):
        struct.pack_into("<I", variance, 4 * row, one)
    return [array("f", [1] * rows), zeros if bias is None else bias, zeros, variance]


def _times(a, b):
    """The product of two float32, as bits; 0 where one is subnormal."""
    if not (a & 0x7F800000 and b & 0x7F800000):
        return 0
    return scale_mul(a & 0x7FFFFFFF, b & 0x7FFFFFFF) | (a ^ b) & 0x80000000


def _bits(value):
    """Back to the bits of a float32."""
    if not value:
        return 0
    size = abs(value)
    drop = max(bit_length(size) - 32, 0)
    return scale_shift(scale_int(size >> drop), drop - UNIT) | (0x80000000 if value < 0 else 0)
