"""Activations that are instructions of their own. A ReLU after a layer that can clamp is none: see graph.fuse_relu."""

from ..base.fixed import ONE, scale_shift
from ..base.regions import const
from .masks import mask
from .shared import ceiling, convert, rescaled, spread, times
from .values import ACTIVATION

_PER_256 = const(0x3B800000)  # 1/256: the step of what lies in 0 .. 1
_PER_128 = const(0x3C000000)
_TWO = const(0x40000000)


def _relu(s, node, inputs):
    (x,) = inputs
    y = s.like(node.layer.name, x, ACTIVATION)
    if s.int8:
        s.emit("relu_i8", (y.buffer, x.buffer), (x.count, x.zero))
    else:
        s.emit("relu_f32", (y.buffer, x.buffer), (x.count,))
    return y


def _relu_dx(s, node, error, needed):
    return [mask(s, node, error, 1)]


def _relu6(s, node, inputs):
    (x,) = inputs
    if not s.int8:
        return ceiling(s, x, node.layer.name)
    y = s.tensor(node.layer.name, x.count, ACTIVATION, 6)
    convert(s, y, x, (1, x.count, x.count, 0))
    return y


def _relu6_dx(s, node, error, needed):
    return [mask(s, node, error, 6)]


def _leaky_relu(s, node, inputs):
    (x,) = inputs
    y = s.like(node.layer.name, x, ACTIVATION)
    slope = node.layer.slope
    if s.int8:
        s.emit("leaky_relu_i8", (y.buffer, x.buffer), (x.count, x.zero, slope))
    else:
        s.emit("leaky_relu_f32", (y.buffer, x.buffer), (x.count, slope))
    return y


def _leaky_relu_dx(s, node, error, needed):
    dx = s.like(node.layer.name + " dx", error)
    slope = node.layer.slope
    if s.int8:
        x = s.values[node.inputs[0]]
        operands = (dx.buffer, error.buffer, x.buffer, s.control)
        s.emit("leaky_relu_dx_i8", operands, (error.count, x.zero, slope, s.dither(node.layer.name + " dx")))
    else:
        operands = (dx.buffer, error.buffer, s.values[node].buffer)
        s.emit("leaky_relu_dx_f32", operands, (error.count, slope))
    return [dx]


def _curve(kind, scale, zero, factor):
    """Sigmoid and tanh: of a fixed range, tanh(x) being 2 sigmoid(2x) - 1."""

    def forward(s, node, inputs):
        (x,) = inputs
        if not s.int8:
            y = s.like(node.layer.name, x, ACTIVATION)
            s.emit(kind + "_f32", (y.buffer, x.buffer), (x.count,))
            return y
        y = s.scaled(node.layer.name, x.count, scale, zero)
        s.emit("sigmoid_i8", (y.buffer, x.buffer, x.scale), (x.count, x.zero, times(x.factor, factor)))
        return y

    return forward


def _curve_dx(kind, shift):
    def backward(s, node, error, needed):
        y = s.values[node].buffer
        if s.int8:
            dx, rescale = rescaled(s, node, error, scale_shift(ONE, shift))
            return spread(s, "sigmoid_dx", dx, (error.buffer, y), rescale, (error.count,))
        dx = s.like(node.layer.name + " dx", error)
        s.emit(kind + "_dx_f32", (dx.buffer, error.buffer, y), (error.count,))
        return [dx]

    return backward


def _bent(s, node, inputs):
    """ELU, SELU and GELU, which the immediates in ``layer.curve`` tell apart."""
    (x,) = inputs
    curve = node.layer.curve
    y = s.tensor(node.layer.name, x.count, ACTIVATION)
    if s.int8:
        sizes = (x.count, x.zero, y.zero, y.lo, x.factor) + curve
        s.emit("curve_i8", (y.buffer, y.peak, x.buffer, x.scale, y.scale), sizes)
    else:
        s.emit("curve_f32", (y.buffer, x.buffer), (x.count,) + curve)
    return y


def _bent_dx(s, node, error, needed):
    x, curve = s.values[node.inputs[0]], node.layer.curve
    operands, sizes = (error.buffer, x.buffer), (error.count,) + curve
    dx, rescale = rescaled(s, node, error, scale_shift(curve[2], -14))
    if s.int8:
        operands += (x.scale,)
        sizes = (error.count, x.zero, x.factor) + curve[:2]
    return spread(s, "curve_dx", dx, operands, rescale, sizes)


def _softmax(s, node, inputs):
    (x,) = inputs
    rows = x.count // node.shape[-1]
    if not s.int8:
        y = s.like(node.layer.name, x, ACTIVATION)
        s.emit("softmax_f32", (y.buffer, x.buffer), (rows, node.shape[-1]))
        return y
    y = s.scaled(node.layer.name, x.count, _PER_256, -128)
    s.emit("softmax_i8", (y.buffer, x.buffer, x.scale), (rows, node.shape[-1], x.factor))
    return y


def _softmax_dx(s, node, error, needed):
    y = s.values[node].buffer
    dx, rescale = rescaled(s, node, error, scale_shift(ONE, -16))
    sizes = (error.count // node.shape[-1], node.shape[-1])
    return spread(s, "softmax_dx", dx, (error.buffer, y), rescale, sizes)


def _lookup(s, node, inputs):
    """What each byte becomes, in an imported network between steps that stay."""
    (x,) = inputs
    if not s.steps:
        raise ValueError("%r: imported for int8 and before all that trains; import it again" % node.layer)
    y = s.tensor(node.layer.name, x.count, ACTIVATION)
    s.emit("lookup_i8", (y.buffer, x.buffer, s.buffers.constant(node.layer.table)), (x.count,))
    return y


def _lookup_dx(s, node, error, needed):
    raise ValueError("%r: a table of an imported network, through which no error passes" % node.layer)


ROWS = {
    "relu": (_relu, _relu_dx),
    "relu6": (_relu6, _relu6_dx),
    "leaky_relu": (_leaky_relu, _leaky_relu_dx),
    "sigmoid": (_curve("sigmoid", _PER_256, -128, ONE), _curve_dx("sigmoid", -16)),
    "tanh": (_curve("tanh", _PER_128, 0, _TWO), _curve_dx("tanh", -14)),
    "curve": (_bent, _bent_dx),
    "softmax": (_softmax, _softmax_dx),
    "lookup": (_lookup, _lookup_dx),
}
