"""ScaledTargets gives what NumPy's doubles give, the same model, and predictions in the units of y."""

import struct
from array import array

import numpy as np
import pytest

import odt
from odt.data import ScaledTargets

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(200, 4)).astype("float32")
HIDDEN = np.tanh(X @ RANDOM.normal(size=(4, 3)))
SIZES, OFFSETS = np.array([30, 0.3, 1]), np.array([-700, 0, 50])
Y = (HIDDEN * SIZES + OFFSETS).astype("float32")


def network(dtype="int8", outputs=3, loss="mse"):
    model = odt.Sequential([odt.Input((4,)), odt.Dense(12, "relu"), odt.Dense(outputs)])
    model.compile(odt.Adam(0.01), loss, dtype=dtype, batch_size=8, seed=1)
    return model


def explained(found, y):
    return 1 - ((found - y) ** 2).mean(0) / y.var(0)


def test_mean_and_deviation_are_numpys():
    scaled = ScaledTargets(network())
    scaled.adapt(Y)
    np.testing.assert_allclose(scaled.mean, Y.astype("float64").mean(0), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(scaled.deviation, Y.astype("float64").std(0), rtol=1e-6)


def test_scaled_targets_are_rounded_once():
    scaled = ScaledTargets(network())
    scaled.adapt(Y)
    exact = (Y.astype("float64") - np.array(scaled.mean, "float64")) / np.array(scaled.deviation, "float64")
    np.testing.assert_array_equal(scaled.scale(Y), exact.astype("float32"))


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_predictions_are_in_the_units_of_y(dtype):
    scaled = ScaledTargets(network(dtype))
    scaled.fit(X, Y, epochs=1, verbose=0)
    inner = scaled.model.predict(X).astype("float64")
    expected = inner * np.array(scaled.deviation, "float64") + np.array(scaled.mean, "float64")
    np.testing.assert_array_equal(scaled.predict(X), expected.astype("float32"))


@pytest.mark.parametrize("loss", ["mse", "mae", odt.losses.Huber()])
def test_int8_learns_outputs_of_different_size_and_offset(loss):
    plain, scaled = network(loss=loss), ScaledTargets(network(loss=loss))
    for model in (plain, scaled):
        model.fit(X, Y, epochs=30, verbose=0)
    assert explained(scaled.predict(X), Y).min() > 0.8
    assert explained(plain.predict(X), Y).min() < 0


def test_the_model_trains_as_on_targets_scaled_by_hand():
    scaled, other = ScaledTargets(network()), network()
    history = scaled.fit(X, Y, epochs=2, validation_data=(X[:20], Y[:20]), verbose=0).history
    z = scaled.scale(Y)
    assert other.fit(X, z, epochs=2, validation_data=(X[:20], z[:20]), verbose=0).history == history
    assert scaled.model.digest() == other.digest()
    assert scaled.evaluate(X, Y) == other.evaluate(X, z)
    assert scaled.train_step(X[:8], Y[:8]) == other.train_step(X[:8], z[:8])


def test_lists_arrays_and_numpy_are_one():
    found = []
    for y in (Y, Y.tolist(), array("f", Y.tobytes()), [float(value) for value in Y.reshape(-1)]):
        scaled = ScaledTargets(network())
        scaled.adapt(y)
        found.append(bytes(memoryview(scaled.scale(y)).cast("B")))
    assert found[1:] == found[:1] * 3


def test_given_numbers_are_kept_and_a_constant_output_counts_one():
    first = ScaledTargets(network())
    first.fit(X, Y, epochs=1, verbose=0)
    second = ScaledTargets(first.model, first.mean, first.deviation)
    np.testing.assert_array_equal(second.predict(X), first.predict(X))
    flat = ScaledTargets(network(outputs=1))
    flat.adapt([7.0] * 10)
    assert list(flat.mean) == [7] and list(flat.deviation) == [1]


def test_what_does_not_fit_is_refused_and_changes_nothing():
    scaled = ScaledTargets(network())
    with pytest.raises(RuntimeError, match="fit"):
        scaled.predict(X)
    scaled.adapt(Y)
    before = bytes(scaled.mean), bytes(scaled.deviation)
    for y, words in (([1, 2], "whole samples of 3"), ([], "whole samples"), ([1, float("nan"), 2], "number 1 is NaN")):
        with pytest.raises(ValueError, match=words):
            scaled.adapt(y)
    with pytest.raises(ValueError, match="deviation: numbers above 0"):
        ScaledTargets(network(), [0, 0, 0], [1, 0, 1])
    with pytest.raises(ValueError, match="mean: 2 numbers, the model has 3 outputs"):
        ScaledTargets(network(), [0, 0], [1, 1])
    with pytest.raises(ValueError, match="come together"):
        ScaledTargets(network(), [0, 0, 0])
    labels = network(loss="sparse_categorical_crossentropy")
    with pytest.raises(ValueError, match="has classes, not targets"):
        ScaledTargets(labels).adapt([0, 1, 2])
    assert (bytes(scaled.mean), bytes(scaled.deviation)) == before


def test_numbers_of_every_size_round_as_a_division_does():
    scaled = ScaledTargets(network(outputs=1), [3.0], [struct.unpack("f", struct.pack("f", 0.7))[0]])
    values = np.concatenate([RANDOM.normal(size=300) * 10.0**power for power in range(-6, 15)]).astype("float32")
    exact = (values.astype("longdouble") - 3) / np.longdouble(np.float32(0.7))
    np.testing.assert_array_equal(scaled.scale(values), exact.astype("float32"))
