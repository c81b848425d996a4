"""Placement where values come and go by rows: a stage's output may lie over its input.

A value that a stage makes stripe by stripe needs the bytes of a row from its first stripe on; one that a stage reads
needs them until its last. Such a buffer lives in pieces, each from ``first`` to ``last``, whose places in it are fixed.
The placement is that of plan/memory.py if it is near the lower bound, else one of these shapes: first fit in one order
after the other.

The sample may lie in the arena, too, at its end. Its rows go from the first on; what lies over them does not live
before.
"""

from ...base.fixed import hash32
from ...base.regions import ARENA, REGION_SHIFT, X_DATA
from ...plan import memory
from ...plan.instruction import ACCESS, FIRST, NAME, READS, ROW, STOP
from ...plan.values import ACTIVATION, ERROR, GRADIENT, SCRATCH
from .climb import Climb, first_fit, meetings

_TURNS = 40000  # orders that are tried, times the buffers
_PARTS, _SPREADS = 64, (8, 32, 64, 128)  # see _drawn()


def pieces(touches, size):
    """[(shift, size, first, last)] of a buffer; ``touches``: (shift, the byte after, index, whether it writes).

    A piece lives at least until the whole buffer is written. Pieces have whole words.
    """
    edges = sorted({0} | {at for touch in touches for at in touch[:2]})
    written = max([index for _, _, index, writes in touches if writes], default=0)
    if len(edges) == 2 or any([edge & 3 for edge in edges[:-1]]):
        edges = 0, size
    found = []
    for at, end in zip(edges, edges[1:]):
        indices = [index for a, b, index, _ in touches if a < end and at < b]
        if not indices:
            continue
        first, last = min(indices), max(indices + [written])
        if found and found[-1][2:] == (first, last) and found[-1][0] + found[-1][1] == at:
            found[-1] = found[-1][0], end - found[-1][0], first, last
        else:
            found.append((at, end - at, first, last))
    return [(at, size + 3 & ~3, first, last) for at, size, first, last in found]


def shapes(instructions, arena):
    """{root: its pieces} of the arena's buffers, in the order of their first use."""
    touches = {}
    for index, instruction in enumerate(instructions):
        kind = instruction[ROW]
        for operand, access in zip(instruction[FIRST : kind[STOP]], kind[ACCESS]):
            root = arena.root(operand)
            if root:
                at = arena.shifts[operand]
                touches.setdefault(root, []).append((at, at + arena.sizes[operand], index, access != READS))
    found = {}
    for root, each in touches.items():
        size = arena.sizes[root]
        if arena.kinds[root] not in (ACTIVATION, ERROR):
            each = [(0, size, index, writes) for _, _, index, writes in each]
        found[root] = pieces(each, size)
    return found


def lives(instructions):
    """[(Buffer, its pieces)] of the same, of the Instructions of plan/seen.py."""
    touches = {}
    for index, instruction in enumerate(instructions):
        for buffer, (_, access, *_) in zip(instruction.operands, instruction.opcode.operands):
            root, at = buffer, 0
            while root.root is not None:
                root, at = root.root, at + root.shift
            if root.region == ARENA and root.size:
                end = at + buffer.size
                if root.kind not in (ACTIVATION, ERROR):
                    at, end = 0, root.size
                touches.setdefault(root, []).append((at, end, index, access != ":"))
    return [(root, pieces(each, root.size)) for root, each in touches.items()]


def sample_shape(instructions, size):
    """The pieces of a sample of ``size`` bytes: its rows, each until it is gathered."""
    gathers = []
    for index, instruction in enumerate(instructions):
        name, operands, count = _read(instruction)
        if name.startswith("gather_") and X_DATA in operands:
            gathers.append((index, count))
    rows = sum([count for _, count in gathers])
    row, done, found = size // rows, 0, []
    if size % rows or row & 3 or len(gathers) == 1:
        return [(0, size + 3 & ~3, 0, gathers[-1][0])]
    for index, count in gathers:
        found.append((done * row, count * row, 0, index))
        done += count
    return found


def _read(instruction):
    """(name, regions of its operands, first immediate) of an instruction or Instruction."""
    if isinstance(instruction, tuple):
        stop = instruction[ROW][STOP]
        regions = [operand >> REGION_SHIFT for operand in instruction[FIRST:stop]]
        return instruction[ROW][NAME], regions, (instruction[stop : stop + 1] or (1,))[0]
    regions = [buffer.region for buffer in instruction.operands]
    return instruction.opcode.name, regions, (instruction.immediates or [1])[0]


