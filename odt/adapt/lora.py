"""LoRA: a frozen layer learns in two thin kernels beside it, whose product is added to its own (Hu et al., 2022).

    small = lora(model, ["query", "value"], rank=4, train=["head"])
    small.compile(...)
    take_weights(small, model)  # a pair's product is 0 at first: small predicts what model does
    small.fit(...)
    merge(model, small)         # the kernels of model, with the products added

The frozen kernels may lie in flash, of 8 or 4 bits (files/frozen.py). A checkpoint then holds what trains alone.
"""

from ..base.primitives import size_of
from ..layers import Conv1D, Conv2D, Dense
from ..layers.joins import Add
from ..model import Model
from ..plan.graph import Node
from .lite import take_weights as take_weights
from .lite import weights_of
from .update import freeze

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence

    from ..run.network import Network

_DOWN, _UP, _SUM = "_lora_a", "_lora_b", "_lora"  # after a layer's name: Keras's words, and what adds


def lora(
    model: "Model", layers: "Sequence[str] | None" = None, rank: "int" = 4, train: "Sequence[str]" = ()
) -> "Model":
    """A new Model of ``model``'s layers, with a pair of layers beside each that ``layers`` names; the pairs train, and
    the layers that ``train`` names, such as the last.

    ``layers``: names of Dense layers, the projections of an attention among them, and of Conv1D and Conv2D without
    groups; None: all Dense layers but the last. A pair is a layer of ``rank`` outputs with the kernel size, strides and
    padding of its layer, NAME_lora_a, and a Dense or 1x1 convolution to its outputs, NAME_lora_b, whose kernel is 0 at
    first; both without a bias. The sum, NAME_lora, is before the layer's own ReLU or ReLU6. Its factor is 1, as if
    lora_alpha were ``rank``.

    ``model``'s layers are shared, so they are frozen in ``model``, too, when it is compiled again. KeyError for a name
    that no layer has, ValueError for a layer that can have no pair; the model is then as before.
    """
    rank = size_of("lora", "rank", rank)
    named = {node.layer.name: node.layer for node in model.nodes}
    if layers is None:
        layers = [layer.name for layer in named.values() if layer.kind == "dense"][:-1]
        if not layers:
            raise ValueError("lora: %s has no Dense layer but the last: name layers" % type(model).__name__)
    for name in list(layers) + list(train):
        if name not in named:
            raise KeyError("no layer is called %r; there are %s" % (name, ", ".join(named)))
    for name in layers:
        if name in train:
            raise ValueError("%r: named to train, so it has no pair beside it" % named[name])
        if named[name].kind not in ("dense", "conv2d"):
            raise ValueError("%r: a pair is beside a Dense, Conv1D or Conv2D without groups" % named[name])
    for name in train:
        if not named[name].weight_shapes():
            raise ValueError("%r has no weights to train" % named[name])
    copies = {}
    for node in model.nodes:
        copy = Node(node.layer, [copies[parent] for parent in node.inputs], node.shape)
        if node.layer.name in layers:
            pair = _pair(copy.inputs[0], node.layer, rank)
            activation = node.layer.activation if node.clamp else None  # after the sum
            copy.clamp = 0
            copy = Add(activation, name=node.layer.name + _SUM)([copy, pair])
        copies[node] = copy
    made = Model(copies[model.nodes[0]], copies[model.nodes[-1]])
    freeze(model, train)
    return made


def _pair(x, layer, rank):
    down, up = layer.name + _DOWN, layer.name + _UP
    if layer.kind == "dense":
        last = Dense(layer.kernel_shape[0], use_bias=False, name=up)
        x = Dense(rank, use_bias=False, name=down)(x)
    else:
        conv = Conv1D if layer.axes == 1 else Conv2D
        last = conv(layer.filters, 1, use_bias=False, name=up)
        x = conv(rank, layer.kernel_size, layer.strides, layer.padding, use_bias=False, name=down,
                 dilation_rate=layer.dilation_rate)(x)  # fmt: skip
    last.zero = True
    return last(x)


def merge(model: "Model", source: "Network") -> None:
    """Give the compiled ``model`` the weights of all layers that it shares with the compiled ``source``, which lora()
    made, with each pair's product added to its layer's kernel.

    In int8 the sum is rounded again: calibrate() by some samples, as after any set_weights().
    """
    found, named = {}, {}
    for layer, arrays in weights_of(source):
        found[layer] = named[layer.name] = arrays
    values = []
    for layer, own in weights_of(model):
        own = found.get(layer, own)
        if layer in found and layer.name + _UP in named:
            _add(own[0], named[layer.name + _UP][0], named[layer.name + _DOWN][0], layer.kernel_shape[0])
        values += own
    model.set_weights(values)


def _add(kernel, up, down, units):
    """Add up @ down to the kernel, whose rows are ``units``: all row after row."""
    rank, width = len(up) // units, len(kernel) // units
    at = 0
    for first in range(0, len(up), rank):
        for column in range(width):
            total = kernel[at]
            for k in range(rank):
                total += up[first + k] * down[k * width + column]
            kernel[at] = total
            at += 1
