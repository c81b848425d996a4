"""Dynamic sparse updates: at each step only the output channels with the largest error train (Deutel et al., 2024).

The larger the error of the network's output, relative to the largest so far, the more channels. Of what is
chosen compact tensors are made, and the kernels run on these: what is not chosen costs no product, neither
in the gradient of the weights nor in the error that goes on to the layers before.
"""

from ..base.fixed import ONE
from ..base.opcodes import opcode
from ..plan.instruction import NAME, ROW
from ..plan.linear import gradient_scale, sizes
from ..plan.shared import bias_gradient
from ..plan.values import ERROR, GRADIENT, SCRATCH, Part


class Chosen:
    """Which ``most`` of the layer's output channels train in this step."""

    def __init__(self, s, node, error):
        layer = node.layer
        low, high = layer.dynamic.low, layer.dynamic.high
        self.total = s.buffers.weights[node].rows
        self.most = max(1, high * self.total >> 16)
        self.count = s.scratch("chosen count", 4)
        self.rows = s.scratch("chosen rows", 4 * self.most)
        sums = s.scratch("error sums", 4 * self.total)
        sizes = (error.count // self.total, self.total, self.most, low, high)
        operands = (self.count, self.rows, sums, error.buffer, s.updates.ratio)
        s.emit("rank_i8" if s.int8 else "rank_f32", operands, sizes)

    def pick(self, s, buffer, count, unit, kind):
        """Of ``count`` rows of the layer's channels, ``unit`` bytes each, the chosen ones."""
        picked = s.scratch("chosen", count * self.most * unit, kind)
        s.emit("pick", (picked, buffer, self.count, self.rows), (count, self.total, self.most, unit))
        return picked

    def few(self, s, name, operands, immediates, sizes):
        """Emit an instruction whose ``sizes`` are the number of channels, for the chosen ones."""
        immediates = list(immediates)
        mask = 0
        for index, size in enumerate(opcode(name).immediates):
            if size in sizes:
                immediates[index] = self.most
                mask |= 1 << index
        s.emit("few", (self.count,), (self.most, mask))
        s.emit(name, operands, tuple(immediates))

    def each(self, s, instruction):
        """The prefix that repeats an update of the first row for the chosen ones."""
        names = opcode(instruction[ROW][NAME]).immediates
        which = names.index("R" if "R" in names else "N")
        place = names.index("at") if "at" in names else -1
        return s.instruction("each", (self.count, self.rows), (self.total, self.most, which, place))


def relative(s, error):
    """Emit how large the output's error is."""
    if s.updates.sums or s.updates.optimizer.limit:
        raise ValueError("a dynamic update goes with neither micro_batch nor global_clipnorm")
    s.updates.ratio = s.scratch("relative error", 4)
    largest = s.buffers.keep("largest error", 4, None)
    if s.int8:
        scale = s.real("loss error", error.scale)
        s.emit("relative_i8", (s.updates.ratio, largest, error.buffer, scale, s.control), (error.count,))
    else:
        s.emit("relative_f32", (s.updates.ratio, largest, error.buffer, s.control), (error.count,))


def backward(s, node, error, needed):
    """As linear.py's, of the chosen rows."""
    layer = node.layer
    x = s.values[node.inputs[0]]
    weights = s.buffers.weights[node]
    rows, columns = weights.rows, weights.columns
    unit, suffix = (1, "_i8") if s.int8 else (4, "_f32")
    varied = ("N", "R", "C") if layer.by_channel else ("N", "R")
    chosen = Chosen(s, node, error)
    bias = None
    if layer.use_bias and layer.update_bias:  # whole: it costs next to nothing
        bias = bias_gradient(s, "bias", error, rows)
    few = chosen.pick(s, error.buffer, error.count // rows, unit, ERROR)
    source = x.buffer
    if layer.by_channel:
        source = chosen.pick(s, x.buffer, x.count // rows, unit, ERROR)
    part = Part(rows, columns, 0, 1)
    part.chosen = chosen
    scale = gradient_scale(s, layer, x, error) if s.int8 else None
    gradient = s.scratch("gradient", 4 * chosen.most * columns, GRADIENT)
    immediates = sizes(s, node) + ((x.zero,) if s.int8 else ()) + (0, rows)
    chosen.few(s, layer.kind + "_dw" + suffix, (gradient, few, source), immediates, varied)
    dx = None
    if needed[0]:
        dx = _dx(s, node, error, chosen, few, varied, unit)
    s.updates.kernel(weights, gradient, scale, ONE, part)
    if bias:
        s.updates.bias(weights, bias, error.scale, error.factor)
    return [dx]


def _dx(s, node, error, chosen, few, varied, unit):
    layer = node.layer
    weights = s.buffers.weights[node]
    count = s.values[node.inputs[0]].count
    dx = s.tensor(layer.name + " dx", count, ERROR)
    kernel = chosen.pick(s, weights.kernel, 1, unit * weights.columns, ERROR)
    made = dx.buffer
    if layer.by_channel:
        made = s.scratch("dx chosen", count // weights.rows * chosen.most * unit, ERROR)
    operands = (made, few, kernel)
    if s.int8:
        rescale = s.scratch("dx rescale", 8 * (chosen.most if layer.by_channel else 1))
        if layer.by_channel:
            scale = chosen.pick(s, weights.scale, 1, 4, SCRATCH)
            scaled = (rescale, error.scale, scale, dx.scale)
            chosen.few(s, "rescale", scaled, (chosen.most, error.factor), varied)
        else:
            s.emit("rescale", (rescale, error.scale, weights.scale, dx.scale), (1, error.factor))
        operands = (made, dx.peak, few, kernel, rescale)
    chosen.few(s, layer.kind + ("_dx_i8" if s.int8 else "_dx_f32"), operands, sizes(s, node), varied)
    if layer.by_channel:
        put = (dx.buffer, made, chosen.count, chosen.rows)
        s.emit("put", put, (count // weights.rows, chosen.total, chosen.most, unit))
    return dx
