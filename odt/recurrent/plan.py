"""From a recurrent layer to its instructions: one forward, through all steps, and one backward.

The gradients of the recurrent weights are those of a dense layer whose inputs are the outputs one step earlier.
"""

import struct

from ..base.fixed import ONE, scale_div, scale_shift
from ..base.regions import const
from ..plan.shared import times
from ..plan.values import ACTIVATION, ERROR, GRADIENT, Part

_PER_128 = const(0x3C000000)  # the step of what lies in -1 .. 1
_IN_Q16 = const(0x47B8AA3B)  # log2(e) * 2^16: what preactivations are counted in
_FROM_Q16 = const(0x37317218)  # ln(2) / 2^16
_SIMPLE, _GRU, _LSTM = 0, 1, 2
_GOES_ON = const(4)  # added to an instruction's kind


def check(node, batch, reached):
    """ValueError where an int32 sum of the layer could overflow in int8, or its error needs one scale of all rows."""
    layer = node.layer
    width, units = layer.kernel_shape
    most = (1 << 30) // (128 * 127)
    if units > most:
        raise ValueError("%r: %d units may overflow an int32, at most %d do not" % (layer, units, most))
    most = ((1 << 31) - 1) // (8191 * 127)
    if width > most:
        raise ValueError("%r: an error from %d gates may overflow an int32, at most %d do not" % (layer, width, most))
    most = ((1 << 31) - 1) // (128 * 127)
    if batch * layer.steps_of > most:
        place = (layer, layer.steps_of, batch, most)
        raise ValueError(
            "%r: a gradient over %d steps of %d samples (batch_size) may overflow an int32, %d in all do not" % place
        )
    if node in reached and (not layer.trainable or layer.update_rows is not None):
        raise ValueError("%r: in int8 it trains as a whole, or neither it nor a layer before it does" % layer)


def _constant(s, bits):
    return s.buffers.constant(struct.pack("<I", bits))


def _forward(s, node, inputs):
    (a,) = inputs
    layer = node.layer
    name, steps, kind = layer.name, layer.steps_of, layer.number
    width, units = layer.kernel_shape
    weights = s.buffers.parameters(node)
    keeps = node in s.trained  # each step's output and gates are read by the backward pass
    kept = steps if keeps and kind else 1
    rows = steps if keeps or layer.return_sequences else 1
    count = s.batch * rows * units
    unit = 1 if s.int8 else 4
    gates = s.scratch("gates", unit * s.batch * kept * width, ACTIVATION)
    held = s.tensor(name + (" cells" if kind == _LSTM else " candidates"), s.batch * kept * units, ACTIVATION)
    sums, bias = s.scratch("sums", 4 * width), weights.bias
    goes_on = 0 if layer.carried is None else _GOES_ON
    block = None
    if layer.stateful and not goes_on:
        from .carried import Block

        block = Block(s, node)
    sizes = (s.batch, steps, width, units, rows, kept, kind + goes_on)
    if s.int8:
        y = s.scaled(name, count, _PER_128, 0)
        one = _constant(s, ONE)
        rescale, ratio, keep = s.scratch("rescale", 8 * width), s.scratch("ratio", 8), s.scratch("held", 8)
        s.emit("rescale", (rescale, y.scale, weights.scale, one), (width, _IN_Q16))
        s.emit("ratio", (ratio, a.scale, one), (times(a.factor, _IN_Q16),))
        s.emit("ratio", (keep, one, held.scale), (scale_shift(ONE, -12) if kind == _LSTM else _FROM_Q16,))
        total = s.scratch("bias", 4 * width)
        if bias is None:
            s.emit("clear", (total,), (width,))
        else:
            s.emit("bias_i8", (total, bias, y.scale, weights.scale), (width,))
        if block:
            last, cell = block.begin_i8()
        else:
            last, cell = s.scratch("last output", units), s.scratch("cell", 4 * units)
        if goes_on:
            layer.carried.numbers += [last, cell][: 2 if kind else 1]
        operands = (y.buffer, gates, held.buffer, held.peak, last, cell, sums, a.buffer, weights.kernel, total)
        s.emit("recur_on_i8" if block else "recur_i8", operands + (rescale, ratio, keep), sizes + (a.zero,))
        if block and keeps and kind == _LSTM:
            block.keep_cells(held, kept)
    else:
        y = s.tensor(name, count, ACTIVATION)
        if bias is None:
            bias = s.scratch("bias", 4 * width)
            s.emit("clear", (bias,), (width,))
        operands = (y.buffer, gates, held.buffer), (a.buffer, weights.kernel, bias)
        if block:
            block.go_through_f32(operands[0], sums, operands[1], sizes)
        else:
            last = s.scratch("last output", 8 * units)
            if goes_on:
                layer.carried.numbers.append(last)
            s.emit("recur_f32", operands[0] + (last, sums) + operands[1], sizes)
    s.choices[node] = y, gates, held, block
    if rows == 1 or layer.return_sequences:
        return y
    out = y.alias()
    out.count = s.batch * units
    out = s.like(name, out, ACTIVATION)
    s.emit("slice", (out.buffer, y.buffer), (s.batch, unit * units, unit * steps * units, unit * (steps - 1) * units))
    return out


