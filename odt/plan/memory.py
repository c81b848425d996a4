"""Memory: the arena's buffers, how long each lives, and where each lies.

A buffer lives from the first instruction that names it to the last. Buffers whose lives overlap must not
overlap in memory; the placement puts each buffer at the lowest gap that fits, the large ones first, in
one order after the other until the arena is as small as it can be. Orders at random come first, then the best of
them, where the buffer that did not fit is placed sooner each time. It need not get there: the lower bound says how
far off it is at most.
"""

from ..base.fixed import hash32
from ..base.regions import REGION_SHIFT, const
from .instruction import FIRST, SHARES, STOP

_TRIES = const(24)  # random orders
_PLACED = const(4000)  # buffers placed in all orders, about: so that a deep network's plan takes seconds on a board
_STRIDE = const(16)  # instructions from one window to the next, which are twice as long
_FEW = const(100)  # instructions for which windows do not pay


class Arena:
    """The arena's buffers by their numbers, from 1 on: lists of ints, where objects would take a board's RAM.

    ``roots``: the number of the buffer whose memory it is: its own, or that of the one that it is part of or replaces;
    0 of one that has gone to the state. A part begins ``shifts`` bytes after its root. ``names``: for those who look
    inside, else None.
    """

    def __init__(self, named=False):
        self.sizes = [0]
        self.kinds = [None]
        self.roots = [0]
        self.shifts = [0]
        self.names = [None] if named else None
        self.offsets = None  # of the roots, when they are placed
        self.moved = {}  # number -> address in the state

    def add(self, size, kind, name):
        """A new buffer; returns its number."""
        number = len(self.sizes)
        self.sizes.append(size)
        self.kinds.append(kind)
        self.roots.append(number)
        self.shifts.append(0)
        if self.names is not None:
            self.names.append(name)
        return number

    def part(self, operand, shift, size):
        """The operand of ``size`` bytes inside another one."""
        if operand >> REGION_SHIFT:
            return operand + shift
        number = self.add(size, self.kinds[operand], self.names and self.names[operand])
        self.roots[number] = self.roots[operand]
        self.shifts[number] = self.shifts[operand] + shift
        return number

    def move(self, number, address):
        """Keep a buffer elsewhere than in the arena."""
        self.roots[number] = 0
        self.moved[number] = address

    def root(self, operand):
        """The number of the buffer whose memory an operand is; 0 outside of the arena."""
        if operand >> REGION_SHIFT:
            return 0
        roots = self.roots
        root = roots[operand]
        while root != roots[root]:
            root = roots[root]
        return root

    def addresses(self):
        """Where each buffer lies when all are placed, by number, as a program has it."""
        roots, shifts, offsets = self.roots, self.shifts, self.offsets
        found = []
        for number, root in enumerate(roots):
            while root != roots[root]:
                root = roots[root]
            found.append(offsets[root] + shifts[number])
        for number in self.moved:
            found[number] = self.moved[number]
        return found


def lifetimes(instructions, arena):
    """``[(number, first, last)]`` of the arena's buffers, by instruction index, in order of first use."""
    roots = arena.roots
    first = [-1] * len(roots)
    last = [0] * len(roots)
    order = []
    for index, instruction in enumerate(instructions):
        for root in instruction[FIRST : instruction[0][STOP]]:
            if root >> REGION_SHIFT:
                continue
            while root != roots[root]:  # Arena.root(), at less cost
                root = roots[root]
            if first[root] < 0:
                first[root] = index
                order.append(root)
            last[root] = index
    return [(root, first[root], last[root]) for root in order if root]


def share(instructions, arena):
    """Let an output take the memory of an input that dies where it is made, if the table allows it."""
    roots, sizes = arena.roots, arena.sizes
    last = [0] * len(roots)
    for index, instruction in enumerate(instructions):
        for operand in instruction[FIRST : instruction[0][STOP]]:
            if not operand >> REGION_SHIFT:
                last[roots[operand]] = index
    for index, instruction in enumerate(instructions):
        shares = instruction[0][SHARES]
        if shares is None:
            continue
        output, source = instruction[FIRST + shares[0]], arena.root(instruction[FIRST + shares[1]])
        if output >> REGION_SHIFT or roots[output] != output or source in (0, output):
            continue
        if last[source] == index and sizes[source] == sizes[output]:
            roots[output] = source
            last[source] = last[output]


