"""On a PC fit says before it trains which samples and targets eight bits hold badly, and nothing of others."""

import numpy as np
import pytest
from sklearn import datasets

import odt
from odt.data import Companding, ScaledTargets, Whitening

RANDOM = np.random.default_rng(23)
Z = RANDOM.normal(size=(400, 6))
LABELS = (Z[:, 0] * Z[:, 1] > 0).astype("uint8")
SMOOTH = np.stack([np.tanh(Z[:, 0]), np.tanh(Z[:, 1] - Z[:, 2])], 1)
TAILS = np.exp(1.5 * Z)
TIES = Z.copy()
TIES[:, 4] = TIES[:, 2] + RANDOM.uniform(0.005, 0.05, 400) * RANDOM.choice((-1, 1), 400)


def by(kind, x):
    made = kind(x.shape[1])
    made.adapt(x)
    return made.transform(x)


@pytest.fixture
def said(capsys):
    def lines(x, y=LABELS, wrap=None, first=(), dtype="int8", verbose=1, input="float32"):
        loss, outputs = ("mse", y.shape[1]) if y.ndim > 1 else ("sparse_categorical_crossentropy", int(y.max()) + 1)
        model = odt.Sequential([odt.Input(x.shape[1:], input), *first, odt.Flatten(), odt.Dense(outputs)])
        model.compile(odt.SGD(0.001), loss, dtype=dtype, batch_size=8, seed=1)
        trained = wrap(model) if wrap else model
        for _ in range(2):  # what is said is said before the first step alone
            trained.fit(x.astype(input), y, epochs=1, verbose=verbose)
        return [
            line
            for line in capsys.readouterr().out.splitlines()
            if line.startswith(("input", "targets")) and "clipped" not in line
        ]

    return lines


def test_heavy_tails_are_named_and_companding_mends_them(said):
    for x in (TAILS, (TAILS - TAILS.mean(0)) / TAILS.std(0), RANDOM.standard_t(1.5, Z.shape), np.exp(2 * Z)):
        (line,) = said(x)
        assert line.startswith("input: half of its numbers lie within ") and "odt.data.Companding(features)" in line
        assert said(by(Companding, x)) == []


def test_tails_behind_a_normalization_are_named(said):
    layer = odt.Normalization()
    layer.adapt(1000 * TAILS)
    (line,) = said(1000 * TAILS, first=[layer])
    assert "Companding" in line


def test_two_features_that_differ_by_a_step_are_named_and_whitening_mends_them(said):
    (line,) = said(TIES)
    assert line.startswith("input, features 2 and 4: differ by 1.") and "odt.data.Whitening(features)" in line
    assert said(by(Whitening, TIES)) == []


@pytest.mark.parametrize("y", [SMOOTH * (1, 0.01), 50 + 0.5 * SMOOTH])
def test_outputs_that_move_by_a_few_steps_are_named_and_scaled_targets_mend_them(said, y):
    (line,) = said(Z, y)
    assert line.startswith("targets, output ") and line.endswith("of 255 steps: train odt.data.ScaledTargets(model)")
    assert said(Z, y, wrap=ScaledTargets) == []


def test_nothing_is_said_of_what_eight_bits_hold(said):
    images, classes = datasets.load_digits(return_X_y=True)
    uniform, flags = RANDOM.uniform(-1, 1, Z.shape), (Z > 1).astype("float32")
    for x in (Z, uniform, flags, np.concatenate([Z, Z[:, :1]], 1), RANDOM.poisson(0.3, (400, 6))):
        assert said(x) == []
    assert said(images[:400] / 16, classes[:400]) == said(Z, SMOOTH) == said(Z, SMOOTH * (1, 0.2)) == []
    assert said(np.sin(np.arange(400 * 60).reshape(400, 60, 1) / 7)) == []


def test_nothing_is_said_of_float32_of_samples_of_eight_bits_and_without_progress(said):
    assert said(TAILS, dtype="float32") == said(TIES, dtype="float32") == []
    assert said(Z, SMOOTH * (1, 0.01), dtype="float32") == []
    assert said(TAILS, verbose=0) == said(TIES, verbose=0) == []
    assert said(np.clip(TAILS, 0, 127), input="int8") == []


def test_it_reads_any_number_of_samples_of_any_size(said):
    for count, width in ((1, 1), (2, 5), (17, 3), (9, 4000), (700, 17)):
        assert said(np.ones((count, width)), np.zeros(count, "uint8")) == []
        assert said(np.ones((count, width)), np.ones((count, 3))) == []
