"""Masks of the error where a ReLU was at its clamp, and ReLU masks of one bit per element.

Where backward needs an activation only to know where its ReLU was open, a bit per element does. So it is below layers
whose weights do not train, under most update policies.
"""

from ..regions import ARENA
from .instruction import Instruction
from .memory import lower_bound
from .values import Buffer, home

_INFINITY = 0x7F800000
_SIX = 0x40C00000


def mask(s, node, error, relu):
    """The error below a ReLU or ReLU6: none where the output is at its clamp."""
    y = s.values[node]
    masked = s.like(node.layer.name + " masked error", error)
    operands = (masked.buffer, error.buffer, y.buffer)
    name = "relu6_dx" if relu == 6 else "relu_dx"
    if s.int8:
        s.emit(name + "_i8", operands, (error.count,) if relu == 6 else (error.count, y.zero))
        bits = "open_i8", (-128, 127) if relu == 6 else (y.zero, 128)
    else:
        s.emit(name + "_f32", operands, (error.count,))
        bits = "open_f32", (_SIX if relu == 6 else _INFINITY,)
    s.instructions[-1].bits = bits
    return masked


def keep_bits(instructions, ends, output, wanted=None):
    """The instructions with bits in place of such activations, if that makes their lower bound lower.

    ``ends``: the number of instructions of each section, kept true; ``output``: the network's output, which stays.
    ``wanted``: True or False: with bits or without, whatever the lower bounds.
    """
    if wanted is False:
        return instructions
    inserted = {}  # index -> the instruction that comes after it
    replaced = {}
    readers = {}  # the activation of each mask -> the other instructions that name it: (index, whether it is written)
    for instruction in instructions:
        if instruction.bits:
            readers[instruction.operands[2]] = []
    for index, instruction in enumerate(instructions):
        for operand, description in zip(instruction.operands, instruction.opcode.operands):
            owner, _ = home(operand)
            if owner in readers:
                readers[owner].append((index, description[1] != ":"))
    for index, instruction in enumerate(instructions):
        if instruction.bits:
            after = _last_write(instructions, index, ends[0], readers[instruction.operands[2]])
            if after is not None and instruction.operands[2] is not output:
                inserted[after], replaced[index] = _with_bits(instruction, instructions[after])
    changed = []
    for index, instruction in enumerate(instructions):
        changed.append(replaced.get(index, instruction))
        if index in inserted:
            changed.append(inserted[index])
    if not inserted or not wanted and lower_bound(changed) >= lower_bound(instructions):
        return instructions
    ends[:] = [end + len([index for index in inserted if index < end]) for end in ends]
    return changed


def _last_write(instructions, mask, end, readers):
    """The index of the forward instruction that makes what the mask reads, None if the mask is not its only reader since."""
    y = instructions[mask].operands[2]
    if home(y)[0] is not y or y.region != ARENA:
        return None
    last = None
    for index, written in readers:
        if index != mask:
            if index >= end or instructions[index].again:
                return None
            if written:
                last = index
    return last


def _with_bits(mask, maker):
    """What makes a mask's bits, and the mask with these."""
    dx, error, y = mask.operands
    count = mask.immediates[0]
    name, limits = mask.bits
    bits = Buffer(y.name + " open", (count + 7) // 8, y.kind)
    bits.bits_of = y
    opened = Instruction(name, (bits, y), (count, bits.size) + limits)
    masked = Instruction("masked" + name[4:], (dx, error, bits), (count, bits.size))
    for instruction, other in ((opened, maker), (masked, mask)):
        if hasattr(other, "owner"):  # inspect.py asks
            instruction.owner = other.owner
    return opened, masked
