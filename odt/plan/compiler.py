"""From a graph, a loss and an optimizer to a program: the way through the house, once."""

from array import array

from ..base.executor import collect
from ..base.regions import ARENA, REGION_SHIFT
from .forward import family, forward
from .gradient import backward
from .graph import fuse_relu, mask_after_pooling, trained
from .instruction import encode, room
from .masks import keep_bits
from .memory import lifetimes, live_bytes, place, share
from .schedule import Schedule
from .values import ACTIVATION, ERROR, GRADIENT, SCRATCH, Plan, Value, placed


class Draft:
    """What compile_graph() has decided, as numbers, operands and the planner's own objects."""


def compile_graph(
    nodes, loss, optimizer, dtype, batch, micro=None, segments=(), flash=0, noted=None, bits=None, rows=None
):
    """The Plan that trains ``nodes`` (graph.trace) on batches of ``batch``, ``micro`` at a time.

    The train section of a program for micro-batches has two parts, up to tick and from it on: the
    first runs for each micro-batch (less the clears it begins with, but for the first), and adds its
    gradients to sums; the second updates, once.
    ``flash``: bytes before the first of the weights that are frozen in flash, 0 if none are.
    ``segments``: (first, end) of runs of nodes to compute again before the backward pass of node ``end``.
    ``noted``: a list to fill with the tensors' (name, value); the plan then has its ``buffers``, ``instructions`` and
    ``values``, all of them as seen.py has it. ``bits``: as for masks.keep_bits. ``rows``: on a PC, what lets parts of
    the forward pass run by rows: rows(schedule, ends) (host/rows).
    """
    draft = _draft(nodes, loss, optimizer, dtype, batch, micro, segments, flash, noted, bits, rows)
    collect()  # what planning took, so that what stays takes its place
    return _finished(nodes, draft)


def _draft(nodes, loss, optimizer, dtype, batch, micro, segments, flash, noted, bits, rows):
    """What compile_graph() decides, of operands; nothing else that planning made is needed after it."""
    prepare(nodes, dtype, batch)
    s = Schedule(dtype, micro or batch, optimizer, flash, noted, rows and rows.buffers)
    s.buffers.layers = {node.layer.name: 0 for node in nodes}
    output, ends, first = train(s, nodes, loss, micro, segments, bits, rows)
    draft = Draft()
    draft.segments, draft.flash, draft.bits, draft.rows = segments, flash, bits, rows
    if rows:
        draft.arena, draft.lower_bound, draft.peaks = rows.place(s)
    _describe(draft, s, nodes, loss, output, micro)
    if noted is None:
        s.drop_values()
    draft.code = room(s.instructions)
    if not rows:
        _place(draft, s.instructions, s.arena)
    if max(draft.arena, draft.state) > 1 << REGION_SHIFT:
        raise MemoryError(
            "arena %d, state %d: a program reaches %d bytes of each" % (draft.arena, draft.state, 1 << REGION_SHIFT)
        )
    addresses = s.arena.addresses()
    draft.output_at = addresses[output.buffer]
    encode(draft.code, s.instructions, addresses, draft.arena, draft.state, draft.constants, ends)
    draft.seen = None
    if noted is not None:
        from .seen import seen

        draft.seen = seen(s, first)
    s.release()
    return draft


def _place(draft, instructions, arena):
    """Give each buffer of the arena its place."""
    lives, kinds = lifetimes(instructions, arena), (ACTIVATION, ERROR, GRADIENT, SCRATCH)
    draft.arena, draft.lower_bound = place(lives, arena, len(instructions))
    draft.peaks = {kind: max(live_bytes(lives, arena, len(instructions), kind)) for kind in kinds}


