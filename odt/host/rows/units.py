"""The forward pass as units: what each instruction computes, and whether it can compute some rows of an image alone.

A unit is an instruction with those before it that prepare its multipliers and biases. It can run by rows if an output
row depends on a window of rows of its inputs and on nothing else. ``View`` says how a value is cut into rows.
"""

from ...base.opcodes import opcode
from ...plan.instruction import ACCESS, END, FIRST, NAME, READS, ROW, STOP
from ...base.regions import REGION_SHIFT
from .source import GATHERS

_PREPARES = ("rescale", "bias_i8", "ratio", "product", "clear")
_WINDOWED = ("conv2d", "depthwise2d", "group_conv2d", "maxpool2d", "avgpool2d", "mean2d")
# Elementwise instructions and the operands that have a byte, or a float32, for each of the output's.
_ELEMENTWISE = {
    "add_i8": "ab", "add_once_i8": "ab", "add_f32": "ab", "multiply_i8": "ab", "multiply_f32": "ab", "relu_i8": "x",
    "relu_f32": "x",
    "relu6_f32": "x", "leaky_relu_i8": "x", "leaky_relu_f32": "x", "sigmoid_i8": "x", "sigmoid_f32": "x",
    "tanh_f32": "x",
    "lookup_i8": "x",
}  # fmt: skip
_MASKS = ("open_i8", "open_f32")  # of a byte for eight elements


class View:
    """A value as ``height`` rows of ``row`` bytes."""

    def __init__(self, height, row):
        self.height, self.row = height, row

    def __eq__(self, other):
        return (self.height, self.row) == (other.height, other.row)


class Unit:
    """An instruction of the forward pass, ``index``, after those that prepare it, from ``start``.

    ``why``: None if it runs by rows, else what stands against it, in words. Then ``y`` and ``inputs`` are operands,
    ``view`` is the output's, and row r of it depends on the rows from r * ``stride`` - ``pad`` of each input,
    ``window`` of them. ``view_in``: the inputs'. ``is_source``: it gathers the sample, and has no inputs. ``scale``: of
    a mask, whose view is the input's, how many bytes of that one of its own stands for.
    """

    window, stride, pad = 1, 1, 0
    scale = 1
    is_windowed = is_source = False
    view = view_in = why = None
    inputs = ()

    def __init__(self, instructions, start, index):
        self.start, self.index = start, index
        self.made = instructions[index]
        self.name = self.made[ROW][NAME]
        self.prepares = instructions[start:index]
        self.y = self.made[FIRST]

    @property
    def owner(self):
        """The layer's name where names are noted, else None."""
        end = self.made[ROW][END]
        return self.made[end] if len(self.made) > end else None


def units(s, count):
    """The Units of the schedule's first ``count`` instructions, and the Views of the values by operand."""
    found, start = [], len(s.clears)  # which outlive what they stand before
    for index in range(start, count):
        if s.instructions[index][ROW][NAME] not in _PREPARES:
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
        if unit.why is None:
            unit.view_in = views[unit.y if unit.is_source else unit.inputs[0]]
            unit.view = views[unit.y] if unit.scale == 1 else unit.view_in
    return found, views


def _operands(unit):
    """Operands by name."""
    names = [operand[0] for operand in opcode(unit.name).operands]
    return dict(zip(names, unit.made[FIRST : unit.made[ROW][STOP]]))


def _read(s, unit, views):
    """What the instruction says of its rows."""
    base = unit.name.rpartition("_")[0] or unit.name
    if unit.name in GATHERS:
        unit.is_source = True
        if unit.made[unit.made[ROW][STOP]] > 1:
            unit.why = "%s takes several samples at once" % unit.name
        return
    if base not in _WINDOWED:
        names = _ELEMENTWISE.get(unit.name) or ("y" if unit.name in _MASKS else "")
        if not names:
            unit.why = "%s takes its input whole" % unit.name
            return
        operands = _operands(unit)
        unit.inputs = tuple([operands[name] for name in names])
        if unit.name in _MASKS:
            unit.scale = 8 if s.int8 else 32
        return
    stop, end = unit.made[ROW][STOP], unit.made[ROW][END]
    names = opcode(unit.name).immediates
    sizes = dict(zip(names, unit.made[stop:end]))
    unit.inputs = (_operands(unit)["x"],)
    size = 1 if s.int8 else 4
    channels = sizes["C"] * sizes.get("G", 1) if base in ("conv2d", "group_conv2d") else sizes["N"]
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


def _follow(s, unit, views):
    """Cut what an elementwise instruction reads and writes alike."""
    if unit.why or unit.name in _MASKS or unit.name not in _ELEMENTWISE:
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
    arena = s.arena
    for operand in unit.inputs + (unit.y,):
        if operand >> REGION_SHIFT or arena.roots[operand] != operand:
            return "its input or its output lies within another value"
    values = unit.inputs if unit.scale > 1 else unit.inputs + (unit.y,)
    if any([value not in views for value in values]):
        return "its rows are not known"
    for value in values:
        view = views[value]
        if view.height * view.row != arena.sizes[value]:
            return "its rows are not those of its bytes"
        if unit.name in _ELEMENTWISE and view != views[unit.y]:
            return "its inputs have other rows than its output"
    if unit.scale > 1 and views[unit.inputs[0]].row % unit.scale:
        return "a row's mask has no whole bytes"
    written = [
        operand
        for operand, access in zip(unit.made[FIRST : unit.made[ROW][STOP]], unit.made[ROW][ACCESS])
        if access != READS and operand != unit.y and arena.root(operand) not in (0, arena.root(s.buffers.peaks))
    ]
    return "it writes more than its output" if written else None
