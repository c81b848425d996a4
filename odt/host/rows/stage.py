"""A stage: some units one after the other, run stripe by stripe, each for as many rows as those after it need.

A stripe makes a few rows of the last unit's output and, before, those rows of the others that are not there yet:
nothing is computed twice. What a unit makes lies in one of three ways: ``whole``, where something after the stage reads
it; in a window of the rows that the next stripe needs, too, which move to the window's beginning; or in a buffer of the
stripe alone.
"""

from ...base.opcodes import WINDOW
from ...base.regions import CONTROL, REGION_SHIFT
from ...plan.instruction import END, FIRST, ROW, SHARES, STOP
from .lives import Lives
from .source import BLOCK, Source

_H, _PT, _OH = [WINDOW.split().index(name) for name in ("H", "PT", "OH")]
_SLICE = 7  # words
_SAMPLE = "sample"


class Run:
    """``unit`` makes rows ``at`` .. ``end`` - 1 of its output from rows ``low`` .. ``high`` - 1 of its inputs."""

    def __init__(self, unit, at, end):
        self.unit, self.at, self.end = unit, at, end
        self.low, self.high = needed(unit, at, end)


class Stripe:
    """``runs``, then ``moves``: (unit, from which row of its window on rows move down, how many). ``begins``: by unit,
    a window's first row.
    """

    def __init__(self, runs, moves, begins):
        self.runs, self.moves, self.begins = runs, moves, begins


def needed(unit, at, end):
    """(first, after the last) of the rows of an input that these rows of the output depend on."""
    low = max(0, at * unit.stride - unit.pad)
    return low, min(unit.view_in.height, (end - 1) * unit.stride - unit.pad + unit.window)


def pieces(shift, count):
    """(row, rows) of moves by ``shift`` rows down of ``count`` rows such that none meets where it comes from."""
    return [(at, min(shift, count - at)) for at in range(0, count, shift)]


