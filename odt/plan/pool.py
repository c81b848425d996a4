"""Max-pooling, and the averages of windows and of all positions."""

from ..base.fixed import ONE, elements, scale_div, scale_int
from .masks import mask
from .shared import rescaled, resized, spread, times, window_sizes
from .values import ACTIVATION

_MOST = (1 << 31) // 255  # positions whose sum fits an int32


def check(node, batch, reached):
    """ValueError where the int32 sum of a global average could overflow in int8."""
    layer = node.layer
    if layer.kind == "globalavg" and layer.positions > _MOST:
        raise ValueError("%r: a sum over %d positions may overflow an int32, at most %d do not" % (
            layer, layer.positions, _MOST))  # fmt: skip


def _maxpool2d(s, node, inputs):
    (x,) = inputs
    y = resized(s, node, x)
    suffix = "_i8" if s.int8 else "_f32"
    if node.inputs[0] in s.trained:
        size, bits = _choice_sizes(s, node)
        s.choices[node] = choice = s.scratch("choice", size, ACTIVATION)
        s.emit("maxpool2d_choice" + suffix, (y.buffer, choice, x.buffer), window_sizes(s, node) + (size, bits))
    else:
        s.emit("maxpool2d" + suffix, (y.buffer, x.buffer), window_sizes(s, node))
    return y


def _maxpool2d_dx(s, node, error, needed):
    if node.masks:
        error = mask(s, node, error, node.masks)
    choice = s.choices[node]
    dx = error.alias()
    dx.count = s.values[node.inputs[0]].count
    dx = s.like(node.layer.name + " dx", dx)
    operands = (error.buffer, choice)
    if s.int8:  # a loss of fixed scale has no peak: sums saturate
        operands = (s.buffers.unwatched() if dx.peak is None else dx.peak,) + operands
    sizes = window_sizes(s, node) + _choice_sizes(s, node)
    s.emit("unpool2d" + ("_i8" if s.int8 else "_f32"), (dx.buffer,) + operands, sizes)
    return [dx]


def _choice_sizes(s, node):
    """S bits, of a max-pooling's choices."""
    _, _, _, _, rows, columns = node.layer.window[:6]
    bits = 1
    while 1 << bits < rows * columns:
        bits *= 2
    return (s.batch * elements(node.shape) * bits + 7) // 8, bits


def _avgpool2d(s, node, inputs):
    (x,) = inputs
    sizes = window_sizes(s, node) + (int(node.layer.adaptive),)
    if s.steps:
        return _mean2d(s, node, x, sizes)
    y = resized(s, node, x)
    s.emit("avgpool2d" + ("_i8" if s.int8 else "_f32"), (y.buffer, x.buffer), sizes)
    return y


def _mean2d(s, node, x, sizes):
    """In a scale of its own, as another framework computes it."""
    y = s.tensor(node.layer.name, s.batch * elements(node.shape), ACTIVATION)
    operands = (y.buffer, y.peak, x.buffer, x.scale, y.scale)
    s.emit("mean2d_i8", operands, sizes + (x.zero, y.zero, y.lo, x.factor, node.layer.away))
    return y


def _avgpool2d_dx(s, node, error, needed):
    layer = node.layer
    dx, rescale = rescaled(s, node, error, scale_div(ONE, scale_int(256 * layer.positions)))
    sizes = window_sizes(s, node) + (int(layer.adaptive),)
    if s.int8:
        sizes += (layer.positions,)
    return spread(s, "avgpool2d_dx", dx, (error.buffer,), rescale, sizes)


def _globalavg(s, node, inputs):
    (x,) = inputs
    positions = node.layer.positions
    channels = node.shape[0]
    if s.steps:
        return _mean2d(s, node, x, (s.batch, positions, 1, channels, channels, 1, 1, 1, 1, 0, 0, 1, 1, 1))
    y = s.tensor(node.layer.name, s.batch * channels, ACTIVATION, x.lo == x.zero)
    if not s.int8:
        s.emit("globalavg_f32", (y.buffer, x.buffer), (s.batch, positions, channels))
        return y
    rescale = s.scratch("rescale", 8)
    s.emit("ratio", (rescale, x.scale, y.scale), (scale_div(ONE, scale_int(positions)),))
    sizes = (s.batch, positions, channels, x.zero, y.zero, y.lo)
    s.emit("globalavg_i8", (y.buffer, y.peak, x.buffer, rescale), sizes)
    return y


def _globalavg_dx(s, node, error, needed):
    layer = node.layer
    dx = error.alias()
    dx.factor = times(error.factor, scale_div(ONE, scale_int(layer.positions)))
    dx.count = s.values[node.inputs[0]].count
    dx = s.like(layer.name + " dx", dx)
    sizes = (s.batch, layer.positions, node.shape[0])
    s.emit("globalavg_dx" + ("_i8" if s.int8 else "_f32"), (dx.buffer, error.buffer), sizes)
    return [dx]


ROWS = {
    "maxpool2d": (_maxpool2d, _maxpool2d_dx),
    "avgpool2d": (_avgpool2d, _avgpool2d_dx),
    "globalavg": (_globalavg, _globalavg_dx),
}
