"""Scales of channels move between layers, until no channel of a kernel is much smaller than the others: the network
computes the same.

A layer that trains in int8 has one scale for its whole kernel (docs/reference/numerics.md), and a folded BatchNorm
leaves channels that differ a hundredfold. Where only ReLUs, poolings and sums lie between, a channel may be divided by
any number above 0 before, and the next layer's weights multiplied by it: cross-layer equalization (Nagel et al., 2019),
here over residual sums too.
"""

import numpy as np

_SAME = ("relu", "leaky_relu", "maxpool", "avgpool", "adaptive", "globalavg", "upsample", "dropout", "add", "flatten")
_ROUNDS = 40
_MOST = 1e4  # of a channel's factor, and one over it the least


def equalize(graph, kept=()):
    """Change the kernels and biases of a Graph whose BatchNorms are folded; outputs stay what they are, and the nodes
    ``kept``.
    """
    groups, pinned = _groups(graph, kept)
    linear = [node for node in graph.nodes if _scales(node) and node not in kept]
    reads = {id(node): groups[id(node.inputs[0])] for node in linear}
    for _ in range(_ROUNDS):
        for group in {groups[id(node)] for node in linear} - pinned:
            before = [_by_output(node) for node in linear if groups[id(node)] == group]
            after = [_by_input(node, before[0].size) for node in linear if reads[id(node)] == group]
            if not after:
                continue
            small, large = np.max(before, 0), np.max(after, 0)
            used = (small > 0) & (large > 0)
            factor = np.ones(small.size)
            factor[used] = np.clip(np.sqrt(small[used] / large[used]), 1 / _MOST, _MOST)
            for node in linear:
                if groups[id(node)] == group:
                    weights = node.weights
                    weights["kernel"] = weights["kernel"] / factor.reshape((-1,) + (1,) * (weights["kernel"].ndim - 1))
                    weights["bias"] = None if weights["bias"] is None else weights["bias"] / factor
                if reads[id(node)] == group:
                    kernel = node.weights["kernel"]
                    if _depthwise(node):
                        node.weights["kernel"] = kernel * factor.reshape((-1,) + (1,) * (kernel.ndim - 1))
                    else:
                        node.weights["kernel"] = kernel * np.tile(factor, kernel.shape[-1] // factor.size)


def _groups(graph, kept):
    """({node: the number of the group of tensors whose channels have one factor}, the groups whose factors are 1)."""
    parent = list(range(len(graph.nodes)))
    place = {id(node): number for number, node in enumerate(graph.nodes)}

    def root(number):
        while parent[number] != number:
            number = parent[number]
        return number

    def same(a, b):
        parent[root(a)] = root(b)

    pinned = [place[id(graph.output)]]
    for number, node in enumerate(graph.nodes):
        inputs = [place[id(each)] for each in node.inputs]
        if node.op in _SAME:
            for each in inputs:
                same(number, each)
        elif node in kept or not _scales(node):
            pinned += [number, *inputs]
    return {key: root(number) for key, number in place.items()}, {root(number) for number in pinned}


def _depthwise(node):
    return node.op == "conv" and node.options["groups"] == node.shape[-1] == node.inputs[0].shape[-1] > 1


def _scales(node):
    """Whether factors may go into its weights."""
    if node.op not in ("dense", "conv", "transposed") or not node.trainable:
        return False
    return node.op != "conv" or node.options["groups"] == 1 or _depthwise(node)


def _by_output(node):
    """The largest weight of each channel that it makes, in parts of the largest of all."""
    kernel = np.abs(node.weights["kernel"])
    return _parts(kernel.reshape(len(kernel), -1).max(1))


def _by_input(node, channels):
    """The largest weight of each channel that it reads; a Dense after a Flatten has each once for each position."""
    kernel = np.abs(node.weights["kernel"])
    if _depthwise(node):
        return _parts(kernel.reshape(len(kernel), -1).max(1))
    return _parts(kernel.reshape(-1, channels).max(0))


def _parts(largest):
    return largest / (largest.max() or 1)
