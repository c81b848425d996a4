"""Zeroth order: a step of two forward passes, with weights moved there and back along a random direction.

A layer's weights move just before its own instructions and back just after them, in place: between two layers all
weights are what they are, and the arena is that of one forward pass. The last layers may have a backward pass; then
what the second pass has left is what it works on.
"""

from ...base.fixed import scale_div, scale_int, scale_mul, scale_shift
from ...base.regions import CONTROL_WORDS
from ...plan.compiler import diverge, predict_from, read_by
from ...plan.forward import forward
from ...plan.gradient import backward
from ...plan.graph import trained
from ...plan.instruction import END, FIRST, NAME, ROW, STOP
from ...plan.values import ACTIVATION, Part

_UNITS = 20  # bits of an int32 weight after the binary point


def divide(nodes, tail):
    """The nodes whose weights train: those that are moved, and the last ``tail``."""
    found = [node for node in nodes if node.layer.trainable and node.layer.weight_shapes() and not node.layer.view]
    if tail >= len(found):
        raise ValueError("ZerothOrder: tail is below the number of layers that train, %d, got %d" % (len(found), tail))
    moved = found[: len(found) - tail]
    for node in moved:
        if node.layer.kind == "batchnorm":
            raise ValueError("ZerothOrder: %r follows its batches: freeze it, or use LayerNorm" % node.layer)
        if node.layer.dynamic:
            raise ValueError("ZerothOrder: %r: a dynamic update belongs to the tail" % node.layer)
    return moved, found[len(found) - tail :]


class Moved:
    """One run of a layer's weights: a kernel's rows, or a vector; each has a direction of its own."""

    def __init__(self, s, optimizer, name, buffer, part, weights=None):
        self.s, self.optimizer = s, optimizer
        self.buffer, self.part = buffer, part
        self.id = s.stream(name + " direction")
        self.kernel = None  # in int8: its residuals and scales
        if weights and s.int8:
            scale = part.of(s.arena, part.within(weights.scale, 4), 4)
            self.kernel = part.of(s.arena, weights.residual, part.columns), scale, int(weights.common)

    def room(self):
        """Emit what keeps it from the ends of its range."""
        if self.kernel:
            part = self.part
            residual, scale, common = self.kernel
            operands = (self.buffer, residual, scale, self.s.control)
            self.s.emit("room_i8", operands, (part.rows, part.columns, self.optimizer.epsilon, common))

    def move(self, back):
        """Emit its way along the direction, or back."""
        s, part, epsilon = self.s, self.part, self.optimizer.epsilon
        if self.kernel:
            sizes = (part.rows, part.columns, self.id, epsilon, int(back))
            s.emit("perturb_i8", (self.buffer, self.kernel[1], s.control), sizes)
            return
        if s.int8:
            step = int_of(epsilon)
            s.emit("perturb_i32", (self.buffer, s.control), (part.count, self.id, -step if back else step))
            return
        sign = -(1 << 31) if back else 0
        s.emit("perturb_f32", (self.buffer, s.control), (part.count, self.id, epsilon + sign))

    def walk(self, slope):
        """Emit the step."""
        s, part = self.s, self.part
        if self.kernel:
            residual, scale, common = self.kernel
            operands = (self.buffer, residual, scale, slope, s.control)
            s.emit("walk_i8", operands, (part.rows, part.columns, self.id, common))
            return
        s.emit("walk_i32" if s.int8 else "walk_f32", (self.buffer, slope, s.control), (part.count, self.id))


def int_of(epsilon):
    """A scale in units of 2^-20, at least 1."""
    mantissa, shift = epsilon & 0x7FFFFF | 0x800000, 150 - _UNITS - (epsilon >> 23)
    return max(1, mantissa >> shift if shift > 0 else mantissa << -shift)


def _runs(s, optimizer, node):
    """What moves of a node's weights."""
    layer = node.layer
    weights = s.buffers.parameters(node)
    if weights.kernel is None:
        part = Part(1, weights.rows)
        return [Moved(s, optimizer, "%s %s" % (layer.name, name), each, part) for name, each, _ in weights.vectors[:2]]
    found = []
    parts = weights.trained
    if weights.common and len(parts) > 1:  # all rows: they share their scale
        parts = [Part(weights.rows, weights.columns)]
    unit = weights.columns * (1 if s.int8 else 4)
    for number, part in enumerate(parts):
        rows = part.of(s.arena, part.within(weights.kernel, unit), unit)
        found.append(Moved(s, optimizer, "%s kernel %d" % (layer.name, number), rows, part, weights))
    if layer.use_bias and layer.update_bias:
        found.append(Moved(s, optimizer, layer.name + " bias", weights.bias, Part(1, weights.rows)))
    return found


