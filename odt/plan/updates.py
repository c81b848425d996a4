"""What applies gradients: sums over micro-batches, the norm of all, the optimizer's instructions, weight decay.

A weight is updated as soon as its gradient is whole, so that one gradient lives at a time: unless all of them wait, for
their norm or for the other micro-batches.
"""

from ..base.fixed import ONE
from ..base.primitives import isqrt
from ..base.regions import const
from .values import GRADIENT, Part

_PIECE_CODE = const(200)  # bytes of the instructions that make and apply a part of a gradient
_PIECES = const(16)  # parts of a gradient at most


class Updates:
    """Emits them into the schedule ``s``."""

    def __init__(self, s, optimizer):
        self.s = s
        self.optimizer = optimizer
        self.constants = None  # the optimizer's own, once it has computed them
        self.rate = None  # rate and bias correction of this step
        self.limited = None  # whether a piece of the weights in hand has outgrown their scale
        self.sums = None  # the operand of the gradients of a batch in micro-batches; None where a batch comes in one
        self.deferred = []  # then: the instructions of the update
        self.waiting = []  # gradients that wait for their norm, with what applies them
        self.ratio = None  # how large the output's error is, where an update is dynamic

    def accumulate(self):
        """From here on gradients are summed, and applied in the update alone."""
        self.sums = self.s.scratch("gradient sums", 4, GRADIENT)

    def pieces(self, parts, spared):
        """The Parts in which a kernel's gradient is made and applied: ``parts`` where as a whole.

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

    def sum(self, size):
        """The operand of ``size`` bytes more of the sums."""
        sizes = self.s.arena.sizes
        sizes[self.sums] += size
        return self.s.arena.part(self.sums, sizes[self.sums] - size, size)

    def summed(self, pieces, make):
        """The sum over micro-batches of a parameter's gradient, of which ``make(part)`` makes a part."""
        s = self.s
        row = 4 * pieces[0].columns
        total = self.sum(pieces[0].total * row)
        name = "accumulate_i32" if s.int8 else "accumulate_f32"
        for part in pieces:
            s.emit(name, (part.of(s.arena, total, row), make(part)), (part.count,))
        return total

    def kernel(self, weights, gradient, scale, factor, part):
        """Apply the gradient of these rows: the optimizer's direction, then the step along it."""
        self._update(self._step_kernel, weights, gradient, scale, factor, part)

    def bias(self, weights, gradient, scale, factor):
        """The same for a bias."""
        self.vector(weights.name + " bias", weights.bias, gradient, scale, factor)

    def vector(self, name, vector, gradient, scale, factor):
        """The same for a vector, which is one row."""
        s = self.s
        count = s.arena.sizes[gradient] // 4
        scale = s.real(name + " gradient", scale)
        s.note_gradient(name + " gradient", gradient, scale, factor)
        self._update(self._step_vector, (name, vector), gradient, scale, factor, Part(1, count))

    def _update(self, step, weights, gradient, scale, factor, part):
        s = self.s
        if self.optimizer.limit:
            self.waiting.append((step, weights, gradient, scale, factor, part))
            return
        if not self.sums:
            step(weights, gradient, scale, factor, part)
            return
        s.instructions, self.deferred = self.deferred, s.instructions
        step(weights, gradient, scale, factor, part)
        s.instructions, self.deferred = self.deferred, s.instructions

    def apply(self):
        """The updates: those that wait for the norm of all gradients, where it is limited."""
        s = self.s
        s.instructions += self.deferred
        if not self.waiting:
            return
        total, clip = s.scratch("squares", 4), s.scratch("clip", 4)
        s.emit("clear", (total,), (1,))
        for _, _, gradient, scale, factor, part in self.waiting:
            if s.int8:
                s.emit("squares_i32", (total, gradient, scale), (part.count, factor))
            else:
                s.emit("squares_f32", (total, gradient), (part.count,))
        s.emit("clip_i32" if s.int8 else "clip_f32", (clip, total), (self.optimizer.limit,))
        for step, weights, gradient, scale, factor, part in self.waiting:
            if s.int8:
                clipped = s.scratch("clipped scale", 4)
                s.emit("product", (clipped, scale, clip), (ONE,))
                scale = clipped
            else:
                s.emit("scale_f32", (gradient, clip), (part.count,))
            step(weights, gradient, scale, factor, part)

    def _step_kernel(self, weights, gradient, scale, factor, part):
        s = self.s
        name = weights.name + " kernel"
        kernel = part.within(weights.kernel, weights.columns * (1 if s.int8 else 4))
        for number, rows in enumerate(weights.trained):
            if rows.at == part.at:
                self._decay_rows(name, weights, kernel, rows, number)
        s.chosen = part.chosen
        if not s.int8:
            self.optimizer.direct(s, name, gradient, scale, part, factor)
            kernel = part.of(s.arena, kernel, 4 * part.columns)
            s.emit("apply_f32", (kernel, gradient, self.rate), (part.count,))
            s.chosen = None
            return
        if self.limited is None:
            self.limited = s.buffers.peak()
        limited = s.buffers.peak() if part.chosen else self.limited
        operands = (kernel, weights.residual, part.within(weights.scale, 4), limited)
        common = int(weights.common)
        if not self.optimizer.step(s, name, operands, gradient, scale, part, factor, common):
            scales = self.optimizer.direct(s, name, gradient, scale, part, factor)
            sizes = (part.total, part.columns, s.stream(name + " step"), common, part.at, part.rows)
            s.emit("apply_i8", operands + (gradient, scales, self.rate, s.control), sizes)
        s.chosen = None
        if part.chosen and common:
            s.emit("settle_i8", operands, (part.total, part.columns))

    def _step_vector(self, vector, gradient, scale, factor, part):
        s = self.s
        name, vector = vector
        self._decay(vector, None, part.count, name + " decay")
        scales = self.optimizer.direct(s, name, gradient, scale, part, factor)
        if s.int8:
            s.emit("apply_i32", (vector, gradient, scales, self.rate), (part.count,))
        else:
            s.emit("apply_f32", (vector, gradient, self.rate), (part.count,))

    def _decay_rows(self, name, weights, kernel, part, number):
        """The decay of one of the ranges of a kernel's rows that train."""
        s = self.s
        residual = weights.residual
        if residual is not None:
            residual = part.of(s.arena, residual, part.columns)
        stream = name + (" decay %d" % number if number else " decay")
        self._decay(part.of(s.arena, kernel, part.columns * (1 if s.int8 else 4)), residual, part.count, stream)

    def _decay(self, weight, residual, count, stream):
        """Decoupled weight decay, before the step (Loshchilov and Hutter, 2019)."""
        s = self.s
        decay = getattr(self.optimizer, "weight_decay", 0)
        if not decay:
            return
        if not s.int8:
            s.emit("decay_f32", (weight, s.control), (count, decay))
        elif residual is None:
            s.emit("decay_i32", (weight, s.control), (count, decay, s.stream(stream)))
        else:
            s.emit("decay_i8", (weight, residual, s.control), (count, decay, s.stream(stream)))
