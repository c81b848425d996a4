"""The weights that a fleet shares, as integers: each is an int32 in units of 2^-20.

All arithmetic is of integers, so that a PC and every board agree in each bit. Shared are the weights of layers that
train, in the order of ``get_weights``; those of frozen and of personal layers are neither sent nor changed.
"""

import struct
from array import array

from ..base import executor
from ..base.fixed import ONE, get, put, scale_int, scale_shift, unpack
from ..base.primitives import quantize
from ..base.regions import CONSTANTS, const
from ..plan.values import ADDED
from ..run.replace import rewrite
from ..run.weights import is_whole, memory_of, residual_spans, write_kernel

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from typing import Any

POINT = const(20)  # bits after the point
LIMIT = const(1 << 29)  # of a shared weight: 512.0


class Shared:
    """Reads and writes the shared weights of a session.

    ``personal``: names of layers that are not shared. ``count``: how many weights are shared; ``sizes``: of each
    array that is shared, how many; ``crc``: CRC-32 of the shapes of all layers, and of frozen weights in flash.
    ValueError for a personal layer that the model has not, for a layer of whose kernel only some rows train, and where
    nothing is shared.
    """

    def __init__(self, session: "Any", personal: "Sequence[str]" = ()) -> None:
        self.session = session
        self.personal = personal = tuple(personal)
        names, parts, sizes = [], [], array("I")
        for layer, weights in session.plan.weights:
            names.append(layer.name)
            shapes = " ".join(["%s%s" % pair for pair in layer.weight_shapes()])
            for buffer in self._sent(layer, weights):
                sizes.append(weights.rows * weights.columns if buffer is weights.kernel else buffer.size // 4)
                shapes += " *%d" % sizes[-1]
            parts.append(shapes)
        for name in personal:
            if name not in names:
                raise ValueError("personal: there is no layer %r with weights, there are %s" % (name, ", ".join(names)))
        self.sizes = sizes
        self.count = sum(sizes)
        if not self.count:
            raise ValueError("the fleet shares nothing: every layer is frozen or personal")
        self.crc = executor.engine.crc32("\n".join(parts).encode())
        if session.frozen is not None:
            self.crc = executor.engine.crc32(session.frozen, self.crc)

    def _sent(self, layer, weights):
        """The buffers of a layer that are shared."""
        if weights.into or layer.name in self.personal or not getattr(layer, "trainable", True):
            return
        if weights.kernel and weights.kernel not in weights.frozen and weights.trained:
            if sum([part.rows for part in weights.trained]) != weights.rows:
                raise ValueError("%r: some rows of its kernel train: a fleet shares whole kernels" % layer)
            yield weights.kernel
        for vector in [weights.bias] if weights.folded else weights.vectors:
            if vector and vector not in weights.frozen and vector.region < CONSTANTS:
                yield vector

    def add_to(self, out: "array[int]") -> None:
        """Add the shared weights to ``out``, an array('i') of ``count``.

        ArithmeticError for a weight that is not in -512..512; part of ``out`` is changed then.
        """
        session, at = self.session, 0
        int8 = session.dtype == "int8"
        for layer, weights in session.plan.weights:
            for buffer in self._sent(layer, weights):
                if buffer is weights.kernel:
                    values = self._kernel(weights, int8)
                else:
                    values = self._vector(buffer, int8)
                for value in values:
                    if not -LIMIT <= value <= LIMIT:
                        raise ArithmeticError("%r: a weight is not in -512..512: training has diverged" % layer)
                    out[at] += value
                    at += 1

    def _kernel(self, weights, int8):
        state = self.session.state
        memory, at = memory_of(state, None, weights.kernel), weights.kernel.offset
        if not int8:
            for index in range(weights.rows * weights.columns):
                yield quantize(get(memory, at + 4 * index), scale_shift(ONE, POINT))
            return
        scales = memory_of(state, None, weights.scale)
        spans = residual_spans(weights)
        index = 0
        for row in range(weights.rows):
            mantissa, exponent = unpack(get(scales, weights.scale.offset + 4 * row))
            exponent += POINT - 8  # a weight and its residual are 256ths of the scale
            half = 1 << -exponent >> 1 if exponent < 0 else 0
            for _ in range(weights.columns):
                value = 256 * (memory[at + index] ^ 128) - 32768
                for begin, end, place in spans:
                    if begin <= index < end:
                        value += (state[place + index] ^ 128) - 128
                value *= mantissa
                yield value + half >> -exponent if exponent < 0 else value << exponent
                index += 1

    def _vector(self, vector, int8):
        memory = memory_of(self.session.state, None, vector)
        whole = is_whole(vector, int8)
        for at in range(vector.offset, vector.offset + vector.size, 4):
            bits = get(memory, at)
            if whole:
                yield (bits ^ 1 << 31) - (1 << 31)
            else:
                yield quantize(bits, scale_shift(ONE, POINT))

    def write(self, values: "array[int]") -> None:
        """Take over shared weights, an array('i') of ``count``; ranges and the optimizer's state stay.

        A kernel's row in int8 gets the scale that ``set_weights`` gives it.
        """
        session = self.session
        int8 = session.dtype == "int8"

        def write(state):
            at = 0
            for layer, weights in session.plan.weights:
                for buffer in self._sent(layer, weights):
                    if buffer is weights.kernel:
                        count = weights.rows * weights.columns
                        kernel = array("f", bytes(4 * count))
                        for index in range(count):
                            struct.pack_into("<I", kernel, 4 * index, float_bits(values[at + index]))
                        write_kernel(state, weights, int8, kernel)
                        at += count
                        continue
                    whole = is_whole(buffer, int8)
                    for place in range(buffer.offset, buffer.offset + buffer.size, 4):
                        value = values[at]
                        if not whole:
                            value = float_bits(value)
                            if buffer.role == ADDED and not layer.epsilon <= value < 1 << 31:
                                value = layer.epsilon
                        put(state, place, value)
                        at += 1

        rewrite(session, "fleet", write, (session.calibrated, session.epoch, None, session.seed))


def float_bits(value: "int") -> "int":
    """The float32 bits of value times 2^-20."""
    if not value:
        return 0
    bits = scale_shift(scale_int(abs(value)), -POINT)
    return bits | 1 << 31 if value < 0 else bits
