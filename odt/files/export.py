"""Writes a model file: all that another machine needs to go on with a model, without its script.

The format: docs/reference/model_file.md.

``model.export("gesture.odt", labels=["up", "down"])`` comes here; open.py reads it.
"""

import json
import struct

from ..base import executor
from ..base.fixed import elements
from ..base.regions import CONSTANTS, VERSION, X_SCALE
from ..run.session import is_untrained
from .checkpoint import path_of, write_file
from .reader import is_whole

_MAGIC = b"ODTN"
_FORMAT = 1

_RATES = ("Constant", "StepDecay", "CosineDecay", "ExponentialDecay", "WarmUp")


def export(model, session, path, labels, purpose, features):
    """Write the session of a model to ``path``; errors as of ``Network.export``."""
    path = path_of(path)
    if not isinstance(path, str):
        raise TypeError("export: a file's name is expected, got %r" % (path,))
    if purpose not in ("training", "inference"):
        raise ValueError('export: purpose is "training" or "inference", got %r' % (purpose,))
    if purpose == "inference" and not (is_untrained(session) and _is_frozen(model, session)):
        session = inference(model.nodes, session)
    labels = check_labels(model.labels if labels is None else labels, session)
    head = _head(getattr(model, "kind", type(model).__name__), session, labels)
    features = model.features if features is None else features
    if session.plan.reading:
        head["reading"] = list(session.plan.reading)
    rows = session.plan.rows
    if hasattr(rows, "exported"):
        rows = rows.exported(session, purpose)
    if rows:
        head["rows"] = [list(stage) for stage in rows]
    if features is not None:
        head["features"] = _features(features, session)
    head = json.dumps(head).encode()
    layers = session.plan.layers if hasattr(session.plan, "layers") else json.dumps(_layers(session)).encode()
    frozen = b"" if session.frozen is None else session.frozen
    parts = [head, layers, session.plan.code, frozen, session.state]
    sizes = [len(part) for part in parts]
    crc, body = 0, []
    for part in parts:
        for piece in (part, bytes(-len(part) % 4)):
            crc = executor.engine.crc32(piece, crc)
            body.append(piece)
    header = _MAGIC + struct.pack("<7I", _FORMAT, VERSION, *sizes) + bytes(24) + struct.pack("<I", crc)
    write_file(path, [header + struct.pack("<I", executor.engine.crc32(header))] + body, is_whole)


def _is_frozen(model, session):
    """Whether all weights are, or the model has no layers to plan it so."""
    buffers = [buffer for _, weights in session.plan.weights for buffer in weights.frozen]
    return all([buffer.region == CONSTANTS for buffer in buffers]) or not hasattr(model, "nodes")


def inference(nodes, session):
    """The same weights and ranges in a session that does not train; all weights are frozen."""
    from ..run.build import attach, build
    from ..run.transfer import transfer
    from .frozen import pack_session

    frozen = None
    try:
        for _ in range(2):  # in the state, then in what is frozen
            made = build(
                nodes, None, session.loss, session.dtype, session.batch_size, None, session.seed, None, None, frozen
            )
            transfer(made, session, "export")
            frozen = frozen or pack_session(made, session.frozen)
    finally:
        attach(session)
    return made


def check_labels(labels, session):
    """Class names as a list of str, one for each output (two of a single one), or None."""
    if labels is None:
        return None
    if not isinstance(labels, (list, tuple)) or not all([isinstance(label, str) for label in labels]):
        raise TypeError("labels: a list of str is expected, got %r" % (labels,))
    outputs = session.plan.output.count // session.rows
    count = max(outputs, 2) if session.loss.labels or session.loss.binary else outputs
    if len(labels) != count:
        raise ValueError("labels: %d names, the model tells %d classes apart" % (len(labels), count))
    return list(labels)


