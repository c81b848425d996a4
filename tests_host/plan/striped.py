"""Random image networks that train partly, for test_by_rows.py: with branches, pools, strides and layers that do not
train.
"""

import random
import re

import numpy as np
import pytest

import odt
from odt.adapt import update


def least(make):
    """The smallest budget, as the refusal of another names it."""
    with pytest.raises(MemoryError) as error:
        make(memory_budget=1)
    return int(re.findall(r"at least (\d+)", str(error.value))[0])


def draw(seed, biases=False):
    """(model, options of compile): one sample to a step; its frozen front is a few layers long, or all of it trains.

    ``biases``: in int8; the last layer trains, of the others the biases alone.
    """
    d = random.Random(seed)
    height, width = d.choice((8, 9, 12, 16)), d.choice((4, 6, 8))
    x = odt.Input((height, width, d.choice((1, 2, 3))), dtype="uint8", scale=1 / 128, zero_point=128)
    y, before = x, None
    front = d.choice((2, 4, 6, 99, 0)) * (not biases)
    for number in range(d.randint(3, 7)):
        frozen = {"trainable": number >= front}
        strides = d.choice((1, 1, 1, 2)) if y.shape[0] > 4 else 1
        size = d.choice((1, 2, 3, (3, 1)))
        channels = d.choice((2, 4, 8))
        kind = d.choice(("conv", "conv", "depthwise", "group", "pool", "add", "activation", "gate"))
        shape = y.shape
        if kind == "conv":
            padding = d.choice(("same", "same", "valid")) if min(shape[:2]) > 3 else "same"
            y = odt.Conv2D(channels, size, strides=strides, padding=padding, **frozen)(y)
        elif kind == "depthwise":
            y = odt.DepthwiseConv2D(size, strides=strides, padding="same", **frozen)(y)
        elif kind == "group" and shape[2] % 2 == 0:
            y = odt.Conv2D(channels, size, padding="same", groups=2, **frozen)(y)
        elif kind == "pool" and min(shape[:2]) > 3:
            y = d.choice((odt.MaxPool2D, odt.AvgPool2D))(2)(y)
        elif kind == "add" and before is not None and before.shape == shape:
            y = odt.Add(activation=d.choice((None, "relu")))([y, before])
        elif kind == "gate":
            y = odt.Multiply()([y, odt.Sigmoid()(odt.Conv2D(shape[2], 1, **frozen)(y))])
        y = d.choice((lambda y: y, odt.ReLU(), odt.LeakyReLU(0.1), odt.Tanh()))(y)
        before = d.choice((before, y))
    y = odt.Dense(d.choice((3, 5)))(d.choice((odt.GlobalAvgPool, odt.Flatten))()(y))
    model = odt.Model(x, y)
    if biases:
        update.bias(model)
    return model, {
        "optimizer": d.choice((odt.SGD(0.05), odt.SGD(0.05, 0.9), odt.Adam(0.01))),
        "dtype": d.choice(("int8", "int8", "int8" if biases else "float32")),
        "batch_size": d.choice((1, 1, 3)), "seed": seed,
    }  # fmt: skip


def data(model, count, seed=1):
    rng = np.random.default_rng(seed)
    shape = (count,) + tuple(model.nodes[0].shape)
    return rng.integers(0, 256, shape).astype("uint8"), rng.integers(0, model.nodes[-1].shape[0], count).astype("uint8")
