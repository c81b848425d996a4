"""The state of a model: first weights, and weights in and out as real numbers."""

from array import array

from .fixed import (
    ONE, bits_to_float, float_to_bits, hash32, isqrt, scale_int, scale_mul, scale_shift,
)  # fmt: skip

_FIRST = 16384  # int8: initial weights fill -64..64, so that they can double before a scale does
_BIAS = 1 << 20
_UNSEEN = 0x30800000  # 2^-30: fine enough that calibration sees the smallest error


def put(state, offset, value, size=4):
    """A little-endian integer into the state."""
    for index in range(size):
        state[offset + index] = value & 255
        value >>= 8


def get(state, offset, size=4):
    """An unsigned little-endian integer from the state."""
    value = 0
    for index in range(size):
        value |= state[offset + index] << (8 * index)
    return value


def initialise(state, plan, seed, int8):
    """Fill the state: header, scales, and Glorot-uniform weights drawn by ``seed``.

    Glorot and Bengio 2010: uniform in +-sqrt(6 / (fan_in + fan_out)); biases are 0.
    """
    put(state, 4, seed)
    put(state, 8, 1 << 30)
    put(state, 12, 1 << 30)
    for buffer in plan.buffers:
        if buffer.first:
            state[buffer.offset : buffer.offset + len(buffer.first)] = buffer.first
        elif buffer.name.endswith(" scale"):
            put(state, buffer.offset, _UNSEEN)
        elif buffer.name.endswith(" exponent"):
            for index in range(buffer.size):
                state[buffer.offset + index] = 256 - 100
    for number, (layer, weights) in enumerate(plan.weights):
        fan_in, fan_out = layer.fans()
        limit = scale_shift(scale_int(isqrt((6 << 44) // (fan_in + fan_out))), -22)
        key = hash32(seed, 0x10000 + number)
        offset = weights.kernel.offset
        if int8:
            for row in range(weights.rows):
                put(state, weights.scale.offset + 4 * row, scale_shift(limit, -6))
        for index in range(weights.rows * weights.columns):
            draw = (hash32(key, index) >> 17) - _FIRST
            if int8:
                _split(state, weights, index, draw)
            else:
                bits = scale_mul(scale_int(abs(draw)), scale_shift(limit, -14)) if draw else 0
                put(state, offset + 4 * index, bits | (0x80000000 if draw < 0 else 0))


def _split(state, weights, index, value):
    """A 16-bit weight as int8 and residual."""
    kernel = (value + 128) >> 8
    state[weights.kernel.offset + index] = kernel & 255
    if weights.residual:
        state[weights.residual.offset + index] = (value - 256 * kernel) & 255


def _stored(value):
    """Bits of a float32 as kernels store them: 0 below 2^-51 (docs/numerics.md)."""
    bits = float_to_bits(value)
    return bits if (bits >> 23) & 255 >= 76 else 0


def _signed(byte):
    return byte - 256 if byte > 127 else byte


def read(state, weights, int8):
    """``[kernel, bias]`` as arrays of float32; without the bias where there is none."""
    count = weights.rows * weights.columns
    kernel = array("f", bytes(4 * count))
    for index in range(count):
        if int8:
            value = 256 * _signed(state[weights.kernel.offset + index])
            if weights.residual:
                value += _signed(state[weights.residual.offset + index])
            scale = bits_to_float(get(state, weights.scale.offset + 4 * (index // weights.columns)))
            kernel[index] = value * scale / 256
        else:
            kernel[index] = bits_to_float(get(state, weights.kernel.offset + 4 * index))
    if not weights.bias:
        return [kernel]
    bias = array("f", bytes(4 * weights.rows))
    for index in range(weights.rows):
        bits = get(state, weights.bias.offset + 4 * index)
        if int8:
            bias[index] = (bits - (1 << 32) if bits >> 31 else bits) / _BIAS
        else:
            bias[index] = bits_to_float(bits)
    return [kernel, bias]


def check(layer, name, values, limit):
    """TypeError or ValueError for the first value that is no number in -limit .. limit."""
    for index, value in enumerate(values):
        try:
            fits = -limit <= value <= limit
        except (TypeError, ValueError):
            fits = None
        if fits not in (True, False):  # NumPy's bools are equal to, but not, these
            raise TypeError("%r: %s, element %d is not a number" % (layer, name, index))
        if not fits:
            place = (layer, name, index, value, limit)
            raise ValueError("%r: %s, element %d is %r, not in +-%g" % place)


def write(state, weights, int8, kernel, bias):
    """Real numbers into the state; in int8 the largest weight (of a row) becomes 64 of 127."""
    columns = weights.columns
    for row in range(weights.rows):
        values = kernel[row * columns : (row + 1) * columns]
        if int8:
            largest = max([abs(value) for value in (kernel if weights.common else values)])
            scale = scale_shift(float_to_bits(largest), -6) if largest > 1e-20 else ONE
            put(state, weights.scale.offset + 4 * row, scale)
            step = bits_to_float(scale)
        for index, value in enumerate(values):
            index += row * columns
            if int8:
                _split(state, weights, index, int(round(value / step * 256)))
            else:
                put(state, weights.kernel.offset + 4 * index, _stored(value))
    if weights.bias:
        for index, value in enumerate(bias):
            bits = int(round(value * _BIAS)) if int8 else _stored(value)
            put(state, weights.bias.offset + 4 * index, bits)
