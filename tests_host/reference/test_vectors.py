"""float32 in NumPy's vectors ends with the bits of the kernels.

tests_device/checks/make/with_ulab.py has the same of ulab.
"""

import numpy as np
import pytest

import odt

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(12, 7, 6, 3)).astype("float32")
Y = RANDOM.integers(0, 4, 12).astype("uint8")
NETWORKS = {
    "dense": lambda: [odt.Flatten(), odt.Dense(9, activation="relu"), odt.Dense(4)],
    "conv valid": lambda: [odt.Conv2D(5, 3, activation="relu"), odt.Conv2D(4, 2), odt.ReLU(), odt.Flatten(),
    odt.Dense(4)],
    "conv same, strides": lambda: [
        odt.Conv2D(5, (3, 2), strides=(2, 3), padding="same"),
        odt.Conv2D(4, 4, strides=2, padding="same", activation="relu"),
        odt.Flatten(), odt.Dense(4),
    ],
    "conv of a window larger than the image": lambda: [odt.Conv2D(3, 2, strides=3), odt.Conv2D(4, 5, padding="same"),
    odt.Flatten(), odt.Dense(4)],
    "pooled": lambda: [odt.Conv2D(5, 3, padding="same"), odt.MaxPool2D(), odt.Conv2D(4, 1), odt.GlobalAvgPool(),
    odt.Dense(4)],
}  # fmt: skip
OPTIMIZERS = {
    "sgd": lambda: odt.SGD(0.05), "momentum": lambda: odt.SGD(0.05, momentum=0.9, global_clipnorm=1),
    "adam": lambda: odt.Adam(0.01),
}  # fmt: skip


@pytest.fixture(autouse=True)
def native():
    yield
    odt.executor.use("native")


def digest(backend, layers, optimizer, steps=3, **options):
    odt.executor.use(backend)
    model = odt.Sequential([odt.Input((7, 6, 3))] + layers)
    model.compile(optimizer, dtype="float32", batch_size=6, seed=5, **options)
    for _ in range(steps):
        model.fit(X, Y, verbose=0)
    return model.digest(), bytes(model.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_ends_with_the_bits_of_the_kernels(network, optimizer):
    assert digest("numpy", NETWORKS[network](), OPTIMIZERS[optimizer]()) == digest(
        "native", NETWORKS[network](), OPTIMIZERS[optimizer]()
    )


def test_micro_batches_and_updates_of_some_channels_end_with_the_bits_of_the_kernels():
    found = []
    for backend in ("numpy", "native"):
        layers = NETWORKS["conv valid"]()
        layers[0].update_rows = ((1, 2), (4, 1))
        found.append(digest(backend, layers, odt.Adam(0.01), micro_batch=2))
    assert found[0] == found[1]


@pytest.mark.slow
def test_residual_branches_and_int8_are_computed_too():
    digests = []
    for dtype in ("float32", "int8"):
        for backend in ("numpy", "native"):
            odt.executor.use(backend)
            x = odt.Input((7, 6, 3))
            y = odt.Conv2D(4, 1, activation="relu")(x)
            y = odt.Add(activation="relu")([y, odt.Conv2D(4, 3, padding="same")(y)])
            model = odt.Model(x, odt.Dense(4)(odt.GlobalAvgPool()(y)))
            model.compile(odt.Adam(0.01), dtype=dtype, batch_size=6, seed=5)
            model.fit(X, Y, verbose=0)
            digests.append(model.digest())
    assert digests[0] == digests[1] and digests[2] == digests[3]


def test_ulab_where_there_is_none_is_refused():
    with pytest.raises(ImportError, match="no ulab"):
        odt.executor.use("ulab")
    assert odt.executor.backend == "native"
