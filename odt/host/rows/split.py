"""Split kernels: of a kernel of which some rows (output channels) train, these lie in the state, the others in flash.

The planner emits whole kernels, at addresses of a region that there is not (Buffers below); then rewrite() lets each
instruction read the rows where they lie. A forward pass makes some channels of the output after the others, or reads a
kernel that was put together in the arena, whichever takes fewer bytes. The input's gradient, a sum over all rows, comes
by groups of columns, whose kernels are put together: no sum is parted, so that no bit changes.
"""

from ...base.opcodes import WINDOW, opcode
from ...base.regions import REGION_SHIFT
from ...files.split import SPLIT, Split
from ...plan.buffers import Buffers as WholeBuffers
from ...plan.instruction import END, FIRST, MARK, NAME, ROW, STOP
from ...plan.values import ERROR, SCALE, WEIGHT, Plan
from .rewriting import live, replace

_KINDS = ("dense", "conv2d", "depthwise2d")
_GROUPS = (1, 2, 4, 8, 16, 32)  # of columns
_MOST_RUNS = 8  # of rows, for a forward pass by parts
_C, _N = WINDOW.split().index("C"), WINDOW.split().index("N")


def can_split(layer):
    """Whether some of the layer's rows train, others do not, and its instructions are those that rewrite() knows."""
    if layer.kind not in _KINDS or layer.family != "linear" or layer.dynamic or not layer.trainable:
        return False
    count = sum([count for _, count in layer.update_rows or ()])
    return 0 < count < layer.kernel_shape[0]


class Rows:
    """A kernel, or its scales, as rows of ``row`` bytes, from ``start`` in the region that there is not.

    ``runs``: (first, rows, its index among the rows that train or among the others, whether they train). Those that
    train lie from operand ``at`` on, the others from ``rest`` on.
    """

    rest = None

    def __init__(self, layer, row, start, at):
        self.row, self.start, self.at = row, start, at
        self.count = layer.kernel_shape[0]
        self.runs, done, trained = [], 0, 0
        for first, rows in layer.update_rows + ((self.count, 0),):
            if first > done:
                self.runs.append((done, first - done, done - trained, False))
            if rows:
                self.runs.append((first, rows, trained, True))
            done, trained = first + rows, trained + rows
        self.still = self.count - trained

    def places(self):
        """[(first row, rows, operand)]"""
        return [(a, rows, (self.at if trains else self.rest) + n * self.row) for a, rows, n, trains in self.runs]

    def trained(self, row):
        """The index of a row among those that train."""
        for first, rows, index, trains in self.runs:
            if trains and first <= row < first + rows:
                return index + row - first
        raise ValueError("row %d does not train" % row)


class Buffers(WholeBuffers):
    """Gives the state of such a kernel, and of its scales, the rows that train alone. The kernel's operand is then in a
    region that there is not.
    """

    layer = None  # the one in hand

    def __init__(self, int8, flash, trains, named):
        super().__init__(int8, flash, trains, named)
        self.found = []  # Rows

    def parameters(self, node):
        """As of all buffers."""
        self.layer = node.layer if self.flash and self.trains and can_split(node.layer) else None
        try:
            return super().parameters(node)
        finally:
            self.layer = None

    def keep(self, name, size, kind=WEIGHT, role=None, first=None):
        """As of all buffers."""
        layer = self.layer
        if layer is None or name not in (layer.name + " kernel", layer.name + " kernel scale"):
            return super().keep(name, size, kind, role, first)
        row = size // layer.kernel_shape[0]
        start = self.found[-1].start + self.found[-1].row * self.found[-1].count + 3 & ~3 if self.found else 0
        trained = sum([count for _, count in layer.update_rows])
        made = Rows(layer, row, start, super().keep(name, trained * row, kind, role, first))
        made.name = name
        self.found.append(made)
        return SPLIT << REGION_SHIFT | start

    def rows_at(self, operand):
        """The Rows, and the row of them, where the operand begins."""
        offset = operand - (SPLIT << REGION_SHIFT)
        for rows in self.found:
            if 0 <= offset - rows.start < rows.row * rows.count:
                return rows, (offset - rows.start) // rows.row
        raise ValueError("no kernel is at %d" % offset)


