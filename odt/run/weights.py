"""The state of a model: first weights, and weights in and out as real numbers."""

import struct
from array import array

from ..base import executor
from ..base.fixed import ONE, UNSEEN, bits_to_float, get, hash32, put, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import isqrt, quantize, scale_add
from ..base.regions import CONSTANTS, const
from ..plan.values import ADDED
from .data import float32_bits

_VECTOR = 1 << 20  # of biases and the like
_DRAWS = const(64)  # random numbers at once
_TINY = 0x1E3CE508  # 1e-20


def initialise(state, plan, seed, int8):
    """Fill the state: header, scales, and Glorot-uniform weights drawn by ``seed``.

    Glorot and Bengio 2010: uniform in +-sqrt(6 / (fan_in + fan_out)); biases are 0.
    """
    put(state, 4, seed)
    put(state, 8, 1 << 30)
    put(state, 12, 1 << 30)
    for offset in plan.scales:
        put(state, offset, UNSEEN)
    for index in range(0, len(plan.exponents), 2):
        offset, size = plan.exponents[index], plan.exponents[index + 1]
        state[offset : offset + size] = bytes((256 - 100,)) * size
    for offset, data in plan.first:
        state[offset : offset + len(data)] = data
    for number, (layer, weights) in enumerate(plan.each()):
        if weights.kernel is None or weights.kernel.region >= CONSTANTS:
            continue  # a normalisation begins with what its buffers say
        limit, key = first(layer, seed, number)
        if int8:
            at = weights.scale.offset
            state[at : at + 4 * weights.rows] = struct.pack("<I", scale_shift(limit, -6)) * weights.rows
        if layer.zero:
            continue
        draw(state, weights, key, None if int8 else scale_shift(limit, -14))


