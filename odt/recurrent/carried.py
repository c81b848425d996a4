"""The state of a ``stateful`` layer, from its place in the program: each row of a batch begins where that row of the
batch before has ended.

A block of the model's state holds outputs and cells as they were before the batch and as they are after it. A forward
pass first copies the second to the first, unless the block's first word is -1; so what calibration repeats begins with
the same. The blocks come last in the state: what lies before them is that of a network that is not stateful.
"""

from ..base.fixed import ONE
from ..base.regions import const

_GATE = const(4)
_LSTM = const(2)  # the layer's number
_GOES_ON = const(4)  # added to an instruction's kind


class Block:
    """What a layer carries from batch to batch, while its network is planned.

    Its parts are numbers of buffers, which come into the state when all else has its place there.
    """

    def __init__(self, s, node):
        from .stateful import enable

        layer = node.layer
        refuse(s, node)
        enable()
        self.s, self.layer = s, layer
        self.batch, self.units = s.batch, layer.units
        self.size = _GATE
        self.numbers = []
        self.gate = self._part(0, _GATE)
        finish = s.finish

        def last():
            finish()
            self._settle()

        s.finish = last

    def _room(self, size):
        """Where ``size`` more bytes of the block begin."""
        at = self.size
        self.size += size + 3 & ~3
        return at

    def _part(self, at, size):
        """The operand of ``size`` bytes from ``at`` on."""
        number = self.s.scratch("carried", size)
        self.numbers.append((number, at))
        return number

    def _settle(self):
        """Give the block its place in the state."""
        s = self.s
        place = s.buffers.keep(self.layer.name + " carried", self.size, None)
        for number, at in self.numbers:
            s.arena.move(number, place + at)

    def _copy(self, to, source, sizes):
        """What was after the batch before becomes what is before this one; ``sizes``: of the instruction place."""
        s = self.s
        s.instructions.append(s.instruction("each", (self.gate, self.gate), (1, 1, 0, -1)))
        s.emit("place", (to, source), sizes)

    def _pairs(self, row):
        """The operand of a pair of ``row`` bytes for each sample, before the batch and after it."""
        s, count = self.s, self.batch
        pairs, after = self._part(self._room(2 * row * count), 2 * row * count), s.scratch("after", row * count)
        s.emit("slice", (after, pairs), (count, row, 2 * row, row))
        self._copy(pairs, after, (count, row, 2 * row, 0))
        return pairs

    def _halves(self, size):
        """Operands of ``size`` bytes before the batch and after it."""
        at = self._room(2 * size)
        before, after = self._part(at, size), self._part(at + size, size)
        self._copy(before, after, (1, size, size, 0))
        return before, after, at + size

    def begin_i8(self):
        """Operands of outputs and cells."""
        self.outputs = self._pairs(self.units)
        if self.layer.number:
            return self.outputs, self._pairs(4 * self.units)
        return self.outputs, self.s.scratch("cell", 8 * self.units * self.batch)

    def keep_cells(self, held, kept):
        """An LSTM's last cells in int8, and their scale: the next batch's gradient of the forget gate reads them."""
        s, count, units = self.s, self.batch, self.units
        self.cells, cells, _ = self._halves(count * units)
        self.scale, scale, _ = self._halves(4)
        s.emit("slice", (cells, held.buffer), (count, units, kept * units, (kept - 1) * units))
        s.emit("slice", (scale, held.scale), (1, 4, 4, 0))

    def go_through_f32(self, made, sums, given, sizes):
        """Emit the forward pass, sample by sample; ``made``, ``given``: operands before and after ``sums``."""
        s, arena = self.s, self.s.arena
        batch, steps, width, units, rows, kept, kind = sizes
        row = 8 * units
        self.outputs, after, at = self._halves(row * batch)
        s.emit("slice", (after, self.outputs), (1, row * batch, row * batch, 0))
        y, gates, held = made
        a, kernel, bias = given
        strides = rows * units, kept * width, kept * units, steps * width
        for number in range(batch):
            parts = [
                arena.part(operand, 4 * number * count, 4 * count)
                for operand, count in zip((y, gates, held, a), strides)
            ]
            own = self._part(at + number * row, row)
            s.emit(
                "recur_f32",
                (parts[0], parts[1], parts[2], own, sums, parts[3], kernel, bias),
                (1, steps, width, units, rows, kept, kind + _GOES_ON),
            )

    def before(self, outputs, other, held):
        """Put what was before the batch where the backward pass reads it; the operand that takes ``other``'s place."""
        s, count, units = self.s, self.batch, self.units
        unit = 1 if s.int8 else 4
        row, is_lstm = units * unit, self.layer.number == _LSTM
        first = s.scratch("outputs first", count * row)
        s.emit("slice", (first, self.outputs), (count, row, 2 * row, 0))
        s.emit("place", (outputs, first), (count, row, self.layer.steps_of * row, 0))
        if not is_lstm:
            return other
        if not s.int8:
            s.emit("slice", (other, self.outputs), (count, row, 2 * row, row))
            return other
        rescale = s.scratch("cells rescale", 8)
        s.emit("ratio", (rescale, self.scale, held.scale), (ONE,))
        size = count * units
        s.emit("concat_i8", (other, s.buffers.unwatched(), self.cells, rescale), (1, size, size, 0, 0, 0, -127))
        return other


def refuse(s, node):
    """ValueError for what a stateful layer does not go with."""
    reason = None
    if s.updates.sums:
        reason = "micro_batch: its rows are those of a batch"
    elif s.repeated or node in s.choices or type(s.buffers).__name__ != "Buffers":
        reason = "checkpoint, memory_budget or ZerothOrder: it is computed once a step"
    if reason:
        raise ValueError("%r: a stateful layer does not go with %s" % (node.layer, reason))