def _backward(s, node, error, needed):
    layer = node.layer
    name, steps, kind = layer.name, layer.steps_of, layer.number
    width, units = layer.kernel_shape
    weights = s.buffers.weights[node]
    y, gates, held, block = s.choices[node]
    suffix, unit = ("_i8", 1) if s.int8 else ("_f32", 4)
    dx = s.tensor(name + " dx", s.batch * steps * width, ERROR)
    apart = steps if kind == _GRU else 1  # of a GRU's candidates the recurrent part has its own error
    other = s.scratch("candidates dx", unit * s.batch * apart * units, ERROR)
    before = s.scratch("outputs before", unit * s.batch * steps * units, ACTIVATION)
    carried = s.scratch("carried error", 12 * units)
    rows = error.count // (s.batch * units)
    kept = steps if kind else 1
    operands = (error.buffer, y.buffer, gates, held.buffer, weights.kernel)
    if block:
        other = block.before(before, other, held)
        kind += _GOES_ON
    sizes = (s.batch, steps, width, units, rows, kept, apart, kind)
    if s.int8:
        one = _constant(s, ONE)
        up, back, keep = s.scratch("dx rescale", 8), s.scratch("back rescale", 8), s.scratch("held", 8)
        s.emit("ratio", (up, error.scale, dx.scale), (error.factor,))
        product = s.scratch("back scale", 4)
        s.emit("product", (product, dx.scale, weights.scale), (scale_shift(ONE, 2),))
        s.emit("ratio", (back, product, error.scale), (scale_div(ONE, error.factor),))
        s.emit("ratio", (keep, held.scale, one), (ONE,))
        fine = s.scratch("errors of a step", 2 * width)
        operands = (dx.buffer, dx.peak, other, before, carried, fine) + operands
        s.emit("recur_dx_i8", operands + (up, back, keep, s.control), sizes + (s.dither(name + " dx"),))
    else:
        s.emit("recur_dx_f32", (dx.buffer, other, before, carried) + operands, sizes)
    if s.probing or not layer.trainable:
        return [dx]
    _train(s, node, dx, (other, before, y.scale), suffix)
    return [dx]


def _train(s, node, dx, made, suffix):
    """Emit the gradients of the recurrent weights, and their update."""
    other, before, before_scale = made
    layer = node.layer
    width, units = layer.kernel_shape
    weights = s.buffers.weights[node]
    border = width - units if layer.number == _GRU else width
    count = dx.count // width
    zero = (0,) if s.int8 else ()
    row = 4 * units
    scale = None

    def make(part, gradient=None):
        gradient = gradient or s.scratch("gradient", row * part.rows, GRADIENT)
        first = part.at + part.shift
        for error, low, high in ((dx.buffer, 0, border), (other, border, width)):
            start, stop = max(first, low), min(first + part.rows, high)
            if start < stop:
                of = gradient
                if stop - start < part.rows:
                    of = s.arena.part(gradient, (start - first) * row, (stop - start) * row)
                columns, at = (width, start) if error == dx.buffer else (units, start - low)
                sizes = (count, units, columns) + zero + (at, stop - start)
                s.emit("dense_dw" + suffix, (of, error, before), sizes)
        return gradient

    def make_bias(part):
        gradient = s.scratch("bias gradient", 4 * width, GRADIENT)
        s.emit("bias_dw" + suffix, (gradient, dx.buffer), (count, width))
        of = s.arena.part(gradient, 4 * border, 4 * units)
        s.emit("bias_dw" + suffix, (of, other), (count, units))
        return gradient

    trained = weights.trained
    pieces, bias, gradient = [], None, None
    if trained and s.int8:
        scale = s.scratch("gradient scale", 4)
        s.emit("product", (scale, before_scale, dx.scale), (ONE,))
        scale = s.real(layer.name + " gradient", scale)
    if trained:
        pieces = s.updates.pieces(trained, 0)
        if s.updates.sums:
            gradient = s.updates.summed(pieces, make)
            pieces = trained
    if layer.use_bias and layer.update_bias:
        bias = s.updates.summed([Part(1, width)], make_bias) if s.updates.sums else make_bias(None)
    for part in pieces:
        found = part.of(s.arena, gradient, row) if gradient else make(part)
        s.note_gradient(layer.name + " gradient", found, scale)
        s.updates.kernel(weights, found, scale, ONE, part)
    if bias:
        s.updates.bias(weights, bias, dx.scale, dx.factor)


_ROW = (_forward, _backward)
ROWS = dict.fromkeys(("gru", "lstm", "simple_rnn"), _ROW)
