"""The sample by rows: a gather that takes some rows of it at a time, where nothing needs it whole.

There is no instruction for that. To ``gather`` a row is a sample of its own: it reads a copy of the control block in
the arena, whose position and samples are multiplied by the rows of a sample, and after each stripe the position moves
on. The count of samples, which is 1 in a step of one, is where the numbers come from. The order of an epoch, which is
of samples, is applied before (base/ordered.py).
"""

from ...base.regions import CONTROL, COUNT, POSITION, REGION_SHIFT, SAMPLES
from ...plan.values import SCRATCH

BLOCK = "control block"  # keys: of buffers
_UNITS, _TWICE = "units", "twice"
_BLOCK_BYTES = 64
_WORDS = SAMPLES + 1  # POSITION, COUNT and SAMPLES


class Source:
    """What a stage runs before its stripes so that they may gather rows: ``steps``, (name, key that is written, key
    that is read, words of both); ``sizes``: bytes, by key. The key None, to read, is the control block itself.

    ``height``: rows of a sample; ``counts``: numbers of rows that a stripe gathers.
    """

    def __init__(self, height, counts):
        self.steps, self.sizes = [], {BLOCK: _BLOCK_BYTES}
        self.steps.append(("slice", BLOCK, None, 0, _BLOCK_BYTES // 4))
        self._multiply(BLOCK, height, _WORDS)
        for count in sorted(set(counts)):
            if count > 1:
                key = self.step(count)
                self.sizes[key] = 4
                self.steps.append(("slice", key, None, COUNT, 1))
                self._multiply(key, count, 1)

    def _multiply(self, key, factor, words):
        """By doubling."""
        digits = bin(factor)[3:]
        units, twice = (key, _UNITS), (key, _TWICE)
        if "1" in digits:
            self.sizes[units] = 4 * words
            self.steps.append(("slice", units, key, 0, words))
        for digit in digits:
            self.sizes[twice] = 4 * words
            self.steps.append(("slice", twice, key, 0, words))
            self.steps.append(("accumulate_i32", key, twice, 0, words))
            if digit == "1":
                self.steps.append(("accumulate_i32", key, units, 0, words))

    def words(self, runs):
        """Words of its program: of the steps, and of what moves on after each of ``runs``."""
        return sum([7 if name == "slice" else 4 for name, *_ in self.steps]) + 4 * runs

    def emit(self, s):
        """The steps' instructions; the operands, by key."""
        arena = s.arena
        places = {key: s.scratch("rows of the sample", size, SCRATCH) for key, size in self.sizes.items()}
        out = []
        for name, to, source, first, words in self.steps:
            size = 4 * words
            source = (CONTROL << REGION_SHIFT) + 4 * first if source is None else _part(arena, places[source], size)
            target = _part(arena, places[to], size)
            sizes = (1, size, size, 0) if name == "slice" else (words,)
            out.append(s.instruction(name, (target, source), sizes))
        return out, places

    def move_on(self, s, places, rows):
        """The instruction after ``rows`` rows have been gathered."""
        by = places[self.step(rows)] if rows > 1 else (CONTROL << REGION_SHIFT) + 4 * COUNT
        return s.instruction("accumulate_i32", (s.arena.part(places[BLOCK], 4 * POSITION, 4), by), (1,))

    def step(self, rows):
        """The key of the word that holds this number of rows."""
        return "rows", rows


def _part(arena, operand, size):
    return operand if arena.sizes[operand] == size else arena.part(operand, 0, size)
