"""Networks of odt for tests of what writes ONNX."""

import odt
from odt.base.fixed import bits_to_float, get


def step(model):
    """The size of a step of the output."""
    return bits_to_float(get(model.session.state, model.session.plan.output.scale.offset))


def residual():
    x = odt.Input((8, 8, 1))
    y = odt.Conv2D(8, 3, padding="same", activation="relu")(x)
    for _ in range(3):
        y = odt.Add(activation="relu")([y, odt.Conv2D(8, 3, padding="same")(y)])
    return x, odt.AvgPool2D(2)(y)


def means():
    """A mean of four is half way between two steps every fourth time: odt rounds it up, ONNX to the even one."""
    x = odt.Input((8, 8, 1), "uint8", 1 / 16)
    y = odt.AvgPool2D(2)(odt.Conv2D(8, 3, padding="same", activation="relu")(x))
    return x, odt.AvgPool2D(2)(odt.Conv2D(16, 3, padding="same", activation="relu")(y))


def gated():
    """A sigmoid of odt's is 0.01 steps off at most, so that a byte of a hundred is the next one."""
    x = odt.Input((8, 8, 1), "int16", 1 / 16)
    y = odt.Conv2D(8, 3, padding="same", activation="relu")(x)
    gate = odt.Conv2D(8, 3, padding="same", activation="sigmoid")(y)
    y = odt.LeakyReLU(0.1)(odt.BatchNorm()(odt.Conv2D(8, 3, 2)(odt.Multiply()([y, gate]))))
    return x, odt.Concatenate()([odt.MaxPool2D()(y), odt.AvgPool2D()(y)])
