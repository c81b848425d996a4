"""A stage: some units one after the other, run stripe by stripe, each for as many rows as those after it need.

A stripe makes a few rows of the last unit's output and, before, those rows of the others that are not there yet:
nothing is computed twice. What a unit makes lies in one of three ways: ``whole``, where something after the stage reads
it; in a window of the rows that the next stripe needs, too, which move to the window's beginning; or in a buffer of the
stripe alone. What sums over rows sums a stripe's; the sums are added. Updates of these follow the last stripe.
"""

from ...plan.instruction import ACCESS, END, FIRST, READS, ROW, SHARES, STOP
from ...plan.values import GRADIENT
from .back import touched, words_after
from .lives import Lives
from .source import BLOCK, Source
from .stripes import Run, Stripe, pieces, row_out, striped

_SLICE, _ADD = 7, 4  # words
_SAMPLE = "sample"


class Stage:
    """``units`` by stripes of ``rows`` rows of the last one's output; ``stays``: the values that something after it
    reads.

    ``windows``: rows of a window, by unit.
    """

    def __init__(self, units, rows, stays):
        self.after = [unit for unit in units if unit.is_after]
        units = [unit for unit in units if not unit.is_after]
        self.units, self.rows = units, rows
        self.makers = {unit.y: unit for unit in units if not unit.is_sum}
        self.whole = {unit for unit in units if unit.y in stays and not unit.is_sum}
        self.sources = {unit: [self.makers[y] for y in unit.inputs if y in self.makers] for unit in units}
        self.readers = {unit: [] for unit in units}
        for unit in units:
            for maker in set(self.sources[unit]):
                self.readers[maker].append(unit)
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
                if unit.is_sum and unit is not units[-1] and self.sources[unit]:
                    continue
                own = unit.view.height
                rows = own if at == height else own * at // height if not self.readers[unit] else need.get(unit, 0)
                need[unit] = rows = max(rows, done[unit])
                if rows > done[unit]:
                    for maker in self.sources[unit]:
                        need[maker] = max(need.get(maker, 0), unit.highs[rows])
            for unit in units:
                if unit not in need:  # it sums what there is
                    need[unit] = need[self.sources[unit][0]]
            runs = [Run(unit, done[unit], need[unit]) for unit in units if need[unit] > done[unit]]
            done = need
            low = dict(done)
            for unit in units:
                for reader in self.readers[unit]:
                    if done[reader] < reader.view.height:
                        low[unit] = min(low[unit], reader.lows[done[reader]])
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
        total += sum([words_after(unit) for unit in self.after])
        total += self.source.words(self.gathers) if self.source else 0
        for stripe in self.stripes:
            total += sum([run.unit.made[ROW][END] - 1 for run in stripe.runs])
            total += _ADD * sum([run.unit.is_sum and run.at > 0 for run in stripe.runs])
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
                for operand, access in zip(made[FIRST : made[ROW][STOP]], made[ROW][ACCESS]):
                    if access != READS:
                        root = arena.root(operand)
                        lives.step((), root, arena.sizes[root])
        for _, made, source, _, _ in self.source.steps if self.source else ():
            lives.step((source,), made, self.source.sizes[made])
        reads = {unit: self._reads(unit, arena, read) for unit in self.units}
        stay = self.whole.union(self.windows)
        for number, stripe in enumerate(self.stripes):
            keys = {run.unit: run.unit if run.unit in stay else (run.unit, number) for run in stripe.runs}
            for run in stripe.runs:
                unit, made, rows = run.unit, run.unit.made, run.end - run.at
                makers, roots, by_rows = reads[unit]
                parts = roots + [keys.get(maker, maker) for maker in makers]
                for root in by_rows:
                    parts += [(root, row) for row in range(run.low, run.high)]
                if unit.is_sum:
                    self._add(lives, arena, run, parts, number)
                    continue
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
                        maker = self.makers[made[FIRST + shares[1]]]
                        source = keys.get(maker, maker)
                    lives.step(parts, keys[unit], whole * row_out(unit), source)
                if unit.is_source:
                    lives.step((self.source.step(rows), BLOCK))
            for unit, shift, count in stripe.moves:
                for _ in pieces(shift, count):
                    lives.step((unit,))
        for unit in self.after:
            for root in touched(unit, arena, True):
                lives.step((), root, arena.sizes[root])
            lives.step(touched(unit, arena, False))
        return lives.most(self.whole)

    def _reads(self, unit, arena, read):
        """What an instruction reads: (units whose rows, other roots, roots by rows)."""
        found = [], [], []
        for operand in unit.made[FIRST + 1 : unit.made[ROW][STOP]]:
            root = arena.root(operand)
            if operand in self.makers:
                found[0].append(self.makers[operand])
            else:
                found[2 if root in read else 1].append(root)
        return found

    @staticmethod
    def _add(lives, arena, run, parts, number):
        """A stripe's sum, which is added to those before, and stays."""
        root = arena.root(run.unit.y)
        made = ("sum", root, number) if run.at else root
        lives.step(parts, made, arena.sizes[root])
        lives.stay.append(root)
        if run.at:
            lives.step((made, root))

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
                if unit not in places and not unit.is_sum:
                    size = (run.end - run.at) * row_out(unit)
                    places[unit] = s.scratch("rows", size), run.at
                if unit.is_sum:
                    out += self._sums(s, run, places)
                    continue
                out.append(striped(arena, run, places, self.makers, source))
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
        return out + [made for unit in self.after for made in [*unit.prepares, unit.made]]

    def _sums(self, s, run, places):
        """The instructions of a stripe's sum."""
        arena, unit = s.arena, run.unit
        size = arena.sizes[unit.y]
        places[unit] = s.scratch("gradient of a stripe", size, GRADIENT) if run.at else unit.y
        out = [striped(arena, run, places, self.makers, None)]
        if run.at:
            made = s.instruction("accumulate_i32", (unit.y, places[unit]), (size // 4,))
            out.append(made[: made[ROW][END]] + unit.made[unit.made[ROW][END] :])
        return out
