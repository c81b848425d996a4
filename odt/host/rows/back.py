"""Units of the backward pass: how their rows depend on rows of the error, what they sum, and what waits for the sums.

An input's gradient depends on the rows of the error whose windows hold it. A bias's gradient is a sum over all rows:
stripes sum theirs, and the sums are added; sums of int8 in int32 are exact. An update waits until the last stripe. An
instruction that draws random numbers by element has the number of the rows before its own in its id. int8 alone: a
float32 sum has other bits in parts.
"""

from ...base.fixed import elements
from ...base.opcodes import opcode
from ...base.regions import REGION_SHIFT
from ...plan.instruction import ACCESS, END, FIRST, READS, ROW, STOP

_BITS = 8  # errors, to a byte of a mask
_ROWS = 1 << 16  # before a part of an error, in the id of what draws
HOWS = ("errors", "masked", "drawn", "sum", "after")


def read(unit, operands, sizes, views, view):
    """Note in the Unit what its instruction says of its rows, and in ``views`` those of the values it reads and makes.

    ``operands``, ``sizes``: by name; ``view``: the class View.
    """
    if unit.how == "after":
        unit.is_after = True
        return
    unit.inputs = (operands["e"],)
    unit.is_sum, unit.is_drawn = unit.how == "sum", unit.how == "drawn"
    if unit.how == "masked":
        unit.bits = operands["bits"]
    if unit.how != "errors":
        return
    if sizes["B"] != 1:
        unit.why = "%s takes %d images at once" % (unit.name, sizes["B"])
        return
    unit.is_back = True
    unit.window, unit.stride, unit.pad = sizes["KH"], sizes["SH"], sizes["PT"]
    last = (sizes["OH"] - 1) * unit.stride - unit.pad
    if unit.stride > unit.window or last < 0 or last + unit.window < sizes["H"]:
        unit.why = "rows of its gradient lie in no window"
        return
    (pixels,) = [extent for name, _, _, extent, _ in opcode(unit.name).operands if name == "dx"]
    channels = elements([sizes[factor] for factor in pixels[3:]])  # after B * H * W
    for operand, found in (
        (operands["e"], view(sizes["OH"], sizes["OW"] * sizes["N"])),
        (unit.y, view(sizes["H"], sizes["W"] * channels)),
    ):
        if views.setdefault(operand, found) != found:
            unit.why = "it reads rows of %d bytes, they are made of %d" % (found.row, views[operand].row)


def against(unit, sizes, view):
    """Why the unit does not run by rows of its input's ``view``, None if it does."""
    if unit.bits is not None and view.row % _BITS:
        return "a row's mask has no whole bytes"
    if (unit.is_sum or unit.is_drawn) and sizes["M"] % view.height:
        return "its rows are not those of its bytes"
    if unit.is_drawn and (sizes["M"] >= _ROWS or not 0 <= sizes["id"] < _ROWS):
        return "its error has %d rows, of which an id counts %d" % (sizes["M"], _ROWS - 1)
    return None


def low(unit, row):
    """The first of the error's rows that this row of a gradient depends on."""
    return (row + unit.pad - unit.window) // unit.stride + 1


def high(unit, row):
    """The row of the error after the last one that this row of a gradient depends on."""
    return (row + unit.pad) // unit.stride + 1


def touched(unit, arena, writes):
    """Roots of the arena that an update writes, or reads, with its prepares."""
    found = []
    for made in [*unit.prepares, unit.made]:
        kind = made[ROW]
        for operand, access in zip(made[FIRST : kind[STOP]], kind[ACCESS]):
            if (access != READS) == writes and arena.root(operand):
                found.append(arena.root(operand))
    return found


def in_state(made, writes):
    """Operands outside of the arena that an instruction writes, or that it reads."""
    kind = made[ROW]
    return {
        operand
        for operand, access in zip(made[FIRST : kind[STOP]], kind[ACCESS])
        if operand >> REGION_SHIFT and (access != READS) == writes
    }


def sizes_of(run, sizes):
    """The immediates of a stripe of a masked error, of one that is drawn, or of a sum."""
    unit, rows = run.unit, run.end - run.at
    per_row = sizes[0] // unit.view.height
    sizes[0] = per_row * rows
    if unit.bits is not None:
        sizes[1] = rows * unit.view.row // _BITS
    elif unit.is_drawn:
        sizes[-1] |= run.at * per_row << 16
        if sizes[-1] >= 1 << 31:
            sizes[-1] -= 1 << 32


def part_of_bits(unit, at, end):
    """(shift, bytes) of the mask of these rows."""
    row = unit.view.row // _BITS
    return at * row, (end - at) * row


def words_after(unit):
    """Words of an update's program."""
    return sum([made[ROW][END] - 1 for made in [*unit.prepares, unit.made]])


def between_layers(units):
    """(numbers of units that stages may begin with, numbers of those that may follow one): of the backward pass, where
    a gradient of an input or a sum of errors is made, or a unit is whole; of the forward pass, all.
    """
    first = next((at for at, unit in enumerate(units) if unit.how in HOWS), len(units))
    ends = [
        at
        for at in range(1, len(units) + 1)
        if at <= first or units[at - 1].is_back or units[at - 1].name == "add_i8" or at == len(units) or units[at].why
    ]
    whole = [at for at, unit in enumerate(units) if at <= first or unit.why or unit.is_after]
    begins = {at + 1 for at in whole} | set(ends) | {0}
    return {at for at in begins if at < len(units) and not units[at].is_after}, set(ends)
