"""Networks and updates of "On-Device Training Under 256KB Memory" (Lin et al., NeurIPS 2022), without their weights.

Their topologies (algorithm/assets/mcu_models) and what their updates train (compilation/mcu_ir_gen.py) are as published
by github.com/mit-han-lab/tiny-training under the MIT licence: permission is granted, free of charge, to use, copy,
modify and distribute it, provided that this notice is kept; it comes without warranty of any kind.
"""

import re

import odt
from odt.adapt import RoundedSGD, update

# Channels of the first convolution, then blocks: channels of the first 1x1 convolution (0: none), size and stride of
# the depthwise one, channels of the second 1x1 convolution, whether the block's input is added.
TOPOLOGIES = {
    "MobileNetV2-w0.35": (16, (
        (0, 3, 1, 8, 0), (48, 3, 2, 8, 0), (48, 3, 1, 8, 1), (48, 3, 2, 16, 0), (96, 3, 1, 16, 1), (96, 3, 1, 16, 1),
        (96, 3, 2, 24, 0),
        (144, 3, 1, 24, 1), (144, 3, 1, 24, 1), (144, 3, 1, 24, 1), (144, 3, 1, 32, 0), (192, 3, 1, 32, 1),
        (192, 3, 1, 32, 1),
        (192, 3, 2, 56, 0), (336, 3, 1, 56, 1), (336, 3, 1, 56, 1), (336, 3, 1, 112, 0),
    )),
    "MCUNet-5FPS": (16, (
        (0, 3, 1, 8, 0), (32, 3, 2, 16, 0), (48, 3, 1, 16, 1), (48, 7, 2, 24, 0), (120, 3, 1, 24, 1),
        (120, 3, 2, 40, 0), (160, 7, 1, 40, 1),
        (160, 5, 1, 48, 0), (144, 3, 1, 48, 1), (192, 3, 1, 48, 1), (240, 7, 2, 96, 0), (384, 5, 1, 96, 1),
        (384, 5, 1, 96, 1),
        (576, 3, 1, 160, 0),
    )),
    "ProxylessNAS-w0.3": (16, (
        (0, 3, 1, 8, 0), (24, 5, 2, 16, 0), (48, 3, 1, 16, 1), (48, 7, 2, 16, 0), (48, 3, 1, 16, 1),
        (48, 5, 1, 16, 1), (48, 5, 1, 16, 1),
        (96, 7, 2, 24, 0), (72, 5, 1, 24, 1), (72, 5, 1, 24, 1), (72, 5, 1, 24, 1), (144, 5, 1, 32, 0),
        (96, 5, 1, 32, 1), (96, 5, 1, 32, 1),
        (96, 5, 1, 32, 1), (192, 7, 2, 64, 0), (384, 7, 1, 64, 1), (192, 7, 1, 64, 1), (192, 7, 1, 64, 1),
        (384, 7, 1, 96, 0),
    )),
}  # fmt: skip
# How many of the last convolutions train their biases, and which share of each kernel trains; the last layer trains,
# too. "rounded": by odt.adapt.RoundedSGD, weights without residuals.
UPDATES = {
    "MobileNetV2-w0.35": {
        "last layer": (0, {}), "biases of 25": (25, {}), "biases of all": (99, {}),
        "49 KB": (16, {36: 1, 39: 1, 41: 0.25, 42: 0.125, 45: 0.125, 48: 0.125, 49: 0.125}),
        "73 KB": (20, {32: 0.125, 33: 0.5, 36: 0.5, 39: 1, 41: 0.25, 42: 0.125, 45: 0.125, 48: 1}),
        "99 KB": (25, {27: 1, 30: 1, 33: 1, 36: 1, 39: 1, 42: 0.125, 45: 0.5, 48: 1}),
        "99 KB, rounded": (25, {27: 1, 30: 1, 33: 1, 36: 1, 39: 1, 42: 0.125, 45: 0.5, 48: 1}),
    },
    "MCUNet-5FPS": {
        "last layer": (0, {}), "biases of all": (99, {}), "49 KB": (20, {24: 0.25, 27: 0.5, 30: 0.5}),
        "74 KB": (21, {21: 1, 24: 1, 27: 0.5, 30: 1}),
        "99 KB": (22, {21: 1, 24: 1, 27: 1, 30: 1, 36: 0.125, 39: 0.25}),
        "99 KB, rounded": (22, {21: 1, 24: 1, 27: 1, 30: 1, 36: 0.125, 39: 0.25}),
    },
    "ProxylessNAS-w0.3": {
        "biases of all": (99, {}), "49 KB": (21, {39: 0.25, 42: 1, 45: 1, 51: 0.125, 54: 0.25, 57: 0.25}),
        "74 KB": (28, {33: 0.5, 36: 0.25, 39: 1, 42: 1, 45: 1, 51: 0.5, 54: 0.25, 57: 0.5}),
    },
}  # fmt: skip
# KB of arena and state in which these updates are to train.
GOALS = {
    "MobileNetV2-w0.35": {
        "last layer": 32, "biases of 25": 57, "biases of all": 150, "49 KB": 105, "73 KB": 141, "99 KB": 176,
        "99 KB, rounded": 150,
    },
    "MCUNet-5FPS": {"biases of all": 140, "49 KB": 100, "74 KB": 133, "99 KB": 182, "99 KB, rounded": 160},
    "ProxylessNAS-w0.3": {"74 KB": 134},
}  # fmt: skip


def network(name, trains, activation="relu6", extent=128, classes=10):
    """The network, of which that update trains. ``activation``: without trained weights relu6 lets no error through."""
    filters, blocks = TOPOLOGIES[name]
    biases, shares = UPDATES[name][trains]
    made = []

    def conv(kind, *args, **options):
        made.append(kind(*args, padding="same", name="c%d" % len(made), **options))
        return made[-1]

    x = odt.Input((extent, extent, 3), dtype="uint8", scale=1 / 128, zero_point=128)
    y = conv(odt.Conv2D, filters, 3, strides=2, activation=activation)(x)
    for wide, size, stride, narrow, is_residual in blocks:
        z = conv(odt.Conv2D, wide, 1, activation=activation)(y) if wide else y
        z = conv(odt.DepthwiseConv2D, size, strides=stride, activation=activation)(z)
        z = conv(odt.Conv2D, narrow, 1)(z)
        y = odt.Add()([z, y]) if is_residual else z
    model = odt.Model(x, odt.Dense(classes, name="head")(odt.GlobalAvgPool()(y)))
    update.sparse(model, {"c%d" % number: share for number, share in shares.items()} | {"head": 1}, biases + 1)
    return model


def optimizer(trains):
    """Of that update."""
    return (RoundedSGD if trains.endswith("rounded") else odt.SGD)(0.05)


def least(compiled):
    """The smallest budget of ``compiled(memory_budget=)``, as the refusal of 1 byte names it."""
    try:
        compiled(memory_budget=1)
    except MemoryError as error:
        return int(re.search(r"at least (\d+)", str(error))[1])
