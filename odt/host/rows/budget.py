"""A memory_budget on a PC: where recomputation alone does not reach it, the forward pass runs by rows, too."""

from ...plan.compiler import compile_graph, prepare
from ...plan.recompute import Chain, search
from ...plan.segments import Choices
from . import Rows
from .reason import reason

_TRIES = 12


def plan(nodes, loss, optimizer, dtype, batch, micro, flash, memory_budget, checkpoint):
    """As recompute.plan(), which is a board's; by rows where that finds no plan within the budget.

    Of plans by rows it takes the one that computes the least again and, of these, the shortest program. The smallest
    budget is that of the best of a few: without recomputation, and with what lets the backward pass need the fewest
    bytes. Every larger budget is accepted, no smaller one is. Raises MemoryError naming the smallest, and the layer
    that needs the most.
    """
    what = nodes, loss, optimizer, dtype, batch, micro
    made, least, whole, state = search(what, flash, memory_budget, checkpoint)
    if made:
        return made
    text = ""
    if (micro or batch) == 1:
        found = _Search(what, flash)
        made = found.within(memory_budget - state)
        if made:
            return _with_whole(made, what, flash)
        if found.least.arena < least:
            least = found.least.arena
            text = ", with layers by rows: " + reason(found.least, what, flash)
    else:
        other = _with_parts_of_one(what, flash)
        if other < least + state:
            text = "; %d with micro_batch=1" % other
    raise MemoryError("memory_budget %d: at least %d bytes are needed (state %d), %d without recomputation%s" % (
        memory_budget, least + state, state, whole + state, text))  # fmt: skip


def _with_parts_of_one(what, flash):
    """The fewest bytes of the same steps in micro-batches of one sample; many where there are no such steps."""
    what = what[:5] + (1,)
    try:
        _, least, _, state = search(what, flash, 0, None)
        found = _Search(what, flash)
        found.within(0)
    except ValueError:  # dynamic updates and others take no micro-batches
        return 1 << 31
    return min(least, found.least.arena) + state


def _with_whole(made, what, flash):
    """The plan, with the one without stages by which its ranges are found, and the names of its layers."""
    if made.rows.stages:
        made.rows.whole = compile_graph(*what, made.segments, flash, bits=made.bits)
        named = Rows(stages=made.rows.stages)
        compile_graph(*what, made.segments, flash, [], made.bits, named)
        made.rows.names = named.names
    else:  # another choice of what is computed again does
        made.rows = None
    return made


class _Search:
    """Plans by rows; ``least``: the one that takes the fewest bytes."""

    def __init__(self, what, flash):
        self.what, self.flash = what, flash
        self.forwards = {}  # (segments, bits) -> Forward
        self.tried = {}  # (segments, bits) -> the plan in the fewest bytes
        self.choices = []
        self.least = self._try((), True)
        self.bits = (True, False) if self.least.rows.masks else (True,)
        for bits in self.bits:
            self.least = min(self.least, self._try((), bits), key=_bytes)

    def _try(self, segments, bits, limit=None):
        key = tuple(segments), bits
        if limit is None and key in self.tried:
            return self.tried[key]
        rows = Rows(limit, None, self.forwards.get(key))
        made = compile_graph(*self.what, segments, self.flash, bits=bits, rows=rows)
        self.forwards[key] = rows.forward
        if limit is None:
            self.tried[key] = made
        return made

    def _fit(self, segments, bits, limit):
        """A plan within ``limit`` bytes of arena, or None: the placement may take more than the stages count on."""
        most, made = limit, None
        for _ in range(_TRIES):
            before, made = made, self._try(segments, bits, most)
            if made.arena <= limit:
                return made
            if before and made.rows.stages == before.rows.stages:
                break
            most = min(most, made.lower_bound) - (made.arena - limit)
        made = self._try(segments, bits)
        return made if made.arena <= limit else None

    def within(self, limit):
        """The plan that computes the least again within ``limit`` bytes of arena, None if there is none."""
        found = [made for made in (self._fit((), bits, limit) for bits in self.bits) if made]
        if found:
            return min(found, key=lambda made: len(made.code))
        self._widen()
        if self.least.arena > limit:
            return None
        most = limit
        for _ in range(_TRIES):
            cheapest = sorted([choice.within(most) for choice in self.choices if choice.fewest <= most])
            if not cheapest:
                break
            made = self._fit(*cheapest[0][1:], limit)
            if made:
                return made
            most = self._try(*cheapest[0][1:]).lower_bound - 1
        return self.least

    def _widen(self):
        """Let activations be computed again: ``least`` is then that of all."""
        nodes, _, optimizer, dtype, _, _ = self.what
        if hasattr(optimizer, "passes"):  # whose steps compute nothing again
            return
        prepare(nodes, dtype, 1)
        chain = Chain(nodes, 1 if dtype == "int8" else 4)
        self.choices = [Choices(self.what, self.flash, chain, bits, forward=False) for bits in self.bits]
        for choice in self.choices:
            _, cheapest, other, bits = choice.least()
            for segments in (cheapest, other):
                self.least = min(self.least, self._try(segments, bits), key=_bytes)


def _bytes(made):
    return made.arena, made.again, len(made.code)
