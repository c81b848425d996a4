"""The schedule: which instructions run, in which order, on which buffers.

Forward in the order of the graph, the loss, then backward with the updates. Nothing here is differentiated
(gradient.py), kept (buffers.py) or applied (updates.py), and nothing in the arena has an address yet (memory.py).
"""

import struct

from ..fixed import ONE, scale_div, scale_int
from ..regions import ARENA, CONTROL, CONTROL_WORDS, X_DATA, Y_DATA
from .buffers import Buffers
from .instruction import Instruction
from .updates import Updates
from .values import ACTIVATION, ERROR, SCALE, SCRATCH, Buffer, Value, home

_FALL = {ACTIVATION: 3, ERROR: 5}  # how fast a range falls, by kind: see range_i8 in docs/numerics.md


class Schedule:
    """Collects instructions: ``emit`` appends one, the other methods make the values that it works on."""

    probing = False  # see fisher.py

    def __init__(self, dtype, batch, optimizer, flash=0, buffers=None):
        self.int8 = dtype == "int8"
        self.batch = batch
        self.buffers = buffers or Buffers(self.int8, flash, optimizer is not None)
        self.updates = Updates(self, optimizer)
        self.instructions = []
        self.values = {}  # node -> its output
        self.trained = ()  # nodes that the error must reach
        self.scales = {}  # node -> (scale, peak) of the values that its forward pass makes
        self.made = []  # those of the node in hand
        self.next = 0  # and how many of them it has again, when it is repeated
        self.steps = None  # those of its output that stay: graph.Node
        self.again = ()  # nodes that are computed once more
        self.choices = {}  # node of a max-pooling -> what it chose
        self.ranges = []  # (scale, peak, limit, fall, fine), as of range_i8; the fall of an input's is 0
        self.x_seen = None  # the largest input so far, where the input has a range
        self.unit = None  # the loss's error is counted in this scale; None: in 1, as all else
        self.streams = {}  # what draws random numbers -> the id of its stream
        self.keyed = False  # in micro-batches: whether the backward pass has the step's key
        self.header = self.buffers.header
        self.control = Buffer("control", 4 * CONTROL_WORDS, None, CONTROL)
        self.x = Buffer("x", 0, None, X_DATA)
        self.y = Buffer("y", 0, None, Y_DATA)
        for buffer in (self.control, self.x, self.y):
            buffer.offset = 0
        self.clears = []  # (instruction, buffer) of what a step begins with
        self.owner = None  # the name of the layer in hand
        self.chosen = None  # dynamic.py: whose rows what is emitted is repeated for
        self.noted = None  # a list where inspect.py asks: (name, value) of the tensors

    def emit(self, name, operands, immediates=()):
        instruction = Instruction(name, operands, immediates)
        for each in (self.chosen.each(instruction), instruction) if self.chosen else (instruction,):
            if self.noted is not None:
                each.owner = self.owner
            self.instructions.append(each)

    def note(self, name, value):
        """Remember the value under its name where that is asked for."""
        if self.noted is not None:
            self.noted.append((name, value))
        return value

    def scratch(self, name, size, kind=SCRATCH):
        return Buffer(name, size, kind)

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
            self.made.append((self.buffers.keep(name + " scale", 4, role=SCALE), self.buffers.peak(name)))
            self.ranges.append(self.made[-1] + (limit, _FALL[kind], 1))
        scale, peak = self.made[self.next]
        self.next += 1
        return self.note(name, Value(self.scratch(name, count, kind), count, scale, zero, lo, ONE, peak))

    def scaled(self, name, count, bits, zero, lo=-128):
        """A new int8 activation whose scale is the constant ``bits``: its range follows nothing."""
        scale = self.buffers.constant(struct.pack("<I", bits))
        value = Value(self.scratch(name, count, ACTIVATION), count, scale, zero, lo, ONE, self.buffers.unwatched())
        return self.note(name, value)

    def loss_error(self, error, scale, peak=None, unit=False):
        """The int8 error of a loss, in the scale that the loss's instruction writes.

        ``unit``: the scale differs much from batch to batch. Errors are then counted in it, so that their ranges need
        not follow it; gradients are not, see real().
        """
        if unit:
            self.unit = scale
            scale = self.buffers.constant(struct.pack("<I", ONE))
        return self.note("loss error", Value(error.buffer, error.count, scale, peak=peak))

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
        read = []
        kept = []
        again = []
        for instruction in reversed(self.instructions):
            buffers = [home(operand)[0] for operand in instruction.operands]
            accesses = [operand[1] for operand in instruction.opcode.operands]
            if instruction.again:
                made = [b for b, access in zip(buffers, accesses) if access != ":" and b is not self.buffers.peaks]
                if not any([buffer in read for buffer in made]):
                    continue
                if instruction.again not in again:
                    again.append(instruction.again)
            kept.append(instruction)
            read += [b for b, access in zip(buffers, accesses) if access != "=" and b.region == ARENA]
        kept.reverse()
        self.instructions[:] = kept
        self.again = again

    def begin(self):
        """What every section starts with, the first micro-batch of a batch alone."""
        for buffer in (self.buffers.peaks if self.int8 else None, self.updates.sums):
            if buffer:
                self.emit("clear", (buffer,), [0])
                self.clears.append((self.instructions[-1], buffer))

    def finish(self):
        """The end of a training step: ranges follow their peaks."""
        for scale, peak, limit, fall, fine in self.ranges:
            if fall:
                self.emit("range_i8", (scale, peak), (limit, fall, fine))
            else:
                self.emit("range_x_i8", (scale, self.x_seen, peak), (limit,))
        for instruction, buffer in self.clears:
            instruction.immediates[0] = buffer.size // 4
