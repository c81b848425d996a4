"""From a graph, a loss and an optimizer to a program: the way through the house, once."""

from array import array

from ..regions import ARENA, REGION_SHIFT
from .forward import family, forward
from .gradient import backward
from .graph import fuse_relu, mask_after_pooling, trained
from .instruction import Instruction, encode
from .masks import keep_bits
from .memory import live_bytes, lower_bound, place, share
from .schedule import Schedule
from .values import ACTIVATION, ERROR, EXPONENT, GRADIENT, OPTIMIZER, SCALE, SCRATCH, WEIGHT, home


class Plan:
    """What compile() decided: the program's bytes, where things lie in the state, the RAM plan.

    ``reading``: (mean, variance, channels, epsilon) of the BatchNorm by which samples are read, offsets in the state; None without.
    """

    reading = None


def compile_graph(nodes, loss, optimizer, dtype, batch, micro=None, segments=(), flash=0, noted=None, bits=None):
    """The Plan that trains ``nodes`` (graph.trace) on batches of ``batch``, ``micro`` at a time.

    The train section of a program for micro-batches has two parts, up to tick and from it on: the
    first runs for each micro-batch (less the clears it begins with, but for the first), and adds its
    gradients to sums; the second updates, once.
    ``flash``: bytes before the first of the weights that are frozen in flash, 0 if none are.
    ``segments``: (first, end) of runs of nodes to compute again before the backward pass of node ``end``.
    ``noted``: a list to fill with the tensors' (name, value); the plan then has its ``buffers`` and ``instructions``, each with
    the name of its layer as ``owner``. ``bits``: as for masks.keep_bits.
    """
    prepare(nodes, dtype, batch)
    s = Schedule(dtype, micro or batch, optimizer, flash)
    s.noted = noted
    output, ends, first = train(s, nodes, loss, micro, segments, bits)
    plan = Plan()
    plan.arena, plan.lower_bound = place(s.instructions)
    owner, shift = home(output.buffer)  # an output made in place lies where its input lay
    output.buffer.offset = owner.offset + shift
    plan.state = s.buffers.state_size
    if max(plan.arena, plan.state) > 1 << REGION_SHIFT:
        raise MemoryError("training needs %d bytes (arena %d, state %d), a program reaches %d of each" % (
            plan.arena + plan.state, plan.arena, plan.state, 1 << REGION_SHIFT))  # fmt: skip
    plan.code = encode(s.instructions, plan.arena, plan.state, s.buffers.flash, ends)
    state = s.buffers.state
    plan.first = [(b.offset, b.first) for b in state if b.first]
    plan.scales = array("i", [b.offset for b in state if b.role == SCALE])
    plan.exponents = [(b.offset, b.size) for b in state if b.role == EXPONENT]
    plan.sizes = _sizes(nodes, state)
    plan.constants = s.buffers.flash
    plan.sums = s.updates.sums.size if micro else 0
    forward = [(index, scale) for index, node in enumerate(nodes) for scale, _ in s.scales.get(node, ())]
    plan.forward = array("i")  # of each range of the forward pass: its node's index, its offset
    for index, scale in forward:
        if index or s.x_seen:
            plan.forward.append(index)
            plan.forward.append(scale.offset)
    known = [scale for _, scale in forward]
    plan.errors = array("i", [found[0].offset for found in s.ranges if found[0] not in known])
    plan.weights = [(node.layer, s.buffers.weights[node]) for node in nodes if node in s.buffers.weights]
    plan.segments, plan.flash, plan.bits = segments, flash, bits
    plan.again = sum([node.layer.macs for node in s.again])
    plan.x_scale, plan.x_seen = s.values[nodes[0]].scale, s.x_seen
    if nodes[0].statistics:
        from .norm import reading

        plan.reading = reading(s, nodes[0].statistics)
    plan.output = output
    plan.bias = output_bias(s, nodes[-1]) if loss.degree else None
    plan.activated = read_by(nodes, loss) is not nodes[-1]  # probabilities come out
    if noted is not None:
        plan.buffers = state
        plan.instructions, plan.values, plan.follow = s.instructions, first, [found[0] for found in s.ranges]
    plan.peaks = {}
    for kind in (ACTIVATION, ERROR, GRADIENT, SCRATCH):
        plan.peaks[kind] = max(live_bytes(s.instructions, kind))
    plan.totals = {}
    for kind in (WEIGHT, OPTIMIZER):
        plan.totals[kind] = sum([(b.size + 3) & ~3 for b in state if b.kind == kind])
    return plan