def _features(features, session):
    """(name, parameters) of what makes the Input's numbers."""
    if not hasattr(features, "parameters") or not hasattr(features, "outputs"):
        raise TypeError("export: features is one of odt.sensors.features, got %r" % (features,))
    count = elements(session.input.shape)
    if features.outputs != count:
        raise ValueError("export: the features are %d numbers, the model's Input takes %d" % (features.outputs, count))
    return features.parameters()


def _head(kind, session, labels):
    """What open.py needs to run the program."""
    loss, plan, layer = session.loss, session.plan, session.input
    unit = loss.unit(1.0)
    if any([loss.unit(float(step)) != unit * step**loss.degree for step in (2, 3, 4)]) or unit * 65536 % 1:
        raise TypeError("export: a custom loss (%s) cannot be stored in a file" % type(loss).__name__)
    output, int8 = plan.output, session.dtype == "int8"
    return {
        "kind": kind, "dtype": session.dtype, "batch": session.batch_size, "micro": session.micro, "seed": session.seed,
        "input": [layer.name, list(layer.shape), layer.dtype, session.control[X_SCALE], layer.zero_point],
        "output": [list(session.shape), output.buffer.offset, output.zero, output.scale.offset if int8 else None],
        "x": [buffer.offset if buffer else None for buffer in (plan.x_scale, plan.x_seen)],
        "scales": list(plan.scales) if int8 else [],
        "loss": [
            loss.name, int(loss.labels), int(loss.onehot), int(loss.binary), int(loss.hits), loss.degree,
            int(unit * 65536),
        ],
        "optimizer": session.optimizer.name if hasattr(session.optimizer, "name") else type(session.optimizer).__name__,
        "rate": None if is_untrained(session) else _rate(session.optimizer.learning_rate),
        "ranges": session.calibrated, "epoch": session.epoch, "underway": session.underway,
        "bias": [plan.bias.offset, plan.bias.size] if plan.bias else None, "fresh": int(session.fresh),
        "activated": int(plan.activated), "labels": labels,
    }  # fmt: skip


def _rate(rate):
    kind = type(rate).__name__
    if kind not in _RATES:
        raise TypeError("export: a custom learning rate (%s) cannot be stored in a file" % kind)
    values = rate.saved()
    return [kind] + [_rate(value) if hasattr(value, "saved") else value for value in values]


def _layers(session):
    """What summary(), get_weights(), load_weights() and `python -m odt info` need."""
    plan = session.plan
    kept, rows = plan.weights, []
    places = [weights for _, weights in kept]
    for layer, weights in kept:
        rows.append({
            "name": layer.name, "kind": layer.kind,
            "shapes": [[name, list(shape)] for name, shape in layer.weight_shapes()],
            "rows": weights.rows, "columns": weights.columns, "common": int(weights.common),
            "trained": [[part.total, part.columns, part.at, part.rows, part.shift] for part in weights.trained],
            "buffers": [_buffer(each) for each in (weights.kernel, weights.residual, weights.scale, weights.bias)],
            "vectors": [_buffer(each) for each in weights.vectors],
            "fixed": [_buffer(each) for each in weights.frozen],
            "into": places.index(weights.into) if weights.into else None,
            "epsilon": getattr(layer, "epsilon", 0),
        })  # fmt: skip
    names = ("totals", "peaks", "lower_bound", "again", "sums")
    return {
        "table": [list(row) for row in plan.table], "weights": rows,
        "forward": list(plan.forward), "errors": list(plan.errors),
        "plan": {name: getattr(plan, name) for name in names},
    }  # fmt: skip


def _buffer(buffer):
    if not buffer:
        return None
    row = [buffer.name, buffer.region, buffer.offset, buffer.size, buffer.role or ""]
    if hasattr(buffer, "parts"):  # see files/split.py
        row[2] = buffer.at
        row += [buffer.rest, buffer.row]
    elif hasattr(buffer, "bits"):  # see inspect/packed.py
        row.append(4)
    return row
