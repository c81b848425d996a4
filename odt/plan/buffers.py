"""The buffers that outlive an instruction: of the state, of the weights frozen in flash, and the peaks.

Those in state and flash get their addresses at once, in the order in which they are asked for; the arena's do when all
instructions are known (memory.py).
"""

import struct
from array import array

from ..base.fixed import ONE, elements
from ..base.primitives import scale_add
from ..base.regions import CONSTANTS, REGION_SHIFT, STATE
from .memory import Arena
from .values import (  # fmt: skip
    ADDED,
    CONSTANT,
    EXPONENT,
    FLOAT,
    HEADER,
    OPTIMIZER,
    ROLES,
    SCALE,
    SCRATCH,
    WEIGHT,
    Part,
    placed,
)


class Parameters:
    """A layer's parameters while its network is planned, as operands: what values.Weights is when that is done.

    ``vectors``: all but the kernel as (name, operand, role), in the order of ``get_weights``; ``fixed``: the operands
    of what does not train; ``folded``: the node of the BatchNorm that kernel and bias hold.
    """

    kernel = residual = scale = bias = folded = None

    def __init__(self, name, rows, columns, trained, common):
        self.name = name
        self.rows = rows
        self.columns = columns
        self.trained = trained
        self.common = common
        self.vectors = []
        self.fixed = []

    def words(self, unit, into):
        """The numbers of which values.Plan makes Weights; ``unit``: bytes of a kernel's element.

        ``into``: the number of the layer whose kernel and bias hold these, -1 of none.
        """
        fixed = sum([bit for bit, each in ((1, self.kernel), (2, self.scale), (4, self.bias)) if each in self.fixed])
        words = [into, self.rows, self.columns, unit, int(self.common), fixed, len(self.trained), len(self.vectors)]
        for part in self.trained:
            words += part.total, part.columns, part.at, part.rows, part.shift
        words += [-1 if each is None else each for each in (self.kernel, self.residual, self.scale, self.bias)]
        for _, operand, role in self.vectors:
            if operand != self.bias:
                words += ROLES.index(role), operand
        return words


