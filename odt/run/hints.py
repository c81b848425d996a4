"""What fit says once of its data, by name: features that differ by orders of magnitude or lie far from 0, targets far
from where weights begin.

It also refuses to calibrate a model that runs by rows.
"""

import struct

from ..base.regions import FLOAT32, X_FORMAT, Y_FORMAT

_SAMPLES = 16
_NUMBERS = 512  # of a sample: what has more is an image or a series, of one unit
# for a target from the mean, where the output's bias begins (centre.py): Adam moves a weight by the learning rate a
# step
_FAR = 300
_MOST = 1000  # for a bias in int8
_OFFSET = 4  # deviations of a feature from 0 to its mean
_LOOKED = 8192  # numbers at most, for that
_RATIO = 25  # the largest value to what a quarter of the features move less than


def say(session, samples, x, y):
    """Print what is to be said."""
    for hint in found(session, samples, x, y):
        print(hint)


def found(session, samples, x, y):
    """The lines; on a PC those of odt/host/advice.py, too."""
    both = features(session, x, samples) or offsets(session, x, samples), targets(session, y, samples)
    return [hint for hint in both if hint]


def features(session, x, samples):
    """A line if the features of ``x``, of ``samples`` samples, differ in size to a degree that a Normalization should
    come first.
    """
    layer = session.input
    names = _kinds(session)
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
    return (
        "%s: features differ: values reach %g, no. %d moves by %g: %sbegin with odt.Normalization(), adapted to x"
        % (layer.name, top, moves[0][1], moves[0][0], what)
    )


def offsets(session, x, samples):
    """A line if most features of ``x`` lie so far from 0, for how little they move, that a Normalization should come
    first.
    """
    layer = session.input
    if layer.dtype in ("int8", "uint8") or _kinds(session)[:1] in (["normalization"], ["batchnorm"]):
        return None
    code, size = _code(session, X_FORMAT)
    width, row, zero = layer.shape[-1], session.row, layer.zero_point
    looked = min(samples, _SAMPLES, max(2, _LOOKED // row))
    moves = far = 0
    for feature in range(width):
        count = total = squares = origin = 0
        for number in range(looked):
            first = number * samples // looked * row
            for index in range(first + feature, first + row, width):
                value = struct.unpack_from(code, x, size * index)[0]
                origin = origin if count else value  # sums of what is near 0 keep their digits
                count += 1
                total += value - origin
                squares += (value - origin) * (value - origin)
        mean = total / count
        spread = squares / count - mean * mean
        mean += origin - zero
        if spread > 0:
            moves += 1
            if mean * mean > _OFFSET * _OFFSET * spread:
                far += 1
                told = feature, mean, spread**0.5
    if 2 * far <= moves:
        return None
    return (
        "%s: features lie far from 0: no. %d about %g, which moves by %g: begin with odt.Normalization(), adapted to x"
        % ((layer.name,) + told)
    )


def _kinds(session):
    return [getattr(part, "kind", "") for part, _ in session.plan.weights]


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


def keep_ranges(session):
    """Refuse to calibrate a model from a file that runs by rows: a stripe does not tell a range."""
    session.calibrate = _by_rows


def _by_rows(*unused):
    raise RuntimeError("the model runs by rows: its ranges are its file's; calibrate(x, y) and export() it on a PC")
