"""A step as units: what each instruction computes, and whether it can compute some rows of an image alone.

A unit is an instruction with those before it that prepare its multipliers and biases. It can run by rows if an output
row depends on a window of rows of its inputs and on nothing else. ``View`` says how a value is cut into rows.
"""

from ...base.fixed import elements
from ...base.opcodes import opcode
from ...base.regions import REGION_SHIFT
from ...plan.instruction import ACCESS, END, FIRST, NAME, READS, ROW, STOP
from ..traits import TRAITS
from . import back


class View:
    """A value as ``height`` rows of ``row`` bytes."""

    def __init__(self, height, row):
        self.height, self.row = height, row

    def __eq__(self, other):
        return (self.height, self.row) == (other.height, other.row)


class Unit:
    """An instruction, ``index``, after those that prepare it, from ``start``.

    ``how``: the clause "rows" of its row (host/traits/). ``why``: None if it runs by rows, else the reason
    against it, in words. Then ``y`` and ``inputs`` are operands, ``view`` is the output's, and row r of it depends
    on the rows from r * ``stride`` - ``pad`` of each input, ``window`` of them. ``view_in``: the inputs'.
    ``is_source``: it gathers the sample, and has no inputs. ``scale``: of a mask, whose view is the input's, how
    many bytes of that one of its own stands for. Of the backward pass (back.py): ``is_back``, a gradient whose rows
    depend on windows of the error; ``is_sum``, over all rows; ``is_drawn``; ``is_after``, an update that waits for
    such sums; ``bits``: the operand of a mask that it reads. ``lows[r]``: the first row of the inputs that row r
    depends on; ``highs[r]``: the one after the last that the rows before r depend on.
    """

    window, stride, pad = 1, 1, 0
    scale = 1
    is_windowed = is_source = is_back = is_sum = is_drawn = is_after = False
    view = view_in = lows = highs = why = bits = None
    inputs = ()

    def __init__(self, instructions, start, index):
        self.start, self.index = start, index
        self.made = instructions[index]
        self.name = self.made[ROW][NAME]
        self.how = TRAITS[self.name].rows
        self.prepares = instructions[start:index]
        self.y = self.made[FIRST]

    @property
    def owner(self):
        """The layer's name where names are noted, else None."""
        end = self.made[ROW][END]
        return self.made[end] if len(self.made) > end else None


def units(s, count):
    """The Units of the schedule's first ``count`` instructions, and the Views of the values by operand.

    Those of the backward pass run by rows in int8.
    """
    found, start = [], len(s.clears)  # which outlive what they stand before
    for index in range(start, count):
        if TRAITS[s.instructions[index][ROW][NAME]].rows != "prepares":
            found.append(Unit(s.instructions, start, index))
            start = index + 1
    views = {}
    for unit in found:
        _read(s, unit, views)
    for each in (found, found[::-1], found):  # elementwise ones have the views of their neighbours
        for unit in each:
            _follow(s, unit, views)
    for unit in found:
        unit.why = unit.why or _against(s, unit, views)
        if unit.why is None and not unit.is_after:
            unit.view_in = views[unit.y if unit.is_source else unit.inputs[0]]
            unit.view = unit.view_in if unit.scale > 1 or unit.is_sum else views[unit.y]
            _reach(unit)
    return found, views


def _reach(unit):
    """Note the first row of an input that each row of the output depends on, and the one after the last that the rows
    before each depend on.
    """
    rows = range(unit.view.height)
    if unit.is_back:
        lows, highs = [back.low(unit, row) for row in rows], [back.high(unit, row) for row in rows]
    else:
        lows = [row * unit.stride - unit.pad for row in rows]
        highs = [low + unit.window for low in lows]
    unit.lows = [max(0, low) for low in lows]
    unit.highs = [0] + [min(unit.view_in.height, high) for high in highs]


def _operands(unit):
    """Operands by name."""
    names = [operand[0] for operand in opcode(unit.name).operands]
    return dict(zip(names, unit.made[FIRST : unit.made[ROW][STOP]]))