def first(layer, seed, number):
    """Of the layer of that number: the limit of its first weights, a scale, and the key of their random numbers."""
    fan_in, fan_out = layer.fans()
    return scale_shift(scale_int(isqrt((6 << 44) // (fan_in + fan_out))), -22), hash32(seed, 0x10000 + number)


def draw(state, weights, key, unit):
    """Random weights of 16 bits, in steps of ``unit``. None: int8 and residual; -64..64 lets a scale double."""
    count = weights.rows * weights.columns
    kernel, spans = weights.kernel.offset, residual_spans(weights)
    if unit is None and hasattr(executor.engine, "draw_bytes"):
        executor.engine.draw_bytes(state, kernel, count, key, 0, False)
        for begin, end, at in spans:
            executor.engine.draw_bytes(state, at + begin, end - begin, key, begin, True)
        return
    draws = array("h", bytes(2 * _DRAWS))
    for first in range(0, count, _DRAWS):
        executor.engine.draw(draws, key, first)
        last = min(first + _DRAWS, count)
        if unit is None:
            at = kernel + first
            for draw in draws[: last - first]:
                state[at] = draw + 128 >> 8 & 255
                at += 1
            for begin, end, at in spans:
                begin, end = max(begin, first), min(end, last)
                at += begin
                for draw in draws[begin - first : end - first] if begin < end else ():
                    state[at] = draw & 255
                    at += 1
            continue
        for index in range(first, last):
            draw = draws[index - first]
            bits = scale_mul(scale_int(abs(draw)), unit) if draw else 0
            put(state, kernel + 4 * index, bits | (0x80000000 if draw < 0 else 0))


def residual_spans(weights):
    """[(begin, end, at)]: weights ``begin`` to ``end - 1`` of a kernel have residuals; weight i's is at ``at + i``."""
    spans = []
    for part in weights.trained if weights.residual else ():
        shift = part.shift * part.columns
        begin = shift + part.at * part.columns
        spans.append((begin, begin + part.count, weights.residual.offset - shift))
    return spans


def _residual(spans, index):
    """Where in the state a weight's residual is, -1 where it has none."""
    for begin, end, at in spans:
        if begin <= index < end:
            return at + index
    return -1


def _stored(bits):
    """A float32 as kernels store it: 0 below 2^-51 (docs/reference/numerics.md)."""
    return bits if (bits >> 23) & 255 >= 76 else 0


def _signed(byte):
    return byte - 256 if byte > 127 else byte


def read(layer, state, flash, weights, int8):
    """The layer's weights as arrays of float32, in the order of its ``weight_shapes``."""
    if weights.into:
        from .folding import identity

        outer = weights.into
        bias = None if outer.vectors else _read_vector(memory_of(state, flash, outer.bias), outer.bias, int8)
        return identity(layer, outer.rows, bias)
    result = []
    if weights.kernel:
        result.append(_read_kernel(state, flash, weights, int8))
    for vector in weights.vectors:
        epsilon = layer.epsilon if vector.role == ADDED else 0
        result.append(_read_vector(memory_of(state, flash, vector), vector, int8, epsilon))
    return result


def memory_of(state, flash, buffer):
    if hasattr(buffer, "memory"):  # see split.py, inspect/packed.py
        return buffer.memory(state, flash)
    return flash if buffer.region == CONSTANTS else state


def _read_kernel(state, flash, weights, int8):
    count, memory = weights.rows * weights.columns, memory_of(state, flash, weights.kernel)
    scales = int8 and memory_of(state, flash, weights.scale)
    kernel, spans = array("f", bytes(4 * count)), residual_spans(weights)
    for index in range(count):
        if int8:
            value = 256 * _signed(memory[weights.kernel.offset + index])
            at = _residual(spans, index)
            if at >= 0:
                value += _signed(state[at])
            scale = bits_to_float(get(scales, weights.scale.offset + 4 * (index // weights.columns)))
            kernel[index] = value * scale / 256
        else:
            kernel[index] = bits_to_float(get(memory, weights.kernel.offset + 4 * index))
    return kernel


def is_whole(vector, int8):
    """Whether a vector is kept as int32 times 2^-20."""
    return int8 and vector.role is None


def wholes(layer, weights, int8):
    """Whether each of the layer's weights is kept as int32 times 2^-20, which apply_i32 keeps to 2^30."""
    if weights.into:
        return [int8 and name != "moving_variance" for name, _ in layer.weight_shapes()]
    return [False] * (weights.kernel is not None) + [is_whole(vector, int8) for vector in weights.vectors]


def _read_vector(memory, vector, int8, epsilon=0):
    count = vector.size // 4
    result = array("f", bytes(4 * count))
    for index in range(count):
        bits = get(memory, vector.offset + 4 * index)
        if is_whole(vector, int8):
            result[index] = (bits - (1 << 32) if bits >> 31 else bits) / _VECTOR
        elif vector.role == ADDED:
            result[index] = max(0.0, bits_to_float(bits) - bits_to_float(epsilon))
        else:
            result[index] = bits_to_float(bits)
    return result


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


def write(state, layer, weights, int8, values):
    """Real numbers into the state, in the order of the layer's ``weight_shapes``.

    In int8 the largest weight of a row, or of a layer that trains, becomes 64 of 127 steps: it has
    room to grow. Where nothing trains it becomes 127. Zeros keep the scale that they had.
    What is frozen in flash stays. By integers alone: the same bits on every machine, whatever its floats.
    """
    vectors = weights.vectors
    if weights.kernel:
        if weights.kernel.region != CONSTANTS:
            write_kernel(state, weights, int8, values[0])
        values = values[1:]
        vectors = [weights.bias] if weights.folded else vectors
    for vector, numbers in zip(vectors, values):
        for index in range(0 if vector.region == CONSTANTS else vector.size // 4):
            bits = float32_bits(numbers, index)
            bits = quantize(bits, scale_shift(ONE, 20)) if is_whole(vector, int8) else _stored(bits)
            if vector.role == ADDED:
                bits = scale_add(bits, layer.epsilon) if bits else layer.epsilon
            put(state, vector.offset + 4 * index, bits)


def write_kernel(state, weights, int8, kernel):
    columns, spans, memory = weights.columns, residual_spans(weights), memory_of(state, None, weights.kernel)
    scales = int8 and memory_of(state, None, weights.scale)
    for row in range(weights.rows):
        if int8 and (row == 0 or not weights.common):
            first, last = (0, weights.rows) if weights.common else (row, row + 1)
            largest = 0
            for index in range(first * columns, last * columns):
                largest = max(largest, float32_bits(kernel, index) & 0x7FFFFFFF)
            scale = get(scales, weights.scale.offset + 4 * row)
            if largest > _TINY:
                scale = (
                    scale_div(largest, scale_int(127)) if weights.kernel in weights.frozen else scale_shift(largest, -6)
                )
        if int8:
            put(scales, weights.scale.offset + 4 * row, scale)
        for index in range(row * columns, (row + 1) * columns):
            bits = float32_bits(kernel, index)
            if int8:
                value = _steps(bits, scale)
                memory[weights.kernel.offset + index] = (value + 128) >> 8 & 255
                at = _residual(spans, index)
                if at >= 0:
                    state[at] = value & 255
            else:
                put(memory, weights.kernel.offset + 4 * index, _stored(bits))


def _steps(bits, scale):
    """A value of at most 127 * scale in 256ths of it, to nearest."""
    exponent = (bits >> 23) & 255
    shift = exponent - (scale >> 23) + 8 + 27
    if not exponent or shift < 0:
        return 0
    quotient = (((bits & 0x7FFFFF | 0x800000) << shift) // (scale & 0x7FFFFF | 0x800000) + (1 << 26)) >> 27
    return -quotient if bits >> 31 else quotient
