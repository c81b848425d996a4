"""Models that tests write to model files."""

import numpy as np

import odt

RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(40, 8, 8, 2)).astype("float32")
Y = RANDOM.integers(0, 5, 40).astype("uint8")


def network(filters=4, classes=5, norm=odt.BatchNorm):
    return odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(filters, 3, padding="same"), norm(), odt.ReLU(), odt.MaxPool2D(),
        odt.DepthwiseConv2D(3, activation="relu"), odt.Flatten(), odt.Dense(12, activation="tanh"), odt.Dense(classes),
    ])  # fmt: skip


def residual():
    x = odt.Input((8, 8, 2))
    y = odt.Conv2D(4, 3, padding="same", activation="relu")(x)
    z = odt.Add()([y, odt.Conv2D(4, 3, padding="same")(y)])
    return odt.Model(x, odt.Dense(5)(odt.GlobalAvgPool()(odt.Concatenate()([z, y]))))


def normalized():
    layer = odt.Normalization()
    layer.adapt(X)
    return odt.Sequential([odt.Input((8, 8, 2)), layer, odt.Flatten(), odt.Dense(12, "relu"), odt.Dense(5, "softmax")])


def leading():
    """Its samples are read by a BatchNorm's statistics."""
    return odt.Sequential([odt.Input((8, 8, 2)), odt.BatchNorm(), odt.Flatten(), odt.Dense(12, "relu"), odt.Dense(5)])


def trained(model, dtype="int8", epochs=2, y=Y, **options):
    options.setdefault("optimizer", odt.Adam(0.01))
    model.compile(dtype=dtype, batch_size=options.pop("batch_size", 8), seed=3, **options)
    model.fit(X, y, epochs=epochs, verbose=0)
    return model


def made(folder):
    """{name: bytes} of files of all kinds, each with a way to make the model that takes its weights."""
    sparse = network()
    odt.adapt.update.sparse(sparse, {"conv2d": 0.5, "dense": 1})
    folded = odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(4, 3, trainable=False), odt.BatchNorm(trainable=False), odt.Flatten(),
        odt.Dense(5),
    ])  # fmt: skip
    warm = odt.Adam(odt.WarmUp(odt.ExponentialDecay(0.01, 5, 0.9), 7))
    step, cosine = odt.StepDecay(0.05, 3, 0.5), odt.CosineDecay(0.05, 40)
    heard = odt.sensors.Frames(odt.sensors.LogMel(rate=8000, window=64, fft=64, channels=4, high=4000), 9, 32)
    for name, model, options, export in (
        ("int8", network(), {}, {"labels": list("abcde")}), ("float32", network(), {"dtype": "float32"}, {}),
        ("leading", leading(), {}, {}), ("inference", network(), {}, {"purpose": "inference"}),
        ("parts", residual(), {"optimizer": odt.SGD(cosine, momentum=0.9), "micro_batch": 3}, {}),
        ("sparse", sparse, {"optimizer": odt.SGD(step, momentum=0.9)}, {}), ("folded", folded, {}, {"features": heard}),
        ("normalized", normalized(), {"optimizer": warm}, {}),
    ):  # fmt: skip
        trained(model, **options).export(folder / name, **export)
        yield name, (folder / name).read_bytes(), model
