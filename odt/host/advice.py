"""What fit says of samples and targets that eight bits hold badly, on a PC: a line with what helps.

It looks at some hundred samples before the first step. odt.inspect.Rounding looks at the tensors themselves, while fit
runs, on boards, too; limits and lines are its own.
"""

import struct

from ..base.regions import X_FORMAT, Y_FORMAT
from ..inspect.rounding import APART, BULK, FEW, LEVELS, MOVES, NEAR, PAIRS, SMALL, TAIL, TAILED

_SAMPLES = 512  # that are looked at, at most
_NUMBERS = 65536  # of them, at most, but of 16 samples
_GROUP = 32  # samples whose largest number stands for the range: it forgets a rare outlier
_STEPS = 127  # of int8, from 0 to the largest number


def more(found):
    """odt.run.hints.found with the lines of this file, of an int8 model."""

    def lines(session, samples, x, y):
        told = found(session, samples, x, y)
        if session.dtype != "int8":
            return told
        name = session.input.name
        if session.input.dtype not in ("int8", "uint8"):
            units = [line for line in told if line.startswith(name + ":")]
            mine = _of_input(session, _rows(session, x, samples, session.row, X_FORMAT), units)
            told = mine + [line for line in told if not mine or line not in units]
        named = [line for line in told if line.startswith("targets")]
        if not named and session.loss.degree and session.width <= PAIRS:
            told += _of_targets(_rows(session, y, samples, session.width, Y_FORMAT))
        return told

    return lines


def _rows(session, data, samples, row, format):
    """Some samples of ``data``, whose numbers are of that format, as lists."""
    code = "bBhifH"[session.control[format]]
    taken = min(samples, _SAMPLES, max(16, _NUMBERS // row))
    one = struct.Struct("<%d%s" % (row, code))
    return [one.unpack_from(data, number * samples // taken * one.size) for number in range(taken)]


def _of_input(session, rows, units):
    """A line for the input. ``units``: features differ in size or lie far from 0, so that tails of each alone count."""
    layer, width = session.input, session.input.shape[-1]
    first = getattr(session.plan.weights[0][0], "kind", "") if session.plan.weights else ""
    if first == "batchnorm" and not session.plan.reading:
        return []
    columns = [[value - layer.zero_point for row in rows for value in row[i::width]] for i in range(width)]
    if units or first in ("normalization", "batchnorm"):
        columns = [_standardised(column) for column in columns]
    reach = _reach(columns, _GROUP * session.row // width)
    values = [max(-reach, min(reach, value)) for column in columns for value in column]
    step = reach / _STEPS
    if len(values) < FEW or not step:
        return []
    ordered = sorted(values)
    span = (ordered[3 * len(values) // 4] - ordered[len(values) // 4]) / step
    deviation = _deviation(values) / step
    if span < BULK and deviation * TAIL < _STEPS and len(set(values)) > LEVELS:
        return [TAILED % (layer.name, int(span) + 1)]
    if units or width > PAIRS or width < session.row:
        return []
    return _alike(layer.name, columns, step, deviation)


def _alike(name, columns, step, deviation):
    """A line for the two features that differ least, if by less than int8's steps can tell well."""
    found = []
    for i, one in enumerate(columns):
        for j, other in enumerate(columns[:i]):
            apart = [(a - b) ** 2 for a, b in zip(one, other) if a != b]
            if apart:
                found.append(((sum(apart) / len(apart)) ** 0.5 / step, j, i))
    if not found or min(found)[0] >= min(MOVES, deviation / APART):
        return []
    steps, j, i = min(found)
    return [NEAR % (name, j, i, steps)]


def _of_targets(rows):
    columns = list(zip(*rows))
    step = max(abs(value) for column in columns for value in column) / _STEPS
    moves = [(_deviation(column), number) for number, column in enumerate(columns)]
    moves = [(deviation, number) for deviation, number in moves if 0 < deviation < MOVES * step]
    if len(rows) * len(columns) < FEW or not moves:
        return []
    deviation, number = min(moves)
    return [SMALL % ("targets", number, deviation / step)]


def _reach(columns, group):
    """The median of the largest numbers of groups of that length: the range that int8 follows."""
    rows = list(zip(*columns))
    tops = sorted(max(abs(value) for row in rows[i : i + group] for value in row) for i in range(0, len(rows), group))
    return tops[len(tops) // 2]


def _deviation(values):
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5


def _standardised(column):
    mean, deviation = sum(column) / len(column), _deviation(column)
    return [(value - mean) / (deviation or 1) for value in column]
