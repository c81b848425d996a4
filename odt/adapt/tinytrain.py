"""Task-adaptive sparse updates: what trains is chosen on the board, for the user's own samples (TinyTrain, Kwon et al.,
2024).

    model.compile(odt.Adam(0.002), batch_size=8)
    model.set_weights(pretrained)                         # or load()
    choice = odt.adapt.task_adaptive(model, x, y, memory_budget=40000, macs_budget=500000)
    model.fit(x, y, epochs=20)

Layers compete by Fisher information for each parameter and multiply-accumulate, their channels by Fisher information
(fisher.py). The choice is made of integers: the same on every machine. ``odt.adapt.update.channels(model, choice)``
sets it again, before a checkpoint of the adapted model is loaded.
"""

from ..base.executor import collect
from ..base.fixed import elements, is_int, scale_div, scale_int
from ..base.primitives import scale_add
from ..plan.compiler import bytes_needed
from ..plan.graph import backward_macs
from ..run import weights
from ..run.replace import half_way, set_arena
from ..run.session import ready
from .fisher import measure, plan
from .update import channels

if 1 - 1:  # for type checkers alone
    from ..model import Model
    from ..run.network import Data

_SHARES = (1, 2, 4, 8)  # 1 / these of a layer's channels


def task_adaptive(
    model: "Model", x: "Data", y: "Data", memory_budget: "int | None" = None, macs_budget: "int | None" = None
) -> "dict[str, tuple[tuple[int, int], ...]]":
    """Let those channels train that matter most for some labelled samples, and compile the model again, with its
    weights.

    ``x``, ``y``: as for ``fit``; a few dozen samples do. ``memory_budget``: bytes of arena and state together, in
    training and while measuring; ``macs_budget``: multiply-accumulates of a sample's backward pass, as ``summary``
    counts them.

    The score of a layer is P / (parameters * MACs), P the sum of its channels' D (as shares of the largest, which
    changes no order). Layers are taken by falling score while they fit, each with all, 1/2, 1/4 or 1/8 of its channels,
    those of the largest D, as many as fit; and all its bias. Returns ``{layer's name: ((first, count), ..)}``, the
    channels that train.

    The model is compiled as before but without recomputation; its ranges are found again. Meanwhile old and new state,
    and a layer's weights as float32, are in RAM at once. MemoryError names the smallest memory_budget for which there
    is a choice, ValueError the smallest macs_budget, or says that weights are frozen in flash; the model is then as
    before.
    """
    for name, value in (("memory_budget", memory_budget), ("macs_budget", macs_budget)):
        if value is not None and not is_int(value):
            raise TypeError("%s is an int, got %r" % (name, value))
    session = ready(model)
    session.alone("task_adaptive")
    if session.frozen is not None:
        raise ValueError("task_adaptive: weights that are frozen in flash cannot be chosen, compile without frozen=")
    layers = [node.layer for node in model.nodes]
    before = [(layer, layer.trainable, layer.update_rows, layer.update_bias, layer.dynamic) for layer in layers]
    try:
        probe = plan(model, None if memory_budget is None else memory_budget - len(session.state))
        least = len(session.state) + probe.arena
        if memory_budget is not None and least > memory_budget:
            every = [(layer, range(layer.kernel_shape[0])) for layer, _, _ in probe.totals]
            _refuse(model, every, memory_budget, macs_budget, least)
        choice = _choose(model, _rank(measure(model, x, y, probe)), memory_budget, macs_budget)
        channels(model, choice)
        _recompile(model)
    except BaseException:
        for layer, layer.trainable, layer.update_rows, layer.update_bias, layer.dynamic in before:
            pass
        raise
    return choice


def _rank(measured):
    """``[(layer, its channels by falling D)]`` by falling score; channels of D = 0 are none."""
    ranked = []
    for number, (layer, found) in enumerate(measured):
        total = 0
        for value in found:
            if value:
                total = scale_add(total, value) if total else value
        if not total:
            continue
        parameters = 0
        for _, shape in layer.weight_shapes():
            parameters += elements(shape)
        score = scale_div(scale_div(total, scale_int(parameters)), scale_int(layer.macs))
        order = sorted([(-value, channel) for channel, value in enumerate(found) if value])
        ranked.append((-score, number, layer, [channel for _, channel in order]))
    ranked.sort(key=lambda row: row[:2])
    return [row[2:] for row in ranked]


def _choose(model, ranked, memory_budget, macs_budget):
    choice = {}
    for layer, order in ranked:
        for rows in _counts(layer, order):
            wider = dict(choice)
            wider[layer.name] = _ranges(order[:rows])
            if _fits(model, wider, memory_budget, macs_budget):
                choice = wider
                break
    if not choice:
        _refuse(model, ranked, memory_budget, macs_budget)
    return choice


def _counts(layer, order):
    """How many channels of a layer may be taken, the most first."""
    counts = []
    for share in _SHARES:
        rows = min((layer.kernel_shape[0] + share - 1) // share, len(order))
        if rows not in counts:
            counts.append(rows)
    return counts


def _ranges(rows):
    """Ranges (first, count) of these numbers."""
    found = []
    for row in sorted(rows):
        if found and sum(found[-1]) == row:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((row, 1))
    return tuple(found)


def _fits(model, choice, memory_budget, macs_budget):
    channels(model, choice)
    if macs_budget is not None and sum(backward_macs(model.nodes)) > macs_budget:
        return False
    return memory_budget is None or _bytes(model, memory_budget) <= memory_budget


def _bytes(model, budget=None):
    collect()
    session = model.session
    what = (model.nodes, session.loss, session.optimizer, session.dtype, session.batch_size, session.micro)
    return bytes_needed(*what, budget=budget)


def _refuse(model, ranked, memory_budget, macs_budget, measuring=0):
    """Raise the error that names the smallest budget for which there is a choice; ``measuring``: the bytes that
    measuring takes.
    """
    if not ranked:
        raise ValueError("task_adaptive: the loss of these samples depends on no channel")
    least = []
    for layer, order in ranked:
        choice = {layer.name: _ranges(order[: _counts(layer, order)[-1]])}
        channels(model, choice)
        least.append((sum(backward_macs(model.nodes)), choice))
    macs = min([row[0] for row in least])
    if macs_budget is not None and macs > macs_budget:
        raise ValueError("macs_budget %d: at least %d of a backward pass are needed" % (macs_budget, macs))
    needed = []
    for macs, choice in least:
        if macs_budget is None or macs <= macs_budget:
            channels(model, choice)
            needed.append(_bytes(model))
    raise MemoryError("memory_budget %d: at least %d bytes are needed" % (memory_budget, max(measuring, min(needed))))


def _recompile(model):
    """``compile`` by the policy that is set, and the weights in what is then their place."""
    old = model.session
    size = len(old.arena)
    set_arena(old, None)
    model.session = None  # else compile() would keep its ranges
    try:
        model.compile(old.optimizer, old.loss, old.dtype, old.batch_size, old.seed, micro_batch=old.micro)
    except BaseException:
        model.session = old
        set_arena(old, bytearray(size))
        raise
    session = model.session
    half_way(session, "task_adaptive")
    int8 = session.dtype == "int8"
    olds = dict(old.plan.weights)
    for layer, new in session.plan.weights:
        if new.into:
            continue
        values = weights.read(layer, old.state, None, olds[layer], int8)
        if new.folded:
            from ..run.folding import fold

            inner = new.folded[0]
            values = fold(values, new, weights.read(inner, old.state, None, olds[inner], int8))
        weights.write(session.state, layer, new, int8, values)
    session.leave()
