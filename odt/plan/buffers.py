"""The buffers that outlive an instruction: of the state, of the weights frozen in flash, and the peaks.

Those in state and flash get their offsets at once, in the order in which they are asked for; the arena's do when all
instructions are known (memory.py).
"""

import struct

from ..fixed import ONE, elements, scale_add
from ..regions import CONSTANTS, STATE
from .values import (
    ADDED, CONSTANT, EXPONENT, FLOAT, HEADER, OPTIMIZER, SCALE, SCRATCH, WEIGHT, Buffer, Part, Weights, home,
)  # fmt: skip


class Buffers:
    """Makes and keeps them; ``flash``: bytes of the frozen weights so far, 0 if there are none; ``trains``: whether any weight may."""

    def __init__(self, int8, flash=0, trains=True):
        self.int8 = int8
        self.trains = trains
        self.flash = flash
        self.state = []  # the state's buffers, in order of their offsets
        self.state_size = 0
        self.states = {}  # name -> buffer of the optimizer's state
        self.constants = {}  # bytes -> the state's buffer that holds them
        self.weights = {}  # node -> Weights
        self.peaks = Buffer("peaks", 0, SCRATCH)
        self._unwatched = None
        self.header = self.keep("header", 16, None, HEADER)  # t, seed, beta1^t, beta2^t

    def keep(self, name, size, kind=WEIGHT, role=None, first=None):
        """A buffer in the state; ``role`` and ``first`` as Buffer has them."""
        buffer = Buffer(name, size, kind)
        if role:  # else the class's: a board's RAM is small
            buffer.role = role
        if first:
            buffer.first = first
        self.move_to_state(buffer)
        return buffer

    def move_to_state(self, buffer):
        """Keep a buffer of the arena between steps."""
        buffer.region = STATE
        buffer.offset = self.state_size
        self.state_size += (buffer.size + 3) & ~3
        self.state.append(buffer)

    def freeze(self, name, size):
        """A buffer among the weights that are frozen in flash."""
        buffer = Buffer(name, size, None, CONSTANTS)
        buffer.offset = self.flash
        self.flash += (size + 3) & ~3
        return buffer

    def state_rows(self, name, part, row, role=None):
        """The part's rows, of ``row`` bytes, of a buffer of the optimizer's state."""
        if name not in self.states:
            self.states[name] = self.keep(name, part.total * row, OPTIMIZER, role)
        return part.of(self.states[name], row)

    def exponents(self, name, part, states):
        """The part's rows of the exponents, one per row, of these int16 buffers of the optimizer's state."""
        made = self.state_rows(name, part, 1, EXPONENT)
        for state in states:
            home(state)[0].exponents = home(made)[0]
        return made

    def constant(self, data):
        """A buffer of the state that holds these bytes from the start."""
        if data not in self.constants:
            self.constants[data] = self.keep("constant %d" % len(self.constants), len(data), None, CONSTANT, data)
        return self.constants[data]

    def peak(self, name):
        peak = self.peaks.part(name + " peak", self.peaks.size, 4)
        self.peaks.size += 4
        return peak

    def unwatched(self):
        """The peak of results whose scale is fixed."""
        if self._unwatched is None:
            self._unwatched = self.peak("unwatched")
        return self._unwatched

    def parameters(self, node):
        """The node's Weights, made on first call."""
        if node in self.weights:
            return self.weights[node]
        layer = node.layer
        if layer.kernel_shape is None:
            return self._norm_parameters(node)
        rows = layer.kernel_shape[0]
        columns = elements(layer.kernel_shape[1:])
        ranges = ((0, rows),) if layer.update_rows is None else layer.update_rows
        count = sum([size for _, size in ranges])
        trained = []
        at = 0
        for first, size in ranges if layer.trainable and self.trains else ():
            trained.append(Part(count, columns, at, size, first - at))
            at += size
        made = Weights(rows, columns, trained, at == rows and not layer.by_channel)
        name = layer.name
        keep = self.freeze if self.flash and not trained else self.keep
        made.kernel = keep(name + " kernel", rows * columns * (1 if self.int8 else 4))
        if self.int8:
            made.residual = self.keep(name + " residual", count * columns) if trained else None
            made.scale = keep(name + " kernel scale", 4 * rows)
            made.scale.role = SCALE
        if not trained:
            made.frozen = [made.kernel, made.scale] if self.int8 else [made.kernel]
        if layer.use_bias or node.folded:
            fixed = not (self.trains and layer.trainable and layer.update_bias)
            made.bias = (self.freeze if self.flash and fixed else self.keep)(name + " bias", 4 * rows)
            if fixed:
                made.frozen.append(made.bias)
        if layer.use_bias:
            made.vectors.append(made.bias)
        if node.folded:
            inner = Weights(rows, 0, (), False)
            inner.into = made
            made.folded = (node.folded.layer, inner)
            self.weights[node.folded] = inner
        self.weights[node] = made
        return made

    def normalization(self, node):
        """Weights of the Normalization that is part of an Input."""
        layer = node.folded.layer
        made = Weights(layer.channels, 0, (), False)
        for (name, _), first in zip(layer.weight_shapes(), layer.statistics(node.layer)):
            made.vectors.append(self.keep("%s %s" % (layer.name, name), 4 * layer.channels, WEIGHT, FLOAT, first))
        self.weights[node.folded] = made
        return made

    def _norm_parameters(self, node):
        layer = node.layer
        made = Weights(layer.channels, 0, (), False)
        for name, _ in layer.weight_shapes():
            variance = name == "moving_variance"
            first = None
            role = FLOAT if variance else None
            if variance or name == "gamma":
                one = 1 << 20 if self.int8 and not variance else ONE
                if variance and node.statistics:
                    one, role = scale_add(ONE, layer.epsilon), ADDED
                first = struct.pack("<I", 0 if layer.zero and not variance else one) * layer.channels
            elif node.statistics and name == "moving_mean":
                role = FLOAT
            vector = self.keep("%s %s" % (layer.name, name), 4 * layer.channels, WEIGHT, role, first)
            made.vectors.append(vector)
        self.weights[node] = made
        return made
