"""Masks of the error where a ReLU was at its clamp, and ReLU masks of one bit per element.

Where backward needs an activation only to know where its ReLU was open, a bit per element does. So it is below layers
whose weights do not train, under most update policies.
"""

from ..base.regions import REGION_SHIFT
from .instruction import ACCESS, END, FIRST, MARK, READS, ROW, STOP
from .memory import lifetimes, live_bytes

_INFINITY = 0x7F800000
_SIX = 0x40C00000


def mask(s, node, error, relu):
    """The error below a ReLU or ReLU6: none where the output is at its clamp."""
    y = s.values[node]
    masked = s.like(node.layer.name + " masked error", error)
    operands = (masked.buffer, error.buffer, y.buffer)
    name = "relu6_dx" if relu == 6 else "relu_dx"
    if s.int8:
        bits = "open_i8", (-128, 127) if relu == 6 else (y.zero, 128)
        s.emit(name + "_i8", operands, (error.count,) if relu == 6 else (error.count, y.zero), bits)
    else:
        bits = "open_f32", (_SIX if relu == 6 else _INFINITY,)
        s.emit(name + "_f32", operands, (error.count,), bits)
    return masked


def keep_bits(s, ends, output, wanted=None):
    """Let the schedule have bits in place of such activations, if that makes its lower bound lower.

    ``ends``: the number of instructions of each section, to be updated; ``output``: the network's output, which stays.
    ``wanted``: True or False: with bits or without, whatever the lower bounds.
    """
    instructions, arena = s.instructions, s.arena
    roots = arena.roots
    masks = {}  # activations that one mask alone may read after the forward pass -> the mask's index
    for index, instruction in enumerate(instructions):
        if isinstance(instruction[MARK], tuple):
            y = instruction[FIRST + 2]
            if roots[y] == y and y != output:
                masks[y] = index
    if wanted is False or not masks:
        return
    written = {}  # of each, the index of the instruction that makes it
    for index, instruction in enumerate(instructions):
        kind = instruction[ROW]
        late = index >= ends[0] or instruction[MARK]
        for operand, access in zip(instruction[FIRST : kind[STOP]], kind[ACCESS]):
            if operand >> REGION_SHIFT or roots[operand] not in masks:
                continue
            y = roots[operand]
            if late and masks[y] != index:
                del masks[y]
                if not masks:
                    return
            elif access != READS:
                written[y] = index
    inserted = {}  # index -> the instruction that comes after it
    replaced = {}
    for y, index in masks.items():
        inserted[written[y]], replaced[index] = _with_bits(s, instructions[index], instructions[written[y]])
    changed = []
    for index, instruction in enumerate(instructions):
        changed.append(replaced.get(index, instruction))
        if index in inserted:
            changed.append(inserted[index])
    if not wanted and _lower_bound(changed, arena) >= _lower_bound(instructions, arena):
        return
    ends[:] = [end + len([index for index in inserted if index < end]) for end in ends]
    s.instructions = changed


def _lower_bound(instructions, arena):
    return max(live_bytes(lifetimes(instructions, arena), arena, len(instructions)))


def _with_bits(s, mask, maker):
    """What makes a mask's bits, and the mask with these."""
    kind, bits_of = mask[ROW], mask[MARK]
    dx, error, y = mask[FIRST : kind[STOP]]
    count = mask[kind[STOP]]
    name, limits = bits_of
    size = (count + 7) // 8
    bits = s.scratch("open", size, s.arena.kinds[y])
    s.bits_of[bits] = y
    opened = s.instruction(name, (bits, y), (count, size) + limits)
    masked = s.instruction("masked" + name[4:], (dx, error, bits), (count, size))
    # Where names are noted: their layers'.
    return opened[: opened[ROW][END]] + maker[maker[ROW][END] :], masked[: masked[ROW][END]] + mask[kind[END] :]
