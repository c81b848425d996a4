"""What the planner decided, as objects, for those who look inside a plan:
inspect.py, profile.py and the host's tools.
"""

from ..base.opcodes import opcode
from ..base.regions import ARENA, REGION_SHIFT, STATE
from .instruction import END, FIRST, NAME, ROW, STOP
from .values import Buffer, Value


class Instruction:
    """One instruction: an Opcode, Buffers, ints, and the name of its layer or None."""

    def __init__(self, opcode, operands, immediates, owner):
        self.opcode = opcode
        self.operands = operands
        self.immediates = immediates
        self.owner = owner


class _Seen:
    """The Buffers of a schedule's operands, one for each."""

    def __init__(self, s):
        self.s = s
        self.made = {}

    def buffer(self, operand):
        if operand is None:
            return None
        if operand not in self.made:
            self.made[operand] = self._outside(operand) if operand >> REGION_SHIFT else self._inside(operand)
        return self.made[operand]

    def _inside(self, number):
        s, arena = self.s, self.s.arena
        if number in arena.moved:
            return self.buffer(arena.moved[number])
        buffer = Buffer(arena.names[number], arena.sizes[number], arena.kinds[number])
        if arena.roots[number] == number:
            buffer.offset = arena.offsets[number]
        else:
            buffer.root, buffer.shift = self.buffer(arena.roots[number]), arena.shifts[number]
        if number in s.bits_of:
            buffer.bits_of = self.buffer(s.bits_of[number])
        return buffer

    def _outside(self, address):
        region, offset = address >> REGION_SHIFT, address & (1 << REGION_SHIFT) - 1
        owner = self.s.buffers.owner(address) if region == STATE else None
        if owner and owner.offset == offset:
            return owner
        buffer = Buffer(owner and owner.name, 0, owner and owner.kind, region)
        if owner:
            buffer.root, buffer.shift = owner, offset - owner.offset
        else:
            buffer.offset = offset
        return buffer

    def value(self, value):
        found = Value(self.buffer(value.buffer), value.count)
        found.scale, found.zero, found.lo, found.factor = self.buffer(value.scale), value.zero, value.lo, value.factor
        return found

    def instruction(self, instruction):
        kind = instruction[ROW]
        operands = [self.buffer(operand) for operand in instruction[FIRST : kind[STOP]]]
        return Instruction(
            opcode(kind[NAME]), operands, list(instruction[kind[STOP] : kind[END]]), instruction[kind[END]]
        )


def seen(s, first):
    """(Buffers of the state, Instructions, Values by ``first``'s nodes, Buffers of scales that follow a peak); s.noted
    has such Values then.
    """
    found = _Seen(s)
    s.noted[:] = [(name, found.value(value)) for name, value in s.noted]
    values = {node: found.value(first[node]) for node in first}
    return (
        s.buffers.noted,
        [found.instruction(each) for each in s.instructions],
        values,
        [found.buffer(each[0]) for each in s.ranges],
    )


def lifetimes(instructions):
    """``[(Buffer, first, last)]`` of the arena's buffers, by the index of an Instruction, in order of first use."""
    lives = {}
    for index, instruction in enumerate(instructions):
        for buffer in instruction.operands:
            while buffer.root is not None:
                buffer = buffer.root
            if buffer.region == ARENA:
                lives.setdefault(buffer, [index, index])[1] = index
    return [(buffer, first, last) for buffer, (first, last) in lives.items()]
