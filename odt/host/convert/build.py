"""From the inner description to an odt model: BatchNorms folded, layers made, weights written."""

import numpy as np

import odt

from ...layers import Input
from .builder import spans
from .graph import LINEAR, Unsupported
from .layers import Lookup, placed, worded


def fold(graph, norms=True, front=()):
    """Each constant factor and offset, and BatchNorm, that alone reads a layer with a kernel becomes part of its
    weights; so do factors and offsets one after another of each other.

    Without ``norms`` BatchNorms stay, and train. Of the nodes in ``front`` those stay before which the source rounds.
    """
    into = {}  # of a node that is gone, the one that computes it
    for node in graph.nodes:
        if node.op == "same":
            into[id(node)] = into.get(id(node.inputs[0]), node.inputs[0])
        if not (node.op == "affine" or norms and node.op == "norm" and node.options["kind"] == "batch"):
            continue
        if node in front and node.inputs[0].scale is not None:
            continue
        parent = into.get(id(node.inputs[0]), node.inputs[0])
        if len(graph.readers(node.inputs[0])) > 1:
            continue
        gain, offset = factors(node)
        weights = parent.weights
        if node.op == parent.op == "affine" and node.whole is parent.whole is None:
            weights["gain"], weights["offset"] = weights["gain"] * gain, weights["offset"] * gain + offset
            parent.scale, parent.zero_point = node.scale, node.zero_point
            into[id(node)] = parent
        if parent.op == "embedding":
            weights["kernel"] = weights["kernel"] * gain + offset
            parent.scale, parent.zero_point = node.scale, node.zero_point
            into[id(node)] = parent
        if parent.op not in LINEAR or not parent.trainable:
            continue
        weights["kernel"] = weights["kernel"] * gain.reshape((-1,) + (1,) * (weights["kernel"].ndim - 1))
        weights["bias"] = offset if weights["bias"] is None else weights["bias"] * gain + offset
        if "steps" in weights:
            weights["steps"] = weights["steps"] * np.abs(gain)
        parent.scale, parent.zero_point = node.scale, node.zero_point
        into[id(node)] = parent
    for node in graph.nodes:  # what is left of a factor and its inverse
        if node not in front and id(node) not in into and _is_nothing(node):
            into[id(node)] = node.inputs[0]

    def left(node):
        while id(node) in into:
            node = into[id(node)]
        return node

    for node in graph.nodes:
        node.inputs = [left(each) for each in node.inputs]
    graph.output = left(graph.output)
    graph.nodes = [node for node in graph.nodes if id(node) not in into]
    for node in graph.nodes:
        if norms and node.op == "norm" and node.options["kind"] == "batch":
            node.trainable = False


def _is_nothing(node):
    """Whether a node, which is not the network's first, multiplies by 1 and adds 0."""
    if node.op != "affine" or node.inputs[0].op == "input":
        return False
    return np.all(node.weights["gain"] == 1) and not np.any(node.weights["offset"])


def factors(node):
    """Gain and offset of a BatchNorm or an affine node, in float64."""
    weights = node.weights
    if node.op == "affine":
        return weights["gain"], weights["offset"]
    gain = weights["gamma"] / np.sqrt(weights["variance"] + node.options["epsilon"])
    return gain, weights["beta"] - weights["mean"] * gain


def assemble(graph, inputs=None):
    """(odt.Model not compiled, {node: odt's}) of a Graph. ``inputs``: options of odt.Input."""
    found = {}
    for node in _needed(graph):
        try:
            if node.op == "input":
                found[node] = Input(node.shape, name=node.name, **(inputs or {}))
                continue
            layer = _layer(node)
            taken = [found[each] for each in node.inputs]
            found[node] = made = layer(taken if layer.variadic or node.op == "attention" else taken[0])
        except (ValueError, TypeError) as error:
            raise type(error)("%s: %s" % (node.origin, error)) from None
        if made.shape != node.shape:
            raise Unsupported("%s: gives %s, odt's layer %s" % (node.origin, node.shape, made.shape))
        for each in (layer, *(layer.parts if node.op == "attention" else ())):
            each.trainable = node.trainable
    first, last = found[graph.nodes[0]], found[graph.output]
    if last is first:
        raise Unsupported("the network has no layer")
    return odt.Model(first, last), found


def _needed(graph):
    """The nodes that the output depends on."""
    needed, todo = set(), [graph.output]
    while todo:
        node = todo.pop()
        if id(node) not in needed:
            needed.add(id(node))
            todo += node.inputs
    if id(graph.nodes[0]) not in needed:
        raise Unsupported("the output does not depend on the input")
    return [node for node in graph.nodes if id(node) in needed]


def set_weights(model, graph, found):
    """Write the weights of a Graph into the compiled model that ``assemble`` made."""
    nodes = {found[node].layer: (node, _NAMES) for node in graph.nodes if node in found}
    for layer, (node, _) in list(nodes.items()):
        if node.op == "recurrent":  # which are two layers of odt's
            nodes[layer.projection] = node, ("kernel", "bias")
            nodes[layer] = node, ("recurrent", "recurrent_bias")
        elif node.op == "attention":
            attention = found[node].inputs[0].layer
            for part, name in zip(attention.parts, ("query", "key", "value", "output")):
                nodes[part] = node, (name, name + " bias") if part.use_bias else (name,)
    values = []
    for layer, _ in model.session.plan.weights:
        made = [np.ascontiguousarray(value, np.float32) for value in _values(*nodes[layer])]
        for (name, shape), value in zip(layer.weight_shapes(), made):
            assert value.shape == shape, (nodes[layer][0].origin, name, value.shape, shape)
        values += made
    model.set_weights(values)


