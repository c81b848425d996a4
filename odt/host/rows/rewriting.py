"""What rewrites of a schedule share: the bytes in use while it runs, and instructions in place of others."""

from ...base.regions import REGION_SHIFT
from ...plan.instruction import END, FIRST, ROW, STOP
from ...plan.memory import lifetimes, live_bytes, share


def live(s):
    """The bytes of the arena that are in use at each instruction of a schedule."""
    roots = list(s.arena.roots)
    share(s.instructions, s.arena)
    found = live_bytes(lifetimes(s.instructions, s.arena), s.arena, len(s.instructions))
    s.arena.roots[:] = roots
    return found


def replace(s, ends, region, extend):
    """Let ``extend(made, index, instruction)`` append to ``made`` what each instruction with an operand in the region
    becomes. The ``ends`` of the sections move.
    """
    made, moved = [], list(ends)
    for index, instruction in enumerate(s.instructions):
        for number, end in enumerate(ends):
            if end == index:
                moved[number] = len(made)
        kind = instruction[ROW]
        if not any([operand >> REGION_SHIFT == region for operand in instruction[FIRST : kind[STOP]]]):
            made.append(instruction)
            continue
        if s.noted is not None:
            s.owner = instruction[kind[END]]
        extend(made, index, instruction)
    s.owner = None
    for number, end in enumerate(ends):
        if end == len(s.instructions):
            moved[number] = len(made)
    s.instructions[:] = made
    ends[:] = moved
