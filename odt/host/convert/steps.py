"""What of a quantized source stays as it is: scales, zero points and the bytes of weights, up to the first layer that
trains.

These layers, the front, compute what the source's own runtime does, except that the two may round a number close to
halfway between two steps differently. From where something trains on, ranges follow the values as in any model
(docs/reference/numerics.md).
"""

import math

import numpy as np

from ...base.fixed import float_to_bits, put
from ...base.regions import CONSTANTS
from ...plan.compiler import prepare
from ...plan.graph import resolve
from .build import factors
from .builder import SELU
from .graph import LINEAR

_SAME = ("maxpool", "upsample", "flatten", "reshape", "dropout")  # an output in the steps of the input
_CLAMPS = (*LINEAR, "norm", "affine", "add")  # a ReLU that alone follows is part of it
_CURVES = ("elu", "selu", "gelu")
_SCALED = (*_CLAMPS, *_CURVES, "input", "avgpool", "adaptive", "globalavg", "concatenate", "multiply", "lookup")
_OWN = {"relu6": (6 / 255, -128), "sigmoid": (1 / 256, -128), "tanh": (1 / 128, 0), "softmax": (1 / 256, -128)}  # odt's
_UNROUNDED = "the source does not round there"
_erf = np.vectorize(math.erf)
_FUNCTIONS = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "selu": lambda x: SELU[1] * _elu(SELU[0])(x),
    "gelu": lambda x: x / 2 * (1 + _erf(x / np.sqrt(2))),
    "erf": _erf,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "same": lambda x: x,
}


def front(graph, trains):
    """The nodes that depend on none of the layers of these names."""
    found = set()
    for node in graph.nodes:
        if node.name not in trains and all(each in found for each in node.inputs):
            found.add(node)
    return found


def tabulate(graph, front):
    """Let functions of one number become tables, in the front, between bytes whose steps are the source's."""
    sure = set()  # nodes that keep() gives steps, whatever they are
    for node in [node for node in graph.nodes if node in front]:
        before = start = node.whole or (node.inputs[0] if node.inputs else None)
        while start and start.op in _SAME and start.scale is None:
            start = start.inputs[0]
        if node.op == "norm" and node.options["kind"] == "batch":
            gain, offset = factors(node)
            node.op, node.weights = "affine", {"gain": gain, "offset": offset}
        is_part = node.op in ("relu", "relu6") and start.scale is None
        is_part = is_part and start.op in _CLAMPS and _is_known(node) and len(graph.readers(start)) == 1
        if (
            is_part and node.op == "relu6" and _reach(node) < 127
        ):  # what lies above 6 has bytes: the layer before makes them
            start.scale, start.zero_point, is_part = node.scale, node.zero_point, False
            sure.add(start)
        function = node.options.get("function") or _FUNCTIONS.get(node.op)
        if node.op == "leaky_relu":
            function = _leaky_relu(node.options["slope"])
        if node.op == "elu":
            function = _elu(node.options["alpha"])
        if node.op == "relu" and start and _steps(node) == _steps(start):
            function = None
        if function and start in sure and _is_known(node):
            node.op, node.inputs, node.weights, node.options = "lookup", [before], {}, {"function": function}
        passes = node.op in (*_SAME, "relu", "leaky_relu", "avgpool", "adaptive") and start in sure
        if passes or is_part or node.op in _OWN or node.op in _SCALED and _is_known(node):
            sure.add(node)
    graph.nodes = [node for node in graph.nodes if node is graph.output or graph.readers(node)]


def keep(graph, found, model, front):
    """Give the front's layers the source's steps, where it has some; ``found``: of each node odt's.

    Returns (the nodes of kernels whose bytes stay, {name: why an output has other steps than the source's}, whether no
    range of the network follows its values).
    """
    nodes = [node for node in graph.nodes if node in front and node in found]
    for node in nodes:
        if _is_known(node):
            found[node].layer.steps = _packed(node, -128)
    prepare(model.nodes, "float32", 1)  # which are part of the layer before
    last = {resolve(found[node]): node for node in nodes}
    actual, kept, left = {}, [], {}  # actual: an output's steps, None where they follow the values
    for node in nodes:
        made = found[node]
        made.layer.steps = None
        if made.alias is not None:
            actual[node] = actual[node.inputs[0]]
            continue
        end = last[made]
        actual[node], why = _fix(node, made, [actual[each] for each in node.inputs], end)
        if node.op in LINEAR and not made.folded:
            if _bytes(node) is not None:
                kept.append(node)
            else:
                why = why or "its weights are no bytes of -127 to 127 with a scale per output"
        if why:
            left[end.name] = why
    return kept, left, len(nodes) == len(found) and None not in actual.values()