def live_bytes(found, count):
    """Bytes that live during each of ``count`` instructions."""
    live = [0] * (count + 1)
    for pieces in found:
        for _, size, first, last in pieces:
            live[first] += size
            live[last + 1] -= size
    for index in range(1, count):
        live[index] += live[index - 1]
    return live[:count]


def place(instructions, arena, sample=0, is_patient=False):
    """Give every buffer its offset; returns the bytes of the arena, of the lower bound, and the peaks by kind.

    ``sample``: bytes of the sample, which is then the arena's end. ``is_patient``: climb.py searches, too, where the
    arena is far above its bound.
    """
    found = shapes(instructions, arena)
    roots, count = list(found), len(instructions)
    forms = list(found.values())
    if sample:
        forms.append(sample_shape(instructions, sample))
    bound = max(live_bytes(forms, count))
    near = bound + bound // 100
    peaks = {
        kind: max(live_bytes([form for root, form in found.items() if arena.kinds[root] == kind], count))
        for kind in (ACTIVATION, ERROR, GRADIENT, SCRATCH)
    }
    most = None
    if not sample:
        most, _ = memory.place(memory.lifetimes(instructions, arena), arena, count, near)
    kinds = (_Search, Climb) if is_patient else (_Search,)
    for kind, is_turned in [(kind, end) for kind in kinds for end in ((True,) if sample else (False, True))]:
        if most is not None and most <= near:
            break
        tried = [_turned(form) for form in forms] if is_turned else forms  # from the end down, too
        total, offsets = kind(tried, len(roots) if sample else None).best(near)
        if most is None or total < most:
            most = total
            arena.offsets = [0] * len(arena.sizes)
            for root, form, at in zip(roots, tried, offsets):
                arena.offsets[root] = most - at - _extent(form) if is_turned else at
    return most, bound, peaks


def _extent(form):
    return max([at + size for at, size, _, _ in form])


def _turned(form):
    extent = _extent(form)
    return [(extent - at - size, size, first, last) for at, size, first, last in form]


class _Search:
    """Places shapes in orders; ``fixed``: the one that lies at 0."""

    def __init__(self, forms, fixed):
        self.fixed, self.meets = fixed, meetings(forms)
        self.numbers = [number for number in range(len(forms)) if number != fixed]
        self.sizes = [_extent(form) for form in forms]
        self.lives = [(min([f for _, _, f, _ in form]), max([e for _, _, _, e in form])) for form in forms]

    def best(self, enough):
        """(bytes, offsets) of the first that takes ``enough`` bytes at most, or of the best."""
        most = offsets = order = None
        for each in self._orders():
            total, found = self._fit(each, most)
            if found:
                most, offsets, order = total, found, each
                if most <= enough:
                    return most, offsets
        for turn in range(_TURNS // len(self.sizes)):
            changed = self._drawn(turn) if turn & 1 else self._sooner(order, offsets, enough, turn)
            total, found = self._fit(changed, most + 1)
            if found:
                most, offsets, order = total, found, changed
                if most <= enough:
                    break
        return most, offsets

    def _orders(self):
        sizes, lives = self.sizes, self.lives
        for key in (
            lambda n: -sizes[n],
            lambda n: (lives[n][0], -sizes[n]),
            lambda n: (-lives[n][1], -sizes[n]),
            lambda n: (lives[n][0] - lives[n][1], -sizes[n]),
        ):
            yield sorted(self.numbers, key=key)

    def _drawn(self, turn):
        """The largest first, after sizes that are drawn up to 1/8, 1/2, 1 or 2 times larger."""
        spread = _SPREADS[turn // 2 % len(_SPREADS)]
        return sorted(self.numbers, key=lambda n: -self.sizes[n] * (_PARTS + hash32(turn, n) % spread))

    def _sooner(self, order, offsets, enough, turn):
        """Something that ends too high comes sooner."""
        high = [number for number in order if offsets[number] + self.sizes[number] > enough]
        at = order.index(high[hash32(turn, 0) % len(high)])
        to = hash32(turn, 1) % at if at else 0
        return order[:to] + order[at : at + 1] + order[to:at] + order[at + 1 :]

    def _fit(self, order, most):
        """(bytes, offsets); offsets are None where it takes ``most`` bytes or more."""
        total, offsets = first_fit(order, self.sizes, self.meets, self.fixed, most and most - 1)
        return total, offsets and [offsets[number] for number in range(len(self.sizes))]
