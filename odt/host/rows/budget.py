"""A memory_budget on a PC: where recomputation alone does not reach it, layers run by rows, too."""

from ...base.fixed import elements
from ...data.readers import SIZES
from ...plan.compiler import compile_graph, prepare
from ...plan.recompute import Chain, roots, search
from ...plan.segments import Choices
from . import Rows, WithSample
from .packed import FEW, PEAK, Flash
from .reason import reason
from .split import can_split

_TRIES = 12
_NEAR, _STEP = 0.99, 32  # a placement that is near its bound; the next limit, this part larger


def plan(nodes, loss, optimizer, dtype, batch, micro, flash, memory_budget, checkpoint):
    """As recompute.plan(), which is a board's; by rows where that finds no plan within the budget.

    Of plans by rows it takes the one that computes the least again and, of these, the shortest program. Where weights
    are frozen in flash, rows of kernels that do not train may lie there, too (split.py). The smallest budget is that of
    the best of a few: without recomputation, and with what lets the backward pass need the fewest bytes. The backward
    pass of int8 runs by rows, too, where nothing else reaches the budget and before the last layer biases alone train;
    then nothing is computed again. Every larger budget is accepted, no smaller one is. Raises MemoryError naming the
    smallest, and the layer that needs the most.
    """
    what = nodes, loss, optimizer, dtype, batch, micro
    sample = _bytes_of(nodes[0]) if isinstance(memory_budget, WithSample) else 0
    if sample and (micro or batch) > 1:
        raise ValueError("memory_budget: a sample lies in the arena where a step takes one, not %d" % (micro or batch))
    first = _whole_kernels if isinstance(flash, Flash) else search
    made, least, whole, state = first(what, flash, 0 if sample else memory_budget, checkpoint)
    if made:
        return made
    text, needed, of = "", least + state + sample, state
    whole += sample
    found = _searches(what, flash, sample)
    fits = [made for made in [each.within(memory_budget - each.state) for each in found] if made]
    if not fits:
        back = _backward(found, what, flash, sample)
        fits = [made for made in [each.within(memory_budget - each.state) for each in back] if made]
        found += back
    if fits:
        return _with_whole(min(fits, key=lambda made: (made.again, len(made.code))), what, flash)
    best = min(found, key=lambda each: each.least.arena + each.state, default=None)
    if best and (sample or best.least.arena + best.state < needed):
        needed, of = best.least.arena + best.state, best.state
        text = ", with layers by rows: " + reason(best.least, what, flash)
    if (micro or batch) > 1 and first is search:
        other = _with_parts_of_one(what, flash)
        if other < needed:
            text += "; %d with micro_batch=1" % other
    raise MemoryError("memory_budget %d: at least %d bytes are needed (state %d), %d without recomputation%s" % (
        memory_budget, needed, of, whole + state, text))  # fmt: skip


def _bytes_of(node):
    """Of a sample as the user has it."""
    return elements(node.shape) * SIZES[node.layer.dtype]


def _whole_kernels(what, flash, memory_budget, checkpoint):
    """As recompute.search(), where some kernels in flash have 4 bits: of the plan without a budget."""
    nodes, _, _, dtype, batch, micro = what
    segments = ()
    if checkpoint:
        prepare(nodes, dtype, batch)
        segments = roots(nodes, dtype, micro or batch)
    made = compile_graph(*what, segments, flash, rows=Rows(stages=(), packed=PEAK))
    if checkpoint or memory_budget is None or made.arena + made.state <= memory_budget:
        return made.rows.planned(made), made.arena, made.arena, made.state
    return None, made.arena, made.arena, made.state


def _searches(what, flash, sample=0):
    """A _Search by rows, where a step takes one sample; one with split kernels, where there are such."""
    nodes, _, optimizer, _, batch, micro = what
    found = [_Search(what, flash, sample=sample)] if (micro or batch) == 1 or isinstance(flash, Flash) else []
    if flash and optimizer and not hasattr(optimizer, "passes") and any([can_split(node.layer) for node in nodes]):
        found.append(_Search(what, flash, True, sample))
    return found


def _backward(found, what, flash, sample=0):
    """A _Search whose backward pass runs by rows, as well: with split kernels, if these make the best of ``found``."""
    nodes, _, optimizer, dtype, _, _ = what
    if not found or dtype != "int8" or not optimizer or hasattr(optimizer, "passes") or not _biases_alone(nodes):
        return []
    best = min(found, key=lambda each: each.least.arena + each.state)
    return [_Search(what, flash, best.split, sample, True)]


def _biases_alone(nodes):
    """Whether biases train before the last layer with weights, and nothing else there."""
    before = [node.layer for node in nodes if node.layer.weight_shapes()][:-1]
    trains = [layer for layer in before if layer.trainable]
    return bool(trains) and all([layer.kernel_shape and layer.update_rows == () for layer in trains])