class Stage:
    """``units`` by stripes of ``rows`` rows of the last one's output; ``stays``: the values that something after it
    reads.

    ``windows``: rows of a window, by unit.
    """

    def __init__(self, units, rows, stays):
        self.units, self.rows = units, rows
        self.makers = {unit.y: unit for unit in units}
        self.whole = {unit for unit in units if unit.y in stays}
        self.readers = {unit: [each for each in units if unit.y in each.inputs] for unit in units}
        self.windows = {}
        self.stripes = []
        self._place(self._cut())
        self.source = None
        counts = [run.end - run.at for stripe in self.stripes for run in stripe.runs if run.unit.is_source]
        if counts:
            self.source = Source(units[0].view.height, counts)
            self.gathers = len(counts)

    def _cut(self):
        """[(Runs of a stripe, by unit the first row of its output that a later stripe reads)]."""
        units, found = self.units, []
        height = units[-1].view.height
        done = dict.fromkeys(units, 0)  # rows made
        at = 0
        while at < height:
            at = min(height, at + self.rows)
            need = {}
            for unit in reversed(units):
                own = unit.view.height
                rows = own if at == height else own * at // height if not self.readers[unit] else need.get(unit, 0)
                need[unit] = rows = max(rows, done[unit])
                if rows > done[unit]:
                    for value in unit.inputs:
                        if value in self.makers:
                            maker = self.makers[value]
                            need[maker] = max(need.get(maker, 0), needed(unit, done[unit], rows)[1])
            runs = [Run(unit, done[unit], need[unit]) for unit in units if need[unit] > done[unit]]
            done = need
            low = dict(done)
            for unit in units:
                for reader in self.readers[unit]:
                    if done[reader] < reader.view.height:
                        low[unit] = min(low[unit], needed(reader, done[reader], done[reader] + 1)[0])
            found.append((runs, low))
        return found

    def _place(self, cut):
        """Give what is carried from stripe to stripe its windows, and say when rows move."""
        made = dict.fromkeys(self.units, 0)
        carried = set()
        for runs, low in cut:
            made.update({run.unit: run.end for run in runs})
            carried.update([unit for unit in self.units if unit not in self.whole and low[unit] < made[unit]])
        self.windows = dict.fromkeys([unit for unit in self.units if unit in carried], 0)
        made = dict.fromkeys(self.units, 0)
        begins = dict.fromkeys(self.windows, 0)
        for runs, low in cut:
            made.update({run.unit: run.end for run in runs})
            moves, after = [], dict(begins)
            for unit in self.windows:
                self.windows[unit] = max(self.windows[unit], made[unit] - begins[unit])
                if low[unit] > begins[unit]:
                    after[unit] = low[unit]
                    if made[unit] > low[unit]:
                        moves.append((unit, low[unit] - begins[unit], made[unit] - low[unit]))
            self.stripes.append(Stripe(runs, moves, begins))
            begins = after

    def words(self):
        """Words of its program."""
        total = sum([made[ROW][END] - 1 for unit in self.units for made in unit.prepares])
        total += self.source.words(self.gathers) if self.source else 0
        for stripe in self.stripes:
            total += sum([run.unit.made[ROW][END] - 1 for run in stripe.runs])
            total += _SLICE * sum([len(pieces(shift, count)) for _, shift, count in stripe.moves])
        return total

    def moved(self):
        """Bytes that it moves."""
        return sum([count * row_out(unit) for stripe in self.stripes for unit, _, count in stripe.moves])

    def live_bytes(self, arena, dying, sample=0):
        """The most bytes that live at once of what the stage makes and of ``dying``: values from before that nothing
        reads after it.

        What is whole lives by rows, too: from where they are made, or until they are read. ``sample``: bytes of the
        sample, if it lies in the arena.
        """
        read, kept = self._rows_read(dying, sample)
        lives = Lives({root: arena.sizes[root] for root in dying if root not in read})
        for root, rows in read.items():
            lives.give({(root, row): size for row, size in rows.items()})
        for unit in self.units:
            for made in unit.prepares:
                root = arena.root(made[FIRST])
                lives.step((), root, arena.sizes[root])
        for _, made, source, _, _ in self.source.steps if self.source else ():
            lives.step((source,), made, self.source.sizes[made])
        for number, stripe in enumerate(self.stripes):
            keys = {unit: unit if unit in self.whole or unit in self.windows else (unit, number) for unit in self.units}
            for run in stripe.runs:
                unit, made, rows = run.unit, run.unit.made, run.end - run.at
                parts = []
                for operand in made[FIRST + 1 : made[ROW][STOP]]:
                    root = arena.root(operand)
                    if operand in self.makers:
                        parts.append(keys[self.makers[operand]])
                    elif root in read:
                        parts += [(root, row) for row in range(run.low, run.high)]
                    else:
                        parts.append(root)
                whole = unit.view.height if unit in self.whole else self.windows.get(unit, rows)
                shares = made[ROW][SHARES] if rows == whole else None  # as memory.share(): of buffers, not of parts
                if unit.is_source:
                    parts.append(BLOCK)
                    if sample:
                        parts += [(_SAMPLE, row) for row in range(run.at, run.end)]
                if unit in kept and rows < whole:
                    lives.step(parts, (unit, "rows", run.at), rows * row_out(unit))
                    lives.stay.append((unit, "rows", run.at))
                else:
                    source = shares and arena.root(made[FIRST + shares[1]])
                    if source in read:
                        source = None
                    elif shares and made[FIRST + shares[1]] in self.makers:
                        source = keys[self.makers[made[FIRST + shares[1]]]]
                    lives.step(parts, keys[unit], whole * row_out(unit), source)
                if unit.is_source:
                    lives.step((self.source.step(rows), BLOCK))
            for unit, shift, count in stripe.moves:
                for _ in pieces(shift, count):
                    lives.step((unit,))
        return lives.most(self.whole)

    def _rows_read(self, dying, sample):
        """({value: {row: bytes}} of what the stage reads by rows to its end, the units whose values come by rows)."""
        found = {}
        for stripe in self.stripes:
            for run in stripe.runs:
                unit = run.unit
                for value in unit.inputs:
                    if value in dying and not unit.view_in.row & 3:
                        found.setdefault(value, {}).update(dict.fromkeys(range(run.low, run.high), unit.view_in.row))
                if unit.is_source and sample:
                    row = sample // unit.view.height
                    found.setdefault(_SAMPLE, {}).update(dict.fromkeys(range(run.at, run.end), row))
        return found, [unit for unit in self.whole if not row_out(unit) & 3]

    def emit(self, s):
        """The instructions of the stage; the schedule's arena gets the buffers of its rows."""
        arena = s.arena
        out = [made for unit in self.units for made in unit.prepares]
        windows, source = {}, None
        if self.source:
            s.owner = self.units[0].owner
            made, source = self.source.emit(s)
            out += made
        for unit, rows in self.windows.items():
            windows[unit] = s.scratch("rows", rows * row_out(unit))
        for stripe in self.stripes:
            places = {unit: (windows[unit], stripe.begins[unit]) for unit in windows}
            places.update({unit: (unit.y, 0) for unit in self.whole})
            for run in stripe.runs:
                unit = run.unit
                if unit not in places:
                    size = (run.end - run.at) * row_out(unit)
                    places[unit] = s.scratch("rows", size), run.at
                out.append(_striped(arena, run, places, self.makers, source))
                if unit.is_source:
                    s.owner = unit.owner
                    out.append(self.source.move_on(s, source, run.end - run.at))
            for unit, shift, count in stripe.moves:
                row, window = row_out(unit), windows[unit]
                for at, rows in pieces(shift, count):
                    size = rows * row
                    to, before = arena.part(window, at * row, size), arena.part(window, (at + shift) * row, size)
                    made = s.instruction("slice", (to, before), (1, size, size, 0))
                    out.append(made[: made[ROW][END]] + unit.made[unit.made[ROW][END] :])
        s.owner = None
        return out


def row_out(unit):
    """Bytes of a row of the unit's output."""
    return unit.view.row // unit.scale


def _striped(arena, run, places, makers, source):
    """The run's instruction. ``places``: by unit, the buffer that holds its rows, and its first one; ``source``:
    buffers of a Source, by key.
    """
    unit, rows = run.unit, run.end - run.at

    def part(value, row, at, end):
        buffer, first = places[makers[value]] if value in makers else (value, 0)
        at, size = (at - first) * row, (end - at) * row
        return buffer if size == arena.sizes[buffer] else arena.part(buffer, at, size)

    parts = {value: part(value, unit.view_in.row, run.low, run.high) for value in unit.inputs}
    parts[unit.y] = part(unit.y, row_out(unit), run.at, run.end)
    made = unit.made
    stop, end = made[ROW][STOP], made[ROW][END]
    if unit.is_source:
        parts[CONTROL << REGION_SHIFT] = source[BLOCK]
    operands = tuple([parts.get(operand, operand) for operand in made[FIRST:stop]])
    sizes = list(made[stop:end])
    if unit.is_source:
        sizes[0], sizes[1] = rows, sizes[1] // unit.view.height
    elif unit.is_windowed:
        sizes[_H], sizes[_PT], sizes[_OH] = run.high - run.low, max(0, unit.pad - run.at * unit.stride), rows
    else:  # elements, and of a mask its bytes
        sizes[0] = sizes[0] // unit.view.height * rows
        if unit.scale > 1:
            sizes[1] = rows * row_out(unit)
    return made[:FIRST] + operands + tuple(sizes) + made[end:]
