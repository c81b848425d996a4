"""Which stages a step is cut into: by dynamic programming over the boundaries between units.

The bytes that live between two units do not depend on how the others run. So the RAM of a cut is the largest of its
stages', and the best cut up to a boundary is part of the best one of all.
"""

from ...base.regions import REGION_SHIFT
from ...plan.instruction import END, ROW
from ...plan.memory import lifetimes
from .back import between_layers, in_state
from .rewriting import live
from .stage import Stage
from .stripes import row_out
from .units import units

ROWS = (1, 2, 4, 8)  # of a stage's last output in a stripe
_FEW = 6  # units of a stage, for a first look
_WHOLE = 8  # bytes between units, summed, that are as bad as a word of the program, where they are hard to place


class Bytes:
    """Sizes and homes of an arena's buffers at one moment, which outlive the schedule."""

    def __init__(self, arena):
        self.sizes = list(arena.sizes)
        self.roots = [arena.root(number) for number in range(len(self.sizes))]

    def root(self, operand):
        """As memory.Arena.root()."""
        return 0 if operand >> REGION_SHIFT else self.roots[operand]


class Forward:
    """The forward pass of a schedule whose activations are not in place yet (before memory.share()).

    ``peaks``: bytes that live while a unit runs as it is; ``rest``: while what comes after the units does.
    ``sample``: bytes of the sample, if it lies in the arena. ``back``: the units are the whole step's.
    """

    def __init__(self, s, ends, sample=0, back=False):
        self.sample = sample + 3 & ~3
        arena = s.arena
        self.bytes = Bytes(arena)
        end = ends[-1] if back else ends[0]
        self.units, _ = units(s, end)
        lives = lifetimes(s.instructions, arena)
        self.lives = {root: (first, last) for root, first, last in lives}
        used = live(s)
        self.peaks = [max(used[unit.start : unit.index + 1]) for unit in self.units]
        if sample:
            self.peaks[0] += self.sample
        self.rest = max(used[end:] or [0])
        self.words = [sum([made[ROW][END] - 1 for made in unit.prepares + [unit.made]]) for unit in self.units]
        begins, ends = between_layers(self.units) if back else (None, None)
        self.begins, self.ends = begins, ends  # of stages, where not all units are
        # (first unit, unit after the last, rows) -> (bytes, bytes of the windows and of what lives through, words)
        self.stages = {}
        self.before = {}  # index of an instruction -> roots of what lives before it, and is read from there on
        sizes = self.bytes.sizes
        self.between = [  # bytes that are whole before each unit, and after the last
            sum([sizes[root] + 3 & ~3 for root, (first, last) in self.lives.items() if first < at <= last])
            for at in [unit.start for unit in self.units] + [end]
        ]

    def stage(self, a, b, rows):
        """Units a .. b - 1 by stripes of that many rows."""
        end = self.units[b - 1].index
        rowed = [unit for unit in self.units[a:b] if not unit.is_after]
        return Stage(self.units[a:b], rows, {unit.y for unit in rowed if self.lives[unit.y][1] > end})

    def _measured(self, a, b, rows):
        key = a, b, rows
        if key not in self.stages:
            begin, end = self.units[a].start, self.units[b - 1].index
            sizes = self.bytes.sizes
            if begin not in self.before:
                self.before[begin] = [root for root, (first, last) in self.lives.items() if first < begin <= last]
            dying = [root for root in self.before[begin] if self.lives[root][1] <= end]
            through = self.between[a] - sum([sizes[root] + 3 & ~3 for root in dying])
            stage = self.stage(a, b, rows)
            windows = sum([count * row_out(unit) for unit, count in stage.windows.items()])
            live = stage.live_bytes(self.bytes, dying, 0 if a else self.sample)
            self.stages[key] = through + live, through + windows, stage.words()
        return self.stages[key]

    def options(self, a, most, longest, rows, past=None):
        """[(b, rows, bytes, words)] of what begins with unit a in ``most`` bytes: itself alone, with rows 0, or a
        stage.

        Stages have ``longest`` units, and do not go on where their windows alone take more than ``most`` bytes.
        ``past``: of each alone the one whose program is the shortest, which is that of the most rows, and alone those
        that go on past this unit.
        """
        found = [(a + 1, 0, self.peaks[a], self.words[a])] if self.peaks[a] <= most else []
        if self.units[a].why or self.begins and a not in self.begins:
            return found
        updated = set()  # what instructions of the stage would have read as it was
        for b in range(a + 2, min(len(self.units), a + longest) + 1):
            last = self.units[b - 1]
            if last.why or any([in_state(made, False) & updated for made in [*last.prepares, last.made]]):
                break
            if last.is_after:
                updated |= in_state(last.made, True)
                continue
            if last.scale > 1 or self.ends and b not in self.ends:  # a mask ends with what it is of
                continue
            if last.view.height <= rows[0] or past is not None and b <= past:
                continue
            fewest, windows, _ = self._measured(a, b, rows[0])
            if fewest > most:  # more rows take no less
                if windows > most:
                    break
                continue
            for count in rows if past is None else reversed(rows):
                if count < last.view.height:
                    bytes_, _, words = self._measured(a, b, count)
                    if bytes_ <= most:
                        found.append((b, count, bytes_, words))
                        if past is not None:
                            break
        return found

    def least(self, enough):
        """The fewest bytes of the forward pass, of those that the stages in options() allow; or, found with less work,
        fewer than ``enough``.
        """
        most = max(self.peaks)
        enough = max([enough] + [peak for unit, peak in zip(self.units, self.peaks) if unit.why])  # which run whole
        for longest, rows in ((_FEW, ROWS[:1]), (len(self.units), ROWS[:1]), (len(self.units), ROWS)):
            if most <= enough:
                break
            least = [0] * (len(self.units) + 1)
            for a in range(len(self.units) - 1, -1, -1):
                options = self.options(a, most, longest, rows)
                least[a] = min([max(bytes_, least[b]) for b, _, bytes_, _ in options], default=most + 1)
            most = min(most, least[0])
        return most

    def choose(self, limit=None, is_cut=False):
        """Stages, (first unit, unit after the last, rows): of the shortest program within ``limit`` bytes; if none is,
        in the fewest.

        Without a limit, in the fewest. Bytes below what the rest of the step needs save nothing: then they count as
        that many. ``is_cut``: the bytes whole between units, which are the hardest to place, count as words, too.
        """
        count = len(self.units)
        most = max(self.rest, limit or 0)
        most = max(most, self.least(most))
        best = [None] * count + [(0, 0, 0)]  # words, the next boundary, rows
        past = count  # the next unit that does not run whole: stages before it make the program longer
        for a in range(count - 1, -1, -1):
            past = a if is_cut or self.peaks[a] > most else past
            options = self.options(a, most, count, ROWS, past)
            costs = [(words + is_cut * self.between[b] // _WHOLE, b, rows) for b, rows, _, words in options]
            best[a] = min([(cost + best[b][0], b, rows) for cost, b, rows in costs if best[b]], default=None)
        stages, a = [], 0
        while a < count:
            _, b, rows = best[a]
            if rows:
                stages.append((a, b, rows))
            a = b
        return stages

    def rewrite(self, s, ends, stages):
        """Let the stages run by stripes."""
        made, done = [], 0
        moved = list(ends)
        for a, b, rows in stages:
            made += s.instructions[done : self.units[a].start]
            made += self.stage(a, b, rows).emit(s)
            done = self.units[b - 1].index + 1
            moved = [end + len(made) - done if end >= done else now for end, now in zip(ends, moved)]
        made += s.instructions[done:]
        s.instructions = made
        ends[:] = moved
