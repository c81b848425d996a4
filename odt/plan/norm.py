"""Layer, group and batch normalisation; and frozen BatchNorms that become part of the weights before them."""

from ..base.fixed import ONE, scale_div, scale_shift
from ..base.primitives import isqrt
from .graph import consumers
from .shared import bias_gradient, ceiling
from .values import ACTIVATION, ERROR, GRADIENT, Part

_BITS = 8  # of a normalised x after the binary point, in gamma's gradient


def check(node, batch, reached):
    """Note how many bits gamma's gradient has; ValueError where its int32 sum could overflow in int8."""
    node.layer.bits = _hat_bits(node.layer, batch)


def _hat_bits(layer, batch):
    """How many bits gamma's gradient over a batch leaves a normalised x; ValueError if it has none.

    Over m rows of groups of C channels the magnitudes of a channel sum up to m * sqrt(C) at most.
    """
    rows, positions, _, channels = layer.groups_of(batch)
    products = rows * positions * (isqrt(channels - 1) + 1) * 127
    bits = _BITS
    while products << bits >= 1 << 31:
        bits -= 1
    if bits < 2:
        raise ValueError("%r: gamma's gradient over %d positions (batch_size %d) may overflow an int32" % (
            layer, rows * positions, batch))  # fmt: skip
    return bits


def fold_normalization(nodes):
    """Let each Normalization become part of the Input that it follows; ValueError where that cannot be."""
    for node in nodes:
        if node.layer.kind == "normalization":
            (parent,) = node.inputs
            if parent.inputs or len(consumers(nodes, parent)) > 1:
                raise ValueError("%r: a Normalization follows the Input, and alone" % node.layer)
            parent.folded = node
            node.alias = parent


def read_by_batchnorm(nodes):
    """Let samples that int8 would give one scale be read by the running statistics of a BatchNorm that comes first, and
    alone.
    """
    for node in nodes:
        if node.layer.kind != "batchnorm":
            continue
        (parent,) = node.inputs
        while parent.layer.view and parent.inputs and len(consumers(nodes, parent)) == 1:
            (parent,) = parent.inputs
        layer = parent.layer
        if layer.kind != "input" or layer.dtype in ("int8", "uint8") or layer.limit or layer.steps or parent.folded:
            continue
        if len(consumers(nodes, parent)) == 1:
            parent.statistics = node.statistics = node


def reading(weights, layer):
    """Where the statistics by which samples are read are in the state: (mean, variance, channels, epsilon)."""
    mean, variance = weights.vectors[2:]
    return mean.offset, variance.offset, layer.channels, layer.epsilon


