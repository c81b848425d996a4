"""Forward: one row a kind of layer, node -> its instructions.

Each function takes the schedule, the node and its inputs' values, and returns the output's value.
"""

from .fixed import ONE, scale_div, scale_int
from .schedule import ACTIVATION


def _input(s, node, inputs):
    size = 1
    for extent in node.shape:
        size *= extent
    layer = node.layer
    value = s.tensor(layer.name, s.batch * size, ACTIVATION)
    if not s.int8:
        s.emit("gather_f32", (value.buffer, s.control, s.x), (s.batch, size))
        return value
    if layer.dtype in ("int8", "uint8"):  # taken as they are: the user's scale and zero point
        s.ranges.pop()
        value.zero = layer.zero_point - (128 if layer.dtype == "uint8" else 0)
    s.emit("gather_i8", (value.buffer, value.peak, s.control, s.x, value.scale), (s.batch, size, value.zero))
    return value


def _linear(operation, sizes):
    """Dense, convolution, depthwise: a sum of products, a bias, a rescaling by channel."""

    def forward(s, node, inputs):
        (x,) = inputs
        layer = node.layer
        weights = s.parameters(node)
        rows = weights.rows
        count = s.batch
        for extent in node.shape:
            count *= extent
        y = s.tensor(layer.name, count, ACTIVATION, node.relu)
        bias = weights.bias
        if s.int8:
            rescale = s.scratch(layer.name + " rescale", 8 * rows)
            s.emit("rescale", (rescale, x.scale, weights.scale, y.scale), (rows, x.factor))
            total = s.scratch(layer.name + " bias", 4 * rows)
            if bias is None:
                s.emit("clear", (total,), (rows,))
            else:
                s.emit("bias_i8", (total, bias, x.scale, weights.scale), (rows,))
            s.emit(
                operation + "_i8",
                (y.buffer, y.peak, x.buffer, weights.kernel, total, rescale),
                sizes(s, node) + (x.zero, y.zero, y.lo),
            )
            return y
        if bias is None:
            bias = s.scratch(layer.name + " bias", 4 * rows)
            s.emit("clear", (bias,), (rows,))
        s.emit(operation + "_f32", (y.buffer, x.buffer, weights.kernel, bias), sizes(s, node) + (int(node.relu),))
        return y

    return forward


def dense_sizes(s, node):
    """M K N."""
    units, features = node.layer.kernel_shape
    return (s.batch * node.layer.rows, features, units)


def window_sizes(s, node):
    """The sizes of opcodes.WINDOW."""
    return (s.batch,) + node.layer.window


def _relu(s, node, inputs):
    (x,) = inputs
    y = s.like(node.layer.name, x, ACTIVATION)
    if s.int8:
        s.emit("relu_i8", (y.buffer, x.buffer), (x.count, x.zero))
    else:
        s.emit("relu_f32", (y.buffer, x.buffer), (x.count,))
    return y


def _maxpool2d(s, node, inputs):
    (x,) = inputs
    y = x.alias()
    y.count = s.batch
    for extent in node.shape:
        y.count *= extent
    y = s.like(node.layer.name, y, ACTIVATION)
    s.emit("maxpool2d" + ("_i8" if s.int8 else "_f32"), (y.buffer, x.buffer), window_sizes(s, node))
    return y


def _globalavg(s, node, inputs):
    (x,) = inputs
    positions = node.layer.positions
    channels = node.shape[0]
    y = s.tensor(node.layer.name, s.batch * channels, ACTIVATION, x.lo == x.zero)
    if not s.int8:
        s.emit("globalavg_f32", (y.buffer, x.buffer), (s.batch, positions, channels))
        return y
    rescale = s.scratch(node.layer.name + " rescale", 8)
    s.emit("ratio", (rescale, x.scale, y.scale), (scale_div(ONE, scale_int(positions)),))
    sizes = (s.batch, positions, channels, x.zero, y.zero, y.lo)
    s.emit("globalavg_i8", (y.buffer, y.peak, x.buffer, rescale), sizes)
    return y


def _flatten(s, node, inputs):
    return inputs[0].alias()


def add(s, name, a, b, kind, relu=False):
    """The sum of two values, errors or activations."""
    y = s.tensor(name, a.count, kind, relu)
    if not s.int8:
        s.emit("add_f32", (y.buffer, a.buffer, b.buffer), (a.count, int(relu)))
        return y
    rescales = []
    for value in (a, b):
        rescales.append(s.scratch(name + " rescale", 8))
        s.emit("ratio", (rescales[-1], value.scale, y.scale), (value.factor,))
    sizes = (a.count, a.zero, b.zero, y.zero, y.lo)
    s.emit("add_i8", [y.buffer, y.peak, a.buffer, b.buffer] + rescales, sizes)
    return y


def _add(s, node, inputs):
    return add(s, node.layer.name, inputs[0], inputs[1], ACTIVATION, node.relu)


FORWARD = {
    "input": _input,
    "dense": _linear("dense", dense_sizes),
    "conv2d": _linear("conv2d", window_sizes),
    "depthwise2d": _linear("depthwise2d", window_sizes),
    "relu": _relu,
    "maxpool2d": _maxpool2d,
    "globalavg": _globalavg,
    "flatten": _flatten,
    "add": _add,
}


def forward(s, nodes):
    """Emit the forward instructions of all nodes."""
    for node in nodes:
        if node.alias is not None:
            s.values[node] = s.values[node.alias]
        else:
            s.values[node] = FORWARD[node.layer.kind](s, node, [s.values[i] for i in node.inputs])