def _with_parts_of_one(what, flash):
    """The fewest bytes of the same steps in micro-batches of one sample; many where there are no such steps."""
    what = what[:5] + (1,)
    try:
        _, least, _, state = search(what, flash, 0, None)
        found = _searches(what, flash)
        for each in found:
            each.within(0)
        found += _backward(found, what, flash)
    except ValueError:  # dynamic updates and others take no micro-batches
        return 1 << 31
    return min([least + state] + [each.least.arena + each.state for each in found])


def _with_whole(made, what, flash):
    """The plan, with the one without stages, and with whole kernels, by which its ranges are found, and the names of
    its layers.
    """
    rows = made.rows
    if rows.stages or rows.found or rows.sample or rows.places:
        noted = [] if rows.found else None  # the names of the state's buffers
        whole = Rows(stages=(), packed=PEAK) if rows.packed else None
        rows.whole = compile_graph(*what, made.segments, flash, noted, made.bits, whole)
        named = rows.again()
        rows.noted = compile_graph(*what, made.segments, flash, [], made.bits, named).buffers
        rows.names = named.names
        made = rows.planned(made)
    elif rows.packed:
        made = rows.planned(made)
    else:  # another choice of what is computed again does
        made.rows = None
    return made


class _Search:
    """Plans by rows; ``least``: the one that takes the fewest bytes; ``state``: bytes of all their states.

    ``split``: with split kernels; ``sample``: bytes of a sample that lies in the arena; ``back``: of the whole step.
    """

    def __init__(self, what, flash, split=False, sample=0, back=False):
        self.what, self.flash, self.split, self.sample, self.back = what, flash, split, sample, back
        self.forwards = {}  # (segments, bits) -> Forward
        self.tried = {}  # (segments, bits) -> the plan in the fewest bytes
        self.choices = []
        self.least = self._try((), True)
        self.state = self.least.state
        self.bits = (True, False) if self.least.rows.masks else (True,)
        for bits in self.bits:
            self.least = min(self.least, self._try((), bits), key=_bytes)

    def _try(self, segments, bits, limit=None):
        key = tuple(segments), bits
        if limit is not None:
            return self._made(segments, bits, limit)
        if key not in self.tried:
            self.tried[key] = self._placed(segments, bits, self._made(segments, bits))
        return self.tried[key]

    def _made(self, segments, bits, limit=None, is_cut=False):
        key = tuple(segments), bits
        packed = FEW if isinstance(self.flash, Flash) else None
        rows = Rows(limit, None, self.forwards.get(key), self.split, self.sample, packed, is_cut)
        rows.back = self.back
        made = compile_graph(*self.what, segments, self.flash, bits=bits, rows=rows)
        self.forwards[key] = rows.forward
        return made

    def _placed(self, segments, bits, best):
        """The best plan; if its placement is far from its bound, that of stages which take more bytes and are easier to
        place, if it takes fewer.
        """
        most, seen = best.lower_bound, [best.rows.stages]
        rest = best.rows.forward.rest  # where it is what takes the most, other stages change little
        for _ in range(1 if rest >= most else _TRIES):
            if most >= _NEAR * best.arena:
                break
            made = self._made(segments, bits, most, True)
            if made.rows.stages not in seen:
                seen.append(made.rows.stages)
                best = min(best, made, key=_bytes)
            most += most // _STEP
        return best

    def _fit(self, segments, bits, limit):
        """A plan within ``limit`` bytes of arena, or None: the placement may take more than the stages count on."""
        most, made = limit, None
        for tries in range(_TRIES):
            before, made = made, self._try(segments, bits, most)
            if made.arena <= limit:
                return made
            if made.lower_bound > limit or before and made.rows.stages == before.rows.stages:
                break
            most = min(most, made.lower_bound) - max(1, (made.arena - limit) * tries // 4)  # the next stages; then bold
        if made.lower_bound <= limit:  # other stages may be easier to place
            made = self._made(segments, bits, limit, True)
        if made.arena > limit:
            made = self._try(segments, bits)
        return made if made.arena <= limit else None

    def within(self, limit):
        """The plan that computes the least again within ``limit`` bytes of arena, None if there is none."""
        if self.back and self.least.arena > limit:
            return None
        found = [made for made in (self._fit((), bits, limit) for bits in self.bits) if made]
        if found:
            return min(found, key=lambda made: len(made.code))
        if not self.back:
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
            self._settle()
            return
        prepare(nodes, dtype, 1)
        chain = Chain(nodes, 1 if dtype == "int8" else 4)
        self.choices = [Choices(self.what, self.flash, chain, bits, forward=False) for bits in self.bits]
        for choice in self.choices:
            _, cheapest, other, bits = choice.least()
            for segments in (cheapest, other):
                self.least = min(self.least, self._try(segments, bits), key=_bytes)
        self._settle()

    def _settle(self):
        """Place ``least`` again, with more patience, if its placement is far from its bound."""
        least = self.least
        if least.lower_bound >= _NEAR * least.arena:
            return
        rows = least.rows.again()
        rows.is_patient = True
        made = compile_graph(*self.what, least.segments, self.flash, bits=least.bits, rows=rows)
        self.least = min(least, made, key=_bytes)


def _bytes(made):
    return made.arena, made.again, len(made.code)
