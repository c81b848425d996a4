"""What several families emit."""

from ..base.fixed import ONE, elements, scale_mul
from .values import ACTIVATION, ERROR, GRADIENT


def times(a, b):
    """The product of two factors; ONE is exact."""
    return b if a == ONE else a if b == ONE else scale_mul(a, b)


def resized(s, node, x):
    """A new value of the node's shape in x's scale."""
    y = x.alias()
    y.count = s.batch * elements(node.shape)
    return s.like(node.layer.name, y, ACTIVATION)


def window_sizes(s, node):
    """The sizes of opcodes.WINDOW."""
    return (s.batch,) + node.layer.window


def ceiling(s, x, name):
    """A float32 value after its ReLU6."""
    y = s.like(name + " relu6", x, ACTIVATION)
    s.emit("relu6_f32", (y.buffer, x.buffer), (x.count,))
    return y


def convert(s, y, x, columns):
    """Put x into columns (M K N at) of y, in y's scale."""
    if not s.int8:
        rows, size, width, at = columns
        s.emit("place", (y.buffer, x.buffer), (rows, 4 * size, 4 * width, 4 * at))
        return
    rescale = s.scratch("column rescale", 8)
    s.emit("ratio", (rescale, x.scale, y.scale), (x.factor,))
    s.emit("concat_i8", (y.buffer, y.peak, x.buffer, rescale), columns + (x.zero, y.zero, y.lo))


def bias_gradient(s, name, error, channels):
    """The gradient of what is added to each channel: the sum of the error;
    ``name`` tells it from the layer's others.
    """
    gradient = s.scratch(name + " gradient", 4 * channels, GRADIENT)
    s.emit("bias_dw" + ("_i8" if s.int8 else "_f32"), (gradient, error.buffer), (error.count // channels, channels))
    return gradient


def rescaled(s, node, error, factor=ONE):
    """A new error below the node in a scale of its own, and the multiplier to it."""
    name = node.layer.name
    dx = s.tensor(name + " dx", s.values[node.inputs[0]].count, ERROR)
    if not s.int8:
        return dx, None
    rescale = s.scratch("dx rescale", 8)
    s.emit("ratio", (rescale, error.scale, dx.scale), (times(error.factor, factor),))
    return dx, rescale


def spread(s, operation, dx, operands, rescale, sizes):
    """Emit the gradient of an instruction: with peak and multiplier in int8, without in float32."""
    if s.int8:
        s.emit(operation + "_i8", (dx.buffer, dx.peak) + operands + (rescale,), sizes)
    else:
        s.emit(operation + "_f32", (dx.buffer,) + operands, sizes)
    return [dx]
