"""The schedule: which instructions run, in which order, on which buffers.

Forward in the order of the graph, the loss, then backward with the updates. Nothing here is differentiated
(gradient.py), kept (buffers.py) or applied (updates.py), and nothing in the arena has an address yet (memory.py).
"""

import struct

from ..base.fixed import ONE, scale_div, scale_int
from ..base.regions import CONTROL, REGION_SHIFT, X_DATA, Y_DATA
from .buffers import Buffers
from .instruction import ACCESS, END, FIRST, MARK, READS, ROW, STOP, WRITES, row
from .updates import Updates
from .values import ACTIVATION, ERROR, SCALE, SCRATCH, Value

_FALL = {ACTIVATION: 3, ERROR: 5}  # how fast a range falls, by kind: see range_i8 in docs/reference/numerics.md


class Schedule:
    """Collects instructions: ``emit`` appends one, the other methods make the values that it works on."""

    probing = False  # see fisher.py

    def __init__(self, dtype, batch, optimizer, flash=0, noted=None, buffers=None):
        self.int8 = dtype == "int8"
        self.batch = batch
        self.buffers = (buffers or Buffers)(self.int8, flash, optimizer, noted is not None)
        self.arena = self.buffers.arena
        self.updates = Updates(self, optimizer)
        self.instructions = []
        self.rows = {}  # name -> its row (instruction.py)
        self.values = {}  # node -> its output
        self.trained = ()  # nodes that the error must reach
        self.scales = {}  # node -> (scale, peak) of the values that its forward pass makes
        self.made = []  # those of the node in hand
        self.next = 0  # and how many of them it has again, when it is repeated
        self.steps = None  # those of its output that stay: graph.Node
        self.repeated = None  # the node that is computed once more
        self.again = ()  # nodes that are
        self.choices = {}  # node of a max-pooling -> what it chose; of a Sampling -> the weight of its divergence
        self.ranges = []  # (scale, peak, limit, fall, fine), as of range_i8; the fall of an input's is 0
        self.x_seen = None  # the largest input so far, where the input has a range
        self.unit = None  # the loss's error is counted in this scale; None: in 1, as all else
        self.streams = {}  # what draws random numbers -> the id of its stream
        self.keyed = False  # in micro-batches: whether the backward pass has the step's key
        self.header = self.buffers.header
        self.control, self.x, self.y = [region << REGION_SHIFT for region in (CONTROL, X_DATA, Y_DATA)]
        self.bits_of = {}  # a ReLU's mask as bits -> the activation that it is of
        self.clears = []  # the buffers that a step begins with clearing
        self.owner = None  # the name of the layer in hand
        self.chosen = None  # adapt/plan.py: whose rows what is emitted is repeated for
        self.noted = noted  # a list where inspect.py asks: (name, value) of the tensors

    def instruction(self, name, operands, immediates=(), mark=None):
        """An instruction, as instruction.py has it; operands and immediates are tuples."""
        kind = self.rows.get(name)
        if kind is None:
            kind = self.rows[name] = row(name)
        made = (kind, mark or self.repeated) + operands + immediates
        if FIRST + len(operands) != kind[STOP] or len(made) != kind[END]:
            raise TypeError(
                "%s takes %d operands and %d immediates" % (name, kind[STOP] - FIRST, kind[END] - kind[STOP])
            )
        return made if self.noted is None else made + (self.owner,)

    def emit(self, name, operands, immediates=(), mark=None):
        """Append an instruction."""
        made = self.instruction(name, operands, immediates, mark)
        if self.chosen:
            self.instructions.append(self.chosen.each(self, made))
        self.instructions.append(made)

    def note(self, name, value):
        """Remember the value under its name where that is asked for."""
        if self.noted is not None:
            self.noted.append((name, value))
        return value

    def note_gradient(self, name, gradient, scale, factor=ONE):
        """The same of a gradient, whose numbers are int32 in int8 models."""
        if self.noted is not None:
            value = Value(gradient, self.arena.sizes[gradient] // 4)
            value.scale, value.factor, value.lo = scale, factor, 0
            self.noted.append((name, value))

    def scratch(self, name, size, kind=SCRATCH):
        """The operand of a new buffer in the arena; ``name`` is appended to its layer's name."""
        return self.arena.add(size, kind, name)

    def stream(self, name):
        """The id of the random numbers that ``name`` draws."""
        return self.streams.setdefault(name, len(self.streams) + 1)

    def dither(self, name):
        """As stream, of what backward draws: in micro-batches that is before tick makes the step's key."""
        if self.updates.sums and not self.keyed:
            self.emit("step_key", (self.control, self.header), (1,))
            self.keyed = True
        return self.stream(name)

    def tensor(self, name, count, kind=ERROR, positive=False):
        """A new value in the arena; in int8 with a scale of its own that follows its peak.

        ``positive``: no value is below 0 (a ReLU's output), and all 255 steps lie above; 6: they end
        at 6, as a ReLU6 does, and the scale is fixed.
        """
        if not self.int8:
            return self.note(name, Value(self.scratch(name, 4 * count, kind), count))
        if self.steps and kind == ACTIVATION:
            return self.scaled(name, count, *self.steps)
        if positive == 6:
            return self.scaled(name, count, scale_div(scale_int(6), scale_int(255)), -128)
        zero, lo, limit = (-128, -128, 255) if positive else (0, -127, 127)
        if self.next == len(self.made):
            self.made.append((self.buffers.keep(name + " scale", 4, role=SCALE), self.buffers.peak()))
            self.ranges.append(self.made[-1] + (limit, _FALL[kind], 1))
        value = Value(self.scratch(name, count, kind), count)
        value.scale, value.peak = self.made[self.next]
        if positive:
            value.zero, value.lo = zero, lo
        self.next += 1
        return self.note(name, value)

    def scaled(self, name, count, bits, zero, lo=-128):
        """A new int8 activation whose scale is the constant ``bits``: its range follows nothing."""
        value = Value(self.scratch(name, count, ACTIVATION), count)
        value.scale, value.peak = self.buffers.constant(struct.pack("<I", bits)), self.buffers.unwatched()
        value.zero, value.lo = zero, lo
        return self.note(name, value)

    def loss_error(self, error, scale, peak=None, unit=False):
        """The int8 error of a loss, in the scale that the loss's instruction writes.

        ``unit``: the scale differs much from batch to batch. Errors are then counted in it, so that their ranges need
        not follow it; gradients are not, see real().
        """
        if unit:
            self.unit = scale
            scale = self.buffers.constant(struct.pack("<I", ONE))
        value = Value(error.buffer, error.count)
        value.scale, value.peak = scale, peak
        return self.note("loss error", value)

    def real(self, name, scale):
        """``scale``, of what was made of an error, in 1."""
        if self.unit is None:
            return scale
        real = self.scratch(name + " real scale", 4)
        self.emit("product", (real, scale, self.unit), (ONE,))
        return real

    def like(self, name, value, kind=ERROR):
        """A new value that shares ``value``'s scale."""
        size = value.count * (1 if self.int8 else 4)
        twin = value.alias()
        twin.buffer = self.scratch(name, size, kind)
        return self.note(name, twin)

    def begin_node(self, node):
        """What comes is this node's forward pass, its first or another; None: it is none."""
        self.made = self.scales.setdefault(node, []) if node else []
        self.next = 0
        self.steps = node and node.steps

    def drop_unread(self):
        """Drop the repeated instructions whose results nobody reads."""
        arena = self.arena
        peaks = self.buffers.peaks
        read = []
        kept = []
        again = []
        for instruction in reversed(self.instructions):
            kind, mark = instruction[ROW], instruction[MARK]
            owners = [(arena.root(each), access) for each, access in zip(instruction[FIRST : kind[STOP]], kind[ACCESS])]
            if mark and not isinstance(mark, tuple):
                if not any([access != READS and owner != peaks and owner in read for owner, access in owners]):
                    continue
                if mark not in again:
                    again.append(mark)
            kept.append(instruction)
            read += [owner for owner, access in owners if owner and access != WRITES]
        kept.reverse()
        self.instructions[:] = kept
        self.again = again

    def drop_values(self):
        """Drop what only instructions are made of: a board places buffers in the RAM that it took."""
        for each in (self.values, self.scales, self.ranges, self.choices, self.bits_of, self.buffers.weights):
            each.clear()

    def release(self):
        """Empty all that is large: the stale words of a board's stack, which the collector reads, may point at it
        still.
        """
        arena = self.arena
        for each in (
            self.instructions, self.rows, self.values, self.scales, self.ranges, self.streams, self.choices,
            arena.sizes, arena.kinds,
            arena.roots, arena.shifts, arena.offsets, self.buffers.states, self.buffers.constants,
        ):  # fmt: skip
            each.clear()

    def begin(self):
        """Emit what begins every section; with micro-batches, only the first of a batch runs it."""
        for buffer in (self.buffers.peaks if self.int8 else None, self.updates.sums):
            if buffer is not None:
                self.clears.append(buffer)
        for buffer in self.clears:
            self.emit("clear", (buffer,), (0,))

    def finish(self):
        """The end of a training step: ranges follow their peaks."""
        for scale, peak, limit, fall, fine in self.ranges:
            if fall:
                self.emit("range_i8", (scale, peak), (limit, fall, fine))
            else:
                self.emit("range_x_i8", (scale, self.x_seen, peak), (limit,))
        for index, buffer in enumerate(self.clears):
            clear = self.instructions[index]
            self.instructions[index] = (
                clear[: clear[ROW][STOP]] + (self.arena.sizes[buffer] // 4,) + clear[clear[ROW][END] :]
            )
