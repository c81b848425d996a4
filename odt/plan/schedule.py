"""The schedule: which instructions run, in which order, on which buffers.

Forward in the order of the graph, the loss, then backward; each weight is updated as soon as its
gradient is whole, so that one gradient lives at a time. Nothing here is differentiated
(gradient.py) and nothing has an address yet (memory.py).
"""

import struct

from ..fixed import ONE, isqrt, scale_div, scale_int
from ..opcodes import ARENA, CONSTANTS, CONTROL, CONTROL_WORDS, STATE, X_DATA, Y_DATA, const
from .instruction import Instruction
from .values import ACTIVATION, ERROR, GRADIENT, OPTIMIZER, SCRATCH, WEIGHT, Buffer, Part, Value, Weights, home

_PIECE_CODE = const(200)  # bytes of the instructions that make and spend a part of a gradient
_PIECES = const(16)  # parts of a gradient at most
_FALL = {ACTIVATION: 3, ERROR: 5}  # how fast a range falls, by kind: see range_i8 in docs/numerics.md


class Schedule:
    """Collects instructions. ``emit`` appends one; the other methods make buffers and values."""

    probing = False  # see fisher.py

    def __init__(self, dtype, batch, optimizer, flash=0):
        self.int8 = dtype == "int8"
        self.batch = batch
        self.optimizer = optimizer
        self.instructions = []
        self.state_size = 0
        self.flash = flash  # bytes of the frozen weights up to here, 0 if there are none
        self.state = []  # the state's buffers, in order of their offsets
        self.values = {}  # node -> its output
        self.weights = {}  # node -> Weights
        self.trained = ()  # nodes that the error must reach
        self.scales = {}  # node -> (scale, peak) of the values that its forward pass makes
        self.made = []  # those of the node in hand
        self.next = 0  # and how many of them it has again, when it is repeated
        self.again = ()  # nodes that are computed once more
        self.choices = {}  # node of a max-pooling -> what it chose
        self.ranges = []  # (scale, peak, limit, fall, fine), as of range_i8; the fall of an input's is 0
        self.x_seen = None  # the largest input so far, where the input has a range
        self.streams = {}  # what draws random numbers -> the id of its stream
        self.states = {}  # name -> buffer of the optimizer's state
        self.control = Buffer("control", 4 * CONTROL_WORDS, None, CONTROL)
        self.x = Buffer("x", 0, None, X_DATA)
        self.y = Buffer("y", 0, None, Y_DATA)
        for buffer in (self.control, self.x, self.y):
            buffer.offset = 0
        self.peaks = Buffer("peaks", 0, SCRATCH)
        self.constants = {}  # bytes -> the state's buffer that holds them
        self.unwatched = None
        self.header = self.keep("header", 16, None)  # t, seed, beta1^t, beta2^t
        self.limited = None  # whether a piece of the weights in hand has outgrown their scale
        self.rate = None  # rate and bias correction of this step
        self.sums = None  # gradients of a batch in micro-batches; None where a batch comes in one
        self.deferred = []  # then: the instructions of the update
        self.keyed = False  # then: whether the backward pass has the step's key
        self.unspent = []  # gradients that wait for their norm, with what spends them
        self.clears = []  # (instruction, buffer) of what a step begins with
        self.owner = None  # the name of the layer in hand
        self.chosen = None  # dynamic.py: whose rows what is emitted is repeated for
        self.ratio = None  # how large the output's error is, where an update is dynamic
        self.noted = None  # a list where inspect.py asks: (name, value) of the tensors

    def emit(self, name, operands, immediates=()):
        instruction = Instruction(name, operands, immediates)
        for instruction in (self.chosen.each(instruction), instruction) if self.chosen else (instruction,):
            if self.noted is not None:
                instruction.owner = self.owner
            self.instructions.append(instruction)

    def note(self, name, value):
        """Remember the value under its name where that is asked for."""
        if self.noted is not None:
            self.noted.append((name, value))
        return value

    def keep(self, name, size, kind=WEIGHT):
        """A buffer in the state."""
        buffer = Buffer(name, size, kind)
        self.move_to_state(buffer)
        return buffer

    def move_to_state(self, buffer):
        """Keep a buffer of the arena between steps."""
        buffer.region = STATE
        buffer.offset = self.state_size
        self.state_size += (buffer.size + 3) & ~3
        self.state.append(buffer)

    def lay(self, name, size):
        """A buffer in the frozen weights."""
        buffer = Buffer(name, size, None, CONSTANTS)
        buffer.offset = self.flash
        self.flash += (size + 3) & ~3
        return buffer

    def scratch(self, name, size, kind=SCRATCH):
        return Buffer(name, size, kind)

    def stream(self, name):
        """The id of the random numbers that ``name`` draws."""
        return self.streams.setdefault(name, len(self.streams) + 1)

    def dither(self, name):
        """As stream, of what backward draws: in micro-batches that is before tick makes the step's key."""
        if self.sums and not self.keyed:
            self.emit("step_key", (self.control, self.header), (1,))
            self.keyed = True
        return self.stream(name)

    def state_rows(self, name, part, row):
        """The part's rows, of ``row`` bytes, of a buffer of the optimizer's state."""
        if name not in self.states:
            self.states[name] = self.keep(name, part.total * row, OPTIMIZER)
        return part.of(self.states[name], row)

    def tensor(self, name, count, kind=ERROR, positive=False):
        """A new value in the arena; in int8 with a scale of its own that follows its peak.

        ``positive``: no value is below 0 (a ReLU's output), and all 255 steps lie above; 6: they end
        at 6, as a ReLU6 does, and the scale is fixed.
        """
        if not self.int8:
            return self.note(name, Value(self.scratch(name, 4 * count, kind), count))
        if positive == 6:
            return self.fixed(name, count, scale_div(scale_int(6), scale_int(255)), -128)
        zero, lo, limit = (-128, -128, 255) if positive else (0, -127, 127)
        if self.next == len(self.made):
            self.made.append((self.keep(name + " scale", 4), self.peak(name)))
            self.ranges.append(self.made[-1] + (limit, _FALL[kind], 1))
        scale, peak = self.made[self.next]
        self.next += 1
        return self.note(name, Value(self.scratch(name, count, kind), count, scale, zero, lo, ONE, peak))

    def loss_error(self, error, scale, peak=None):
        """The int8 error of a loss, in the scale that the loss's instruction writes."""
        return self.note("loss error", Value(error.buffer, error.count, scale, peak=peak))

    def fixed(self, name, count, bits, zero):
        """A new int8 activation whose scale is the constant ``bits``: its range follows nothing."""
        scale = self.constant(struct.pack("<I", bits))
        value = Value(self.scratch(name, count, ACTIVATION), count, scale, zero, -128, ONE, self.unwatch())
        return self.note(name, value)

    def unwatch(self):
        """The peak of results whose scale is fixed."""
        if self.unwatched is None:
            self.unwatched = self.peak("unwatched")
        return self.unwatched

    def constant(self, data):
        """A buffer of the state that holds these bytes from the start."""
        if data not in self.constants:
            buffer = self.keep("constant %d" % len(self.constants), len(data), None)
            buffer.first = data
            self.constants[data] = buffer
        return self.constants[data]

    def peak(self, name):
        peak = self.peaks.part(name + " peak", self.peaks.size, 4)
        self.peaks.size += 4
        return peak

    def like(self, name, value, kind=ERROR):
        """A new value that shares ``value``'s scale."""
        size = value.count * (1 if self.int8 else 4)
        twin = value.alias()
        twin.buffer = self.scratch(name, size, kind)
        return self.note(name, twin)

    def parameters(self, node):
        """The node's Weights, made on first call."""
        if node in self.weights:
            return self.weights[node]
        layer = node.layer
        if layer.kernel_shape is None:
            return self._norm_parameters(node)
        rows = layer.kernel_shape[0]
        columns = 1
        for size in layer.kernel_shape[1:]:
            columns *= size
        ranges = ((0, rows),) if layer.update_rows is None else layer.update_rows
        count = sum([size for _, size in ranges])
        trained = []
        at = 0
        for first, size in ranges if layer.trainable else ():
            trained.append(Part(count, columns, at, size, first - at))
            at += size
        made = Weights(rows, columns, trained, at == rows and not layer.by_channel)
        name = layer.name
        keep = self.lay if self.flash and not trained else self.keep
        made.kernel = keep(name + " kernel", rows * columns * (1 if self.int8 else 4))
        if self.int8:
            made.residual = self.keep(name + " residual", count * columns) if trained else None
            made.scale = keep(name + " kernel scale", 4 * rows)
        if not trained:
            made.fixed = [made.kernel, made.scale] if self.int8 else [made.kernel]
        if layer.use_bias or node.folded:
            fixed = not (layer.trainable and layer.update_bias)
            made.bias = (self.lay if self.flash and fixed else self.keep)(name + " bias", 4 * rows)
            if fixed:
                made.fixed.append(made.bias)
        if layer.use_bias:
            made.vectors.append(made.bias)
        if node.folded:
            inner = Weights(rows, 0, (), False)
            inner.into = made
            made.folded = (node.folded.layer, inner)
            self.weights[node.folded] = inner
        self.weights[node] = made
        return made

    def _norm_parameters(self, node):
        layer = node.layer
        made = Weights(layer.channels, 0, (), False)
        for name, _ in layer.weight_shapes():
            vector = self.keep("%s %s" % (layer.name, name), 4 * layer.channels)
            if name in ("gamma", "moving_variance"):
                one = 1 << 20 if self.int8 and name == "gamma" else ONE
                if layer.zero and name == "gamma":
                    one = 0
                vector.first = struct.pack("<I", one) * layer.channels
            made.vectors.append(vector)
        self.weights[node] = made
        return made

    def begin_node(self, node):
        """What comes is this node's forward pass, its first or another; None: it is none."""
        self.made = self.scales.setdefault(node, []) if node else []
        self.next = 0

    def drop_unread(self):
        """Drop the repeated instructions whose results nobody reads."""
        read = []
        kept = []
        again = []
        for instruction in reversed(self.instructions):
            buffers = [home(operand)[0] for operand in instruction.operands]
            accesses = [operand[1] for operand in instruction.opcode.operands]
            if instruction.again:
                made = [b for b, access in zip(buffers, accesses) if access != ":" and b is not self.peaks]
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
        for buffer in (self.peaks if self.int8 else None, self.sums):
            if buffer:
                self.emit("clear", (buffer,), [0])
                self.clears.append((self.instructions[-1], buffer))

    def accumulate(self):
        """From here on gradients are summed, and spent in the update alone."""
        self.sums = Buffer("gradient sums", 4, GRADIENT)

    def finish(self):
        """The end of a training step: ranges follow their peaks."""
        for scale, peak, limit, fall, fine in self.ranges:
            if fall:
                self.emit("range_i8", (scale, peak), (limit, fall, fine))
            else:
                self.emit("range_x_i8", (scale, self.x_seen, peak), (limit,))
        for instruction, buffer in self.clears:
            instruction.immediates[0] = buffer.size // 4

    def pieces(self, parts, spared):
        """The Parts in which a kernel's gradient is made and spent: ``parts`` where as a whole.

        So it is unless pieces save RAM: a piece costs the instructions that make it, and without
        micro-batches all of them ``spared`` bytes, which live longer for them.
        """
        total, columns = parts[0].total, parts[0].columns
        row = 4 * columns
        whole = row * total
        rows = max(isqrt(whole * _PIECE_CODE), whole // _PIECES) // row
        rows = rows + 3 & ~3  # as the kernels make them
        rows = max(rows, 4)
        count = (total + rows - 1) // rows
        if self.optimizer.limit and not self.sums:
            return parts  # all gradients live at once
        if rows * row + count * _PIECE_CODE + (0 if self.sums else spared) >= whole:
            return parts
        pieces = []
        for part in parts:
            for at in range(0, part.rows, rows):
                size = min(rows, part.rows - at)
                pieces.append(Part(total, columns, part.at + at, size, part.shift))
        return pieces

    def summed(self, parameter, pieces, make):
        """The sum over micro-batches of a parameter's gradient, of which ``make(part)`` makes a part."""
        row = 4 * pieces[0].columns
        total = self.sums.part(parameter.name + " sum", self.sums.size, pieces[0].total * row)
        self.sums.size += total.size
        name = "accumulate_i32" if self.int8 else "accumulate_f32"
        for part in pieces:
            self.emit(name, (part.of(total, row), make(part)), (part.count,))
        return total

    def update_kernel(self, weights, gradient, scale, factor, part):
        """Spend the gradient of these rows: the optimizer's direction, then the step along it."""
        self._update(self._step_kernel, weights, gradient, scale, factor, part)

    def update_bias(self, weights, gradient, scale, factor):
        """The same for a bias."""
        self.update_vector(weights.bias, gradient, scale, factor)

    def update_vector(self, vector, gradient, scale, factor):
        """The same for a vector, which is one row."""
        count = vector.size // 4
        self.note(vector.name + " gradient", Value(gradient, count, scale, 0, 0, factor))
        self._update(self._step_vector, vector, gradient, scale, factor, Part(1, count))

    def _update(self, step, weights, gradient, scale, factor, part):
        if self.optimizer.limit:
            self.unspent.append((step, weights, gradient, scale, factor, part))
            return
        if not self.sums:
            step(weights, gradient, scale, factor, part)
            return
        self.instructions, self.deferred = self.deferred, self.instructions
        step(weights, gradient, scale, factor, part)
        self.instructions, self.deferred = self.deferred, self.instructions

    def spend(self):
        """The updates: those that wait for the norm of all gradients, where it is limited."""
        self.instructions += self.deferred
        if not self.unspent:
            return
        total, clip = self.scratch("squares", 4), self.scratch("clip", 4)
        self.emit("clear", (total,), (1,))
        for _, _, gradient, scale, factor, part in self.unspent:
            if self.int8:
                self.emit("squares_i32", (total, gradient, scale), (part.count, factor))
            else:
                self.emit("squares_f32", (total, gradient), (part.count,))
        self.emit("clip_i32" if self.int8 else "clip_f32", (clip, total), (self.optimizer.limit,))
        for step, weights, gradient, scale, factor, part in self.unspent:
            if self.int8:
                clipped = self.scratch(gradient.name + " clipped scale", 4)
                self.emit("product", (clipped, scale, clip), (ONE,))
                scale = clipped
            else:
                self.emit("scale_f32", (gradient, clip), (part.count,))
            step(weights, gradient, scale, factor, part)

    def _step_kernel(self, weights, gradient, scale, factor, part):
        kernel = part.within(weights.kernel, weights.columns * (1 if self.int8 else 4))
        for number, rows in enumerate(weights.trained):
            if rows.at == part.at:
                self._decay_rows(weights, kernel, rows, number)
        self.chosen = part.chosen
        if not self.int8:
            self.optimizer.direct(self, kernel, gradient, scale, part, factor)
            kernel = part.of(kernel, 4 * part.columns)
            self.emit("apply_f32", (kernel, gradient, self.rate), (part.count,))
            self.chosen = None
            return
        if self.limited is None:
            self.limited = self.peak("limited")
        limited = self.peak(kernel.name + " limited") if part.chosen else self.limited
        operands = (kernel, weights.residual, part.within(weights.scale, 4), limited)
        common = int(weights.common)
        if not self.optimizer.step(self, kernel, operands, gradient, scale, part, factor, common):
            scales = self.optimizer.direct(self, kernel, gradient, scale, part, factor)
            sizes = (part.total, part.columns, self.stream(kernel.name + " step"), common, part.at, part.rows)
            self.emit("apply_i8", operands + (gradient, scales, self.rate, self.control), sizes)
        self.chosen = None
        if part.chosen and common:
            self.emit("settle_i8", operands, (part.total, part.columns))

    def _step_vector(self, vector, gradient, scale, factor, part):
        self._decay(vector, None, part.count, vector.name + " decay")
        scales = self.optimizer.direct(self, vector, gradient, scale, part, factor)
        if self.int8:
            self.emit("apply_i32", (vector, gradient, scales, self.rate), (part.count,))
        else:
            self.emit("apply_f32", (vector, gradient, self.rate), (part.count,))

    def _decay_rows(self, weights, kernel, part, number):
        """The decay of one of the ranges of a kernel's rows that train."""
        residual = part.of(weights.residual, part.columns) if self.int8 else None
        stream = kernel.name + (" decay %d" % number if number else " decay")
        self._decay(part.of(kernel, part.columns * (1 if self.int8 else 4)), residual, part.count, stream)

    def _decay(self, weight, residual, count, stream):
        """Decoupled weight decay, before the step (Loshchilov and Hutter, 2019)."""
        decay = getattr(self.optimizer, "weight_decay", 0)
        if not decay:
            return
        if not self.int8:
            self.emit("decay_f32", (weight, self.control), (count, decay))
        elif residual is None:
            self.emit("decay_i32", (weight, self.control), (count, decay, self.stream(stream)))
        else:
            self.emit("decay_i8", (weight, residual, self.control), (count, decay, self.stream(stream)))