class Buffers:
    """Makes and keeps them; ``flash``: bytes of the frozen weights so far, 0 if there are none; ``trains``: the
    optimizer, if anything trains.

    ``named``: whether the arena's buffers have names, and the state's are ``noted``, for those who look inside.
    """

    def __init__(self, int8, flash=0, trains=True, named=False):
        self.int8 = int8
        self.trains = trains
        self.flash = flash
        self.arena = Arena(named)
        self.noted = [] if named else None
        self.state_size = 0
        self.first = []  # (offset, bytes) of what is known from the start
        self.scales = array("i")  # offsets
        self.spans = array("i")  # offset and size of each buffer of exponents
        self.totals = {WEIGHT: 0, OPTIMIZER: 0}  # bytes by kind,
        self.layers = {}  # and by the names of those layers that are asked for
        self.states = {}  # name -> operand of the optimizer's state
        self.constants = {}  # bytes -> operand of the state that holds them
        self.weights = {}  # node -> Parameters
        self.peaks = self.arena.add(0, SCRATCH, "peaks")
        self._unwatched = None
        self.header = self.keep("header", 16, None, HEADER)  # t, seed, beta1^t, beta2^t

    def keep(self, name, size, kind=WEIGHT, role=None, first=None):
        """The operand of a new buffer of the state, whose ``name`` begins with its layer's.

        ``role``: where its kind does not say what its numbers are; ``first``: what it holds at first (bytes), where
        that is known.
        """
        offset = self.state_size
        room = (size + 3) & ~3
        self.state_size += room
        operand = STATE << REGION_SHIFT | offset
        if first:
            self.first.append((offset, first))
        if role == SCALE:
            self.scales.append(offset)
        elif role == EXPONENT:
            self.spans.append(offset)
            self.spans.append(size)
        if self.noted is not None:
            self.noted.append(placed(operand, name, size, role, kind))
        if kind in self.totals:
            self.totals[kind] += room
        at = name.rfind(" ")
        while at > 0:
            name = name[:at]
            if name in self.layers:
                self.layers[name] += room
                break
            at = name.rfind(" ")
        return operand

    def move_to_state(self, name, number):
        """Keep a buffer of the arena between steps; returns its operand."""
        operand = self.keep(name, self.arena.sizes[number], self.arena.kinds[number])
        self.arena.move(number, operand)
        return operand

    def freeze(self, name, size, kind=None, role=None):
        """The operand of a new buffer among the weights that are frozen in flash."""
        offset = self.flash
        self.flash += (size + 3) & ~3
        return CONSTANTS << REGION_SHIFT | offset

    def state_rows(self, name, part, row, role=None):
        """The part's rows, of ``row`` bytes, of a buffer of the optimizer's state."""
        if name not in self.states:
            self.states[name] = self.keep(name, part.total * row, OPTIMIZER, role)
        return part.of(self.arena, self.states[name], row)

    def exponents(self, name, part, states):
        """The part's rows of the exponents, one per row, of these int16 buffers of the optimizer's state."""
        made = self.state_rows(name, part, 1, EXPONENT)
        if self.noted is not None:
            for state in states:
                self.owner(state).exponents = self.owner(made)
        return made

    def owner(self, operand):
        """Of those that are noted, the Buffer that an operand of the state lies in."""
        offset = operand & (1 << REGION_SHIFT) - 1
        for buffer in self.noted:
            if buffer.offset <= offset < buffer.offset + buffer.size:
                return buffer

    def constant(self, data):
        """The operand of a buffer of the state that holds these bytes from the start."""
        if data not in self.constants:
            self.constants[data] = self.keep("constant %d" % len(self.constants), len(data), None, CONSTANT, data)
        return self.constants[data]

    def peak(self):
        size = self.arena.sizes[self.peaks]
        self.arena.sizes[self.peaks] += 4
        return self.arena.part(self.peaks, size, 4)

    def unwatched(self):
        """The peak of results whose scale is fixed."""
        if self._unwatched is None:
            self._unwatched = self.peak()
        return self._unwatched

    def parameters(self, node):
        """The node's Parameters, made on first call."""
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
        name = layer.name
        made = Parameters(name, rows, columns, trained, at == rows and not layer.by_channel)
        keep = self.freeze if self.flash and not trained else self.keep
        made.kernel = keep(name + " kernel", rows * columns * (1 if self.int8 else 4))
        if self.int8:
            if trained and getattr(self.trains, "residuals", True):
                made.residual = self.keep(name + " residual", count * columns)
            made.scale = keep(name + " kernel scale", 4 * rows, WEIGHT, SCALE)
        if not trained:
            made.fixed = [made.kernel, made.scale] if self.int8 else [made.kernel]
        if layer.use_bias or node.folded:
            fixed = not (self.trains and layer.trainable and layer.update_bias)
            made.bias = (self.freeze if self.flash and fixed else self.keep)(name + " bias", 4 * rows)
            if fixed:
                made.fixed.append(made.bias)
        if layer.use_bias:
            made.vectors.append(("bias", made.bias, None))
        self.weights[node] = made
        if node.folded:
            made.folded = node.folded
            self.weights[node.folded] = Parameters(node.folded.layer.name, rows, 0, (), False)
        return made

    def normalization(self, node):
        """Parameters of the Normalization that is part of an Input."""
        layer = node.folded.layer
        made = Parameters(layer.name, layer.channels, 0, (), False)
        for (name, _), first in zip(layer.weight_shapes(), layer.statistics(node.layer)):
            operand = self.keep("%s %s" % (layer.name, name), 4 * layer.channels, WEIGHT, FLOAT, first)
            made.vectors.append((name, operand, FLOAT))
        self.weights[node.folded] = made
        return made

    def _norm_parameters(self, node):
        layer = node.layer
        made = Parameters(layer.name, layer.channels, 0, (), False)
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
            operand = self.keep("%s %s" % (layer.name, name), 4 * layer.channels, WEIGHT, role, first)
            made.vectors.append((name, operand, role))
        self.weights[node] = made
        return made
