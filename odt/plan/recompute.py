"""Gradient checkpointing: which activations are kept, and which are computed once more.

The graph is cut where one value alone crosses. Some of these values are kept; what lies between two of
them is forgotten and computed again when the backward pass gets there (Chen et al., 2016), in the
same ranges and before those weights change: to the same bits. Nothing is computed more than twice, so
that a step costs at most one forward pass more.
"""

from ..base.fixed import elements
from ..base.primitives import isqrt
from .compiler import compile_graph, prepare
from .graph import resolve

_TRIES = 12


def plan(nodes, loss, optimizer, dtype, batch, micro, flash, memory_budget, checkpoint):
    """The Plan that keeps arena and state within ``memory_budget``, with the least to compute again.

    The smallest budget is that of the choice whose arena has the smallest lower bound (memory.py). Every larger one is
    accepted, no smaller one is. For graphs that are chains no choice has a smaller lower bound; where the placement
    is above the bound, another choice might be placed in fewer bytes: fewer by that difference at most.
    Of branches nothing is forgotten but between cuts. ``checkpoint`` "sqrt": about the square root of
    the number of cuts is kept, whatever the budget.
    Raises MemoryError naming the smallest budget.
    """
    what = nodes, loss, optimizer, dtype, batch, micro
    made, least, whole, state = search(what, flash, memory_budget, checkpoint)
    if made is None:
        raise MemoryError("memory_budget %d: at least %d bytes are needed (state %d), %d without recomputation" % (
            memory_budget, least + state, state, whole + state))  # fmt: skip
    return made


def search(what, flash, memory_budget, checkpoint):
    """(Plan as of plan(), or None; bytes of the smallest arena, of that without recomputation, and of the state)."""
    nodes, _, _, dtype, batch, micro = what

    def attempt(segments, bits=None):
        return compile_graph(*what, segments, flash, bits=bits)

    prepare(nodes, dtype, batch)
    chain = Chain(nodes, (micro or batch) * (1 if dtype == "int8" else 4))
    if checkpoint:
        return attempt(chain.roots()), 0, 0, 0
    made = attempt(())
    whole, state = made.arena, made.state
    limit = memory_budget - state
    if whole <= limit:
        return made, whole, whole, state
    made = None  # its memory is needed
    from .segments import Choices

    choices = [Choices(what, flash, chain, True)]
    if any(choices[0].masks):
        choices.append(Choices(what, flash, chain, False, choices[0]))
    _, least, other, bits = min([choice.least() for choice in choices])
    made = attempt(least, bits)
    arena = made.arena
    if arena > made.lower_bound:
        arena = attempt(other, bits).arena
        if arena < made.arena:
            least = other
        arena = min(arena, made.arena)
    if min(arena, whole) > limit:
        return None, min(arena, whole), whole, state
    most = limit
    for _ in range(_TRIES):
        made = None
        found = sorted([choice.within(most) for choice in choices if choice.fewest <= most])
        if not found:
            break
        made = attempt(*found[0][1:])
        if made.arena <= limit:
            break
        most = made.lower_bound - 1
        made = None
    return made or attempt(least, bits), arena, whole, state


def roots(nodes, dtype, batch):
    """The segments of ``checkpoint`` "sqrt"."""
    return Chain(nodes, batch * (1 if dtype == "int8" else 4)).roots()


class Chain:
    """The prepared graph as its cuts: indices of nodes, from the input's to the last node's."""

    def __init__(self, nodes, unit):
        self.sizes = []  # bytes of each node's own value
        self.costs = []
        for node in nodes:
            size = unit * elements(node.shape)
            cost = node.layer.macs + size
            if node.alias is not None or node.layer.view:  # the value of another node
                size = cost = 0
                if node.inputs[0] is nodes[len(self.sizes) - 1]:
                    size, cost = self.sizes.pop(), self.costs.pop()
                    self.sizes.append(0)
                    self.costs.append(0)
            self.sizes.append(size)
            self.costs.append(cost)
        self.once = [not node.layer.repeatable for node in nodes]
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
