"""What fit says once of its data, by name: features that differ by orders of magnitude, targets far from where weights begin."""

import struct

from ..regions import FLOAT32, X_FORMAT, Y_FORMAT

_SAMPLES = 16
_NUMBERS = 512  # of a sample: what has more is an image or a series, of one unit
_FAR = 300  # for a target from the mean, where the output's bias begins (centre.py): Adam moves a weight by the learning rate a step
_MOST = 1000  # for a bias in int8
_RATIO = 25  # the largest value to what a quarter of the features move less than


def say(session, samples, x, y):
    """Print what is to be said."""
    for hint in (features(session, x, samples), targets(session, y, samples)):
        if hint:
            print(hint)


def features(session, x, samples):
    """A line if the features of ``x``, of ``samples`` samples, differ so much in size that a Normalization should come first."""
    layer = session.input
    names = [getattr(part, "kind", "") for part, _ in session.plan.weights]
    width = layer.shape[-1]
    if layer.dtype in ("int8", "uint8") or width < 2 or session.row > _NUMBERS or "normalization" in names:
        return None
    norm = names[:1] == ["batchnorm"]
    if norm and (session.dtype == "float32" or session.plan.reading):  # it does the same
        return None
    code, size = _code(session, X_FORMAT)
    top, moves = 0, []
    count = min(_SAMPLES, samples) * session.row
    for feature in range(width):
        low = high = struct.unpack_from(code, x, size * feature)[0]
        for index in range(feature, count, width):
            value = struct.unpack_from(code, x, size * index)[0]
            low, high = min(low, value), max(high, value)
        top = max(top, high, -low)
        if high > low:
            moves.append((high - low, feature))
    moves.sort()
    if not moves or moves[len(moves) // 4][0] * _RATIO > top:
        return None
    what = "int8 loses it before %s: " % session.plan.weights[0][0] if norm else ""
    return "%s: features differ: values reach %g, no. %d moves by %g: %sbegin with odt.Normalization(), adapted to x" % (
        layer.name, top, moves[0][1], moves[0][0], what,
    )  # fmt: skip


def targets(session, y, samples):
    """A line if targets lie farther from their mean than weights soon get."""
    if not session.loss.degree or session.control[Y_FORMAT] != FLOAT32:
        return None
    code, size = _code(session, Y_FORMAT)
    count = min(_SAMPLES, samples) * session.width
    values = [struct.unpack_from(code, y, size * index)[0] for index in range(count)]
    mean = sum(values) / count
    top = max(max(values) - mean, mean - min(values))
    if top < _FAR and not (session.dtype == "int8" and abs(mean) > _MOST):
        return None
    return "targets lie up to %g from their mean, about %g: train on (y - mean) / deviation" % (top, mean)


def _code(session, format):
    """The struct code of the data in hand, and its bytes."""
    code = "<" + "bBhifH"[session.control[format]]
    return code, struct.calcsize(code)