def place(lives, arena, count, enough=0):
    """Give every buffer of ``lives`` its offset; returns the bytes of the arena, and of the lower bound.

    ``count``: the number of instructions. Stops at the first placement within ``enough`` bytes.
    """
    sizes = arena.sizes
    bound = max(live_bytes(lives, arena, count))
    enough = max(enough, bound + (bound >> 8))
    large, small = [], []
    for index, life in enumerate(lives):
        (large if sizes[life[0]] > bound // 16 else small).append(index)
    small = _largest_first(small, lives, sizes)
    best = most = None
    spent = turn = 0
    for order in _orders(large, lives, sizes):
        order += small
        offsets, total, at = _first_fit(order, lives, sizes, count, most)
        spent += at + 1
        if offsets is not None:
            best, most, first, highest = offsets, total, order, at
            if most <= enough:
                break
    order, at = first, highest
    while most > enough and spent < _PLACED:
        order.insert(at * (3 - turn & 3) >> 2, order.pop(at))  # three quarters of its way to the front, a half, ..
        turn += 1
        offsets, total, at = _first_fit(order, lives, sizes, count, most)
        spent += at + 1
        if offsets is not None:
            best, most = offsets, total
    arena.offsets = offsets = [0] * len(sizes)
    for (number, _, _), offset in zip(lives, best):
        offsets[number] = offset
    return most, bound


def _largest_first(indices, lives, sizes):
    """Of lives in the order of their first use."""
    count = len(lives)
    keys = sorted(
        [index - count * sizes[lives[index][0]] for index in indices]
    )  # ints: MicroPython compares them soonest
    return [key % count for key in keys]


def _orders(indices, lives, sizes):
    """Orders in which to place buffers: four that often do, then random ones, the same each time."""
    yield _largest_first(indices, lives, sizes)
    for key in (
        lambda size, first, last: (first, -size),
        lambda size, first, last: (-last, -size),
        lambda size, first, last: (first - last, -size),
    ):
        keys = []
        for index in indices:
            number, first, last = lives[index]
            keys.append(key(sizes[number], first, last) + (index,))
        yield [each[2] for each in sorted(keys)]
    for key in range(_TRIES if len(indices) > 1 else 0):
        yield [indices[each] for _, each in sorted([(hash32(key, each), each) for each in range(len(indices))])]


def _first_fit(order, lives, sizes, count, most):
    """(offsets of the lives, bytes, place in the order of the highest) of the buffers placed in an order; where that
    takes ``most`` bytes or more, (None, the bytes so far, place of the first that does not fit).

    What meets a short life is looked for among what was placed in a window of the instructions, so that the time is
    about proportional to their number.
    """
    everything = []  # indices of lives, by their offsets: ints, where tuples would take a board's RAM
    reach = _STRIDE if count > _FEW else -1
    windows = [[] for _ in range(count // _STRIDE + 1)]
    offsets, ends = [0] * len(lives), [0] * len(lives)
    total = highest = 0
    for at, index in enumerate(order):
        number, first, last = lives[index]
        size = sizes[number] + 3 & ~3
        offset = 0
        for other in everything if last - first > reach else windows[first // _STRIDE]:
            _, begin, finish = lives[other]
            if begin > last or finish < first:
                continue
            if offsets[other] >= offset + size:
                break
            end = ends[other]
            if end > offset:
                offset = end
        end = offset + size
        if end > total:
            total, highest = end, at
            if most is not None and total >= most:
                return None, total, highest
        offsets[index], ends[index] = offset, end
        _insert(everything, index, offsets)
        if reach > 0:
            for window in range(max(0, first // _STRIDE - 1), last // _STRIDE + 1):
                _insert(windows[window], index, offsets)
    return offsets, total, highest


def _insert(placed, index, offsets):
    """Into a list that is sorted by offset."""
    offset = offsets[index]
    low, high = 0, len(placed)
    while low < high:
        middle = (low + high) >> 1
        if offsets[placed[middle]] < offset:
            low = middle + 1
        else:
            high = middle
    placed.insert(low, index)


def live_bytes(lives, arena, count, kind=None):
    """Bytes that live during each of ``count`` instructions, of one kind or of all."""
    sizes, kinds = arena.sizes, arena.kinds
    live = [0] * (count + 1)
    for number, first, last in lives:
        if kind is None or kinds[number] == kind:
            size = sizes[number] + 3 & ~3
            live[first] += size
            live[last + 1] -= size
    total = 0
    for index in range(count):
        live[index] = total = total + live[index]
    live.pop()
    return live
