"""Instructions before they have addresses, and the program that they become."""

import struct

from ..opcodes import opcode
from ..regions import REGION_SHIFT, VERSION
from .program import HEADER_WORDS, MAGIC, SECTIONS_AT
from .values import home


class Instruction:
    """One instruction before it has addresses: an Opcode, Buffers, ints.

    ``again``: the node that it computes a second time. ``bits``: of a ReLU's mask, the instruction that makes the same
    mask as bits, and its immediates but the sizes (masks.py).
    """

    again = bits = None

    def __init__(self, name, operands, immediates):
        self.opcode = opcode(name)
        self.operands = operands
        self.immediates = immediates
        if len(operands) != len(self.opcode.operands) or len(immediates) != len(self.opcode.immediates):
            raise TypeError("%s takes %s" % (name, self.opcode.operands + self.opcode.immediates))


def encode(instructions, arena, state, constants, ends):
    """The program, a bytearray. ``ends`` gives each section's number of instructions, all from the first."""
    starts = [HEADER_WORDS]
    for instruction in instructions:
        starts.append(starts[-1] + instruction.opcode.words)
    code = bytearray(4 * starts[-1])  # at once: the heap is at its fullest
    struct.pack_into("<6I", code, 0, MAGIC, VERSION, starts[-1], arena, state, constants)
    for number, end in enumerate(ends):
        struct.pack_into("<2I", code, 4 * (SECTIONS_AT + 2 * number), HEADER_WORDS, starts[end])
    for start, instruction in zip(starts, instructions):
        words = [instruction.opcode.number]
        for buffer in instruction.operands:
            owner, shift = home(buffer)
            words.append((owner.region << REGION_SHIFT) | (owner.offset + shift))
        words.extend(instruction.immediates)
        struct.pack_into("<%di" % len(words), code, 4 * start, *words)
    return code
