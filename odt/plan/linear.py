"""Dense, convolution, depthwise, transposed and grouped: sums of products, a bias, a rescaling by channel."""

from ..base.fixed import ONE, elements
from .forward import family
from .shared import bias_gradient, ceiling, times, window_sizes
from .values import ACTIVATION, ERROR, GRADIENT, Part

_ACCUMULATOR = 255 * 127  # the largest product of an int8 forward pass or weight gradient
_ERROR = 127 * 127  # of an input's gradient


def check(node, batch, reached):
    """ValueError where an int32 sum of the layer could overflow in int8."""
    layer = node.layer
    products = elements(layer.kernel_shape[1:])
    if products * _ACCUMULATOR > 1 << 30:
        raise ValueError(
            "%r: %d products an output may overflow an int32, at most %d do not"
            % (layer, products, (1 << 30) // _ACCUMULATOR)
        )
    positions = batch * (layer.macs // (products * layer.kernel_shape[0]))
    if positions * _ACCUMULATOR >= 1 << 31:
        raise ValueError(
            "%r: a gradient over %d positions (batch_size %d) may overflow an int32, at most %d do not"
            % (layer, positions, batch, (1 << 31) // _ACCUMULATOR)
        )
    if node.inputs[0] in reached:
        meeting = _outputs_of_an_input(layer)
        if meeting * _ERROR >= 1 << 31:
            raise ValueError("%r: an error from %d products may overflow an int32, at most %d do not" % (
                layer, meeting, (1 << 31) // _ERROR))  # fmt: skip


def _outputs_of_an_input(layer):
    """How many outputs an input element meets at most: the products of an element of the input's gradient."""
    meeting = 1 if layer.by_channel else layer.kernel_shape[0] // getattr(layer, "groups", 1)
    strides = getattr(layer, "strides", ())
    for axis, size in enumerate(layer.kernel_shape[1:-1]):
        stride = 1 if layer.kind == "transposed2d" else strides[axis]
        meeting *= (size + stride - 1) // stride
    return meeting


def sizes(s, node):
    """The sizes of the layer's instructions: M K N, or those of opcodes.WINDOW and the groups."""
    layer = node.layer
    if layer.kind == "dense":
        units, features = layer.kernel_shape
        return (s.batch * layer.rows, features, units)
    window = family(layer).sizes(s, layer) if layer.family == "dilated" else window_sizes(s, node)
    return window + ((layer.groups,) if layer.kind == "group_conv2d" else ())


def _operation(s, node):
    """(name without its ending, sizes) of a layer's instructions. A filter as wide as the image is planned as one of a
    single row, a filter as large as the image as a dense layer.
    """
    kind, given = node.layer.kind, sizes(s, node)
    if kind == "conv2d":
        batch, height, width, channels, filters, high, wide, stride, _, top, left, rows, columns = given
        pixels = width * channels
        if columns == 1 and wide == width and not left and height * pixels < 65536:
            if rows == 1 and high == height and not top:
                return "dense", (batch, height * pixels, filters)
            given = (batch, 1, height, pixels, filters, 1, high, 1, stride, 0, top, 1, rows)
    return kind, given


def forward(s, node, inputs):
    (x,) = inputs
    layer = node.layer
    weights = s.buffers.parameters(node)
    rows = weights.rows
    kind, immediates = _operation(s, node)
    places = immediates[2:3] if kind == "dense" else immediates[4:5] + immediates[11:13]
    y = s.tensor(layer.name, immediates[0] * elements(places), ACTIVATION, node.relu)
    bias = weights.bias
    if s.int8:
        rescale = s.scratch("rescale", 8 * rows)
        s.emit("rescale", (rescale, x.scale, weights.scale, y.scale), (rows, x.factor))
        total = s.scratch("bias", 4 * rows)
        if bias is None:
            s.emit("clear", (total,), (rows,))
        else:
            s.emit("bias_i8", (total, bias, x.scale, weights.scale), (rows,))
        operands = (y.buffer, y.peak, x.buffer, weights.kernel, total, rescale)
        s.emit(kind + "_i8", operands, immediates + (x.zero, y.zero, y.lo))
        return y
    if bias is None:
        bias = s.scratch("bias", 4 * rows)
        s.emit("clear", (bias,), (rows,))
    relu = int(node.relu == 1)
    s.emit(kind + "_f32", (y.buffer, x.buffer, weights.kernel, bias), immediates + (relu,))
    return ceiling(s, y, layer.name) if node.relu == 6 else y


def backward(s, node, error, needed):
    layer = node.layer
    if s.probing or not layer.trainable:
        return [_dx(s, node, error) if needed[0] else None]
    x = s.values[node.inputs[0]]
    weights = s.buffers.weights[node]
    suffix = "_i8" if s.int8 else "_f32"
    zero = (x.zero,) if s.int8 else ()
    trained = weights.trained
    scale = None
    if s.int8 and trained:
        scale = gradient_scale(s, layer, x, error)

    def make(part, gradient=None):
        gradient = gradient or s.scratch("gradient", 4 * part.count, GRADIENT)
        kind, immediates = _operation(s, node)
        immediates += zero + (part.at + part.shift, part.rows)
        s.emit(kind + "_dw" + suffix, (gradient, error.buffer, x.buffer), immediates)
        return gradient

    def note(gradient):
        s.note_gradient(layer.name + " gradient", gradient, scale)

    def make_bias(part):
        return bias_gradient(s, "bias", error, part.count)

    # Weights stay as they are until dx is made. A whole gradient is made before, so that x may go
    # before dx comes, and waits; in pieces it comes after.
    pieces = []
    gradient = bias = None
    if trained:
        row = 4 * weights.columns
        pieces = s.updates.pieces(trained, x.count * (1 if s.int8 else 4) if needed[0] else 0)
        if s.updates.sums:
            gradient = s.updates.summed(pieces, make)
            pieces = trained
        elif pieces is trained:
            gradient = s.scratch("gradient", row * trained[0].total, GRADIENT)
            for part in trained:
                make(part, part.of(s.arena, gradient, row))
        if gradient:
            note(gradient)
    if layer.use_bias and layer.update_bias:
        whole = Part(1, weights.rows)
        bias = s.updates.summed([whole], make_bias) if s.updates.sums else make_bias(whole)
    dx = _dx(s, node, error) if needed[0] else None
    for part in pieces:
        made = part.of(s.arena, gradient, row) if gradient else make(part)
        if not gradient:
            note(made)
        s.updates.kernel(weights, made, scale, ONE, part)
    if bias:
        s.updates.bias(weights, bias, error.scale, error.factor)
    return [dx]


def gradient_scale(s, layer, x, error):
    """In int8: what a kernel's gradient, a sum of products of x and the error, is counted in."""
    scale = s.scratch("gradient scale", 4)
    s.emit("product", (scale, x.scale, error.scale), (times(x.factor, error.factor),))
    return s.real(layer.name + " gradient", scale)


def _dx(s, node, error):
    name = node.layer.name
    weights = s.buffers.weights[node]
    rows = weights.rows
    kind, immediates = _operation(s, node)
    dx = s.tensor(name + " dx", s.values[node.inputs[0]].count, ERROR)
    if not s.int8:
        s.emit(kind + "_dx_f32", (dx.buffer, error.buffer, weights.kernel), immediates)
        return dx
    source = error.buffer
    if weights.common or node.layer.by_channel:
        count = 1 if weights.common else rows
        rescale = s.scratch("dx rescale", 8 * count)
        s.emit("rescale", (rescale, error.scale, weights.scale, dx.scale), (count, error.factor))
    else:
        channels = s.scratch("channel scale", 8 * rows)
        rescale = s.scratch("dx rescale", 8)
        operands = (channels, rescale, weights.scale, error.scale, dx.scale)
        s.emit("rescale_dx", operands, (rows, error.factor))
        source = s.scratch("scaled error", error.count, ERROR)
        sizes_and_id = (error.count // rows, rows, s.dither(name + " scaled error"))
        s.emit("channel_scale_i8", (source, error.buffer, channels, s.control), sizes_and_id)
    operands = (dx.buffer, dx.peak, source, weights.kernel, rescale)
    s.emit(kind + "_dx_i8", operands, immediates)
    return dx


_ROW = (forward, backward)
ROWS = dict.fromkeys(("dense", "conv2d", "depthwise2d", "group_conv2d", "transposed2d"), _ROW)
