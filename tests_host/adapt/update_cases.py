"""A network, data and optimizers for tests of update policies."""

import numpy as np

import odt

X = np.random.default_rng(6).normal(size=(24, 8, 8, 2)).astype("float32")
Y = np.random.default_rng(7).integers(0, 4, 24).astype("uint8")
OPTIMIZERS = {"adam": lambda: odt.Adam(0.02), "adamw": lambda: odt.AdamW(0.02), "momentum": lambda: odt.SGD(0.05, 0.9)}


def network():
    return odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(9, 3, name="first"), odt.LeakyReLU(), odt.DepthwiseConv2D(3, name="second"),
        odt.Conv2D(10, 1, name="third"), odt.LeakyReLU(), odt.MaxPool2D(), odt.Flatten(),
        odt.Dense(7, name="fourth"), odt.Tanh(), odt.Dense(4, name="last"),
    ])  # fmt: skip


def weights(model):
    return [np.array(values).reshape(shape) for values, (_, shape) in zip(model.get_weights(), shapes(model))]


def shapes(model):
    return [shape for node in model.nodes for shape in node.layer.weight_shapes()]
