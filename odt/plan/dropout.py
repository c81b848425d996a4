"""Dropout: the same elements in the forward pass and in the error, by the step's key."""

from ..base.fixed import ONE, scale_div, scale_int, scale_shift
from .shared import times
from .values import ACTIVATION


def _dropout(s, node, inputs):
    (x,) = inputs
    layer = node.layer
    y = s.like(layer.name, x, ACTIVATION)
    stream = s.stream(layer.name)
    if s.int8:  # the same numbers; the factor is in their scale, and only while training
        y.scale = s.scratch("kept", 4)
        y.factor = ONE
        operands = (y.buffer, y.scale, x.buffer, x.scale, s.header, s.control)
        s.emit("dropout_i8", operands, (s.batch, x.count // s.batch, x.zero, stream, layer.drop, x.factor))
    else:
        operands = (y.buffer, x.buffer, s.header, s.control)
        s.emit("dropout_f32", operands, (s.batch, x.count // s.batch, stream, layer.drop))
    return y


def _dropout_dx(s, node, error, needed):
    if s.probing:  # nothing drops out
        return [error]
    layer = node.layer
    dx = s.like(layer.name + " dx", error)
    if s.int8:
        kept = scale_shift(scale_int(65536 - layer.drop), -16)
        dx.factor = times(error.factor, scale_div(ONE, kept))
    operands = (dx.buffer, error.buffer, s.control)
    sizes = (s.batch, error.count // s.batch, s.stream(layer.name), layer.drop)
    s.emit("dropout_dx" + ("_i8" if s.int8 else "_f32"), operands, sizes)
    return [dx]


ROWS = {
    "dropout": (_dropout, _dropout_dx),
}
