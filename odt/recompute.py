"""Gradient checkpointing: which activations are kept, and which are computed once more.

The graph is cut where one value alone crosses. Some of these values are kept; what lies between two of
them is forgotten and computed again when the backward pass gets there (Chen et al., 2016), in the
same ranges and before those weights change: to the same bits. Nothing is computed more than twice, so
that a step costs at most one forward pass more.
"""

from .compiler import compile_graph
from .fixed import isqrt
from .graph import resolve

_ONCE = ("dropout", "batchnorm")  # their forward pass in training is not to be repeated
_VIEWS = ("flatten", "reshape")  # the same bytes as their input
_TRIES = 12


def plan(nodes, loss, optimizer, dtype, batch, micro, flash, memory_budget, checkpoint):
    """The Plan that keeps arena and state within ``memory_budget``, with the least to compute again.

    The least is exact, for graphs that are chains, in a model of the arena (values that are kept, those
    of one segment, two of its largest for the errors); the model is corrected by what the arena is found to need.
    Of branches nothing is forgotten but between cuts. ``checkpoint`` "sqrt": about the square root of
    the number of cuts is kept, whatever the budget.
    Raises MemoryError naming the smallest budget that was found to do.
    """

    def attempt(segments):
        return compile_graph(nodes, loss, optimizer, dtype, batch, micro, segments, flash)

    whole = attempt(())
    chain = _Chain(nodes, (micro or batch) * (1 if dtype == "int8" else 4))
    if checkpoint:
        return attempt(chain.roots())
    if whole.arena + whole.state <= memory_budget:
        return whole
    limit = chain.peak() - (whole.arena + whole.state - memory_budget)
    for _ in range(_TRIES):
        segments = chain.choose(limit)
        if segments is None:
            break
        made = attempt(segments)
        if made.arena + made.state <= memory_budget:
            return made
        limit -= made.arena + made.state - memory_budget
    made = attempt(chain.choose(chain.least()))
    needed = min(made.arena, whole.arena) + whole.state
    if needed <= memory_budget:
        return made
    raise MemoryError("memory_budget %d: at least %d bytes are needed (state %d), %d without recomputation" % (
        memory_budget, needed, whole.state, whole.arena + whole.state))  # fmt: skip


def roots(nodes, dtype, batch):
    """The segments of ``checkpoint`` "sqrt"."""
    return _Chain(nodes, batch * (1 if dtype == "int8" else 4)).roots()


class _Chain:
    """The graph as its cuts: indices of nodes, from the input's to the last node's."""

    def __init__(self, nodes, unit):
        self.sizes = []  # bytes of each node's own value
        self.costs = []
        for node in nodes:
            size = unit
            for extent in node.shape:
                size *= extent
            cost = node.layer.macs + size
            if node.alias is not None or node.layer.kind in _VIEWS:  # the value of another node
                size = cost = 0
                if node.inputs[0] is nodes[len(self.sizes) - 1]:
                    size, cost = self.sizes.pop(), self.costs.pop()
                    self.sizes.append(0)
                    self.costs.append(0)
            self.sizes.append(size)
            self.costs.append(cost)
        self.once = [node.layer.kind in _ONCE for node in nodes]
        self.cuts = []
        for index in range(len(nodes) - 1):
            crossing = []
            for later in nodes[index + 1 :]:
                crossing += [resolve(i) for i in later.inputs if i in nodes[: index + 1] and resolve(i) not in crossing]
            if len(crossing) == 1 and crossing[0] is resolve(nodes[index]) and self.sizes[index]:
                self.cuts.append(index)
        self.cuts.append(len(nodes) - 1)

    def roots(self):
        """The segments between about the square root of the cuts; the last one is not computed again."""
        kept = self.cuts[:: isqrt(len(self.cuts))]
        return [(a + 1, b) for a, b in zip(kept, kept[1:]) if b < self.cuts[-1] and not any(self.once[a + 1 : b])]

    def peak(self):
        """A limit under which nothing needs to be forgotten."""
        return sum(self.sizes) + 2 * max(self.sizes)

    def _passing(self, first, end):
        """The bytes that going back from ``end`` to ``first`` takes: values computed again, and errors."""
        sizes = self.sizes
        live = sum(sizes[first:end])
        most = 2 * sizes[end]  # its value masks its error, and goes before the others come
        for index in range(end, first - 1, -1):
            most = max(most, live + sizes[index] + sizes[index - 1])  # its error, and that of its input
            live -= sizes[index - 1] if index > first else 0
        return most

    def least(self):
        """The smallest limit under which there is a choice."""
        low, high = 0, self.peak()
        while high - low > 1:
            middle = (low + high) // 2
            if self.choose(middle) is None:
                low = middle
            else:
                high = middle
        return high

    def choose(self, limit):
        """The segments ``[(first, end)]``, nodes to compute again, at least cost; None if there are none."""
        cuts = self.cuts
        last = len(cuts) - 1
        states = [[] for _ in cuts]  # at each kept cut: (bytes kept, cost, segments), none better in both
        states[0].append((self.sizes[cuts[0]], 0, ()))
        for p in range(last):
            for q in range(p + 1, last + 1):
                first, end = cuts[p] + 1, cuts[q]
                inner = sum(self.sizes[first:end])
                passing = self._passing(first, end)
                cost = sum(self.costs[first:end])
                for kept, spent, segments in states[p]:
                    if kept + passing > limit:
                        continue
                    if q == last or not inner:
                        _add(states[q], kept + inner + self.sizes[end], spent, segments)
                    elif not any(self.once[first:end]):
                        _add(states[q], kept + self.sizes[end], spent + cost, segments + ((first, end),))
                    else:
                        _add(states[q], kept + inner + self.sizes[end], spent, segments)
        if not states[last]:
            return None
        return min(states[last], key=lambda state: state[1])[2]


def _add(states, kept, cost, segments):
    """Note a state unless another is as good in both; drop those that it beats."""
    for other in states:
        if other[0] <= kept and other[1] <= cost:
            return
    states[:] = [other for other in states if other[0] < kept or other[1] < cost]
    states.append((kept, cost, segments))