def _sizes(nodes, state):
    """Bytes of the state of each node's layer, whose buffers begin with its name."""
    sizes = {node.layer.name: 0 for node in nodes}
    for buffer in state:
        at = buffer.name.find(" ")
        while at >= 0:
            if buffer.name[:at] in sizes:
                sizes[buffer.name[:at]] += (buffer.size + 3) & ~3
            at = buffer.name.find(" ", at + 1)
    return [sizes[node.layer.name] for node in nodes]


def train(s, nodes, loss, micro=None, segments=(), bits=None):
    """Emit a training step; returns the output, the ends of the sections, and each node's value in noted schedules.

    ``bits``: as for masks.keep_bits.
    """
    if micro:
        s.updates.accumulate()
    emit = getattr(s.updates.optimizer, "passes", _passes)
    output, ends, first = emit(s, nodes, loss, micro, segments)
    s.finish()
    ends.append(len(s.instructions))
    s.instructions = keep_bits(s.instructions, ends, output.buffer, bits)
    share(s.instructions)
    return output, ends, first


def _passes(s, nodes, loss, micro, segments):
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
            from .sampling import divergence

            divergence(s, node, loss, output)


def update(s, nodes, last, error, micro, segments):
    """Emit the backward pass and the update."""
    s.updates.rate = s.scratch("rate", 8)
    tick = Instruction("tick", (s.updates.rate, s.header, s.control), s.updates.optimizer.betas)
    (s.updates.deferred if micro else s.instructions).append(tick)
    if any([node.layer.dynamic for node in nodes]):
        from .dynamic import relative

        relative(s, nodes, error)
    backward(s, nodes, last, error, segments)
    if segments:
        s.drop_unread()
    s.owner = None
    s.updates.apply()


def read_by(nodes, loss):
    """The node whose output the loss takes: the last one, or that before it where the loss contains the last one's layer."""
    last = nodes[-1]
    return last.inputs[0] if last.layer.kind == loss.activation else last


def output_bias(s, node):
    """The buffer of the biases that train and that are added to the output, unchanged; None if there are none."""
    while node.layer.view and node.inputs:
        node = node.inputs[0]
    weights = s.buffers.weights.get(node)
    if weights is None or node.relu or not (node.layer.trainable and node.layer.update_bias):
        return None
    return weights.bias


def bytes_needed(nodes, loss, optimizer, dtype, batch, micro=None, budget=None):
    """Bytes of arena and state that ``compile`` would reserve; with ``budget`` only whether they are more is right."""
    prepare(nodes, dtype, batch)
    s = Schedule(dtype, micro or batch, optimizer)
    train(s, nodes, loss, micro)
    least = s.buffers.state_size + lower_bound(s.instructions)
    if budget is not None and least > budget:
        return least
    return s.buffers.state_size + place(s.instructions, (budget or 0) - s.buffers.state_size)[0]


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
    if s.int8 and output.scale.region == ARENA:  # a Dropout's: the loss is counted in it, to the end of a step
        s.buffers.move_to_state(output.scale)
    return output


def check_accumulators(nodes, batch):
    """ValueError for a layer whose int32 sums could overflow in int8."""
    reached = trained(nodes)
    for node in nodes:
        check = getattr(family(node.layer), "check", None)
        if check:
            check(node, batch, reached)
