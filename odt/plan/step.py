"""What every step begins with: a batch is gathered, in the input's format and range."""

from ..base.fixed import elements, scale_div, scale_int
from ..base.primitives import scale_of
from .values import ACTIVATION


def _input(s, node, inputs):
    size = elements(node.shape)
    layer = node.layer
    if s.int8 and layer.limit:
        value = s.scaled(layer.name, s.batch * size, scale_div(scale_of(layer.limit), scale_int(127)), 0)
    else:
        value = s.tensor(layer.name, s.batch * size, ACTIVATION)
    if node.folded or node.statistics:
        return _normalised(s, node, value)
    if not s.int8:
        s.emit("gather_f32", (value.buffer, s.control, s.x), (s.batch, size))
        return value
    if s.steps:
        pass
    elif layer.dtype in ("int8", "uint8"):  # taken as they are: the user's scale and zero point
        s.ranges.pop()
        value.zero = layer.zero_point - (128 if layer.dtype == "uint8" else 0)
    elif not layer.limit:
        _follow(s)
    s.emit("gather_i8", (value.buffer, value.peak, s.control, s.x, value.scale), (s.batch, size, value.zero))
    return value


def _normalised(s, node, value):
    from .norm import gather

    if s.int8 and not node.layer.limit:
        _follow(s)
    gather(s, node, value)
    return value


def _follow(s):
    """Let the range follow what comes, and note the largest."""
    s.x_seen = s.buffers.keep("largest input", 4)
    s.ranges[-1] = s.ranges[-1][:3] + (0, 0)


ROWS = {
    "input": (_input, None),
}
