"""From attention and positions to their instructions.

Scores are no tensor: the instruction that sums a row of them ends with the row's softmax, and so does its gradient.
"""

from ..base.fixed import ONE, scale_div, scale_int, scale_shift
from ..base.primitives import scale_sqrt
from ..base.regions import const
from ..plan.shared import bias_gradient, times
from ..plan.values import ACTIVATION, ERROR, Part

_PER_256 = const(0x3B800000)
_IN_Q16 = const(0x47B8AA3B)  # log2(e) * 2^16: what scores are counted in
_MOST = const(0x7FFFFFFF)


def check(node, batch, reached):
    """ValueError where an int32 sum of an attention could overflow in int8."""
    layer = node.layer
    if layer.kind != "attention":
        return
    _, rows, keys, width = layer.sizes
    # Of 255 * 127 in what is mixed; in the gradient of 127 * 127, times 256 and less their mean by weights of up to 1/2
    # of a step too much each.
    if max(rows, keys) * 255 * 127 > 1 << 30 or width * 127 * 127 * (513 + keys // 2) > _MOST:
        raise ValueError(
            "%r: heads of %d features over %d steps may overflow an int32: take more heads, or fewer steps"
            % (layer, width, max(rows, keys))
        )


def _factor(layer):
    """What products of queries and keys are divided by, its inverse as a scale."""
    return scale_div(ONE, scale_sqrt(scale_int(layer.sizes[3])))


def _one(s):
    return s.buffers.constant(ONE.to_bytes(4, "little"))


def _product(s, name, a, b, scale, factor=ONE):
    """The multiplier from products of a and b to steps of ``scale``."""
    both, rescale = s.scratch(name + " scale", 4), s.scratch(name + " rescale", 8)
    s.emit("product", (both, a.scale, b.scale), (times(a.factor, b.factor),))
    s.emit("ratio", (rescale, both, scale), (factor,))
    return rescale


def _mix(s, y, a, b, sizes, factor=ONE, stream=0, back=0):
    """Emit y = a b, head by head, or ``back`` a^T b, whose rows are a's columns."""
    heads, rows, keys, width = sizes
    sizes = (s.batch, heads, keys, rows, width) if back else (s.batch,) + sizes
    if s.int8:
        rescale = _product(s, "mix", a, b, y.scale, factor)
        operands = (y.buffer, y.peak, a.buffer, b.buffer, rescale, s.control)
        s.emit("mix_i8", operands, sizes + (a.zero, stream, back))
    else:
        s.emit("mix_f32", (y.buffer, a.buffer, b.buffer), sizes + (factor, back))
    return y


def _forward(s, node, inputs):
    query, key, value = inputs
    layer = node.layer
    heads, rows, keys, width = sizes = layer.sizes
    count, causal = s.batch * heads * rows * keys, int(layer.causal)
    if s.int8:
        weights = s.scaled(layer.name + " weights", count, _PER_256, -128)
        rescale = _product(s, "scores", query, key, _one(s), times(_IN_Q16, _factor(layer)))
        operands = (weights.buffer, s.scratch("scores", 4 * keys), query.buffer, key.buffer, rescale)
        s.emit("attend_i8", operands, (s.batch,) + sizes + (causal,))
    else:
        weights = s.tensor(layer.name + " weights", count, ACTIVATION)
        operands = (weights.buffer, query.buffer, key.buffer)
        s.emit("attend_f32", operands, (s.batch,) + sizes + (causal, _factor(layer)))
    s.choices[node] = weights
    y = s.tensor(layer.name, s.batch * heads * rows * width, ACTIVATION)
    return _mix(s, y, weights, value, sizes)


def _backward(s, node, error, needed):
    layer = node.layer
    sizes, name = layer.sizes, layer.name
    query, key, value = [s.values[parent] for parent in node.inputs]
    weights = s.choices[node]
    found = [None, None, None]

    def made(index, back, a, b, factor):
        what = "%s dx%d" % (name, index)
        found[index] = s.tensor(what, s.values[node.inputs[index]].count, ERROR)
        stream = s.dither(what) if s.int8 else 0
        _mix(s, found[index], a, b, sizes, factor, stream, back)

    if needed[2]:
        made(2, 1, weights, error, ONE)
    if needed[0] or needed[1]:
        scores = _scores_dx(s, layer, weights, error, value)
        if needed[0]:
            made(0, 0, scores, key, _factor(layer))
        if needed[1]:
            made(1, 1, scores, query, _factor(layer))
    return found


def _scores_dx(s, layer, weights, error, value):
    """The error of the scores."""
    name = layer.name + " scores dx"
    dp = s.tensor(name, weights.count, ERROR)
    sizes = (s.batch,) + layer.sizes
    if s.int8:
        rescale = _product(s, "scores dx", error, value, dp.scale, scale_shift(ONE, -8))
        row = s.scratch("row of errors", 4 * layer.sizes[2])
        operands = (dp.buffer, dp.peak, row, error.buffer, value.buffer, weights.buffer, rescale, s.control)
        s.emit("attend_dx_i8", operands, sizes + (s.dither(name),))
    else:
        s.emit("attend_dx_f32", (dp.buffer, error.buffer, value.buffer, weights.buffer), sizes)
    return dp


def _position(s, node, inputs):
    (x,) = inputs
    layer = node.layer
    ((_, position, _),) = s.buffers.parameters(node).vectors
    y = s.tensor(layer.name, x.count, ACTIVATION)
    sizes = (s.batch, layer.channels)
    if not s.int8:
        s.emit("offset_f32", (y.buffer, x.buffer, position), sizes)
        return y
    first, second = s.scratch("rescale", 8), s.scratch("position rescale", 8)
    s.emit("ratio", (first, x.scale, y.scale), (x.factor,))
    s.emit("ratio", (second, _one(s), y.scale), (scale_shift(ONE, -12),))  # of 2^-20, to 1/256 of a step
    operands = (y.buffer, y.peak, x.buffer, position, first, second)
    s.emit("offset_i8", operands, sizes + (x.zero, y.zero, y.lo))
    return y


def _position_dx(s, node, error, needed):
    layer = node.layer
    if s.probing or not layer.trainable:
        return [error]
    ((_, position, _),) = s.buffers.weights[node].vectors

    def make(part):
        return bias_gradient(s, "position", error, part.count)

    whole = Part(1, layer.channels)
    gradient = s.updates.summed([whole], make) if s.updates.sums else make(whole)
    s.updates.vector(layer.name + " position", position, gradient, error.scale, error.factor)
    return [error]


ROWS = {"attention": (_forward, _backward), "position": (_position, _position_dx)}
