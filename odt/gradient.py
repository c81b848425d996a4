"""Backward: one row a kind of layer, node and error of its output -> the errors of its inputs.

Only what trains is differentiated: a frozen layer has no weight gradient, and the error stops at the
first node below which nothing trains.
"""

from .forward import (
    add, choice_sizes, dense_sizes, forward, group_sizes, multiply, times, upsample_sizes, window_sizes,
)  # fmt: skip
from .fixed import ONE, scale_div, scale_int, scale_shift
from .graph import resolve
from .schedule import ERROR, GRADIENT, Part, Value


def _linear(operation, sizes):
    def backward(s, node, error, needed):
        layer = node.layer
        if s.probing or not layer.trainable:
            return [_linear_dx(s, node, error, operation, sizes) if needed[0] else None]
        if layer.dynamic:
            from .dynamic import backward

            return backward(s, node, error, needed, operation, sizes)
        x = s.values[node.inputs[0]]
        weights = s.weights[node]
        suffix = "_i8" if s.int8 else "_f32"
        zero = (x.zero,) if s.int8 else ()
        trained = weights.trained
        scale = None
        if s.int8 and trained:
            scale = gradient_scale(s, layer, x, error)

        def make(part, gradient=None):
            gradient = gradient or s.scratch(layer.name + " gradient", 4 * part.count, GRADIENT)
            immediates = sizes(s, node) + zero + (part.at + part.shift, part.rows)
            s.emit(operation + "_dw" + suffix, (gradient, error.buffer, x.buffer), immediates)
            return gradient

        def note(gradient):
            s.note(layer.name + " gradient", Value(gradient, gradient.size // 4, scale, 0, 0))

        def make_bias(part):
            return bias_gradient(s, layer.name + " bias", error, part.count)

        # Weights stay as they are until dx is made. A whole gradient is made before, so that x may go
        # before dx comes, and waits; in pieces it comes after.
        pieces = []
        gradient = bias = None
        if trained:
            row = 4 * weights.columns
            pieces = s.pieces(trained, x.count * (1 if s.int8 else 4) if needed[0] else 0)
            if s.sums:
                gradient = s.summed(weights.kernel, pieces, make)
                pieces = trained
            elif pieces is trained:
                gradient = s.scratch(layer.name + " gradient", row * trained[0].total, GRADIENT)
                for part in trained:
                    make(part, part.of(gradient, row))
            if gradient:
                note(gradient)
        if layer.use_bias and layer.update_bias:
            whole = Part(1, weights.rows)
            bias = s.summed(weights.bias, [whole], make_bias) if s.sums else make_bias(whole)
        dx = _linear_dx(s, node, error, operation, sizes) if needed[0] else None
        for part in pieces:
            made = part.of(gradient, row) if gradient else make(part)
            if not gradient:
                note(made)
            s.update_kernel(weights, made, scale, ONE, part)
        if bias:
            s.update_bias(weights, bias, error.scale, error.factor)
        return [dx]

    return backward


def gradient_scale(s, layer, x, error):
    """In int8: what a kernel's gradient, a sum of products of x and the error, is counted in."""
    scale = s.scratch(layer.name + " gradient scale", 4)
    s.emit("product", (scale, x.scale, error.scale), (times(x.factor, error.factor),))
    return scale


def bias_gradient(s, name, error, channels):
    """The gradient of what is added to each channel: the sum of the error."""
    gradient = s.scratch(name + " gradient", 4 * channels, GRADIENT)
    s.emit("bias_dw" + ("_i8" if s.int8 else "_f32"), (gradient, error.buffer), (error.count // channels, channels))
    return gradient


def _linear_dx(s, node, error, operation, sizes):
    name = node.layer.name
    weights = s.weights[node]
    rows = weights.rows
    dx = s.tensor(name + " dx", s.values[node.inputs[0]].count, ERROR)
    if not s.int8:
        operands = (dx.buffer, error.buffer, weights.kernel)
        s.emit(operation + "_dx_f32", operands, sizes(s, node))
        return dx
    source = error.buffer
    if weights.common or node.layer.by_channel:
        count = 1 if weights.common else rows
        rescale = s.scratch(name + " dx rescale", 8 * count)
        scale = weights.scale.part("first scale", 0, 4 * count)
        s.emit("rescale", (rescale, error.scale, scale, dx.scale), (count, error.factor))
    else:
        channels = s.scratch(name + " channel scale", 8 * rows)
        rescale = s.scratch(name + " dx rescale", 8)
        operands = (channels, rescale, weights.scale, error.scale, dx.scale)
        s.emit("rescale_dx", operands, (rows, error.factor))
        source = s.scratch(name + " scaled error", error.count, ERROR)
        sizes_and_id = (error.count // rows, rows, s.dither(name + " scaled error"))
        s.emit("channel_scale_i8", (source, error.buffer, channels, s.control), sizes_and_id)
    operands = (dx.buffer, dx.peak, source, weights.kernel, rescale)
    s.emit(operation + "_dx_i8", operands, sizes(s, node))
    return dx


def mask(s, node, error, relu):
    """The error below a ReLU or ReLU6: none where the output is at its clamp."""
    y = s.values[node]
    masked = s.like(node.layer.name + " masked error", error)
    operands = (masked.buffer, error.buffer, y.buffer)
    if relu == 6:
        s.emit("relu6_dx" + ("_i8" if s.int8 else "_f32"), operands, (error.count,))
    elif s.int8:
        s.emit("relu_dx_i8", operands, (error.count, y.zero))
    else:
        s.emit("relu_dx_f32", operands, (error.count,))
    return masked


def _relu(s, node, error, needed):
    return [mask(s, node, error, 1)]


def _relu6(s, node, error, needed):
    return [mask(s, node, error, 6)]


def _maxpool2d(s, node, error, needed):
    if node.masks:
        error = mask(s, node, error, node.masks)
    choice = s.choices[node]
    dx = error.alias()
    dx.count = s.values[node.inputs[0]].count
    dx = s.like(node.layer.name + " dx", dx)
    operands = [dx.buffer, error.buffer, choice]
    if s.int8:
        operands.insert(1, dx.peak or s.unwatch())  # a loss of fixed scale has none: sums saturate
    sizes = window_sizes(s, node) + choice_sizes(s, node)
    s.emit("unpool2d" + ("_i8" if s.int8 else "_f32"), operands, sizes)
    return [dx]


def _globalavg(s, node, error, needed):
    layer = node.layer
    dx = error.alias(times(error.factor, scale_div(ONE, scale_int(layer.positions))))
    dx.count = s.values[node.inputs[0]].count
    dx = s.like(layer.name + " dx", dx)
    sizes = (s.batch, layer.positions, node.shape[0])
    s.emit("globalavg_dx" + ("_i8" if s.int8 else "_f32"), (dx.buffer, error.buffer), sizes)
    return [dx]


def _flatten(s, node, error, needed):
    return [error]


def _add(s, node, error, needed):
    return [error] * len(node.inputs)


def _multiply(s, node, error, needed):
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
                    multiply(s, y, dx, value, -127)
                    dx = y
        errors.append(dx)
    return errors


def _concatenate(s, node, error, needed):
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


def _rescaled(s, node, error, factor=ONE):
    """A new error below the node in a scale of its own, and the multiplier to it."""
    name = node.layer.name
    dx = s.tensor(name + " dx", s.values[node.inputs[0]].count, ERROR)
    if not s.int8:
        return dx, None
    rescale = s.scratch(name + " dx rescale", 8)
    s.emit("ratio", (rescale, error.scale, dx.scale), (times(error.factor, factor),))
    return dx, rescale


def _spread(s, operation, dx, operands, rescale, sizes):
    """Emit the gradient of an instruction: with peak and multiplier in int8, without in float32."""
    if s.int8:
        s.emit(operation + "_i8", (dx.buffer, dx.peak) + operands + (rescale,), sizes)
    else:
        s.emit(operation + "_f32", (dx.buffer,) + operands, sizes)
    return [dx]


def _avgpool2d(s, node, error, needed):
    layer = node.layer
    dx, rescale = _rescaled(s, node, error, scale_div(ONE, scale_int(256 * layer.positions)))
    sizes = window_sizes(s, node) + (int(layer.adaptive),)
    if s.int8:
        sizes += (layer.positions,)
    return _spread(s, "avgpool2d_dx", dx, (error.buffer,), rescale, sizes)


def _upsample2d(s, node, error, needed):
    dx, rescale = _rescaled(s, node, error)
    return _spread(s, "upsample2d_dx", dx, (error.buffer,), rescale, upsample_sizes(s, node))


def _leaky_relu(s, node, error, needed):
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


def _curve(kind, shift):
    def backward(s, node, error, needed):
        y = s.values[node].buffer
        if s.int8:
            dx, rescale = _rescaled(s, node, error, scale_shift(ONE, shift))
            return _spread(s, "sigmoid_dx", dx, (error.buffer, y), rescale, (error.count,))
        dx = s.like(node.layer.name + " dx", error)
        s.emit(kind + "_dx_f32", (dx.buffer, error.buffer, y), (error.count,))
        return [dx]

    return backward


def _dropout(s, node, error, needed):
    if s.probing:  # nothing drops out
        return [error]
    layer = node.layer
    dx = s.like(layer.name + " dx", error)
    if s.int8:
        kept = scale_shift(scale_int(65536 - layer.drop), -16)
        dx.factor = times(error.factor, scale_div(ONE, kept))
    operands = (dx.buffer, error.buffer, s.control)
    sizes = (s.batch, error.count // s.batch, layer.stream, layer.drop)
    s.emit("dropout_dx" + ("_i8" if s.int8 else "_f32"), operands, sizes)
    return [dx]


def _softmax(s, node, error, needed):
    y = s.values[node].buffer
    dx, rescale = _rescaled(s, node, error, scale_shift(ONE, -16))
    sizes = (error.count // node.shape[-1], node.shape[-1])
    return _spread(s, "softmax_dx", dx, (error.buffer, y), rescale, sizes)


def _norm(s, node, error, needed):
    from .normalise import norm_dx

    return norm_dx(s, node, error, needed)


BACKWARD = {
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
    "sigmoid": _curve("sigmoid", -16),
    "tanh": _curve("tanh", -14),
    "softmax": _softmax,
    "layernorm": _norm,
    "groupnorm": _norm,
    "batchnorm": _norm,
}


def _repeat(s, nodes, kept):
    """The forward instructions of these nodes once more, less those of the value that is kept."""
    for node in nodes:
        if s.values[node].buffer is kept:
            continue
        start = len(s.instructions)
        forward(s, [node])
        for instruction in s.instructions[start:]:
            instruction.again = node
    s.begin_node(None)


def backward(s, nodes, error, segments=()):
    """Emit backward instructions and updates, from the error of the last node's output.

    ``segments``: (first, end) of nodes whose outputs were not kept; before node ``end`` they come again.
    """
    forgotten = {nodes[end]: nodes[first:end] for first, end in segments}
    s.begin_node(None)
    reached = s.trained
    masked = [resolve(node.inputs[0]) for node in nodes if node.masks]
    errors = {nodes[-1]: error}
    for node in reversed(nodes):
        if node not in reached or node not in errors:
            continue
        error = errors.pop(node)
        s.owner = name = node.layer.name
        if node.alias is None and node.relu and node not in masked:
            error = mask(s, node, error, node.relu)
        if node in forgotten:  # from here on the node's own value is not needed
            _repeat(s, forgotten[node], s.values[node].buffer)
            s.owner = name
        if node.alias is not None:  # its clamp is the parent's, masked there
            inputs = [error]
        else:
            if s.probing:
                s.measure(node, error)
            needed = [parent in reached for parent in node.inputs]
            inputs = BACKWARD[node.layer.kind](s, node, error, needed)
        for parent, incoming in zip(node.inputs, inputs):
            if parent not in reached:
                continue
            if parent in errors:
                name = parent.layer.name + " error"
                incoming = add(s, name, errors[parent], incoming, ERROR)
            errors[parent] = incoming
