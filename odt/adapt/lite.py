"""TinyTL's lite residual branches: a frozen network learns in small branches beside its blocks (Cai et al., 2020).

    small = lite_residual(model, [("maxpool2d", "conv2d_2"), "conv2d_3"])
    small.compile(...)
    take_weights(small, model)      # a branch's output is 0 at first: small predicts what model does

On a board, whose RAM does not hold the backbone, its weights are read in flash (frozen.py), and what trains
comes from a checkpoint that the same network wrote on a PC.
"""

from ..layers import Conv1D, Conv2D, ReLU
from ..layers.joins import Add
from ..layers.resizing import AdaptiveAvgPool1D, AdaptiveAvgPool2D, UpSampling1D, UpSampling2D
from ..model import Model
from ..plan.graph import Node
from .update import bias

if 1 - 1:  # for type checkers alone
    from array import array
    from collections.abc import Sequence

    from ..layers import Layer
    from ..run.network import Network

_AXES = {2: (AdaptiveAvgPool1D, Conv1D, UpSampling1D), 3: (AdaptiveAvgPool2D, Conv2D, UpSampling2D)}


def lite_residual(
    model: "Model",
    blocks: "Sequence[str | tuple[str, str]]",
    kernel_size: "int" = 3,
    groups: "int" = 2,
    expand: "int" = 1,
    norm: "int" = 0,
) -> "Model":
    """A new Model of ``model``'s layers, with a branch beside each block; branches, biases and the last layer train.

    ``blocks``: names ``(before, last)`` of two layers: the branch reads the output of the first, and is added to the
    second's (before its own ReLU or ReLU6), which all that follows then reads. A single name is a block of that layer
    alone. Outputs are (length, channels) or (height, width, channels).

    A branch averages its input to half of the block's output an axis (to all of an odd one: nothing is enlarged there);
    a convolution of ``kernel_size`` (less on smaller images) in ``groups`` (1 where they do not divide the channels)
    gives ``expand`` times the input's channels; ReLU; a 1x1 convolution gives the output's, and each position is
    repeated. ``norm``: with a GroupNorm with this many channels per group after each convolution (0: without). The last
    weights are 0 at first.

    The policy applies to ``model``'s layers, too: they are shared. KeyError for a name that no layer has, ValueError
    for a block that is none; the model is then as before.
    """
    named = {node.layer.name: node for node in model.nodes}
    sources = {}
    for block in blocks:
        before, last = (None, block) if isinstance(block, str) else block
        for name in (before, last):
            if name is not None and name not in named:
                raise KeyError(
                    "no layer is called %r; there are %s" % (name, ", ".join([n.layer.name for n in model.nodes]))
                )
        last = named[last]
        if before is None and len(last.inputs) != 1:
            raise ValueError("%r: a block of one layer has one input, this has %d" % (last.layer, len(last.inputs)))
        before = named[before] if before else last.inputs[0]
        if model.nodes.index(before) >= model.nodes.index(last):
            raise ValueError("block (%r, %r): the first is not before the second" % (before.layer, last.layer))
        if len(before.shape) != len(last.shape) or len(last.shape) not in _AXES:
            place = (before.layer, last.layer, before.shape, last.shape)
            raise ValueError("block (%r, %r): a branch joins two sequences or two images, got %s and %s" % place)
        sources[last] = before
    copies = {}
    for node in model.nodes:
        copy = Node(node.layer, [copies[parent] for parent in node.inputs], node.shape)
        if node in sources:
            branch = _branch(copies[sources[node]], node, kernel_size, groups, expand, norm)
            activation = node.layer.activation if node.clamp else None  # after the sum
            copy.clamp = 0
            copy = Add(activation, name=node.layer.name + "_lite")([copy, branch])
        copies[node] = copy
    made = Model(copies[model.nodes[0]], copies[model.nodes[-1]])
    bias(model)
    return made


def _branch(x, node, kernel_size, groups, expand, norm):
    pool, conv, enlarge = _AXES[len(node.shape)]
    name = node.layer.name + "_lite_"
    grid = tuple([size // 2 if size % 2 == 0 else size for size in node.shape[:-1]])
    channels = x.shape[-1]
    groups = groups if channels % groups == 0 else 1
    middle = max(int(channels * expand) // groups, 1) * groups
    while kernel_size > max(min(grid), 1):
        kernel_size -= 2
    kernel_size = max(kernel_size, 1)
    if grid != x.shape[:-1]:
        x = pool(grid, name=name + "pool")(x)
    x = conv(middle, kernel_size, padding="same", use_bias=not norm, name=name + "conv", groups=groups)(x)
    x = ReLU(name=name + "relu")(_norm(x, name + "norm", norm))
    last = conv(node.shape[-1], 1, use_bias=not norm, name=name + "out")
    x = _norm(last(x), name + "out_norm", norm)
    x.layer.zero = True
    size = tuple([whole // part for whole, part in zip(node.shape, grid)])
    return x if max(size) == 1 else enlarge(size, name=name + "up")(x)


def _norm(x, name, width):
    if not width:
        return x
    from ..layers.norms import GroupNorm

    channels = x.shape[-1]
    return GroupNorm(channels // width if channels % width == 0 else 1, name=name)(x)


def take_weights(model: "Model", source: "Network") -> None:
    """Give the compiled ``model`` the weights of all layers that it shares with the compiled ``source``."""
    found = dict(weights_of(source))
    values = []
    for layer, own in weights_of(model):
        values += found.get(layer, own)
    model.set_weights(values)


def weights_of(model: "Network") -> "list[tuple[Layer, list[array[float]]]]":
    """``[(layer, its arrays)]``, in the order of ``get_weights``."""
    values = model.get_weights()
    found = []
    for layer, _ in model.session.plan.weights:
        count = len(layer.weight_shapes())
        found.append((layer, values[:count]))
        values = values[count:]
    return found
