"""Weights into a model: real numbers, or those of another model of the same layers, with its ranges, however both were
compiled.
"""

from array import array

from ..base.regions import CONSTANTS
from . import weights
from .replace import flat, rewrite
from .session import is_untrained


def set_weights(session, values):
    """Network.set_weights()."""
    if not isinstance(values, (list, tuple)):
        raise TypeError("set_weights takes a list of arrays, got %r" % (type(values),))
    values = list(values)
    int8 = session.dtype == "int8"
    taken = {}
    kept = session.plan.weights
    for layer, parameters in kept:
        taken[parameters] = []
        for (name, shape), whole in zip(layer.weight_shapes(), weights.wholes(layer, parameters, int8)):
            value = flat(layer, name, shape, values.pop(0) if values else ())
            weights.check(layer, name, value, 1024 if whole else 3e38)
            if name in ("moving_variance", "variance") and min(value) < 0:
                raise ValueError("%r: %s is at least 0, got %r" % (layer, name, min(value)))
            taken[parameters].append(value)
    if values:
        raise ValueError("%d arrays more than the model has weights" % len(values))
    for parameters in taken:
        if parameters.folded:
            from .folding import fold

            layer, inner = parameters.folded
            taken[parameters] = fold(taken[parameters], parameters, taken[inner])
            if int8:
                weights.check(layer, "folded, as a bias", taken[parameters][1], 1024)

    def write(state):
        for layer, parameters in kept:
            if not parameters.into:
                weights.write(state, layer, parameters, int8, taken[parameters])
        _commit(session)

    rewrite(session, "set_weights", write, (0 if int8 else 2, session.epoch, session.underway, session.seed))


def transfer(session, source, name):
    """Copy the weights of ``source``, a session, into ``session``; errors begin with ``name``.

    Between models of one dtype the copy is bit for bit; ranges are copied too, if both have the same. The optimizer
    starts again.
    ValueError that names the first layer that differs; nothing has changed then.
    """
    mine, theirs = session.plan.weights, source.plan.weights
    _same_layers(mine, theirs, name)
    int8 = session.dtype == "int8"
    alike = session.dtype == source.dtype
    ranges, level = (), 2
    if int8:
        ranges, level = _ranges(session, source) if alike else ((), 0)

    def write(state):
        for (layer, new), (other, old) in zip(mine, theirs):
            if new.into:
                continue
            if alike and not (new.folded or old.folded or old.into) and _roles(new) == _roles(old):
                _copy(state, new, source, old)
                continue
            values = _read(source, other, old)
            if new.folded:
                from .folding import fold

                inner = [at for at, (_, each) in enumerate(mine) if each is new.folded[1]][0]
                values = fold(values, new, _read(source, *theirs[inner]))
            weights.write(state, layer, new, int8, values)
        for to, at in ranges:
            state[to : to + 4] = source.state[at : at + 4]
        _commit(session)

    rewrite(session, "load_weights", write, (level, 0, None, session.seed))


class Part:
    """A source of transfer() for teach.front and vae.decoder: of a session's weights and ranges those that the model
    ``made``, a part of its network, has.
    """

    def __init__(self, session, made, nodes):
        self.state, self.frozen, self.dtype, self.calibrated = (
            session.state,
            session.frozen,
            session.dtype,
            session.calibrated,
        )
        self.plan, self.errors = self, ()
        layers = [layer for layer, _ in made.session.plan.weights]
        kept = dict(session.plan.weights)
        self.weights = [(layer, kept[layer]) for layer in layers]
        self.forward = []
        count = len(made.nodes)
        if self.dtype == "int8" and made.nodes == nodes[:count]:  # ranges are found by their nodes' numbers
            ranges = session.plan.forward
            for at in range(0, len(ranges), 2):
                if ranges[at] < count:
                    self.forward += [ranges[at], ranges[at + 1]]
            self.forward += [count - 1, session.plan.x_scale.offset]  # of the loss's error, which no one asks for


def _commit(session):
    """On the PC that has planned them: rows of kernels that will lie in flash, see split.py."""
    if hasattr(session.plan, "commit"):
        session.plan.commit()


def _roles(kept):
    return [vector.role for vector in kept.vectors]


def _read(source, layer, kept):
    return weights.read(layer, source.state, source.frozen, kept, source.dtype == "int8")


def _same_layers(mine, theirs, name):
    for index in range(max(len(mine), len(theirs))):
        if index >= len(theirs):
            raise ValueError("%s: layer %r: the model has it, the file has not" % (name, mine[index][0]))
        if index >= len(mine):
            raise ValueError("%s: layer %r: the file has it, the model has not" % (name, theirs[index][0]))
        (layer, _), (other, _) = mine[index], theirs[index]
        ours, found = layer.weight_shapes(), other.weight_shapes()
        if ours != found:
            place = (name, layer, _words(ours), _words(found))
            raise ValueError("%s: layer %r has %s, the file has %s" % place)


def _words(shapes):
    return ", ".join(["%s %s" % (name, tuple(shape)) for name, shape in shapes])


def _copy(state, new, source, old):
    """Weights as they are stored. What is frozen in flash stays; what the other does not train has no residual: 0."""

    def copy(to, at, count=None):
        if to is None or to.region == CONSTANTS:
            return
        memory = source.frozen if at.region == CONSTANTS else source.state
        size = count or to.size
        state[to.offset : to.offset + size] = bytes(memory[at.offset : at.offset + size])

    if new.kernel and new.kernel.region != CONSTANTS:
        if hasattr(new.kernel, "memory") or hasattr(old.kernel, "memory"):
            for to, at in ((new.kernel, old.kernel), (new.scale, old.scale)):
                if to:  # what lies in flash on a board stays
                    target = weights.memory_of(state, None, to)
                    data = weights.memory_of(source.state, source.frozen, at)
                    for index in range(to.size):
                        target[to.offset + index] = data[at.offset + index]
        else:
            copy(new.kernel, old.kernel)
            if new.scale:
                copy(new.scale, old.scale, 4 * new.rows)
        if new.residual:
            places = _residuals(old)
            for row, to in enumerate(_residuals(new)):
                if to >= 0:
                    at, columns = places[row], new.columns
                    data = bytes(columns) if at < 0 else bytes(source.state[at : at + columns])
                    state[to : to + columns] = data
    for to, at in zip(new.vectors, old.vectors):
        copy(to, at)


def _residuals(kept):
    """Of each row of a kernel where its residuals are in the state, -1 of one that does not train."""
    places = array("i", [-1] * kept.rows)
    for begin, end, at in weights.residual_spans(kept):
        for row in range(begin // kept.columns, end // kept.columns):
            places[row] = at + row * kept.columns
    return places


def _trains(session):
    """Which layers do: what the backward pass depends on, and how many ranges it has."""
    return [bool(kept.trained) for _, kept in session.plan.weights], len(session.plan.errors)


def _ranges(session, source):
    """((offset here, offset there), ..) of the ranges that both have, and how far they go, as ``calibrated``."""
    mine, theirs = list(session.plan.forward), list(source.plan.forward)  # MicroPython's arrays have no [::2]
    if mine[::2] != theirs[::2] or not source.calibrated:
        return (), 0
    found, level = list(zip(mine[1::2], theirs[1::2])), 1
    if is_untrained(session):
        level = source.calibrated
    elif source.calibrated == 2 and _trains(session) == _trains(source):
        found += zip(session.plan.errors, source.plan.errors)
        level = 2
    return found, level
