"""Backward: one row a kind of layer, node and error of its output -> the errors of its inputs.

Only what trains is differentiated: a frozen layer has no weight gradient, and the error stops at the
first node below which nothing trains.
"""

from .forward import add, dense_sizes, window_sizes
from .fixed import ONE, scale_div, scale_int, scale_mul
from .schedule import ERROR, GRADIENT


def _linear(operation, sizes):
    def backward(s, node, error, needed):
        layer = node.layer
        name = layer.name
        x = s.values[node.inputs[0]]
        weights = s.weights[node]
        rows, columns = weights.rows, weights.columns
        positions = error.count // rows
        updates = []  # after dx, which is of the weights before the step
        suffix = "_i8" if s.int8 else "_f32"
        if layer.trainable:
            gradient = s.scratch(name + " gradient", 4 * rows * columns, GRADIENT)
            scale = None
            zero = ()
            if s.int8:
                scale = s.scratch(name + " gradient scale", 4)
                s.emit("product", (scale, x.scale, error.scale), (_times(x.factor, error.factor),))
                zero = (x.zero,)
            s.emit(operation + "_dw" + suffix, (gradient, error.buffer, x.buffer), sizes(s, node) + zero)
            updates.append((s.update_kernel, gradient, scale, ONE))
        if layer.trainable and layer.use_bias:
            gradient = s.scratch(name + " bias gradient", 4 * rows, GRADIENT)
            s.emit("bias_dw" + suffix, (gradient, error.buffer), (positions, rows))
            updates.append((s.update_bias, gradient, error.scale, error.factor))
        dx = _linear_dx(s, node, error, operation, sizes) if needed[0] else None
        for update, gradient, scale, factor in updates:
            update(weights, gradient, scale, factor)
        return [dx]

    return backward


def _times(a, b):
    """The product of two factors; ONE is exact."""
    return b if a == ONE else a if b == ONE else scale_mul(a, b)


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
        sizes_and_id = (error.count // rows, rows, s.stream())
        s.emit("channel_scale_i8", (source, error.buffer, channels, s.control), sizes_and_id)
    operands = (dx.buffer, dx.peak, source, weights.kernel, rescale)
    s.emit(operation + "_dx_i8", operands, sizes(s, node))
    return dx


def mask(s, node, error):
    """The error below a ReLU: none where the output is at its clamp."""
    y = s.values[node]
    masked = s.like(node.layer.name + " masked error", error)
    operands = (masked.buffer, error.buffer, y.buffer)
    if s.int8:
        s.emit("relu_dx_i8", operands, (error.count, y.zero))
    else:
        s.emit("relu_dx_f32", operands, (error.count,))
    return masked


def _relu(s, node, error, needed):
    return [mask(s, node, error)]


def _maxpool2d(s, node, error, needed):
    x = s.values[node.inputs[0]]
    dx = error.alias()
    dx.count = x.count
    dx = s.like(node.layer.name + " dx", dx)
    operands = [dx.buffer, error.buffer, x.buffer]
    if s.int8:
        operands.insert(1, dx.peak)
    s.emit("maxpool2d_dx" + ("_i8" if s.int8 else "_f32"), operands, window_sizes(s, node))
    return [dx]


def _globalavg(s, node, error, needed):
    layer = node.layer
    dx = error.alias(_times(error.factor, scale_div(ONE, scale_int(layer.positions))))
    dx.count = s.values[node.inputs[0]].count
    dx = s.like(layer.name + " dx", dx)
    sizes = (s.batch, layer.positions, node.shape[0])
    s.emit("globalavg_dx" + ("_i8" if s.int8 else "_f32"), (dx.buffer, error.buffer), sizes)
    return [dx]


def _flatten(s, node, error, needed):
    return [error]


def _add(s, node, error, needed):
    return [error, error]


BACKWARD = {
    "dense": _linear("dense", dense_sizes),
    "conv2d": _linear("conv2d", window_sizes),
    "depthwise2d": _linear("depthwise2d", window_sizes),
    "relu": _relu,
    "maxpool2d": _maxpool2d,
    "globalavg": _globalavg,
    "flatten": _flatten,
    "add": _add,
}


def trained(nodes):
    """The nodes at or below which something trains: the error must reach these."""
    reached = []
    for node in nodes:
        own = node.layer.trainable and node.layer.kernel_shape is not None
        if own or any([parent in reached for parent in node.inputs]):
            reached.append(node)
    return reached


def backward(s, nodes, error):
    """Emit backward instructions and updates, from the error of the last node's output."""
    reached = trained(nodes)
    errors = {nodes[-1]: error}
    for node in reversed(nodes):
        if node not in reached or node not in errors:
            continue
        error = errors.pop(node)
        if node.alias is not None:  # its clamp is the parent's, masked there
            inputs = [error]
        else:
            if node.relu:
                error = mask(s, node, error)
            needed = [parent in reached for parent in node.inputs]
            inputs = BACKWARD[node.layer.kind](s, node, error, needed)
        for parent, incoming in zip(node.inputs, inputs):
            if parent not in reached:
                continue
            if parent in errors:
                name = parent.layer.name + " error"
                incoming = add(s, name, errors[parent], incoming, ERROR)
            errors[parent] = incoming
