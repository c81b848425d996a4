"""From a step to one with noisy weights: what reads a kernel reads a noisy copy of it, which is made before.

A number of a normal distribution is a sum of six, each -s, 0, 0 or s, of sizes s that differ: perturb's directions.
They follow from the step's key, so that the copy for the backward pass is the same, and are 0 in predictions.
"""

import struct

from ..base.fixed import ONE, multiplier, scale_div
from ..base.primitives import scale_of
from ..base.regions import CONTROL_WORDS, REGION_SHIFT, const
from ..plan.compiler import passes
from ..plan.instruction import ACCESS, FIRST, NAME, READS, ROW, STOP

_SIZES = (26, 24, 22, 20, 18, 16)  # their sum is 126
SIGMA = const(0x4213677A)  # sqrt(sum of squares / 2) = 36.85105, as float32 bits
_KEPT = const(512)  # bytes of a copy that waits for the backward pass; a larger one is made again
_CHUNK, _CHUNKS = const(1024), const(16)  # weights among which the largest is looked for at once; how often at most
_FOUR = const(7)  # in place of a region: a kernel of 4 bits (host/rows/packed.py)
# These make a key of calibration's, too, with which nothing is to be drawn: they get a copy of the control block.
_MAKE_KEYS = ("dropout_i8", "dropout_f32", "sampling_i8", "sampling_f32")