def write(model, found, kept):
    """Write the bytes of these nodes' kernels into the compiled model."""
    session = model.session
    places = dict(session.plan.weights)
    for node in kept:
        weights = places[found[node].layer]
        if weights.kernel.region == CONSTANTS:  # given as frozen=
            continue
        kernel, scales = [
            each.memory(session.state) if hasattr(each, "parts") else session.state  # files/split.py
            for each in (weights.kernel, weights.scale)
        ]
        for index, value in enumerate(_bytes(node).tobytes(), weights.kernel.offset):
            kernel[index] = value
        for row, scale in enumerate(node.weights["steps"]):
            put(scales, weights.scale.offset + 4 * row, float_to_bits(float(np.float32(scale))))
    if hasattr(session.plan, "commit"):
        session.plan.commit()


def _steps(node):
    return None if node.scale is None else (node.scale, node.zero_point)


def _is_known(node):
    """Whether the source has steps of the output that odt can give it."""
    if node.op in ("add", "multiply") and len(node.inputs) > 2:
        return False
    return node.scale is not None and not (node.op == "globalavg" and np.prod(node.inputs[0].shape[:-1]) > 65535)


def _reach(node):
    """The byte that means 6."""
    return 127 if node.scale is None else node.zero_point + round(6 / node.scale)


def _leaky_relu(slope):
    return lambda x: np.where(x < 0, slope * x, x)


def _elu(alpha):
    return lambda x: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


def _packed(node, low):
    return float_to_bits(node.scale), node.zero_point, low


def _fix(node, made, inputs, end):
    """(the steps that the output gets, or None; why these are not the source's, or None).

    ``end``: the last node that ``made`` computes.
    """
    layer, before = made.layer, inputs[0] if inputs else None
    wanted = _steps(end) if _is_known(end) else None
    if node.op in ("recurrent", "attention", "position"):
        return None, _UNROUNDED
    if node.op == "embedding":
        return None, "its rows have the steps of their table"
    if node.op == "input" and getattr(layer, "check", None):  # of tokens, which have none
        return None, None
    if node.op not in _SCALED or wanted is None and node.op in ("avgpool", "adaptive"):
        own = _OWN.get(node.op, before)
        if wanted is None:
            return own, _UNROUNDED if node.op in _OWN else None
        return own, None if wanted == own else "its steps are odt's"
    if wanted is None:
        return None, _UNROUNDED
    if node.op == "input" and layer.dtype in ("int8", "uint8"):
        own = layer.scale, layer.zero_point - (128 if layer.dtype == "uint8" else 0)
        if own[1] != wanted[1] or abs(own[0] - wanted[0]) > 1e-3 * wanted[0]:
            return own, "the samples have steps of their own"
    if node.op in ("avgpool", "adaptive", "globalavg"):
        layer.away = int(node.options.get("away", False))
    if node.op == "lookup":
        layer.table = _table(node.options["function"], before, wanted)
    layer.steps = _packed(end, wanted[1] if made.relu else -128)
    return wanted, None


def _table(function, before, after):
    """What each byte becomes, as 256 bytes."""
    with np.errstate(over="ignore"):
        made = np.rint(function((np.arange(-128, 128) - before[1]) * before[0]) / after[0]) + after[1]
    return np.clip(made, -128, 127).astype(np.int8).tobytes()


def _bytes(node):
    """The kernel's own bytes as int8, or None."""
    kernel, steps = node.weights["kernel"], node.weights.get("steps")
    if steps is None or not np.all((steps > 1e-30) & (steps < 1e30)):
        return None
    exact = kernel / steps.reshape((-1,) + (1,) * (kernel.ndim - 1))
    whole = np.rint(exact)
    return whole.astype(np.int8) if np.abs(whole).max() <= 127 and np.abs(exact - whole).max() < 1e-3 else None