def _describe(draft, s, nodes, loss, output, micro):
    """What the Plan says of state and tensors."""
    buffers = s.buffers
    draft.state, draft.constants = buffers.state_size, buffers.flash
    draft.first, draft.scales, draft.exponents = buffers.first, buffers.scales, buffers.spans
    owners = [node for node in nodes if node in buffers.weights]
    draft.owners = [node.layer for node in owners]
    draft.words = _words(owners, buffers.weights, 1 if s.int8 else 4)
    draft.totals = buffers.totals
    draft.sizes = [buffers.layers[node.layer.name] for node in nodes]
    draft.sums = s.arena.sizes[s.updates.sums] if micro else 0
    draft.again = sum([node.layer.macs for node in s.again])
    draft.forward = forward = array("i")  # of each range of the forward pass: its node's index, its offset
    known = []
    for index, node in enumerate(nodes):
        for scale, _ in s.scales.get(node, ()):
            known.append(scale)
            if index or s.x_seen is not None:
                forward.append(index)
                forward.append(_offset(scale))
    draft.errors = array("i", [_offset(found[0]) for found in s.ranges if found[0] not in known])
    draft.x_scale, draft.x_seen = s.values[nodes[0]].scale, s.x_seen
    draft.output = output
    draft.bias, draft.bias_size = output_bias(s, nodes[-1]) if loss.degree else (None, 0)
    draft.activated = read_by(nodes, loss) is not nodes[-1]  # probabilities come out


def _offset(operand):
    return operand & (1 << REGION_SHIFT) - 1


def _finished(nodes, draft):
    """The Plan of a Draft, with new objects: on a board they lie at the bottom of the heap that planning has freed."""
    plan = Plan()
    plan.code, plan.arena, plan.lower_bound, plan.state = draft.code, draft.arena, draft.lower_bound, draft.state
    plan.constants, plan.sums, plan.again = draft.constants, draft.sums, draft.again
    plan.segments, plan.flash, plan.bits, plan.activated = draft.segments, draft.flash, draft.bits, draft.activated
    if draft.rows:
        plan.rows = draft.rows
    plan.first = [(offset, bytes(memoryview(data))) for offset, data in draft.first]
    plan.exponents, plan.sizes = array("i", draft.exponents), array("i", draft.sizes)
    plan.scales, plan.forward, plan.errors = (
        array("i", draft.scales),
        array("i", draft.forward),
        array("i", draft.errors),
    )
    plan.peaks, plan.totals = dict(draft.peaks), dict(draft.totals)
    plan.owners, plan.words = list(draft.owners), array("i", draft.words)
    if nodes[0].statistics:
        from .norm import reading

        layer = nodes[0].statistics.layer
        plan.reading = reading(dict(plan.weights)[layer], layer)
    plan.x_scale, plan.x_seen = _word("range", draft.x_scale), _word("largest input", draft.x_seen)
    plan.output = _output(draft)
    plan.bias = None if draft.bias is None else placed(draft.bias, "bias", draft.bias_size)
    if draft.seen:
        plan.buffers, plan.instructions, plan.values, plan.follow = draft.seen
    draft.code = draft.first = draft.output = draft.seen = None  # see Schedule.release()
    return plan


def _word(name, operand):
    """The Buffer of one word; None of None."""
    return None if operand is None else placed(operand, name, 4)


def _output(draft):
    """The output's Value, of Buffers."""
    output = draft.output
    value = Value(placed(draft.output_at, "output", 0), output.count)
    if output.scale is not None:
        value.scale = _word("output scale", output.scale)
        value.zero, value.lo, value.factor = output.zero, output.lo, output.factor
    return value


def _words(owners, parameters, unit):
    """What a Plan knows of the weights of these nodes."""
    into = [-1] * len(owners)
    for index, node in enumerate(owners):
        if parameters[node].folded:
            into[owners.index(parameters[node].folded)] = index
    words = array("i")
    for node, held in zip(owners, into):
        words.extend(array("i", parameters[node].words(unit, held)))
    return words


def train(s, nodes, loss, micro=None, segments=(), bits=None, rows=None):
    """Emit a training step; returns the output, the ends of the sections, and each node's value in noted schedules.

    ``bits``, ``rows``: as for compile_graph.
    """
    if micro:
        s.updates.accumulate()
    emit = getattr(s.updates.optimizer, "passes", passes)
    output, ends, first = emit(s, nodes, loss, micro, segments)
    s.finish()
    ends.append(len(s.instructions))
    keep_bits(s, ends, output.buffer, bits)
    if rows:
        rows(s, ends)
    share(s.instructions, s.arena)
    if s.updates.ratio is not None:
        from ..base.opcodes import forget

        forget()  # what adapt/plan.py has looked up
    return output, ends, first