class Kernel:
    """A layer's kernel, and what makes noisy copies of it."""

    def __init__(self, s, name, weights, optimizer):
        self.s, self.name, self.optimizer = s, name, optimizer
        self.kernel, self.count = weights.kernel, weights.rows * weights.columns
        self.unit = 1 if s.int8 else 4
        self.copy = None
        if optimizer.weight:  # by what a draw is multiplied: the share of the largest weight
            first = struct.pack("<ii", 0, 62) if s.int8 else bytes(4)
            self.largest = s.buffers.keep(name + " noise", len(first), None, None, first)

    def noisy(self):
        """The operand of a noisy copy, emitted where there is none that has been kept."""
        if self.copy is not None:
            return self.copy
        s, source = self.s, self.kernel
        if self.optimizer.weight:
            drawn = self._draw("noise")
            if s.int8:
                source = self._sum(source, drawn, self.largest)
            else:
                s.emit("scale_f32", (drawn, self.largest), (self.count,))
                source = self._sum(source, drawn, None)
        if self.optimizer.drift:
            drawn, unit = self._draw("drift"), scale_div(self.optimizer.drift, SIGMA)
            change = s.scratch("drift", self.unit * self.count)
            self._whole()
            if s.int8:
                factor = s.buffers.constant(struct.pack("<ii", *multiplier(unit)))
                operands = (change, s.buffers.unwatched(), drawn, self.kernel, factor)
                s.emit("multiply_i8", operands, (self.count, 0, 0, 0, -127))
            else:
                s.emit("multiply_f32", (change, drawn, self.kernel), (self.count,))
                s.emit("scale_f32", (change, s.buffers.constant(struct.pack("<I", unit))), (self.count,))
            one = s.buffers.constant(struct.pack("<ii", *multiplier(ONE))) if s.int8 else None
            source = self._sum(source, change, one)
        if self.unit * self.count <= _KEPT:
            self.copy = source
        return source

    def measure(self):
        """Emit how large the largest weight is, for the step after this one."""
        if not self.optimizer.weight:
            return
        s, share = self.s, scale_div(self.optimizer.weight, SIGMA)
        if not s.int8:
            self._measure_floats()
            s.emit("scale_f32", (self.largest, s.buffers.constant(struct.pack("<I", share))), (1,))
            return
        value, square, inverse = s.scratch("largest weight", 4), s.scratch("square", 4), s.scratch("inverse", 4)
        s.emit("clear", (value,), (1,))
        once, nothing = [s.buffers.constant(struct.pack("<ii", *each)) for each in (multiplier(ONE), (0, 62))]
        operands = (s.scratch("weights", self.count), value, self.kernel, self.kernel, once, nothing)
        s.emit("add_i8", operands, (self.count, 0, 0, 0, -127))  # its peak: the largest magnitude
        one = self._one()
        s.emit("clear", (square,), (1,))
        s.emit("squares_i32", (square, value, one), (1, ONE))
        s.emit("clip_i32", (inverse, square), (ONE,))
        s.emit("ratio", (self.largest, one, inverse), (share,))

    def _measure_floats(self):
        """Emit the largest magnitude of float32 weights: of chunks first, so that little room is taken."""
        s, count, kernel = self.s, self.count, self.kernel
        size = max(_CHUNK, -(-count // _CHUNKS))
        if count > size:
            found = s.scratch("largest weights", 4 * -(-count // size))
            for number, at in enumerate(range(0, count, size)):
                part = s.arena.part(kernel, 4 * at, 4 * min(size, count - at))
                self._largest(s.arena.part(found, 4 * number, 4), part, min(size, count - at))
            kernel, count = found, -(-count // size)
        self._largest(self.largest, kernel, count)

    def _largest(self, into, kernel, count):
        """Emit the largest magnitude of ``count`` float32 weights."""
        s = self.s
        chosen, row, sums = (
            s.scratch("chosen count", 4),
            s.scratch("chosen rows", 4),
            s.scratch("magnitudes", 4 * count),
        )
        s.emit("rank_f32", (chosen, row, sums, kernel, self._one()), (1, count, 1, 0, 0))
        s.emit("pick", (into, sums, chosen, row), (1, count, 1, 4))

    def _draw(self, what):
        """The operand of numbers with standard deviation SIGMA, 0 outside of training."""
        s, count = self.s, self.count
        drawn = s.scratch(what, self.unit * count)
        s.emit("clear", (drawn,), (self.unit * count + 3 >> 2,))
        for number, size in enumerate(_SIZES):
            stream, size = s.stream("%s %s %d" % (self.name, what, number)), scale_of(size)
            if s.int8:
                s.emit("perturb_i8", (drawn, self._one(), s.control), (1, count, stream, size, 0))
            else:
                s.emit("perturb_f32", (drawn, s.control), (count, stream, size))
        return drawn

    def _sum(self, source, change, factor):
        """The operand of ``source`` plus ``change``, times ``factor``, a multiplier, in int8."""
        s = self.s
        total = s.scratch("noisy", self.unit * self.count)
        self._whole()
        if s.int8:
            one = s.buffers.constant(struct.pack("<ii", *multiplier(ONE)))
            operands = (total, s.buffers.unwatched(), source, change, one, factor)
            s.emit("add_i8", operands, (self.count, 0, 0, 0, -127))
        else:
            s.emit("add_f32", (total, source, change), (self.count, 0))
        return total

    def _whole(self):
        """Let the next instruction run whole also where a batch is not full: its size is not that of samples."""
        self.s.emit("few", (self.s.buffers.constant(struct.pack("<I", 1)),), (1, 0))

    def _one(self):
        return self.s.buffers.constant(struct.pack("<I", ONE))


def _kernels(s, optimizer):
    """{operand: Kernel}; ValueError for weights of 4 bits."""
    found = {}
    for node, weights in s.buffers.weights.items():
        if weights.kernel is None:
            continue
        if weights.kernel >> REGION_SHIFT == _FOUR:
            raise ValueError("Noisy: %r is frozen with 4 bits: pack() it with 8 bits" % node.layer)
        found[weights.kernel] = Kernel(s, node.layer.name, weights, optimizer)
    return found


def train(s, nodes, loss, micro, segments, optimizer):
    """Emit what trains ``nodes``: as compiler.py's."""
    s.updates.optimizer = optimizer.inner
    if not (optimizer.weight or optimizer.drift):
        return passes(s, nodes, loss, micro, segments)
    s.keyed = True
    output, ends, first = passes(s, nodes, loss, micro, segments)
    kernels = _kernels(s, optimizer)
    before, s.instructions, made = s.instructions, [], {}
    for index, instruction in enumerate(before):
        if index == len(s.clears):
            s.owner = None
            s.emit("step_key", (s.control, s.header), (1,))
        made[index] = len(s.instructions)
        _replaced(s, kernels, instruction)
    made[len(before)] = len(s.instructions)
    for kernel in kernels.values():
        s.owner = kernel.name
        kernel.measure()
    s.owner = None
    ends[:] = [made[end] for end in ends]
    return output, ends, first


def _replaced(s, kernels, instruction):
    """Emit the instruction, its kernel by a noisy copy of it."""
    row = instruction[ROW]
    operands = list(instruction[FIRST : row[STOP]])
    if row[NAME] in _MAKE_KEYS:
        size = 4 * CONTROL_WORDS
        operands[operands.index(s.control)] = copy = s.scratch("control", size)
        s.emit("slice", (copy, s.control), (1, size, size, 0))
    for place, operand in enumerate(operands):
        if operand in kernels and row[ACCESS][place] == READS:
            prefix = (
                s.instructions.pop() if s.instructions and s.instructions[-1][ROW][NAME] in ("few", "each") else None
            )
            s.owner = kernels[operand].name
            operands[place] = kernels[operand].noisy()
            if prefix:
                s.instructions.append(prefix)
    s.instructions.append(instruction[:FIRST] + tuple(operands) + instruction[row[STOP] :])
