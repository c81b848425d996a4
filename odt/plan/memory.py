"""Memory: how long each buffer lives, and where each lies in the arena.

A buffer lives from the first instruction that names it to the last. Buffers whose lives overlap must not
overlap in memory; the placement puts each buffer at the lowest gap that fits, the large ones first, in
one order after the other until the arena is as small as it can be. It need not get there:
``lower_bound`` says how far off it is at most.
"""

from ..fixed import hash32
from ..regions import ARENA, const
from .values import home

_TRIES = const(100)  # random orders


def lifetimes(instructions):
    """``[(buffer, first, last)]`` of the arena's buffers, by instruction index, in order of first use."""
    first = {}
    last = {}
    order = []
    for index, instruction in enumerate(instructions):
        for buffer in instruction.operands:
            while buffer.root is not buffer:  # home(), at less cost
                buffer = buffer.root
            if buffer.region != ARENA:
                continue
            if buffer not in first:
                first[buffer] = index
                order.append(buffer)
            last[buffer] = index
    return [(buffer, first[buffer], last[buffer]) for buffer in order]


def share(instructions):
    """Let an output take the memory of an input that dies where it is made, if the table allows it."""
    last = {}
    for index, instruction in enumerate(instructions):
        for operand in instruction.operands:
            last[home(operand)[0]] = index
    for index, instruction in enumerate(instructions):
        names = [operand[0] for operand in instruction.opcode.operands]
        for position, (_, _, _, _, shares) in enumerate(instruction.opcode.operands):
            if shares is None:
                continue
            output = instruction.operands[position]
            source, _ = home(instruction.operands[names.index(shares)])
            if output.root is not output or source.region != ARENA or source is output:
                continue
            if last[source] == index and source.size == output.size:
                output.root = source
                last[source] = last[output]


def _align(size):
    return (size + 3) & ~3


def place(instructions, enough=0):
    """Give every arena buffer its offset; returns the bytes of the arena, and of the lower bound.

    Stops at the first placement within ``enough`` bytes.
    """
    lives = lifetimes(instructions)
    bound = lower_bound(instructions)
    enough = max(enough, bound + (bound >> 8))
    large = [life for life in lives if life[0].size > bound // 16]
    small = [life for life in lives if life[0].size <= bound // 16]
    small.sort(key=lambda life: (-life[0].size, life[1]))
    best = None
    for order in _orders(large):
        offsets, total = _first_fit(order + small)
        if best is None or total < best[1]:
            best = (offsets, total)
        if total <= enough:
            break
    for buffer, offset in best[0]:
        buffer.offset = offset
    return best[1], bound


def _orders(lives):
    """Orders in which to place buffers: four that often do, then random ones, the same each time."""
    for key in (
        lambda life: (-life[0].size, life[1]),
        lambda life: (life[1], -life[0].size),
        lambda life: (-life[2], -life[0].size),
        lambda life: (life[1] - life[2], -life[0].size),
    ):
        yield sorted(lives, key=key)
    for key in range(_TRIES):
        numbered = sorted([(hash32(key, index), index) for index in range(len(lives))])
        yield [lives[index] for _, index in numbered]


def _first_fit(lives):
    placed = []  # (offset, end, first, last), by offset
    offsets = []
    total = 0
    for buffer, first, last in lives:
        size = _align(buffer.size)
        offset = 0
        for start, end, begin, finish in placed:
            if begin > last or finish < first:
                continue
            if start >= offset + size:
                break
            offset = max(offset, end)
        placed.append((offset, offset + size, first, last))
        placed.sort()
        offsets.append((buffer, offset))
        total = max(total, offset + size)
    return offsets, total


def lower_bound(instructions):
    """The largest sum of bytes that live at the same time: no arena can be smaller."""
    return max(live_bytes(instructions))


def live_bytes(instructions, kind=None):
    """Bytes that live during each instruction, of one kind or of all."""
    change = [0] * (len(instructions) + 1)
    for buffer, first, last in lifetimes(instructions):
        if kind is None or buffer.kind == kind:
            change[first] += _align(buffer.size)
            change[last + 1] -= _align(buffer.size)
    live = []
    total = 0
    for difference in change[:-1]:
        total += difference
        live.append(total)
    return live