class Passes:
    """The forward passes of a step."""

    def __init__(self, s, nodes, moved, optimizer):
        self.s, self.nodes = s, nodes
        self.runs = {}
        self.moved, self.optimizer = moved, optimizer
        self.read = ()  # the instructions that read the samples

    def emit(self, second):
        """Emit one with the weights moved along their directions, or ``second``: against them."""
        s = self.s
        for node in self.nodes:
            s.owner = node.layer.name
            if second and not node.inputs:
                self._read_again(node)
                continue
            if node in self.moved and not second:
                self.runs[node] = _runs(s, self.optimizer, node)
                for run in self.runs[node]:
                    run.room()
            for run in self.runs.get(node, ()):
                run.move(second)
            start = len(s.instructions)
            forward(s, [node])
            if not node.inputs:
                self.read = s.instructions[start:]
            if node.layer.kind in ("dropout", "sampling"):
                self._keep_key()
            for run in self.runs.get(node, ()):
                run.move(not second)

    def _keep_key(self):
        """Let a Dropout or Sampling read a copy of the control block: it makes a key of calibration's, which is to move
        nothing.
        """
        s = self.s
        dropout = s.instructions.pop()
        size = 4 * CONTROL_WORDS
        copy = s.scratch("copy", size)
        s.emit("slice", (copy, s.control), (1, size, size, 0))
        self._emit_with(dropout, s.control, copy)

    def _emit_with(self, instruction, before, after):
        """Emit the instruction with an operand in place of another."""
        stop, end = instruction[ROW][STOP], instruction[ROW][END]
        operands = tuple([after if each == before else each for each in instruction[FIRST:stop]])
        self.s.emit(instruction[ROW][NAME], operands, instruction[stop:end])

    def _read_again(self, node):
        s = self.s
        s.begin_node(None)
        before = s.values[node]
        s.values[node] = after = s.like(node.layer.name, before, ACTIVATION)
        for instruction in self.read:
            self._emit_with(instruction, before.buffer, after.buffer)


def train(s, nodes, loss, micro, segments, optimizer):
    """Emit what trains ``nodes``: as compiler.py's."""
    if segments:
        raise ValueError("ZerothOrder: no activation is kept that checkpoint or memory_budget could forget")
    moved, tail = divide(nodes, optimizer.tail)
    s.updates.optimizer = optimizer.of_tail
    s.trained = trained(nodes, within=tail)
    words = 6 if s.int8 else 3
    losses = s.updates.sum(4 * words) if micro else s.scratch("losses", 4 * words)
    before = s.scratch("hits", 4)

    def passed(which):
        name = "passed_i8" if s.int8 else "passed_f32"
        s.emit(name, (losses, before, s.control), (which,))

    s.begin()
    s.emit("step_key", (s.control, s.header), (1,))
    s.keyed = True
    passed(0 if micro else 3)
    passes = Passes(s, nodes, moved, optimizer)
    passes.emit(False)
    output = predict_from(s, nodes)
    first = dict(s.values) if s.noted is not None else None
    ends = [len(s.instructions)]
    if loss.degree and s.ranges:  # as compiler.py has it
        s.ranges[-1] = s.ranges[-1][:4] + (0,)
    last = read_by(nodes, loss)
    s.owner = "loss"
    loss.emit(s, s.values[last])
    diverge(s, nodes, loss, s.values[last])
    ends.append(len(s.instructions))
    passed(1)
    passes.emit(True)
    s.owner = "loss"
    error = loss.emit(s, s.values[last])
    diverge(s, nodes, loss, s.values[last])
    passed(2)
    s.owner = None
    s.updates.rate = s.scratch("rate", 8)
    if micro:
        s.instructions, s.updates.deferred = s.updates.deferred, s.instructions
    s.emit("tick", (s.updates.rate, s.header, s.control), optimizer.of_tail.betas)
    _walk(s, loss, losses, output, passes, optimizer)
    if micro:
        s.instructions, s.updates.deferred = s.updates.deferred, s.instructions
    if tail:
        backward(s, nodes, last, error)
    s.owner = None
    s.updates.apply()
    return output, ends, first


def _walk(s, loss, losses, output, passes, optimizer):
    """Emit the slope and the steps along it."""
    factor = optimizer.ratio
    degree = loss.degree if s.int8 else 0
    if not optimizer.sign:
        width = 1 if loss.labels else output.count // s.batch
        factor = scale_div(factor, scale_mul(scale_int(2 * width), optimizer.epsilon))
        unit = loss.unit(1 / 256) if s.int8 else 1  # a power of 2
        while unit < 1:
            factor = scale_shift(factor, -1)
            unit *= 2
    slope = s.scratch("slope", 8 if s.int8 else 4)
    if s.int8:
        operands = (slope, losses, output.scale, s.control)
        s.emit("slope_i8", operands, (s.batch, factor, degree, int(optimizer.sign)))
    else:
        s.emit("slope_f32", (slope, losses, s.control), (s.batch, factor, int(optimizer.sign)))
    for node in passes.moved:
        s.owner = node.layer.name
        for run in passes.runs[node]:
            run.walk(slope)
