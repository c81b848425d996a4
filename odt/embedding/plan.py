"""From an embedding to its instructions: rows are copied forward, and summed backward for each token that is there."""

from ..base.opcodes import forget, opcode
from ..plan.instruction import NAME, ROW
from ..plan.values import ACTIVATION, GRADIENT, Part, Value


class Named:
    """The rows that a batch names, ``most`` at most: adapt/plan.py has others."""

    def __init__(self, s, total, most):
        self.total, self.most = total, most
        self.count, self.rows = s.scratch("named count", 4), s.scratch("named rows", 4 * most)

    def each(self, s, instruction):
        """The prefix that repeats an update of the first row for the named ones."""
        names = opcode(instruction[ROW][NAME]).immediates
        which = names.index("R" if "R" in names else "N")
        place = names.index("at") if "at" in names else -1
        return s.instruction("each", (self.count, self.rows), (self.total, self.most, which, place))


def _suffix(s):
    return "_i8" if s.int8 else "_f32"


def _forward(s, node, inputs):
    (x,) = inputs
    layer = node.layer
    if layer.trainable and layer.update_rows is not None:
        raise ValueError("%r: it trains as a whole, the rows that a batch names, or not at all" % layer)
    weights = s.buffers.parameters(node)
    weights.common = True
    count = x.count * weights.columns
    y = Value(s.scratch(layer.name, count * (1 if s.int8 else 4), ACTIVATION), count)
    if s.int8:
        y.scale, y.peak = weights.scale, s.buffers.unwatched()
    s.emit("embed" + _suffix(s), (y.buffer, x.buffer, weights.kernel), (x.count, weights.columns, weights.rows))
    return s.note(layer.name, y)


def _backward(s, node, error, needed):
    layer = node.layer
    if s.probing or not layer.trainable:
        return [None]
    x = s.values[node.inputs[0]]
    weights = s.buffers.weights[node]
    rows, columns = weights.rows, weights.columns
    sums = s.updates.sums or s.updates.optimizer.limit  # then other batches, or the norm, have all rows
    most = rows if sums else min(rows, x.count)
    named = Named(s, rows, most)

    def make(part):
        gradient = s.scratch("gradient", 4 * most * columns, GRADIENT)
        operands = (gradient, named.count, named.rows, error.buffer, x.buffer)
        s.emit("embed_dw" + _suffix(s), operands, (x.count, columns, rows, most, int(bool(sums))))
        return gradient

    part = Part(rows, columns, 0, rows if sums else 1)
    if not sums:
        part.chosen = named
    gradient = s.updates.summed([part], make) if s.updates.sums else make(part)
    scale = None
    if s.int8:
        scale = s.real(layer.name + " gradient", error.scale)
        s.note_gradient(layer.name + " gradient", gradient, scale, error.factor)
    s.updates.kernel(weights, gradient, scale, error.factor, part)
    forget()
    return [None]


ROWS = {"embedding": (_forward, _backward)}