def _sizes(unit):
    """Immediates by name."""
    return dict(zip(opcode(unit.name).immediates, unit.made[unit.made[ROW][STOP] : unit.made[ROW][END]]))


def _read(s, unit, views):
    """What the instruction says of its rows."""
    if unit.how in back.HOWS:
        back.read(unit, _operands(unit), _sizes(unit), views, View)
        return
    if unit.how == "gather":
        unit.is_source = True
        if unit.made[unit.made[ROW][STOP]] > 1:
            unit.why = "%s takes several samples at once" % unit.name
        return
    if unit.how is None:
        unit.why = "%s takes its input whole" % unit.name
        return
    if unit.how == "mask":
        unit.inputs, unit.scale = (_operands(unit)["y"],), 8 if s.int8 else 32
        return
    if unit.how != "window":
        operands = _operands(unit)
        unit.inputs = tuple([operands[name] for name in unit.how])
        return
    code, sizes = opcode(unit.name), _sizes(unit)
    unit.inputs = (_operands(unit)["x"],)
    size = 1 if s.int8 else 4
    (pixels,) = [extent for name, _, _, extent, _ in code.operands if name == "x"]
    channels = elements([sizes[factor] for factor in pixels[3:]])  # after B * H * W
    if sizes["B"] != 1:
        unit.why = "%s takes %d images at once" % (unit.name, sizes["B"])
        return
    if sizes.get("adaptive"):
        unit.why = "its windows depend on the height"
        return
    unit.is_windowed = True
    unit.window, unit.stride, unit.pad = sizes["KH"], sizes["SH"], sizes["PT"]
    if unit.pad >= unit.window or (sizes["OH"] - 1) * unit.stride - unit.pad >= sizes["H"]:
        unit.why = "a window lies in the padding"
        return
    for operand, view in (
        (unit.inputs[0], View(sizes["H"], sizes["W"] * channels * size)),
        (unit.y, View(sizes["OH"], sizes["OW"] * sizes["N"] * size)),
    ):
        known = views.setdefault(operand, view)
        if known != view:
            unit.why = "it reads rows of %d bytes, they are made of %d" % (view.row, known.row)


def _is_elementwise(unit):
    return unit.how not in (None, "window", "gather", "mask", "errors", "sum", "after")


def _follow(s, unit, views):
    """Cut what an elementwise instruction reads and writes alike."""
    if unit.why or not _is_elementwise(unit):
        return
    values = unit.inputs + (unit.y,)
    for known in values:
        if known in views:
            for value in values:
                if value not in views and not value >> REGION_SHIFT and s.arena.sizes[value] == s.arena.sizes[known]:
                    views[value] = views[known]
            return


def _against(s, unit, views):
    """Why a unit does not run by rows, None if it does."""
    if unit.is_after:
        return None
    arena = s.arena
    for operand in unit.inputs + (unit.y,):
        if operand >> REGION_SHIFT or arena.roots[operand] != operand:
            return "its input or its output lies within another value"
    values = unit.inputs if unit.scale > 1 or unit.is_sum else unit.inputs + (unit.y,)
    if any([value not in views for value in values]):
        return "its rows are not known"
    for value in values:
        view = views[value]
        if view.height * view.row != arena.sizes[value]:
            return "its rows are not those of its bytes"
        if _is_elementwise(unit) and view != views[unit.y]:
            return "its inputs have other rows than its output"
    if unit.scale > 1 and views[unit.inputs[0]].row % unit.scale:
        return "a row's mask has no whole bytes"
    if unit.how in back.HOWS:
        why = back.against(unit, _sizes(unit), views[unit.inputs[0]])
        if why:
            return why
    written = [
        operand
        for operand, access in zip(unit.made[FIRST : unit.made[ROW][STOP]], unit.made[ROW][ACCESS])
        if access != READS and operand != unit.y and arena.root(operand) not in (0, arena.root(s.buffers.peaks))
    ]
    return "it writes more than its output" if written else None