def gather(s, node, value):
    """Emit the reading of samples for an Input that a Normalization follows, or a BatchNorm that scales them."""
    if node.statistics:
        layer = node.statistics.layer
        vectors = s.buffers.parameters(node.statistics).vectors[2:]
    else:
        layer = node.folded.layer
        vectors = s.buffers.normalization(node).vectors
    (_, mean, _), (_, variance, _) = vectors
    sizes = (s.batch, value.count // (s.batch * layer.channels), layer.channels)
    if s.int8:
        operands = (value.buffer, value.peak, s.control, s.x, value.scale, mean, variance)
        s.emit("gather_norm_i8", operands, sizes + (value.zero,))
    else:
        s.emit("gather_norm_f32", (value.buffer, s.control, s.x, mean, variance), sizes)


def fold_batchnorm(nodes):
    """Let each frozen BatchNorm that alone follows frozen weights become part of them."""
    for node in nodes:
        if node.layer.kind != "batchnorm" or node.layer.trainable:
            continue
        (parent,) = node.inputs
        frozen = parent.layer.kernel_shape and not parent.layer.trainable and not parent.layer.steps
        if frozen and not parent.relu and len(consumers(nodes, parent)) == 1:
            parent.folded = node
            node.alias = parent


def _norm(s, node, inputs):
    """Forward: statistics, then every number by them. What backward needs stays with the weights."""
    (x,) = inputs
    layer = node.layer
    weights = s.buffers.parameters(node)
    (_, gamma, _), (_, beta, _) = weights.vectors[:2]
    sizes = layer.groups_of(s.batch)
    y = s.tensor(layer.name, x.count, ACTIVATION, node.relu)
    weights.statistics = st = s.scratch("statistics", 8 * sizes[0] * sizes[2])
    if s.int8:
        s.stream(layer.name + " dx")  # now: micro-batches update later, and are to draw the same
    if layer.kind == "batchnorm":
        _batch_statistics(s, node, weights, x)
    elif s.int8:
        s.emit("norm_stats_i8", (st, x.buffer, x.scale), sizes + (x.zero, x.factor, layer.epsilon))
    else:
        s.emit("norm_stats_f32", (st, x.buffer), sizes + (layer.epsilon,))
    if not s.int8:
        operands = (y.buffer, x.buffer, st, gamma, beta)
        s.emit("norm_f32", operands, sizes + (int(node.relu == 1),))
        return ceiling(s, y, layer.name) if node.relu == 6 else y
    gain = s.scratch("gain", 8 * layer.channels)
    offset = s.scratch("offset", 4 * layer.channels)
    s.emit("affine_i8", (gain, offset, gamma, beta, y.scale), (layer.channels,))
    operands = (y.buffer, y.peak, x.buffer, st, gain, offset)
    s.emit("norm_i8", operands, sizes + (x.zero, y.zero, y.lo))
    return y


def _batch_statistics(s, node, weights, x):
    """The running statistics, and while training the batch's over them."""
    layer, st = node.layer, weights.statistics
    (_, mean, _), (_, variance, _) = weights.vectors[2:]
    channels = layer.channels
    sizes = (s.batch, layer.positions, channels)
    if node.statistics and not layer.trainable:
        return _of_samples(s, node, weights, x, variance)
    if not s.int8:
        s.emit("running_stats_f32", (st, mean, variance), (channels, layer.epsilon))
    elif not node.statistics:
        s.emit("running_stats_i8", (st, mean, variance, x.scale), (channels, x.factor, layer.epsilon))
    if not layer.trainable:
        return
    if s.batch * layer.positions == 1 and s.buffers.trains and not s.probing:
        raise ValueError(
            "%r: one number per channel in a batch has no variance: give more samples, or trainable=False" % layer
        )
    weights.spread = s.scratch("variance of the batch", 4 * channels)
    if s.int8:
        operands = (st, weights.spread, x.buffer, x.scale, s.control)
        s.emit("batch_stats_i8", operands, sizes + (x.zero, x.factor, layer.epsilon))
        if node.statistics:
            _of_samples(s, node, weights, x, weights.spread)
    else:
        s.emit("batch_stats_f32", (st, weights.spread, x.buffer, s.control), sizes + (layer.epsilon,))


def _of_samples(s, node, weights, x, spread):
    """The statistics of samples that the running ones have scaled already."""
    layer = node.layer
    operands = (weights.statistics, spread, weights.vectors[3][1], x.scale, s.control)
    s.emit("read_stats_i8", operands, (layer.channels, x.factor, layer.epsilon, int(layer.trainable)))


def _norm_dx(s, node, error, needed):
    """Backward: gamma's and beta's gradients, the running statistics, the error below."""
    layer = node.layer
    x = s.values[node.inputs[0]]
    weights = s.buffers.weights[node]
    sizes = layer.groups_of(s.batch)
    if s.probing or not layer.trainable:
        return [_dx(s, node, error, x, weights, sizes) if needed[0] else None]
    suffix = "_i8" if s.int8 else "_f32"

    def make_gamma(row):
        gradient = s.scratch("gamma gradient", 4 * row.count, GRADIENT)
        immediates = sizes + ((x.zero, layer.bits) if s.int8 else ())
        s.emit("norm_dw" + suffix, (gradient, error.buffer, x.buffer, weights.statistics), immediates)
        return gradient

    def make_beta(row):
        return bias_gradient(s, "beta", error, row.count)

    row = Part(1, layer.channels)
    gradients = []
    for make in (make_gamma, make_beta):
        gradients.append(s.updates.summed([row], make) if s.updates.sums else make(row))
    if layer.kind == "batchnorm":
        _track(s, node, weights, x)
    dx = _dx(s, node, error, x, weights, sizes) if needed[0] else None
    factor = scale_shift(error.factor, -layer.bits) if s.int8 else ONE
    for (name, vector, _), gradient, each in zip(weights.vectors, gradients, (factor, error.factor)):
        s.updates.vector("%s %s" % (layer.name, name), vector, gradient, error.scale, each)
    return [dx]


def _track(s, node, weights, x):
    layer = node.layer
    (_, mean, _), (_, variance, _) = weights.vectors[2:]
    operands = (mean, variance, weights.statistics, weights.spread)
    parts = (layer.keep, layer.rest)
    if node.statistics:
        s.emit("track_read_i8", operands + (x.scale,), (layer.channels, x.factor, layer.epsilon) + parts)
    elif s.int8:
        s.emit("track_i8", operands + (x.scale,), (layer.channels, x.factor) + parts)
    else:
        s.emit("track_f32", operands, (layer.channels,) + parts)


def _dx(s, node, error, x, weights, sizes):
    layer = node.layer
    batch = layer.kind == "batchnorm"
    constant = batch and (s.probing or not layer.trainable)  # the statistics do not depend on x
    rows = layer.positions if batch else 0
    gamma, st = weights.vectors[0][1], weights.statistics
    name = layer.name + " dx"
    if s.int8:
        dx = s.tensor(name, x.count, ERROR)
        factor = scale_div(error.factor, x.factor) if x.factor != ONE else error.factor
        scales = (gamma, error.scale, x.scale, dx.scale)
        if constant:
            operands = (dx.buffer, dx.peak, error.buffer, st) + scales
            s.emit("affine_dx_i8", operands, (x.count // layer.channels, layer.channels, factor))
        else:
            operands = (dx.buffer, dx.peak, error.buffer, x.buffer, st) + scales + (s.control,)
            s.emit("norm_dx_i8", operands, sizes + (x.zero, factor, rows, s.dither(name), x.count // s.batch))
        return dx
    dx = s.like(name, error)
    if constant:
        s.emit("affine_dx_f32", (dx.buffer, error.buffer, st, gamma), (x.count // layer.channels, layer.channels))
    else:
        s.emit("norm_dx_f32", (dx.buffer, error.buffer, x.buffer, st, gamma, s.control), sizes + (rows,))
    return dx


_ROW = (_norm, _norm_dx)
ROWS = {"layernorm": _ROW, "groupnorm": _ROW, "batchnorm": _ROW}
