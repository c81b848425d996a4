"""The guards of adabn and tent tell a changed sensor from classes in other shares, by how sure predictions are."""

import numpy as np
import pytest

import odt
from odt.continual import adabn, tent

RANDOM = np.random.default_rng(8)
CENTRES = RANDOM.normal(size=(5, 10))
MODELS = {}


def samples(labels, gain=1, offset=0):
    x = CENTRES[labels] + 0.8 * np.random.default_rng(len(labels)).normal(size=(len(labels), 10))
    return (gain * x + offset).astype("float32")


LABELS = np.arange(800) % 5
X = samples(LABELS)
EVEN, SKEWED = np.arange(60) % 5, np.where(np.arange(60) % 10, 2, np.arange(60) // 10 % 5)


def network(dtype="int8", loss=None):
    model = odt.Sequential([
        odt.Input((10,)), odt.Dense(24), odt.BatchNorm(), odt.ReLU(),
        odt.Dense(16), odt.BatchNorm(), odt.ReLU(), odt.Dense(5),
    ])  # fmt: skip
    if dtype not in MODELS:
        MODELS[dtype] = None
        MODELS[dtype] = network(dtype)
        MODELS[dtype].fit(X, LABELS.astype("uint8"), epochs=8, verbose=0)
    if loss:
        odt.adapt.update.norm(model)
    model.compile(odt.Adam(0.005), loss or "sparse_categorical_crossentropy", batch_size=20, dtype=dtype, seed=1)
    if MODELS[dtype]:
        model.load_weights(MODELS[dtype])
    return model


def right(model, gain=1):
    labels = np.arange(500) % 5
    return model.evaluate(samples(labels, gain), labels.astype("uint8"))[1]


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_statistics_of_another_gain_are_taken(dtype):
    model = network(dtype)
    before = right(model, 0.3)
    adabn.update_bn(model, samples(EVEN, 0.3))
    assert right(model, 0.3) > before + 0.03


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_statistics_of_other_shares_are_refused_and_undone(dtype):
    model = network(dtype)
    x = samples(SKEWED)
    model.predict(x)  # whose ranges it takes
    state, before = bytes(model.session.state), right(model)
    with pytest.raises(ValueError, match=r"predictions would be sure by 0\.\d\d, of 0\.\d\d before, and \d+ of 60"):
        adabn.update_bn(model, x)
    assert bytes(model.session.state) == state
    adabn.update_bn(model, x, guard=False)
    assert right(model) < before - 0.08


def test_half_of_one_class_is_too_much_and_a_third_is_not():
    labels = np.where(np.arange(60) % 2, 2, np.arange(60) % 5)
    with pytest.raises(ValueError, match="update_bn: x: predictions"):
        adabn.update_bn(network(), samples(labels))
    adabn.update_bn(network(), samples(np.where(np.arange(60) % 6, np.arange(60) % 5, 2)))


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_many_classes_are_not_asked_of_few(dtype):
    model = network(dtype, tent.Entropy())
    x = samples(np.where(SKEWED == 2, 2, np.arange(60) % 5))
    tent.adapt(network(dtype, tent.Entropy()), samples(EVEN), epochs=20)
    model.predict(x)
    state = bytes(model.session.state)
    with pytest.raises(ValueError, match=r"adapt: x: predictions would be sure by 0\.\d\d, of 0\.\d\d before"):
        tent.adapt(model, x, epochs=20)
    assert bytes(model.session.state) == state
