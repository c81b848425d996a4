"""From the inner description to an odt model: BatchNorms folded, layers made, weights written, ranges measured."""

import numpy as np

import odt
from odt.layers import Input

from .graph import LINEAR, Unsupported
from .layers import placed, worded


def fold(graph, norms=True):
    """Each constant factor and offset, and BatchNorm, that alone reads a layer with a kernel becomes part of its weights.

    Without ``norms`` BatchNorms stay, and train.
    """
    into = {}  # of a node that is gone, the one that computes it
    for node in graph.nodes:
        if not (node.op == "affine" or norms and node.op == "norm" and node.options["kind"] == "batch"):
            continue
        parent = into.get(id(node.inputs[0]), node.inputs[0])
        if parent.op not in LINEAR or not parent.trainable or len(graph.readers(node.inputs[0])) > 1:
            continue
        gain, offset = factors(node)
        weights = parent.weights
        weights["kernel"] = weights["kernel"] * gain.reshape((-1,) + (1,) * (weights["kernel"].ndim - 1))
        weights["bias"] = offset if weights["bias"] is None else weights["bias"] * gain + offset
        into[id(node)] = parent
    for node in graph.nodes:
        node.inputs = [into.get(id(each), each) for each in node.inputs]
    graph.output = into.get(id(graph.output), graph.output)
    graph.nodes = [node for node in graph.nodes if id(node) not in into]
    for node in graph.nodes:
        if norms and node.op == "norm" and node.options["kind"] == "batch":
            node.trainable = False


def factors(node):
    """Gain and offset of a BatchNorm or an affine node, in float64."""
    weights = node.weights
    if node.op == "affine":
        return weights["gain"], weights["offset"]
    gain = weights["gamma"] / np.sqrt(weights["variance"] + node.options["epsilon"])
    return gain, weights["beta"] - weights["mean"] * gain


def assemble(graph, inputs=None):
    """(odt.Model not compiled, {layer: its weights as float32 arrays}) of a Graph. ``inputs``: options of odt.Input."""
    found, weights = {}, {}
    for node in _needed(graph):
        try:
            if node.op == "input":
                found[id(node)] = Input(node.shape, name=node.name, **(inputs or {}))
                continue
            layer, values = _layer(node)
            taken = [found[id(each)] for each in node.inputs]
            found[id(node)] = made = layer(taken if layer.variadic else taken[0])
        except (ValueError, TypeError) as error:
            raise type(error)("%s: %s" % (node.origin, error)) from None
        if made.shape != node.shape:
            raise Unsupported("%s: gives %s, odt's layer %s" % (node.origin, node.shape, made.shape))
        layer.trainable = node.trainable
        if values:
            weights[layer] = [np.ascontiguousarray(value, np.float32) for value in values]
            for (name, shape), value in zip(layer.weight_shapes(), weights[layer]):
                assert value.shape == shape, (node.origin, name, value.shape, shape)
    first, last = found[id(graph.nodes[0])], found[id(graph.output)]
    if last is first:
        raise Unsupported("the network has no layer")
    return odt.Model(first, last), weights


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


def set_weights(model, weights):
    """Write what ``assemble`` gave into the compiled model."""
    model.set_weights([value for layer, _ in model.session.plan.weights for value in weights.get(layer, ())])


def _layer(node):
    """The layer of a node, and its weights in the order of ``weight_shapes``."""
    maker = _MAKERS.get(node.op)
    if maker:
        return maker(node)
    kind, options = {
        "relu": ("ReLU", {}),
        "relu6": ("ReLU6", {}),
        "leaky_relu": ("LeakyReLU", {"negative_slope": node.options.get("slope")}),
        "sigmoid": ("Sigmoid", {}),
        "tanh": ("Tanh", {}),
        "softmax": ("Softmax", {}),
        "dropout": ("Dropout", {"rate": node.options.get("rate")}),
        "flatten": ("Flatten", {}),
        "reshape": ("Reshape", {"target_shape": node.shape}),
        "globalavg": ("GlobalAvgPool", {}),
        "add": ("Add", {}),
        "multiply": ("Multiply", {}),
        "concatenate": ("Concatenate", {}),
    }[node.op]
    return getattr(odt, kind)(name=node.name, **options), []


def _kernel(node):
    return [value for value in (node.weights["kernel"], node.weights["bias"]) if value is not None]


def _dense(node):
    units = node.weights["kernel"].shape[0]
    return odt.Dense(units, use_bias=node.weights["bias"] is not None, name=node.name), _kernel(node)


def _axes(node):
    return len(node.shape) - 1


def _window(kind, node, *arguments, **options):
    """A layer that slides a window: odt's own where its words say the same."""
    kind += "%dD" % _axes(node) if not kind.endswith("Transpose") else ""
    extents = node.inputs[0].shape[:-1]
    size, strides, pads, out = (node.options[key] for key in ("size", "strides", "pads", "out"))
    word = worded(size, strides, pads, extents, out, kind.endswith("Transpose"))
    if word:
        return getattr(odt, kind)(*arguments, size, strides, word, name=node.name, **options)
    return placed(kind, pads, out, *arguments, size, strides, "valid", name=node.name, **options)


def _conv(node):
    node.options["out"] = node.shape[:-1]
    bias = node.weights["bias"] is not None
    return _window("Conv", node, node.shape[-1], use_bias=bias, groups=node.options["groups"]), _kernel(node)


def _transposed(node):
    bias = node.weights["bias"] is not None
    return _window("Conv%dDTranspose" % _axes(node), node, node.shape[-1], use_bias=bias), _kernel(node)


def _pool(node):
    return _window("MaxPool" if node.op == "maxpool" else "AvgPool", node), []


def _adaptive(node):
    out = node.options["out"]
    return getattr(odt, "AdaptiveAvgPool%dD" % len(out))(out, name=node.name), []


def _upsample(node):
    size = node.options["size"]
    return getattr(odt, "UpSampling%dD" % len(size))(size, name=node.name), []


def _norm(node):
    weights, options = node.weights, node.options
    vectors = [weights[name] for name in ("gamma", "beta", "mean", "variance") if name in weights]
    epsilon = max(options["epsilon"], 1e-12)
    if options["kind"] == "layer":
        return odt.LayerNorm(epsilon, name=node.name), vectors
    if options["kind"] == "group":
        return odt.GroupNorm(options["groups"], epsilon, name=node.name), vectors
    return odt.BatchNorm(options["momentum"], epsilon, name=node.name), vectors


def _affine(node):
    """A BatchNorm of mean 0 and variance 1 that does not train."""
    gain, offset = factors(node)
    epsilon = 1e-3
    layer = odt.BatchNorm(epsilon=epsilon, name=node.name, trainable=False)
    return layer, [gain, offset, np.zeros_like(gain), np.full_like(gain, 1 - epsilon)]


_MAKERS = {
    "dense": _dense, "conv": _conv, "transposed": _transposed, "maxpool": _pool, "avgpool": _pool, "adaptive": _adaptive,
    "upsample": _upsample, "norm": _norm, "affine": _affine,
}  # fmt: skip