def rewrite(s, ends):
    """Let instructions read such kernels where their rows lie; their ``ends`` move."""
    if not s.buffers.found:
        return
    replace(s, ends, SPLIT, _Rewriter(s, ends).extend)


class _Rewriter:
    def __init__(self, s, ends):
        self.s, self.arena, self.buffers = s, s.arena, s.buffers
        for rows in self.buffers.found:
            rows.rest = self.buffers.freeze(rows.name + " rest", rows.still * rows.row)
        self.live = live(s)
        self.peak = max(self.live[ends[0] :] or [0])
        self.unit = 1 if s.int8 else 4

    def extend(self, made, index, instruction):
        self.index, self.mark = index, instruction[MARK]
        kind = instruction[ROW]
        operands, sizes = instruction[FIRST : kind[STOP]], instruction[kind[STOP] : kind[END]]
        made += self._parts(kind[NAME], list(operands), list(sizes))

    def _emit(self, name, operands, sizes):
        return self.s.instruction(name, tuple(operands), tuple(sizes), self.mark)

    def _parts(self, name, operands, sizes):
        base = name.rpartition("_")[0] or name
        if name == "rescale":
            return self._by_channel(name, operands, sizes, 2, {0: 8})
        if name == "bias_i8":
            return self._by_channel(name, operands, sizes, 3, {0: 4, 1: 4})
        if name == "rescale_dx":
            return self._joined(name, operands, sizes, 2)
        if base in ("conv2d", "dense"):
            return self._forward(name, operands, sizes)
        if base in ("conv2d_dx", "dense_dx"):
            return self._dx(name, operands, sizes)
        if base in ("depthwise2d", "depthwise2d_dx"):
            return self._joined(name, operands, sizes, self._where(operands))
        return [self._update(name, operands, sizes)]

    def _where(self, operands):
        return [operand >> REGION_SHIFT for operand in operands].index(SPLIT)

    def _by_channel(self, name, operands, sizes, at, units):
        """Of an instruction of a number for each row: one for each run. ``units``: bytes of the other operands'
        numbers.
        """
        made = []
        rows, _ = self.buffers.rows_at(operands[at])
        for first, count, place in rows.places():
            parts = list(operands)
            parts[at] = place
            for number, unit in units.items():
                parts[number] = self.arena.part(operands[number], first * unit, count * unit)
            made.append(self._emit(name, parts, [count] + sizes[1:]))
        return made

    def _joined(self, name, operands, sizes, at):
        """The kernel, or its scales, is put together in the arena."""
        rows, _ = self.buffers.rows_at(operands[at])
        whole = self.s.scratch("kernel", rows.count * rows.row)
        made = []
        for first, count, place in rows.places():
            size = count * rows.row
            made.append(
                self._emit("slice", (self.arena.part(whole, first * rows.row, size), place), (1, size, size, 0))
            )
        operands[at] = whole
        return made + [self._emit(name, operands, sizes)]

    def _forward(self, name, operands, sizes):
        at, made = self._where(operands), []
        rows, _ = self.buffers.rows_at(operands[at])
        channels = _N if name[0] == "c" else 2
        names = dict(zip(opcode(name).immediates, sizes))
        pixels = names["B"] * names["OH"] * names["OW"] if "OH" in names else names["M"]
        most = max([count for _, count, _ in rows.places()])
        if rows.count * rows.row <= pixels * most * self.unit or len(rows.runs) > _MOST_RUNS:
            return self._joined(name, operands, sizes, at)
        row = self.unit * rows.count
        for first, count, place in rows.places():
            parts, numbers = list(operands), list(sizes)
            size = count * self.unit
            parts[0] = self.s.scratch("channels", pixels * size, self.arena.kinds[operands[0]])
            parts[at] = place
            parts[at + 1] = self.arena.part(operands[at + 1], 4 * first, 4 * count)
            if self.s.int8:
                parts[at + 2] = self.arena.part(operands[at + 2], 8 * first, 8 * count)
            numbers[channels] = count
            made.append(self._emit(name, parts, numbers))
            made.append(self._emit("place", (operands[0], parts[0]), (pixels, size, row, first * self.unit)))
        return made

    def _dx(self, name, operands, sizes):
        at, unit = self._where(operands), self.unit
        rows, _ = self.buffers.rows_at(operands[at])
        names = dict(zip(opcode(name).immediates, sizes))
        number, columns, pixels, taps = 1, sizes[1], sizes[0], 1
        if name[0] == "c":
            number, columns, taps = _C, names["C"], names["KH"] * names["KW"]
            pixels = names["B"] * names["H"] * names["W"]
        groups = [count for count in _GROUPS if columns % count == 0]
        whole = rows.count * rows.row
        takes = [whole // count + (pixels * columns * unit // count if count > 1 else 0) for count in groups]
        fits = [count for count, bytes_ in zip(groups, takes) if self.live[self.index] + bytes_ <= self.peak]
        count = fits[0] if fits else groups[takes.index(min(takes))]
        size, made = columns // count, []
        for group in range(count):
            kernel = self.s.scratch("kernel", rows.count * taps * size * unit)
            for first, many, place in rows.places():
                many *= taps
                part = self.arena.part(kernel, first * taps * size * unit, many * size * unit)
                made.append(
                    self._emit("slice", (part, place), (many, size * unit, columns * unit, group * size * unit))
                )
            parts, numbers = list(operands), list(sizes)
            parts[at], numbers[number] = kernel, size
            if count > 1:
                parts[0] = self.s.scratch("columns", pixels * size * unit, ERROR)
            made.append(self._emit(name, parts, numbers))
            if count > 1:
                row = pixels, size * unit, columns * unit, group * size * unit
                made.append(self._emit("place", (operands[0], parts[0]), row))
        return made

    def _update(self, name, operands, sizes):
        """What reads and writes rows that train alone; row ``at`` is the first of them."""
        first = dict(zip(opcode(name).immediates, sizes)).get("at", 0)
        for number, operand in enumerate(operands):
            if operand >> REGION_SHIFT == SPLIT:
                rows, row = self.buffers.rows_at(operand)
                operands[number] = rows.at + (rows.trained(row + first) - first) * rows.row
        return self._emit(name, operands, sizes)


class SplitPlan(Plan):
    """The Plan of a program with split kernels. ``constants`` are the bytes that ``compile(frozen=)`` takes; those of
    the rows that lie in flash, too, are ``flash_rows`` more, ``memory``, which a file is to hold.
    """

    memory = staged = None

    def __init__(self, plan, found):
        self.__dict__.update(plan.__dict__)
        self.found = {rows.start: rows for rows in found}
        self.flash_rows = sum([rows.still * rows.row + 3 & ~3 for rows in found])
        self.constants -= self.flash_rows

    def with_rows(self, data):
        """The bytes of flash: ``data``, then those rows."""
        self.memory = bytearray(data) + bytes(self.flash_rows)
        self.staged = bytearray(self.memory)
        return self.memory

    def commit(self):
        """What was written to the weights since they were asked for is theirs."""
        self.memory[:] = self.staged

    def _each(self):
        if self.memory is not None:
            self.staged[:] = self.memory
        for layer, weights, into in super()._each():
            for name in ("kernel", "scale"):
                buffer = getattr(weights, name)
                if buffer is not None and buffer.region == SPLIT:
                    setattr(weights, name, self._split(buffer, weights.trained))
            yield layer, weights, into

    def _split(self, buffer, trained):
        rows, mask = self.found[buffer.offset], (1 << REGION_SHIFT) - 1
        role = SCALE if buffer.name.endswith(" scale") else None
        made = Split(buffer.name, buffer.size, role, rows.at & mask, rows.rest & mask, rows.row, trained)
        made.flash = self.staged
        return made
