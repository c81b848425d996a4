"""Which activations to recompute within a number of bytes: the search behind recompute.py.

The RAM of a segment, from one kept value to the next, depends on the other segments only by the bytes that those before
it keep. So the RAM of a choice follows from that of its segments, and dynamic programming finds the best choice.
A segment is measured on a schedule that computes it again. Not all are: the search takes lower bounds for those that
were not measured, then the choice that it finds is measured, until it finds one of measured segments alone. No other is
better.
"""

from .compiler import prepare, train
from .instruction import END, NAME, ROW
from .memory import lifetimes, live_bytes
from .schedule import Schedule


class Choices:
    """The choices for a ``chain`` (recompute.Chain), all with clamps as bits (masks.py) or all without.

    A segment is a pair of numbers (p, q) of cuts. It has two sizes, both in bytes above what is kept at cut p: what is
    kept at cut q for the backward pass, and what lives at the worst moment of its own forward and backward pass. The
    value at a cut belongs to the segment that begins there. ``like``: the Choices with bits, whose sizes hold where
    there are none. ``forward``: whether the forward pass counts; not where it can run by rows (host/rows).
    """

    def __init__(self, what, flash, chain, bits, like=None, forward=True):
        self.what = what
        self.flash = flash
        self.chain = chain
        self.bits = bits
        self.like = like
        self.forward = forward
        self.numbers = {node.layer.name: number for number, node in enumerate(what[0])}
        self.known = {}  # segment -> its sizes when computed again
        self.fewest = 0  # bytes of the choice that needs the fewest, when least() has found it
        self._measure(())

    def _measure(self, segments):
        """Note the sizes of these segments when computed again; without any, those of each step that is kept."""
        nodes, loss, optimizer, dtype, batch, micro = self.what
        cuts = self.chain.cuts
        prepare(nodes, dtype, batch)
        s = Schedule(dtype, micro or batch, optimizer, self.flash, [])  # each instruction knows its layer
        _, ends, values = train(s, nodes, loss, micro, [(cuts[p] + 1, cuts[q]) for p, q in segments], self.bits)
        arena = s.arena
        owners = [self.numbers.get(instruction[instruction[ROW][END]], -1) for instruction in s.instructions]
        lives = lifetimes(s.instructions, arena)
        live = live_bytes(lives, arena, len(s.instructions))
        forward, back, kept = [], [], []  # of each cut: where its forward pass ends, where its backward pass begins
        sizes = []
        for cut in cuts:
            at = 0
            while at < ends[0] and owners[at] <= cut:
                at += 1
            forward.append(at)
            at = ends[1]
            while at < len(owners) and not 0 <= owners[at] <= cut:
                at += 1
            back.append(at if cut else len(owners))
            y = values[nodes[cut]].buffer
            value = arena.root(y)
            total = 0
            for number, first, last in lives:
                if first < forward[-1] and last >= back[-1] and number != value and s.bits_of.get(number) != y:
                    total += (arena.sizes[number] + 3) & ~3
            kept.append(total)
            sizes.append((arena.sizes[value] + 3) & ~3)

        def takes(p, q):
            own = live[forward[p] : forward[q]] if self.forward else []
            return kept[q] - kept[p], max(own + live[back[q] : back[p]] or [0]) - kept[p]

        for p, q in segments:
            self.known.setdefault((p, q), takes(p, q))
        if segments:
            return
        self.kept, self.sizes = kept, sizes
        count = len(cuts) - 1
        self.steps = [takes(p, p + 1) for p in range(count - 1)]
        if count:
            self.steps.append((0, max(live[forward[-2] : back[-2]]) - kept[-2]))
        # The most bytes in the backward pass of each step; in the part of it after the mask of its last node's error.
        self.back = [max(live[back[q] : back[q - 1]] or [0]) for q in range(1, count)]
        self.after = [max(live[back[q] + 1 : back[q - 1]] or [0]) for q in range(1, count)]
        names = [instruction[ROW][NAME][:5] for instruction in s.instructions[: ends[0]]]
        self.masks = ["open_" in names[forward[p] : forward[p + 1]] for p in range(count)]  # of each step

    def least(self):
        """The fewest bytes; the segments of least cost that do with them, others that do, bits:
        as for compile_graph.
        """
        while True:
            self.fewest, segments = self._search(None)
            if self._known(segments):
                return self.fewest, self.within(self.fewest)[1], self._nodes(segments), self.bits

    def within(self, limit):
        """The cost, the segments ``[(first, end)]`` of nodes, and bits: of the choice that costs least in ``limit``
        bytes.
        """
        while True:
            cost, segments = self._search(limit)
            if self._known(segments):
                return cost, self._nodes(segments), self.bits

    def _nodes(self, segments):
        cuts = self.chain.cuts
        return [(cuts[p] + 1, cuts[q]) for p, q in segments]

    def _known(self, segments):
        """Whether all of these were measured before; if not, they are now."""
        known = all([segment in self.known for segment in segments])
        if self.like and not known:
            for p, q in segments:
                if (p, q) in self.like.known and not any(self.like.masks[max(p - 1, 0) : q]):
                    self.known.setdefault((p, q), self.like.known[p, q])
        if not all([segment in self.known for segment in segments]):
            self._measure(segments)
        return known

    def _search(self, limit):
        """The least cost within ``limit`` bytes and its segments; without a limit, the fewest bytes and theirs."""
        chain, cuts, kept = self.chain, self.chain.cuts, self.kept
        last = len(cuts) - 1
        states = [[] for _ in cuts]  # at each cut: (bytes kept, cost or worst moment, segments), none better in both
        states[0].append((kept[0], 0, ()))
        for p in range(last):
            _extend(states, p, p + 1, self.steps[p], limit, 0, ())
            low = 0  # what going back needs at least
            for q in range(p + 1, last):
                if any(chain.once[cuts[p] + 1 : cuts[q]]):
                    break
                cost = sum(chain.costs[cuts[p] + 1 : cuts[q]])
                takes = self.known.get((p, q))
                if takes is None and self.sizes[p] < kept[q] - kept[p]:  # else nothing is saved
                    takes = self.sizes[p], max(low, self.after[q - 1] - kept[p])
                if takes:
                    _extend(states, p, q, takes, limit, cost, ((p, q),))
                low = max(low, self.back[q - 1] - kept[p])
        return min(states[last], key=lambda state: state[1])[1:]


def _extend(states, p, q, takes, limit, cost, segment):
    """Go on from the states at p to q, keeping none that another one equals or beats in both numbers."""
    keeps, needs = takes
    after = states[q]
    for kept, second, segments in states[p]:
        needed = kept + needs
        if limit is None:
            second = max(second, needed)
        elif needed > limit:
            continue
        else:
            second += cost
        kept += keeps
        if any([other[0] <= kept and other[1] <= second for other in after]):
            continue
        after[:] = [other for other in after if other[0] < kept or other[1] < second]
        after.append((kept, second, segments + segment))
