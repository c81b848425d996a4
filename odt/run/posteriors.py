"""Probabilities in integers, of float32 outputs: the same on every machine, whatever its floats are."""

from array import array

from ..base.primitives import exp2n
from .classes import ending, numbers
from .data import float32_bits
from .session import ready

# log2 e is 94548 in Q16: 65536 + 4 * 7253


def probabilities(model, x):
    """A list for each sample: the probability of each class in 65536ths; of one logit or Sigmoid output, of no and of
    yes.

    ``model`` may be an OSELM of odt.online and ``x`` one sample: its outputs limited to 0 .. 1, over their sum; all
    alike where that is 0. ValueError for what predicts no classes, or several yes or no, and where an output is not
    finite.
    """
    if hasattr(model, "predict_proba_one"):
        return [_shares(model, x)]
    kind, done = ending(ready(model))
    values = numbers(model.predict(x))
    width = model.session.seen.width
    if kind == "sigmoid" and width > 1:
        raise ValueError("labels: classes are expected, the model has %d outputs of yes or no" % width)
    found = []
    for at in range(0, len(values), width):
        row = []
        for index in range(at, at + width):
            value = parts(values, index)
            if value is None:
                raise ValueError("labels: sample %d: the model's output is not finite" % (at // width))
            row.append(value)
        if width == 1:
            row.insert(0, 65536 - row[0] if done else 0)
        found.append(row if done else softmax(row))
    return found


def _shares(model, x):
    if not model.classes:
        raise ValueError("labels: classes are expected: OSELM(classes=..)")
    values, row = model.predict_one(x, array("f", bytes(4 * model.outputs))), []
    for index in range(len(values)):
        value = parts(values, index)
        if value is None:
            raise ValueError("labels: the model's output is not finite")
        row.append(min(max(value, 0), 65536))
    return _over(row, sum(row)) if any(row) else [65536 // len(row)] * len(row)


def parts(values, index):
    """A number of floats in 65536ths, rounded down; None of NaN and infinity. Numbers below 2^-64 are 0."""
    bits = float32_bits(values, index)
    exponent = bits >> 23 & 255
    if exponent < 63:
        return 0
    if exponent == 255:
        return None
    value, shift = bits & 0x7FFFFF | 0x800000, exponent - 134
    if shift >= 0:
        value <<= shift
        return -value if bits >> 31 else value
    shift = min(-shift, 24)
    return -((value + (1 << shift) - 1) >> shift) if bits >> 31 else value >> shift


def softmax(row):
    """Probabilities in 65536ths of logits in 65536ths."""
    top = max(row)
    for k, value in enumerate(row):
        value = top - value
        row[k] = value + (value >> 16) * 29012 + ((value & 65535) * 7253 >> 14)  # value * 94548 >> 16, in 30 bits
    return normal(row)


def normal(row):
    """Probabilities in 65536ths of what has 2^-t of the largest, t in 65536ths."""
    row = [exp2n(t) for t in row]
    return _over(row, sum(row))


def _over(row, total):
    """Of numbers up to 65536 their parts of the total, in 65536ths."""
    half = total // 2
    for k, value in enumerate(row):  # (value << 16) + half, in 30 bits
        value <<= 13
        row[k] = (value // total << 3) + ((value % total << 3) + half) // total
    return row
