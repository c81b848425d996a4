"""int8 where magnitudes are rare and large: outliers, weights of classes, smoothed labels; against float32, paired."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

import odt
from odt.losses import SparseCategoricalCrossentropy


def wine(value):
    x, y = load_wine(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(len(x))
    x = ((x - x.mean(0)) / x.std(0)).astype("float32")[shuffled]
    x[7, 4] = value  # of the first batch, and of every epoch
    return x, y[shuffled].astype("uint8")


def accuracies(layers, train, test, epochs, rate, loss=None, seeds=2):
    """Of int8 and float32, in %, means over seeds."""
    means = []
    for dtype in ("int8", "float32"):
        found = []
        for seed in range(seeds):
            model = odt.Sequential(layers())
            model.compile(odt.Adam(rate), loss or SparseCategoricalCrossentropy(), dtype=dtype, seed=seed)
            model.fit(*train, epochs=epochs, verbose=0)
            found.append(100 * model.evaluate(*test)[1])
        means.append(np.mean(found))
    return means


@pytest.mark.slow
@pytest.mark.parametrize("value", (300, 3000))
def test_one_outlier_in_the_data_costs_int8_no_more_than_float32(value):
    x, y = wine(value)

    def layers():
        return [odt.Input((13,)), odt.Dense(16, activation="relu"), odt.Dense(3)]

    int8, float32 = accuracies(layers, (x[:110], y[:110]), (x[110:], y[110:]), 40, 0.01)
    assert float32 > 90 and int8 > float32 - 4


def test_a_spike_in_the_first_step_is_forgotten():
    x, y = wine(0)
    model = odt.Sequential([odt.Input((13,)), odt.Dense(16, activation="relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), seed=1)
    spoilt = x[:16].copy()
    spoilt[3] = 1000  # a whole sample
    model.train_step(spoilt, y[:16])
    model.fit(x[:110], y[:110], epochs=40, verbose=0)
    assert model.evaluate(x[110:], y[110:])[1] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("weight", (50, 200))
def test_the_weight_of_one_class_leaves_int8_the_others(weight):
    images, y = load_digits(return_X_y=True)
    x, y = images.astype("uint8"), y.astype("uint8")

    def layers():
        return [odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(32, activation="relu"), odt.Dense(10)]

    loss = SparseCategoricalCrossentropy(class_weight={3: weight})
    int8, float32 = accuracies(layers, (x[:1200], y[:1200]), (x[1200:], y[1200:]), 8, 0.004, loss)
    assert int8 > float32 - 4


@pytest.mark.parametrize("weight", (1.5, 50, 5000))
def test_a_batch_without_the_heavy_class_has_its_gradient_after_batches_with_it(weight):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(31, 16, 12)).astype("float32"), rng.integers(0, 4, (31, 16)).astype("uint8")
    y[30] = rng.integers(0, 3, 16)

    def network(dtype):
        dense = [odt.Dense(16, activation="relu"), odt.Dense(8, activation="relu"), odt.Dense(4)]
        model = odt.Sequential([odt.Input((12,))] + dense)
        loss = SparseCategoricalCrossentropy(class_weight={3: weight})
        model.compile(odt.SGD(0.01), loss, dtype=dtype, batch_size=16)
        return model

    int8, float32 = network("int8"), network("float32")
    for i in range(30):
        int8.train_step(x[i], y[i])
    before = int8.get_weights()
    float32.set_weights(before)
    for model in (int8, float32):
        model.train_step(x[30], y[30])
    for old, found, expected in zip(before, int8.get_weights(), float32.get_weights()):
        step = np.array(expected) - np.array(old)
        assert np.linalg.norm(np.array(found) - np.array(expected)) < 0.11 * np.linalg.norm(step)


@pytest.mark.slow
def test_smoothed_labels_of_100_classes_are_learnt():
    rng = np.random.default_rng(5)
    y = rng.permutation(np.repeat(np.arange(100), 40)).astype("uint8")
    x = (rng.normal(size=(100, 32))[y] + rng.normal(size=(4000, 32))).astype("float32")

    def layers():
        return [odt.Input((32,)), odt.Dense(64, activation="relu"), odt.Dense(100)]

    loss = SparseCategoricalCrossentropy(label_smoothing=0.1)
    int8, float32 = accuracies(layers, (x[:3000], y[:3000]), (x[3000:], y[3000:]), 8, 0.003, loss)
    assert float32 > 80 and int8 > float32 - 2


def test_the_limit_of_an_input_is_its_range_whatever_comes():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(32, 4)).astype("float32"), rng.integers(0, 3, 32).astype("uint8")
    x[5, 2] = 1e6
    digests = []
    for data in (x, np.minimum(x, 2)):
        model = odt.Sequential([odt.Input((4,), limit=2), odt.Dense(3)])
        model.compile(batch_size=8, seed=3)
        model.fit(data, y, epochs=3, verbose=0)
        digests.append(model.digest())
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    "given, error, text",
    (
        ({"limit": 0}, ValueError, "limit is in 1e-30..1e30, got 0"),
        ({"limit": float("nan")}, ValueError, "limit is in 1e-30..1e30, got nan"),
        ({"limit": "2"}, TypeError, "limit is a number, got '2'"),
        ({"limit": 2, "dtype": "uint8"}, ValueError, "limit belongs to data that int8 rescales, got dtype 'uint8'"),
    ),
)
def test_a_limit_that_is_none_is_refused(given, error, text):
    with pytest.raises(error, match=text.replace(".", r"\.")):
        odt.Input((4,), **given)
