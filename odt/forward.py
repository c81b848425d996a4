"""Forward: one row a kind of layer, node -> its instructions.

Each function takes the schedule, the node and its inputs' values, and returns the output's value.
"""

from .fixed import ONE, const, scale_div, scale_int, scale_mul, scale_of
from .schedule import ACTIVATION

PER_256 = const(0x3B800000)  # 1/256: the step of what lies in 0 .. 1
PER_128 = const(0x3C000000)
_TWO = const(0x40000000)


def _input(s, node, inputs):
    size = 1
    for extent in node.shape:
        size *= extent
    layer = node.layer
    if s.int8 and layer.limit:
        value = s.fixed(layer.name, s.batch * size, scale_div(scale_of(layer.limit), scale_int(127)), 0)
    else:
        value = s.tensor(layer.name, s.batch * size, ACTIVATION)
    if not s.int8:
        s.emit("gather_f32", (value.buffer, s.control, s.x), (s.batch, size))
        return value
    if layer.dtype in ("int8", "uint8"):  # taken as they are: the user's scale and zero point
        s.ranges.pop()
        value.zero = layer.zero_point - (128 if layer.dtype == "uint8" else 0)
    elif not layer.limit:
        s.x_seen = s.keep("largest input", 4)
        s.ranges[-1] = s.ranges[-1][:3] + (0, 0)
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
        relu = int(node.relu == 1)
        s.emit(operation + "_f32", (y.buffer, x.buffer, weights.kernel, bias), sizes(s, node) + (relu,))
        return _ceiling(s, y, layer.name) if node.relu == 6 else y

    return forward


def _ceiling(s, x, name):
    """A float32 value behind its ReLU6."""
    y = s.like(name + " relu6", x, ACTIVATION)
    s.emit("relu6_f32", (y.buffer, x.buffer), (x.count,))
    return y


def _norm(s, node, inputs):
    from .normalise import norm

    y = norm(s, node, inputs)
    return _ceiling(s, y, node.layer.name) if node.relu == 6 and not s.int8 else y


def dense_sizes(s, node):
    """M K N."""
    units, features = node.layer.kernel_shape
    return (s.batch * node.layer.rows, features, units)


def window_sizes(s, node):
    """The sizes of opcodes.WINDOW."""
    return (s.batch,) + node.layer.window


def group_sizes(s, node):
    """The sizes of opcodes.WINDOW, and G."""
    return (s.batch,) + node.layer.window + (node.layer.groups,)


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
    y = _sharing(s, node, x)
    suffix = "_i8" if s.int8 else "_f32"
    if node.inputs[0] in s.trained:
        size, bits = choice_sizes(s, node)
        s.choices[node] = choice = s.scratch(node.layer.name + " choice", size, ACTIVATION)
        s.emit("maxpool2d_choice" + suffix, (y.buffer, choice, x.buffer), window_sizes(s, node) + (size, bits))
    else:
        s.emit("maxpool2d" + suffix, (y.buffer, x.buffer), window_sizes(s, node))
    return y


def choice_sizes(s, node):
    """S bits, of a max-pooling's choices."""
    _, _, _, _, rows, columns = node.layer.window[:6]
    bits = 1
    while 1 << bits < rows * columns:
        bits *= 2
    return (s.batch * _elements(node.shape) * bits + 7) // 8, bits


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
        s.emit("add_f32", (y.buffer, a.buffer, b.buffer), (a.count, int(relu == 1)))
        return _ceiling(s, y, name) if relu == 6 else y
    rescales = []
    for value in (a, b):
        rescales.append(s.scratch(name + " rescale", 8))
        s.emit("ratio", (rescales[-1], value.scale, y.scale), (value.factor,))
    sizes = (a.count, a.zero, b.zero, y.zero, y.lo)
    s.emit("add_i8", [y.buffer, y.peak, a.buffer, b.buffer] + rescales, sizes)
    return y


def _add(s, node, inputs):
    total = inputs[0]
    for number, value in enumerate(inputs[1:]):
        last = number == len(inputs) - 2
        name = node.layer.name if last else "%s part %d" % (node.layer.name, number)
        total = add(s, name, total, value, ACTIVATION, node.relu if last else 0)
    return total


def multiply(s, y, a, b, lo):
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


def times(a, b):
    """The product of two factors; ONE is exact."""
    return b if a == ONE else a if b == ONE else scale_mul(a, b)


def _multiply(s, node, inputs):
    total = inputs[0]
    for value in inputs[1:]:
        positive = total.lo == total.zero and value.lo == value.zero
        y = s.tensor(node.layer.name, total.count, ACTIVATION, positive)
        multiply(s, y, total, value, y.lo)
        total = y
    return total


