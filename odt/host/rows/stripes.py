"""What a stripe of a stage is: rows of each unit, and the instruction that makes them."""

from ...base.opcodes import WINDOW
from ...base.regions import CONTROL, REGION_SHIFT
from ...plan.instruction import END, FIRST, ROW, STOP
from . import back
from .source import BLOCK

_H, _PT, _OH = [WINDOW.split().index(name) for name in ("H", "PT", "OH")]


class Run:
    """``unit`` makes rows ``at`` .. ``end`` - 1 of its output from rows ``low`` .. ``high`` - 1 of its inputs."""

    def __init__(self, unit, at, end):
        self.unit, self.at, self.end = unit, at, end
        self.low, self.high = unit.lows[at], unit.highs[end]


class Stripe:
    """``runs``, then ``moves``: (unit, from which row of its window on rows move down, how many). ``begins``: by unit,
    a window's first row.
    """

    def __init__(self, runs, moves, begins):
        self.runs, self.moves, self.begins = runs, moves, begins


def pieces(shift, count):
    """(row, rows) of moves by ``shift`` rows down of ``count`` rows such that none meets where it comes from."""
    return [(at, min(shift, count - at)) for at in range(0, count, shift)]


def row_out(unit):
    """Bytes of a row of the unit's output."""
    return unit.view.row // unit.scale


def striped(arena, run, places, makers, source):
    """The run's instruction. ``places``: by unit, the buffer that holds its rows, and its first one, or the operand of
    a sum; ``source``: buffers of a Source, by key.
    """
    unit, rows = run.unit, run.end - run.at

    def part(value, row, at, end):
        buffer, first = places[makers[value]] if value in makers else (value, 0)
        at, size = (at - first) * row, (end - at) * row
        return buffer if size == arena.sizes[buffer] else arena.part(buffer, at, size)

    parts = {value: part(value, unit.view_in.row, run.low, run.high) for value in unit.inputs}
    parts[unit.y] = places[unit] if unit.is_sum else part(unit.y, row_out(unit), run.at, run.end)
    if unit.bits is not None:
        parts[unit.bits] = arena.part(unit.bits, *back.part_of_bits(unit, run.at, run.end))
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
    elif unit.is_back:
        sizes[_H], sizes[_OH] = rows, run.high - run.low
        sizes[_PT] = unit.pad + run.at - run.low * unit.stride
    elif unit.is_sum or unit.is_drawn or unit.bits is not None:
        back.sizes_of(run, sizes)
    else:  # elements, and of a mask its bytes
        sizes[0] = sizes[0] // unit.view.height * rows
        if unit.scale > 1:
            sizes[1] = rows * row_out(unit)
    return made[:FIRST] + operands + tuple(sizes) + made[end:]
