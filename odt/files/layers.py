"""The layers of a model from a file, as summary(), get_weights() and load_weights() take them: read when they are asked
for.
"""

import json

from ..base.fixed import elements, within
from ..base.regions import CONSTANTS, STATE
from ..plan.values import Buffer, Part, Weights

_FIGURES = {"totals": ("weights", "optimizer state"), "peaks": ("activations", "errors", "gradients", "scratch")}
_MOST = 1 << 31


class Layer:
    """A layer's name and weights, without its class."""

    def __init__(self, row):
        self.name, self.kind = _text(row["name"]), _text(row["kind"])
        self.epsilon = within("epsilon", row["epsilon"], 0x7F800000)
        self._shapes = [(_text(name), _shape(shape)) for name, shape in row["shapes"]]

    def weight_shapes(self):
        """As layers.Layer has it."""
        return self._shapes

    def __repr__(self):
        return self.name


def parse(plan):
    """Set what the section ``layers`` holds of ``plan``: weights, table, ranges, the figures of summary().

    ValueError if that is wrong.
    """
    text = plan.layers
    try:
        _parse(plan, json.loads(text))
    except Exception as error:
        from .reader import of_data

        if not of_data(error):
            raise
        raise ValueError("%s is damaged: the model file's layers are not those of its program: %r" % (plan.file, error))


def _parse(plan, found):
    rows = found["weights"]
    made = [_weights(row) for row in rows]
    layers = [Layer(row) for row in rows]
    for layer, weights, row in zip(layers, made, rows):
        if row["into"] is not None:
            outer = made[within("into", row["into"], len(made))]
            _same([outer.folded, outer.into, layer.weight_shapes()], [None, None, _folded(layer, outer)])
            weights.into = outer
            outer.folded = layer, weights
    for layer, weights in zip(layers, made):
        _check(layer, weights, plan)
    ranges = _ints(found["forward"], len(found["forward"]) // 2 * 2)
    for at in ranges[1::2] + _ints(found["errors"]):
        within("range", at, plan.state - 3)
    figures = found["plan"]
    for name, parts in _FIGURES.items():
        _ints([figures[name][part] for part in parts])
    plan.lower_bound, plan.again, plan.sums = _ints([figures["lower_bound"], figures["again"], figures["sums"]])
    plan.totals, plan.peaks = figures["totals"], figures["peaks"]
    plan.forward, plan.errors = ranges, found["errors"]
    plan.table = [[_text(row[0]), _text(row[1]), _shape(row[2])] + _ints(row[3:], 4) for row in found["table"]]
    plan.weights = list(zip(layers, made))


def _text(value):
    if not isinstance(value, str):
        raise ValueError("a str is expected, got %r" % (value,))
    return value


def _ints(values, count=None):
    """A list of ``count`` ints of at least 0."""
    if not isinstance(values, list) or len(values) != (len(values) if count is None else count):
        raise ValueError("%r" % (values,))
    for value in values:
        within("number", value, 1 << 62)
    return values


def _shape(values):
    return tuple([within("shape", value - 1, 1 << 24) + 1 for value in values])


def _folded(layer, outer):
    """The shapes of a BatchNorm that ``outer`` holds."""
    if not outer.kernel or not (outer.vectors or outer.bias):
        raise ValueError("%r is held by no kernel" % layer)
    return [(name, (outer.rows,)) for name, _ in layer.weight_shapes()[:4]]


def _check(layer, weights, plan):
    """ValueError unless the weights have the sizes of their shapes and lie in the regions."""
    shapes = [shape for _, shape in layer.weight_shapes()]
    vectors = weights.vectors
    for buffer in [weights.kernel, weights.residual, weights.scale, weights.bias] + vectors:
        if buffer:
            within("region", buffer.region, 256)
            if hasattr(buffer, "memory"):  # of 4 bits, or in two memories
                (getattr(buffer, "check", None) or _check_split)(buffer, weights, plan)
                continue
            size = plan.constants if buffer.region == CONSTANTS else plan.state
            within("size", buffer.size, size + 1)
            within("offset", buffer.offset, size - buffer.size + 1)
            if buffer.region not in (STATE, CONSTANTS) or buffer is weights.residual and buffer.region != STATE:
                raise ValueError("%s lies in region %d" % (buffer.name, buffer.region))
    if weights.bias:
        _same(weights.bias.size, 4 * weights.rows)
    if weights.into:
        _same(len(shapes), 4)
        return
    if weights.kernel:
        _same([weights.rows, weights.columns], [shapes[0][0], elements(shapes[0][1:])])
        _same(weights.kernel.size * plan.elements, weights.rows * weights.columns * 4)
        for part in weights.trained:
            within("part", part.at, part.total)
            within("rows", part.rows, part.total - part.at + 1)
            within("rows", part.at + part.shift, weights.rows - part.rows + 1)
            _same(part.columns, weights.columns)
            if weights.residual:
                _same(weights.residual.size, part.total * part.columns)
        if plan.elements == 4:
            _same([weights.scale.size, weights.scale.region], [4 * weights.rows, weights.kernel.region])
        shapes = shapes[1:]
    _same([vector.size for vector in vectors], [4 * elements(shape) for shape in shapes])


def _check_split(buffer, weights, plan):
    """The same of a kernel, or its scales, of which the state has the rows that train and flash the others."""
    _same(buffer.size, weights.rows * within("row", buffer.row, 1 << 26))
    end = before = 0
    for first, count, at in buffer.parts:
        _same([first >= end, at], [True, before])
        end, before = first + count, before + count
    here = buffer.trained * buffer.row
    within("offset", buffer.at, plan.state - here + 1)
    within("offset", buffer.rest, plan.constants - (buffer.size - here) + 1)


def _same(found, expected):
    if found != expected:
        raise ValueError("%r for %r" % (found, expected))


def _weights(row):
    trained = [Part(total, columns, at, rows, shift) for total, columns, at, rows, shift in row["trained"]]
    for part in row["trained"]:
        _ints([abs(value) for value in part])
    rows, columns = _ints([row["rows"], row["columns"]])
    weights = Weights(rows, columns, trained, bool(row["common"]))
    buffers = [_buffer(each, trained) for each in row["buffers"] + row["vectors"]]
    weights.kernel, weights.residual, weights.scale, weights.bias = buffers[:4]
    weights.vectors = buffers[4:]
    fixed = [each[1:3] for each in row["fixed"]]
    weights.frozen = [each for each in buffers if each and [each.region, each.offset] in fixed]
    return weights


def _buffer(row, trained):
    if row is None:
        return None
    name, region, offset, size, role = row[:5]
    _text(name)
    if len(row) == 6:
        from ..inspect.packed import Packed

        return Packed(name, size, offset)
    if len(row) > 5:
        from .split import Split

        return Split(name, size, role or None, offset, row[5], row[6], trained)
    buffer = Buffer(name, size, None, region)
    buffer.offset = offset
    if role:
        buffer.role = role
    return buffer
