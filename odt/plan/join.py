"""Where branches meet: sums, products, and outputs beside one another; and images enlarged."""

from ..base.fixed import ONE, elements
from .shared import ceiling, convert, rescaled, resized, spread, times
from .values import ACTIVATION, ERROR


def add(s, name, a, b, kind, relu=False):
    """The sum of two values, errors or activations."""
    y = s.tensor(name, a.count, kind, relu)
    if not s.int8:
        s.emit("add_f32", (y.buffer, a.buffer, b.buffer), (a.count, int(relu == 1)))
        return ceiling(s, y, name) if relu == 6 else y
    rescales = ()
    for value in (a, b):
        rescales += (s.scratch("rescale", 8),)
        s.emit("ratio", (rescales[-1], value.scale, y.scale), (value.factor,))
    sizes = (a.count, a.zero, b.zero, y.zero, y.lo)
    s.emit("add_once_i8" if s.steps else "add_i8", (y.buffer, y.peak, a.buffer, b.buffer) + rescales, sizes)
    return y


def _add(s, node, inputs):
    total = inputs[0]
    for number, value in enumerate(inputs[1:]):
        last = number == len(inputs) - 2
        name = node.layer.name if last else "%s part %d" % (node.layer.name, number)
        total = add(s, name, total, value, ACTIVATION, node.relu if last else 0)
    return total


def _add_dx(s, node, error, needed):
    return [error] * len(node.inputs)


def _product(s, y, a, b, lo):
    """The instructions for y = a * b."""
    if not s.int8:
        s.emit("multiply_f32", (y.buffer, a.buffer, b.buffer), (a.count,))
        return
    scale = s.scratch("product", 4)
    rescale = s.scratch("product rescale", 8)
    s.emit("product", (scale, a.scale, b.scale), (times(a.factor, b.factor),))
    s.emit("ratio", (rescale, scale, y.scale), (ONE,))
    operands = (y.buffer, y.peak, a.buffer, b.buffer, rescale)
    s.emit("multiply_i8", operands, (a.count, a.zero, b.zero, y.zero, lo))


def _multiply(s, node, inputs):
    total = inputs[0]
    for value in inputs[1:]:
        positive = total.lo == total.zero and value.lo == value.zero
        y = s.tensor(node.layer.name, total.count, ACTIVATION, positive)
        _product(s, y, total, value, y.lo)
        total = y
    return total


def _multiply_dx(s, node, error, needed):
    """Each factor's error is the output's times the others; they are at most three."""
    values = [s.values[parent] for parent in node.inputs]
    errors = []
    for index in range(len(values)):
        dx = None
        if needed[index]:
            dx = error
            for other, value in enumerate(values):
                if other != index:
                    y = s.tensor("%s dx%d" % (node.layer.name, index), error.count, ERROR)
                    _product(s, y, dx, value, -127)
                    dx = y
        errors.append(dx)
    return errors


def _concatenate(s, node, inputs):
    width = node.shape[-1]
    rows = s.batch * elements(node.shape) // width
    y = s.tensor(node.layer.name, rows * width, ACTIVATION, all([x.lo == x.zero for x in inputs]))
    at = 0
    for x in inputs:
        size = x.count // rows
        convert(s, y, x, (rows, size, width, at))
        at += size
    return y


def _concatenate_dx(s, node, error, needed):
    width = node.shape[-1]
    rows = error.count // width
    unit = 1 if s.int8 else 4
    errors = []
    at = 0
    for index, parent in enumerate(node.inputs):
        size = parent.shape[-1]
        dx = None
        if needed[index]:
            dx = error.alias()
            dx.count = rows * size
            dx = s.like("%s dx%d" % (node.layer.name, index), dx)
            s.emit("slice", (dx.buffer, error.buffer), (rows, unit * size, unit * width, unit * at))
        errors.append(dx)
        at += size
    return errors


def _upsample2d(s, node, inputs):
    (x,) = inputs
    y = resized(s, node, x)
    s.emit("upsample2d", (y.buffer, x.buffer), _upsample_sizes(s, node, 1 if s.int8 else 4))
    return y


def _upsample2d_dx(s, node, error, needed):
    dx, rescale = rescaled(s, node, error)
    return spread(s, "upsample2d_dx", dx, (error.buffer,), rescale, _upsample_sizes(s, node))


def _upsample_sizes(s, node, unit=1):
    """B H W N SH SW, the channels N in units."""
    height, width, channels, rows, columns = node.layer.window
    return (s.batch, height, width, unit * channels, rows, columns)


ROWS = {
    "add": (_add, _add_dx),
    "multiply": (_multiply, _multiply_dx),
    "concatenate": (_concatenate, _concatenate_dx),
    "upsample2d": (_upsample2d, _upsample2d_dx),
}