def passes(s, nodes, loss, micro, segments):
    """Emit forward pass, loss and what trains."""
    s.trained = trained(nodes) if s.updates.optimizer else ()
    s.begin()
    output = predict(s, nodes)
    first = dict(s.values) if s.noted is not None else None
    ends = [len(s.instructions)]
    if loss.degree and s.ranges:  # the loss is counted in the output's scale, which is not to move every step
        s.ranges[-1] = s.ranges[-1][:4] + (0,)
    s.owner = "loss"
    last = read_by(nodes, loss)
    error = loss.emit(s, s.values[last])
    diverge(s, nodes, loss, s.values[last])
    s.owner = None
    ends.append(len(s.instructions))
    if s.updates.optimizer:
        update(s, nodes, last, error, micro, segments)
    return output, ends, first


def diverge(s, nodes, loss, output):
    """Emit what a Sampling adds to the loss of ``output``."""
    for node in nodes:
        if node.layer.kind == "sampling":
            family(node.layer).divergence(s, node, loss, output)


def update(s, nodes, last, error, micro, segments):
    """Emit the backward pass and the update."""
    s.updates.rate = s.scratch("rate", 8)
    tick = s.instruction("tick", (s.updates.rate, s.header, s.control), s.updates.optimizer.betas)
    (s.updates.deferred if micro else s.instructions).append(tick)
    backward(s, nodes, last, error, segments)
    if segments:
        s.drop_unread()
    s.owner = None
    s.updates.apply()


def read_by(nodes, loss):
    """The node whose output the loss takes: the last one, or that before it where the loss contains the last one's
    layer.
    """
    last = nodes[-1]
    return last.inputs[0] if last.layer.kind == loss.activation else last


def output_bias(s, node):
    """The biases that train and that are added to the output, unchanged:
    operand and bytes; None of a network without.
    """
    while node.layer.view and node.inputs:
        node = node.inputs[0]
    weights = s.buffers.weights.get(node)
    if weights is None or node.relu or not (node.layer.trainable and node.layer.update_bias):
        return None, 0
    return weights.bias, 4 * weights.rows


def bytes_needed(nodes, loss, optimizer, dtype, batch, micro=None, budget=None):
    """Bytes of arena and state that ``compile`` would reserve; with ``budget`` only whether they are more is right."""
    prepare(nodes, dtype, batch)
    s = Schedule(dtype, micro or batch, optimizer)
    train(s, nodes, loss, micro)
    state, count = s.buffers.state_size, len(s.instructions)
    lives = lifetimes(s.instructions, s.arena)
    least = state + max(live_bytes(lives, s.arena, count))
    if budget is not None and least > budget:
        return least
    return state + place(lives, s.arena, count, (budget or 0) - state)[0]


def prepare(nodes, dtype, batch):
    """Note in the nodes what is fused; ValueError for what the dtype cannot do."""
    if dtype == "int8":
        check_accumulators(nodes, batch)
    given = dtype == "int8" and any([node.layer.steps for node in nodes])
    moving = trained(nodes) if given else ()
    for node in nodes:
        node.steps = node.layer.steps if given and node not in moving else None
        node.relu = node.clamp
        node.alias = node.folded = node.statistics = None
        node.masks = 0
    kinds = [node.layer.kind for node in nodes]
    if "normalization" in kinds:
        from .norm import fold_normalization

        fold_normalization(nodes)
    if "batchnorm" in kinds:
        from .norm import fold_batchnorm, read_by_batchnorm

        fold_batchnorm(nodes)
        if dtype == "int8":
            read_by_batchnorm(nodes)
    fuse_relu(nodes)
    mask_after_pooling(nodes)


def predict(s, nodes):
    """Emit the forward pass; returns the network's output."""
    forward(s, nodes)
    return predict_from(s, nodes)


def predict_from(s, nodes):
    """The network's output, where the forward pass is emitted."""
    output = s.values[nodes[-1]]
    if s.int8 and output.scale >> REGION_SHIFT == ARENA:  # a Dropout's: the loss is counted in it, to the end of a step
        names = [node.layer.name for node in nodes if s.values[node].scale == output.scale]
        output.scale = s.buffers.move_to_state(names[0] + " kept", output.scale)
    return output


def check_accumulators(nodes, batch):
    """ValueError for a layer whose int32 sums could overflow in int8."""
    reached = trained(nodes)
    for node in nodes:
        check = getattr(family(node.layer), "check", None)
        if check:
            check(node, batch, reached)