def _concatenate(s, node, inputs):
    width = node.shape[-1]
    rows = s.batch * _elements(node.shape) // width
    y = s.tensor(node.layer.name, rows * width, ACTIVATION, all([x.lo == x.zero for x in inputs]))
    at = 0
    for x in inputs:
        size = x.count // rows
        convert(s, y, x, (rows, size, width, at))
        at += size
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


def _elements(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def _sharing(s, node, x):
    """A new value of the node's shape in x's scale."""
    y = x.alias()
    y.count = s.batch * _elements(node.shape)
    return s.like(node.layer.name, y, ACTIVATION)


def _avgpool2d(s, node, inputs):
    (x,) = inputs
    y = _sharing(s, node, x)
    sizes = window_sizes(s, node) + (int(node.layer.adaptive),)
    s.emit("avgpool2d" + ("_i8" if s.int8 else "_f32"), (y.buffer, x.buffer), sizes)
    return y


def _upsample2d(s, node, inputs):
    (x,) = inputs
    y = _sharing(s, node, x)
    s.emit("upsample2d", (y.buffer, x.buffer), upsample_sizes(s, node, 1 if s.int8 else 4))
    return y


def upsample_sizes(s, node, unit=1):
    """B H W N SH SW, the channels N in units."""
    height, width, channels, rows, columns = node.layer.window
    return (s.batch, height, width, unit * channels, rows, columns)


def _relu6(s, node, inputs):
    (x,) = inputs
    if not s.int8:
        return _ceiling(s, x, node.layer.name)
    y = s.tensor(node.layer.name, x.count, ACTIVATION, 6)
    convert(s, y, x, (1, x.count, x.count, 0))
    return y


def _leaky_relu(s, node, inputs):
    (x,) = inputs
    y = s.like(node.layer.name, x, ACTIVATION)
    slope = node.layer.slope
    if s.int8:
        s.emit("leaky_relu_i8", (y.buffer, x.buffer), (x.count, x.zero, slope))
    else:
        s.emit("leaky_relu_f32", (y.buffer, x.buffer), (x.count, slope))
    return y


def _curve(kind, scale, zero, factor):
    """Sigmoid and tanh: of a fixed range, tanh(x) being 2 sigmoid(2x) - 1."""

    def forward(s, node, inputs):
        (x,) = inputs
        if not s.int8:
            y = s.like(node.layer.name, x, ACTIVATION)
            s.emit(kind + "_f32", (y.buffer, x.buffer), (x.count,))
            return y
        y = s.fixed(node.layer.name, x.count, scale, zero)
        s.emit("sigmoid_i8", (y.buffer, x.buffer, x.scale), (x.count, x.zero, times(x.factor, factor)))
        return y

    return forward


def _dropout(s, node, inputs):
    (x,) = inputs
    layer = node.layer
    y = s.like(layer.name, x, ACTIVATION)
    layer.stream = s.stream(layer.name)
    if s.int8:  # the same numbers; the factor is in their scale, and only while training
        y.scale = s.scratch(layer.name + " kept", 4)
        y.factor = ONE
        operands = (y.buffer, y.scale, x.buffer, x.scale, s.header, s.control)
        s.emit("dropout_i8", operands, (s.batch, x.count // s.batch, x.zero, layer.stream, layer.drop, x.factor))
    else:
        operands = (y.buffer, x.buffer, s.header, s.control)
        s.emit("dropout_f32", operands, (s.batch, x.count // s.batch, layer.stream, layer.drop))
    return y


def _softmax(s, node, inputs):
    (x,) = inputs
    rows = x.count // node.shape[-1]
    if not s.int8:
        y = s.like(node.layer.name, x, ACTIVATION)
        s.emit("softmax_f32", (y.buffer, x.buffer), (rows, node.shape[-1]))
        return y
    y = s.fixed(node.layer.name, x.count, PER_256, -128)
    s.emit("softmax_i8", (y.buffer, x.buffer, x.scale), (rows, node.shape[-1], x.factor))
    return y


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
    "group_conv2d": _linear("group_conv2d", group_sizes),
    "transposed2d": _linear("transposed2d", window_sizes),
    "dropout": _dropout,
    "reshape": _flatten,
    "multiply": _multiply,
    "concatenate": _concatenate,
    "avgpool2d": _avgpool2d,
    "upsample2d": _upsample2d,
    "relu6": _relu6,
    "leaky_relu": _leaky_relu,
    "sigmoid": _curve("sigmoid", PER_256, -128, ONE),
    "tanh": _curve("tanh", PER_128, 0, _TWO),
    "softmax": _softmax,
    "layernorm": _norm,
    "groupnorm": _norm,
    "batchnorm": _norm,
}


def forward(s, nodes):
    """Emit the forward instructions of these nodes, for the first time or once more."""
    for node in nodes:
        s.begin_node(node)
        s.owner = node.layer.name
        if node.alias is not None:
            s.values[node] = s.values[node.alias]
        else:
            s.values[node] = FORWARD[node.layer.kind](s, node, [s.values[i] for i in node.inputs])
