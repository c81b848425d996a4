"""The layers of a model from a file, as summary(), get_weights() and load_weights() take them: read when they are asked for."""

import json

from ..fixed import elements, within
from ..regions import CONSTANTS, STATE
from ..plan.values import Buffer, Part, Weights


class Layer:
    """A layer's name and weights, without its class."""

    def __init__(self, row):
        self.name, self.kind, self.epsilon = row["name"], row["kind"], row["epsilon"]
        self._shapes = [(name, tuple(shape)) for name, shape in row["shapes"]]

    def weight_shapes(self):
        """As layers.Layer has it."""
        return self._shapes

    def __repr__(self):
        return self.name


def parse(plan):
    """Give ``plan`` what its ``layers`` tell of: weights, table, ranges, the figures of summary(). ValueError if that is wrong."""
    text = plan.layers
    try:
        _parse(plan, json.loads(text))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ValueError("the model file's layers are not those of its program: %r" % (error,))


def _parse(plan, found):
    rows = found["weights"]
    made = [_weights(row) for row in rows]
    layers = [Layer(row) for row in rows]
    for layer, weights, row in zip(layers, made, rows):
        if row["into"] is not None:
            weights.into = made[row["into"]]
            weights.into.folded = layer, weights
        _check(layer, weights, plan)
    for at in found["forward"][1::2] + found["errors"]:
        within("range", at, plan.state - 3)
    figures = found["plan"]
    plan.totals, plan.peaks = figures["totals"], figures["peaks"]
    plan.lower_bound, plan.again, plan.sums = figures["lower_bound"], figures["again"], figures["sums"]
    plan.forward, plan.errors = found["forward"], found["errors"]
    plan.table = [row[:2] + [tuple(row[2])] + row[3:] for row in found["table"]]
    plan.weights = list(zip(layers, made))


def _check(layer, weights, plan):
    """ValueError unless the weights have the sizes of their shapes and lie in the regions."""
    sizes = []
    if weights.kernel:
        _same(weights.kernel.size * plan.elements, weights.rows * weights.columns * 4)
        for part in weights.trained:
            within("part", part.at, part.total)
            within("rows", part.rows, part.total - part.at + 1)
            within("rows", part.at + part.shift, weights.rows - part.rows + 1)
            _same(part.columns, weights.columns)
            if weights.residual:
                _same(weights.residual.size, part.total * part.columns)
        if weights.scale or plan.elements == 4:
            _same(weights.scale.size, 4 * weights.rows)
        sizes.append(weights.rows * weights.columns)
    vectors = weights.vectors
    if not weights.into:
        sizes += [vector.size // 4 for vector in vectors]
        _same(sizes, [elements(shape) for _, shape in layer.weight_shapes()])
    for buffer in [weights.kernel, weights.residual, weights.scale, weights.bias] + vectors:
        if buffer:
            within(
                buffer.name,
                buffer.offset,
                (plan.constants if buffer.region == CONSTANTS else plan.state) - buffer.size + 1,
            )
            if buffer.region not in (STATE, CONSTANTS) or buffer is weights.residual and buffer.region != STATE:
                raise ValueError(buffer.region)


def _same(found, expected):
    if found != expected:
        raise ValueError("%r for %r" % (found, expected))


def _weights(row):
    trained = [Part(total, columns, at, rows, shift) for total, columns, at, rows, shift in row["trained"]]
    weights = Weights(row["rows"], row["columns"], trained, bool(row["common"]))
    buffers = [_buffer(each) for each in row["buffers"] + row["vectors"]]
    weights.kernel, weights.residual, weights.scale, weights.bias = buffers[:4]
    weights.vectors = buffers[4:]
    fixed = [each[1:3] for each in row["fixed"]]
    weights.frozen = [each for each in buffers if each and [each.region, each.offset] in fixed]
    return weights


def _buffer(row):
    if row is None:
        return None
    name, region, offset, size, role = row
    buffer = Buffer(name, size, None, region)
    buffer.offset = offset
    if role:
        buffer.role = role
    return buffer
