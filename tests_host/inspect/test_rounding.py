"""odt.inspect.Rounding says which tensor int8 holds badly, and says nothing of those that it holds."""

from array import array

import numpy as np
import pytest

import odt
from odt.data import Companding, ScaledTargets, Whitening
from odt.inspect import Rounding

RANDOM = np.random.default_rng(11)
Z = RANDOM.normal(size=(400, 6))
LABELS = (Z[:, 0] * Z[:, 1] > 0).astype("uint8")
SMOOTH = np.stack([np.tanh(Z[:, 0]), np.tanh(Z[:, 1] - Z[:, 2])], 1)


def by(kind, x):
    made = kind(x.shape[1])
    made.adapt(x)
    return made.transform(x)


def lines(x, y, loss="sparse_categorical_crossentropy", scaled=False, epochs=6, rate=0.005, input=None):
    outputs = y.shape[1] if y.ndim > 1 else 2
    input = input or odt.Input(x.shape[1:])
    model = odt.Sequential([input, odt.Dense(16, "relu"), odt.Dense(8, "relu"), odt.Dense(outputs)])
    model.compile(odt.Adam(rate), loss, batch_size=8, seed=1)
    trained = ScaledTargets(model) if scaled else model
    with Rounding(model) as rounding:
        trained.fit(x.astype(input.layer.dtype), y, epochs=epochs, verbose=0, callbacks=[rounding])
    return rounding.lines


@pytest.mark.parametrize("x", [Z, RANDOM.uniform(-1, 1, Z.shape), (Z > 1).astype("float32")])
def test_nothing_is_said_of_features_that_int8_holds(x):
    assert lines(x, LABELS) == []


@pytest.mark.parametrize("x", [np.exp(1.5 * Z), RANDOM.standard_t(1.5, Z.shape)])
def test_heavy_tails_of_the_input_are_named_and_companding_mends_them(x):
    standardised = (x - x.mean(0)) / x.std(0)
    (line,) = [line for line in lines(standardised, LABELS) if line.startswith("input")]
    assert "of 255 steps" in line and "Companding(features)" in line
    assert not [line for line in lines(by(Companding, x), LABELS) if line.startswith("input")]


def test_two_features_that_differ_by_a_step_are_named_and_whitening_mends_them():
    x = Z.copy()
    x[:, 4] = x[:, 2] + RANDOM.uniform(0.005, 0.05, 400) * RANDOM.choice((-1, 1), 400)
    (line,) = lines(x, LABELS)
    assert line.startswith("input, features 2 and 4: differ by 1.") and "Whitening(features)" in line
    assert lines(by(Whitening, x), LABELS) == []


def test_nothing_is_said_of_a_feature_that_is_there_twice_or_of_samples_of_eight_bits():
    assert lines(np.concatenate([Z, Z[:, :1]], 1), LABELS) == []
    x = np.rint(np.clip(10 * Z, -127, 127)).astype("int8")
    x[:, 1] = np.clip(x[:, 0] + RANDOM.integers(-1, 2, 400), -127, 127)
    assert lines(x, LABELS, input=odt.Input((6,), "int8", scale=0.1)) == []


def test_a_small_output_beside_a_large_one_is_named_and_scaled_targets_mend_it():
    y = (SMOOTH * [30, 0.2]).astype("float32")
    (line,) = lines(Z, y, "mse")
    assert line.startswith("dense_2, output 1: moves by ") and "ScaledTargets" in line
    assert lines(Z, y, "mse", scaled=True) == []


def test_outputs_far_from_0_are_named():
    y = (0.8 * SMOOTH + 50).astype("float32")
    assert [line.split(":")[0] for line in lines(Z, y, "mse")] == ["dense_2, output 0", "dense_2, output 1"]
    assert lines(Z, y, "mse", scaled=True) == []


def test_counts_are_those_of_the_values_and_no_bit_changes(capsys):
    def network():
        model = odt.Sequential([odt.Input((6,), "int8", scale=0.1), odt.Dense(4, "relu"), odt.Dense(2)])
        model.compile(odt.Adam(0.01), batch_size=8, seed=1)
        return model

    x = RANDOM.integers(-100, 100, (20, 6)).astype("int8")
    watched, plain, kept = network(), network(), {}

    class Keep:
        def on_epoch_end(self, epoch, logs):
            kept.update({key: array("i", found) for key, found in rounding.counts.items()})

    with Rounding(watched) as rounding:
        watched.fit(x, LABELS[:20], epochs=1, shuffle=False, verbose=0, callbacks=[Keep(), rounding])
    plain.fit(x, LABELS[:20], epochs=1, shuffle=False, verbose=0)
    assert watched.digest() == plain.digest()
    expected = np.bincount(x[:8].reshape(-1).astype(int) + 128, minlength=256)  # every eighth step: of three the first
    assert list(kept["input", 0]) == list(expected)


def test_float32_is_refused():
    model = odt.Sequential([odt.Input((6,)), odt.Dense(2)])
    model.compile(odt.Adam(0.01), dtype="float32")
    with pytest.raises(TypeError, match="int8 is expected"):
        Rounding(model)
