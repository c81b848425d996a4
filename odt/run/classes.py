"""Probabilities and classes of what a network predicts: ``model.predict_proba(x)``, ``model.predict_classes(x)``."""

from math import exp

from ..base.fixed import ONE
from .session import ready


def probabilities(model, x):
    """See Network.predict_proba(). Computed in the machine's floats: the last bits are not those of every machine."""
    kind, done = ending(ready(model))
    out = model.predict(x)
    if not done:
        values = numbers(out)
        if kind == "sigmoid":
            for index, value in enumerate(values):
                values[index] = _sigmoid(value)
        else:
            width = model.session.seen.width
            for at in range(0, len(values), width):
                _softmax(values, at, at + width)
    return out


def classes(model, x):
    """See Network.predict_classes()."""
    session = ready(model)
    kind, done = ending(session)
    out = model.predict(x)
    values = numbers(out)
    width, names = session.seen.width, model.labels
    count = max(width, 2)
    if names is None:
        names = range(count)
    elif len(names) != (width if kind == "sigmoid" and width > 1 else count):
        raise ValueError("labels: %d names, the network has %d classes" % (len(names), count))
    found = []
    limit = 0.5 if done and kind == "sigmoid" else 0
    for at in range(0, len(values), width):
        if width == 1:
            found.append(names[int(values[at] > limit)])
        elif kind == "sigmoid":
            found.append([names[index] for index in range(width) if values[at + index] > limit])
        else:
            best = at
            for index in range(at + 1, at + width):
                if values[index] > values[best]:
                    best = index
            found.append(names[best - at])
    return found


def ending(session):
    """("softmax" or "sigmoid", whether the network ends in it), found once."""
    if session.ends is None:
        session.ends = _ending(session)
    return session.ends


def _ending(session):
    last = None
    for _, code, _, immediates in session.program.walk(*session.sections["predict"]):
        last = code.name.rpartition("_")[0]
        if code.name == "sigmoid_i8" and immediates[-1] != ONE:  # a tanh
            last = None
    kind = "softmax" if session.loss.labels else "sigmoid" if session.loss.binary else last
    if kind not in ("softmax", "sigmoid") or kind == "softmax" and len(session.shape) > 1:
        raise ValueError(
            "classes: one axis of logits for labels or BinaryCrossentropy, or of a Softmax or Sigmoid, is expected; "
            "the model has outputs %s for %s" % (tuple(session.shape), session.loss.name)
        )
    return kind, last == kind


def numbers(out):
    """The numbers of NumPy's result one after another, to read and to write; array('f') is so."""
    return memoryview(out).cast("B").cast("f") if hasattr(out, "shape") else out


def _sigmoid(value):
    if value < 0:
        value = exp(max(value, -80))
        return value / (1 + value)
    return 1 / (1 + exp(-min(value, 80)))


def _softmax(values, start, stop):
    """In place, of values[start:stop]."""
    top = max(values[start:stop])
    total = 0
    for index in range(start, stop):
        values[index] = exp(max(values[index] - top, -80))
        total += values[index]
    for index in range(start, stop):
        values[index] /= total
