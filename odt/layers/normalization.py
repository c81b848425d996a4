"""The Normalization layer: each feature of the samples to mean 0 and deviation 1, as they are read."""

import struct
from array import array

from ..base import executor
from ..base.exact import UNIT
from ..base.exact import statistics as exact
from ..base.exact import whole as number
from ..base.fixed import ONE
from ..base.primitives import scale_of
from ..run.data import float32_bits
from ..run.replace import rewrite
from . import Layer

if 1 - 1:  # for type checkers alone
    from typing import Any

    from ..run.network import Data

_CODES = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "float32": "f"}


class Normalization(Layer):
    """Subtracts the mean of each feature and divides by its deviation; follows the Input.

    ``adapt(x)`` takes both from data. It costs no instruction of its own: samples are read so, in int8 before they are
    quantized, so that a feature of thousandths is as fine as one of thousands. Weights, which do not train: mean and
    variance, float32 also in int8 models; a variance of 0 counts as 1. Before ``adapt`` they are 0 and 1. In Keras:
    Normalization.
    """

    kind = "normalization"
    view = True  # once it is part of the Input

    def __init__(self, name: "str | None" = None) -> None:
        super().__init__(name, False)
        self.sums = None  # of adapt(): whether of ints, how many, by feature: of numbers, of their squares
        self.axes = ()  # of a sample of adapt()
        self.part = None  # of which compiled model it is: (session, buffers of mean and variance)
        self.reads = None  # the Input's dtype
        self.told = None  # the session of which say() has been called

    def __call__(self, inputs):
        node = super().__call__(inputs)
        self.reads = getattr(node.inputs[0].layer, "dtype", None)
        return node

    def build(self, shapes):
        self._check_axes(self.axes, shapes[0])
        self.channels = shapes[0][-1]
        return shapes[0]

    def _check_axes(self, axes, shape):
        """ValueError where a sample's axes are as many as the Input's, but others; of an array of rows the last one
        counts.
        """
        if axes and (axes[-1] != shape[-1] or len(axes) == len(shape) and axes != tuple(shape)):
            from ..run.arrays import refuse

            refuse("%r: x" % self, None, (-1,) + axes, shape)

    def weight_shapes(self):
        return [(name, (self.channels,)) for name in ("mean", "variance")]

    def adapt(self, x: "Data") -> None:
        """Mean and variance of each feature of ``x``, an array of a shape, nested lists, or flat once the layer has a
        model.

        Data of integers means what the Input says, and so do ``bytes``, raw data of its dtype. Exact sums: the same
        bits on every machine, in any order. In a compiled model they take effect at once, and ranges of int8 are
        measured again. ValueError if x has other features.
        """
        if hasattr(x, "shape") and not hasattr(x, "reshape") and not isinstance(x, memoryview):  # of pandas
            from ..run.arrays import read

            x = read("adapt: x", x)
        shape = getattr(x, "shape", None) or _shape(x)
        width = shape[-1] if len(shape) > 1 else self.channels if self.shapes else 0
        if not width:
            raise ValueError("%r: x is an array of (samples, .., features), got shape %s" % (self, tuple(shape)))
        axes = tuple(shape[1:])
        if self.shapes:
            self._check_axes(axes, self.shapes[0])
        if self.part:
            self._check(self.part[0])
        values = self._raw(x) if isinstance(x, (bytes, bytearray, memoryview)) else _flat(x)
        count = len(values) // width
        if not count or len(values) % width:
            raise ValueError("%r: %d numbers are not whole samples of %d features" % (self, len(values), width))
        whole = all([isinstance(value, int) for value in values])
        sums, squares = [0] * width, [0] * width
        for index in range(len(values)):
            value = values[index] if whole else number(float32_bits(values, index))
            if value is None:
                raise ValueError("%r: x, number %d is NaN or infinite" % (self, index))
            sums[index % width] += value
            squares[index % width] += value * value
        before = self.sums, self.axes
        try:
            self.sums, self.axes = (whole, count, sums, squares), axes
            if self.part:
                self._write(*self.part)
        except BaseException:
            if not self.part or not self._is_in(*self.part):
                self.sums, self.axes = before
            raise

    def _is_in(self, session, vectors):
        """Whether a session has what adapt() has found."""
        for buffer, data in zip(vectors, self.statistics(session.input)):
            if session.state[buffer.offset : buffer.offset + buffer.size] != data:
                return False
        return True

    def say(self, session):
        """Print, once in a session, that it does nothing yet."""
        if self.told is session:
            return
        self.told = session
        if self.sums is None and session.fresh and not session.steps():
            print(
                "%s: never adapted, samples are read as they are: call adapt(x), with x as fit takes it, before fit"
                % self.name
            )

    def _raw(self, x):
        """The numbers of a buffer, which is of the Input's where it is of bytes, as fit() takes it."""
        if executor.engine.typecode(x) != "B" or self.reads not in _CODES:
            return _flat(x)
        try:
            return array(_CODES[self.reads], bytes(x))
        except ValueError:
            raise ValueError("%r: %d bytes are not whole numbers of %s" % (self, len(x), self.reads)) from None

    def _check(self, session):
        if session.busy:
            session.refuse()
        session.alone("adapt")

    def _write(self, session, vectors):
        """Take over what adapt() has found."""
        found = self.statistics(session.input)

        def write(state):
            for buffer, data in zip(vectors, found):
                state[buffer.offset : buffer.offset + buffer.size] = data

        level = 0 if session.dtype == "int8" else 2
        rewrite(session, "adapt", write, (level, session.epoch, session.underway, session.seed))

    def statistics(self, inputs: "Any") -> "tuple[bytes, bytes]":
        """Bytes of mean and variance, float32 by feature, of samples in the format of the Input's layer."""
        if self.sums is None:
            return bytes(4 * self.channels), struct.pack("<I", ONE) * self.channels
        whole, count, sums, squares = self.sums
        if len(sums) != self.channels:
            raise ValueError("%r: adapted to %d features, the input has %d" % (self, len(sums), self.channels))
        whole = whole and inputs.dtype != "float32"
        unit = 0 if self.sums[0] else UNIT
        if not whole:
            return exact(count, sums, squares, unit)
        return exact(count, sums, squares, unit, scale_of(inputs.scale), inputs.zero_point)


def _shape(x):
    shape = []
    while isinstance(x, (list, tuple)) and len(x):
        shape.append(len(x))
        x = x[0]
    return shape or [0]


def _flat(x):
    """The numbers of x, in an object that has a length and indices."""
    if hasattr(x, "reshape"):
        x = x.reshape(-1)
        x = x.tolist() if hasattr(x, "tolist") else x
    if isinstance(x, (list, tuple)) and len(x) and isinstance(x[0], (list, tuple)):
        flat = []
        for item in x:
            flat += _flat(item)
        return flat
    return x
