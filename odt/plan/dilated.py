"""Dilated convolutions, computed by the instructions of ordinary ones: pixels that lie one rate apart are neighbours
in every rate-th pixel.

A line of rate * L pixels is an image of L rows and `rate` columns, with a filter of one column: nothing is moved.
Other images are copied to batches of every rate-th pixel, and back. If an image's size is not a multiple of the rate,
the batches are padded; this padding raises peaks, as padding rows do, and has no other effect.
"""

from ..base.fixed import elements
from . import linear
from .linear import check  # noqa: F401
from .values import ACTIVATION


def _axis(size, taps, before, out, rate):
    """(rate, PT, OH) of the copies along an axis, (PT, OH) of the convolution over them."""
    if taps == 1:
        rate = 1
    return rate, before % rate, (size + before % rate + rate - 1) // rate, before // rate, (out + rate - 1) // rate


def _lowered(s, layer):
    """(the sizes of opcodes.WINDOW, B H W of input and output, SH SW PT PL of the copies): no SH .. where nothing is
    copied.
    """
    h, w, c, n, kh, kw, _, _, top, left, oh, ow = layer.window
    dh, dw = ((1,) + layer.dilation_rate)[-2:]
    if h == kh == oh == 1 and not top:
        h, w, kh, kw, top, left, oh, ow, dh = w, h, kw, kh, left, top, ow, oh, dw
    dh, shift, rows, top, outs = _axis(h, kh, top, oh, dh)
    if kw == 1 and ow == w and not left and not shift and rows * dh == h and outs * dh == oh:
        return (s.batch, rows, w * dh, c, n, kh, 1, 1, 1, top, 0, outs, w * dh), None, ()
    dw, aside, columns, left, wide = _axis(w, kw, left, ow, dw)
    batch = s.batch * dh * dw
    if batch > 65535 or max(dh, dw) > 255:
        raise ValueError("%r: a dilation_rate of %s is too much" % (layer, layer.dilation_rate))
    sizes = (batch, rows, columns, c, n, kh, kw, 1, 1, top, left, outs, wide)
    return sizes, ((s.batch, h, w), (s.batch, oh, ow)), (dh, dw, shift, aside)


def sizes(s, layer):
    """Those of opcodes.WINDOW, for the layer's instructions."""
    return _lowered(s, layer)[0]


def _copy(s, layer, value, at, back=False, dry=False):
    """The layer's input (at 0), output (1) or an error of these, as batches, or ``back``; itself where nothing is
    copied.

    ``dry``: the copy is not read.
    """
    given, images, moves = _lowered(s, layer)
    if not moves:
        return value
    image = images[at]
    batches = given[:1] + given[1 + 10 * at : 3 + 10 * at]
    unit = value.count // elements(batches if back else image)
    made = value.alias()
    made.count = unit * elements(image if back else batches)
    if dry:
        return made
    sizes = image + (unit * (1 if s.int8 else 4),) + (moves[:2] + (0, 0) if at else moves) + batches[1:]
    name = layer.name
    if back != at:
        made = s.like(name + " dx", made)
    else:
        made = s.like(name, made, ACTIVATION)
    if back:
        s.emit("batch_to_space", (made.buffer, value.buffer), sizes)
    else:
        s.emit("space_to_batch", (made.buffer, value.buffer), sizes + (value.zero,))
    return made


def _forward(s, node, inputs):
    layer = node.layer
    y = linear.forward(s, node, [_copy(s, layer, inputs[0], 0)])
    return _copy(s, layer, y, 1, True)


def _backward(s, node, error, needed):
    layer, below = node.layer, node.inputs[0]
    x = s.values[below]
    s.values[below] = _copy(s, layer, x, 0, dry=s.probing or not layer.trainable)
    (dx,) = linear.backward(s, node, _copy(s, layer, error, 1), needed)
    s.values[below] = x
    return [_copy(s, layer, dx, 0, True) if needed[0] else None]


ROWS = dict.fromkeys(("conv2d", "depthwise2d", "group_conv2d"), (_forward, _backward))
