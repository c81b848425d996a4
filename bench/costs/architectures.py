"""Networks as others have them, for several benches, and the shapes that their training steps consist of, for
bench/costs/kernels.py.

MLPerf Tiny's four (github.com/mlcommons/tiny, benchmark/training), LeNet-5, a 1-D network of human activity and the
keyword network of 24 channels (bench/costs/steps.py).
"""

import odt
from odt.plan.program import HEADER_WORDS, Program

KERNELS = "conv2d", "depthwise2d", "dense"


def conv(filters, size, strides=1, activation="relu"):
    return odt.Conv2D(filters, size, strides=strides, padding="same", activation=activation)


def resnet8():
    """Image classification."""
    x = odt.Input((32, 32, 3))
    y = conv(16, 3)(x)
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        z = conv(channels, 3, activation=None)(conv(channels, 3, stride)(y))
        y = odt.Add(activation="relu")([z, y if stride == 1 else conv(channels, 1, stride, None)(y)])
    return odt.Model(x, odt.Dense(10)(odt.GlobalAvgPool()(y)))


def separable(shape, first, blocks, classes):
    """A strided convolution of (filters, size), then depthwise and 1x1 ones: ``blocks`` of (filters, stride)."""
    layers = [odt.Input(shape), conv(*first, 2)]
    for filters, stride in blocks:
        layers += [odt.DepthwiseConv2D(3, strides=stride, padding="same", activation="relu"), conv(filters, 1)]
    return odt.Sequential(layers + [odt.GlobalAvgPool(), odt.Dense(classes)])


def mobilenet():
    """Visual wake words: MobileNetV1 of a quarter of its width."""
    blocks = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2)] + 5 * [(128, 1)] + [(256, 2), (256, 1)]
    return separable((96, 96, 3), (8, 3), blocks, 2)


def keywords(filters=64):
    """Keyword spotting: DS-CNN."""
    return separable((49, 10, 1), (filters, (10, 4)), 4 * [(filters, 1)], 12)


def anomaly():
    """Anomaly detection: an autoencoder."""
    widths = 4 * [128] + [8] + 4 * [128]
    return odt.Sequential([odt.Input((640,))] + [odt.Dense(n, "relu") for n in widths] + [odt.Dense(640)])


def lenet():
    layers = [conv(6, 5), odt.MaxPool2D(), odt.Conv2D(16, 5, activation="relu")]
    layers += [odt.MaxPool2D(), odt.Flatten(), odt.Dense(120, "relu"), odt.Dense(84, "relu"), odt.Dense(10)]
    return odt.Sequential([odt.Input((28, 28, 1))] + layers)


def activity():
    layers = []
    for filters, size in ((16, 7), (32, 5), (64, 3)):
        layers += [odt.Conv1D(filters, size, padding="same", activation="relu"), odt.MaxPool1D(2)]
    return odt.Sequential([odt.Input((128, 9))] + layers[:-1] + [odt.GlobalAvgPool(), odt.Dense(6)])


# A name: the network, its batch.
NETWORKS = {
    "ResNet-8": (resnet8, 1),
    "MobileNet": (mobilenet, 1),
    "DS-CNN": (keywords, 1),
    "anomaly": (anomaly, 16),
    "anomaly, batch 1": (anomaly, 1),
    "LeNet": (lenet, 1),
    "HAR": (activity, 1),
    "keywords": (lambda: keywords(24), 1),
}


def shapes(name):
    """[(label, layer's kernel, "", "_dx" or "_dw", sizes)] of a training step in int8, each shape once."""
    network, batch = NETWORKS[name]
    model = network()
    loss = "mse" if network is anomaly else "sparse_categorical_crossentropy"
    model.compile(odt.SGD(0.01), loss, dtype="int8", batch_size=batch, seed=1)
    code = model.session.plan.code
    found = {}
    for _, instruction, _, immediates in Program(code).walk(HEADER_WORDS, len(code) // 4):
        kernel, _, rest = instruction.name.rpartition("_")[0].partition("_")
        if kernel in KERNELS:
            sizes = dict(zip(instruction.immediates, immediates))
            label = "%s %s" % (name, described(kernel, sizes))
            found[instruction.name, label] = label, kernel, rest and "_" + rest, dict(sizes, at=0)
    return list(found.values())


def described(kind, sizes):
    if kind == "dense":
        return "%(K)d->%(N)d" % sizes
    stride = max(sizes["SH"], sizes["SW"])
    by = "/%d" % stride if stride > 1 else ""
    text = "%(KH)dx%(KW)d" % sizes + by + " %(H)dx%(W)dx%(C)d" % sizes
    return "depthwise " + text if kind == "depthwise2d" else "%s->%d" % (text, sizes["N"])