def _values(node, names):
    """A node's weights of these names, those of a layer's ``weight_shapes`` in their order."""
    weights = node.weights
    if node.op == "affine":  # a BatchNorm of mean 0
        gain, offset = factors(node)
        deviation, epsilon = _deviation(node)
        return [gain * deviation, offset, np.zeros_like(gain), np.full_like(gain, deviation**2 - epsilon)]
    return [weights[name] for name in names if weights.get(name) is not None]


def _attention(node):
    weights = node.weights
    for name in ("query", "value", "output"):
        if node.options["bias"] and weights[name + " bias"] is None:
            weights[name + " bias"] = np.zeros(len(weights[name]))
    width = len(weights["query"]) // node.options["heads"]
    return odt.MultiHeadAttention(
        node.options["heads"], width, node.options["bias"], node.options["causal"], name=node.name
    )


_NAMES = "kernel", "bias", "gamma", "beta", "mean", "variance", "position"


def _layer(node):
    """The layer of a node."""
    maker = _MAKERS.get(node.op)
    if maker:
        return maker(node)
    if node.op == "erf":
        raise Unsupported("odt has erf as a part of GELU alone; instead: x * (1 + erf(x / sqrt(2)))")
    kind, options = {
        "relu": ("ReLU", {}),
        "relu6": ("ReLU6", {}),
        "leaky_relu": ("LeakyReLU", {"negative_slope": node.options.get("slope")}),
        "sigmoid": ("Sigmoid", {}),
        "tanh": ("Tanh", {}),
        "elu": ("ELU", {"alpha": node.options.get("alpha")}),
        "selu": ("SELU", {}),
        "gelu": ("GELU", {}),
        "softmax": ("Softmax", {}),
        "dropout": ("Dropout", {"rate": node.options.get("rate")}),
        "flatten": ("Flatten", {}),
        "reshape": ("Reshape", {"target_shape": node.shape}),
        "globalavg": ("GlobalAvgPool", {}),
        "add": ("Add", {}),
        "multiply": ("Multiply", {}),
        "concatenate": ("Concatenate", {}),
        "position": ("PositionEmbedding", {}),
    }[node.op]
    return getattr(odt, kind)(name=node.name, **options)


def _dense(node):
    units = node.weights["kernel"].shape[0]
    return odt.Dense(units, use_bias=node.weights["bias"] is not None, name=node.name)


def _embedding(node):
    return odt.Embedding(*node.weights["kernel"].shape, name=node.name)


def _recurrent(node):
    weights, options = node.weights, node.options
    layer = getattr(odt, options["kind"])
    words = {"use_bias": weights["bias"] is not None, "return_sequences": options["sequences"], "name": node.name}
    return layer(weights["recurrent"].shape[1], stateful=options.get("stateful", False), **words)


def _axes(node):
    return len(node.shape) - 1


def _window(kind, node, *arguments, **options):
    """A layer that slides a window: odt's own where its words say the same."""
    kind += "%dD" % _axes(node) if not kind.endswith("Transpose") else ""
    extents = node.inputs[0].shape[:-1]
    size, strides, pads, out = (node.options[key] for key in ("size", "strides", "pads", "out"))
    reach = spans(size, node.options.get("dilation", (1,) * len(size)))
    word = worded(reach, strides, pads, extents, out, kind.endswith("Transpose"))
    if word:
        return getattr(odt, kind)(*arguments, size, strides, word, name=node.name, **options)
    return placed(kind, pads, out, *arguments, size, strides, "valid", name=node.name, **options)


def _conv(node):
    node.options["out"] = node.shape[:-1]
    bias = node.weights["bias"] is not None
    options = {"groups": node.options["groups"], "dilation_rate": node.options.get("dilation", 1)}
    return _window("Conv", node, node.shape[-1], use_bias=bias, **options)


def _transposed(node):
    bias = node.weights["bias"] is not None
    return _window("Conv%dDTranspose" % _axes(node), node, node.shape[-1], use_bias=bias)


def _pool(node):
    return _window("MaxPool" if node.op == "maxpool" else "AvgPool", node)


def _adaptive(node):
    out = node.options["out"]
    return getattr(odt, "AdaptiveAvgPool%dD" % len(out))(out, name=node.name)


def _upsample(node):
    size = node.options["size"]
    return getattr(odt, "UpSampling%dD" % len(size))(size, name=node.name)


def _norm(node):
    options = node.options
    epsilon = max(options["epsilon"], 1e-12)
    if options["kind"] == "layer":
        return odt.LayerNorm(epsilon, name=node.name)
    if options["kind"] == "group":
        return odt.GroupNorm(options["groups"], epsilon, name=node.name)
    return odt.BatchNorm(options["momentum"], epsilon, name=node.name)


def _affine(node):
    return odt.BatchNorm(epsilon=_deviation(node)[1], name=node.name, trainable=False)


def _deviation(node):
    """(deviation, epsilon) of the BatchNorm of an affine node: in int8 whole steps are then whole parts of the
    deviation.
    """
    before = node.inputs[0].scale
    if before is None:
        return 1, 1e-3
    deviation = max(2**8 * before, 1e-5)
    return deviation, float("%.3e" % min(deviation**2 / 2, 1))  # as the layer takes it


def _lookup(node):
    return Lookup(name=node.name)


_MAKERS = {
    "dense": _dense, "embedding": _embedding, "recurrent": _recurrent, "attention": _attention, "conv": _conv,
    "transposed": _transposed,
    "maxpool": _pool, "avgpool": _pool, "adaptive": _adaptive,
    "upsample": _upsample, "norm": _norm, "affine": _affine, "lookup": _lookup,
}  # fmt: skip
