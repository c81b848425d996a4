"""Variational autoencoders (Kingma and Welling, 2014): an encoder says where a sample lies, a decoder what lies there.

model = odt.Sequential([
    odt.Input((64,), dtype="uint8", scale=1 / 16),
    odt.Dense(32, "relu"), odt.Dense(2 * 8), odt.Sampling(name="z"),
    odt.Dense(32, "relu"), odt.Dense(64),
])
model.compile(odt.Adam(0.002), "binary_crossentropy")
model.fit(x, x, epochs=20)
features = teach.front(model, "z")          # frozen: 8 numbers of a sample, for a classifier of few labels
unusual = model.evaluate(one, one)[0]       # the loss of a single sample is its anomaly score
pictures = vae.generate(vae.decoder(model), 10)
"""

from ..base.fixed import hash32, is_int, is_number, own
from ..base.primitives import size_of
from ..layers import Input, Layer
from ..run.session import ready

if 1 - 1:  # for type checkers alone
    from array import array
    from typing import Any

    from ..model import Model
    from ..run.network import Network


class Sampling(Layer):
    """``mu + exp(v / 2) * g`` while training, g a normal number; ``mu`` otherwise.
    Input ``(2 n,)``: n means mu, then n log-variances v.

    It adds ``beta * D / outputs`` to the loss, whose mean over the network's outputs odt's losses are (of labels:
    ``beta * D``), D the divergence from normal numbers, ``sum(mu^2 + exp(v) - v - 1) / 2``: with ``beta=1`` and
    ``binary_crossentropy`` the loss times the outputs is the negative ELBO. ``beta``: above 0 (beta-VAE, Higgins et
    al., 2017); ``warmup``: steps over which it rises to that; ``free_bits``: nats per dimension that cost nothing
    (Kingma et al., 2016). g is of a hash of the model's seed, the step and the element: it lies nowhere.
    """

    beta: "float"
    warmup: "int"
    free_bits: "float"

    kind = "sampling"
    family = "generative.plan"
    repeatable = False

    def __init__(self, beta: "float" = 1, warmup: "int" = 0, free_bits: "float" = 0, name: "str | None" = None) -> None:
        super().__init__(name)
        beta, free_bits, warmup = own(beta), own(free_bits), own(warmup)
        if not is_number(beta) or not 1e-6 <= beta <= 1e6:
            raise ValueError("Sampling: beta is a number in 1e-6..1e6, got %r" % (beta,))
        if not is_number(free_bits) or not 0 <= free_bits <= 100:
            raise ValueError("Sampling: free_bits is a number in 0..100, got %r" % (free_bits,))
        if not is_int(warmup) or not 0 <= warmup < 1 << 30:
            raise ValueError("Sampling: warmup is an int in 0..2^30-1, got %r" % (warmup,))
        self.beta, self.free_bits, self.warmup = beta, free_bits, max(1, warmup)

    def build(self, shapes):
        (shape,) = shapes
        if len(shape) != 1 or shape[0] % 2:
            self.wrong_shape(shape, "(2 * n,)")
        return (shape[0] // 2,)


def decoder(model: "Model", layer: "str | None" = None, seed: "int" = 0) -> "Model":
    """A model of what comes after the Sampling of this name (None: the last), with its weights: float32 ``(n,)`` in; it
    does not train.

    In int8 its ranges are found with 64 points that ``generate`` would take. KeyError for a name that no Sampling has.
    """
    from ..model import Model
    from ..plan.graph import Node
    from ..run.build import attach
    from ..run.transfer import Part, transfer

    session = ready(model)
    found = [node for node in model.nodes if node.layer.kind == "sampling" and layer in (None, node.layer.name)]
    if not found:
        raise KeyError("no Sampling is called %r" % (layer,) if layer else "the model has no Sampling")
    first = found[-1]
    copies = {first: Input(first.shape)}
    for node in model.nodes[model.nodes.index(first) + 1 :]:
        if any([parent in copies for parent in node.inputs]):
            for parent in node.inputs:
                if parent not in copies:
                    place = (node.layer.name, parent.layer.name)
                    raise ValueError("decoder: layer %r takes %r, which comes before the Sampling" % place)
            copies[node] = Node(node.layer, [copies[parent] for parent in node.inputs], node.shape)
    if model.nodes[-1] is first or model.nodes[-1] not in copies:
        raise ValueError("decoder: nothing is left after %r" % first.layer.name)
    made = Model(copies[first], copies[model.nodes[-1]])
    try:
        made.compile(None, "mse", dtype=session.dtype, batch_size=1, seed=session.seed)
    finally:
        attach(session)
    transfer(made.session, Part(session, made, ()), "decoder")
    if made.session.dtype == "int8":
        made.calibrate(points(first.shape[0], 64, seed))
    return made


def points(size: "int", count: "int", seed: "int" = 0) -> "array[float]":
    """``count`` rows of ``size`` normal numbers in an array of floats, the same on every machine for a seed."""
    from array import array

    size, count, seed = size_of("points", "size", size), size_of("points", "count", count), own(seed)
    if not is_int(seed) or not 0 <= seed < 1 << 30:
        raise ValueError("points: seed is an int in 0..2^30-1, got %r" % (seed,))
    found = array("f")
    for i in range(size * count):
        total = -1020
        for u in (hash32(seed, 2 * i), hash32(seed, 2 * i + 1)):
            total += (u & 255) + (u >> 8 & 255) + (u >> 16 & 255) + (u >> 24)
        found.append(total / 209)  # a deviation of 1
    return found


def generate(decoder: "Network", count: "int", seed: "int" = 0) -> "list[Any]":
    """What ``decoder`` makes of ``count`` points: a list of predictions, as ``decoder.predict`` gives them."""
    size = ready(decoder).row
    found = points(size, count, seed)
    return [decoder.predict(found[size * i : size * i + size]) for i in range(count)]
