"""Companding and Whitening give what NumPy's doubles give; int8 then learns tails and fine differences."""

from array import array

import numpy as np
import pytest

import odt
from odt.data import Companding, Whitening

RANDOM = np.random.default_rng(5)
X = (np.exp(2 * RANDOM.normal(size=(401, 3))) * [1, -1e-4, 3e5] + [0, 7, -1e6]).astype("float32")
Z = RANDOM.normal(size=(401, 4))
ALIKE = np.stack([300 + 40 * Z[:, 0], 300 + 40 * Z[:, 0] + Z[:, 1] / 100, Z[:, 2] - Z[:, 0], 1e-4 * Z[:, 3]], 1)
ALIKE = ALIKE.astype("float32")


def fitted(x=X, kind=Companding):
    made = kind(x.shape[-1])
    made.adapt(x)
    return made


def compressed(x, made):
    u = (x.astype("float64") - np.array(made.median, "float64")) / np.array(made.spread, "float64")
    return np.sign(u) * np.log2(1 + 4 * np.abs(u))


def trained(x, y, dtype="int8"):
    model = odt.Sequential([odt.Input(x.shape[1:]), odt.Dense(32, "relu"), odt.Dense(24, "relu"), odt.Dense(2)])
    model.compile(odt.Adam(odt.CosineDecay(0.005, 20 * -(-len(x) // 16))), dtype=dtype, batch_size=16, seed=3)
    model.fit(x, y, epochs=20, verbose=0)
    return model


# Companding


def test_median_and_spread_are_numpys():
    made = fitted()
    low, middle, high = np.quantile(X.astype("float64"), (0.25, 0.5, 0.75), axis=0)  # of 401 numbers: three of them
    np.testing.assert_array_equal(made.median, middle.astype("float32"))
    np.testing.assert_array_equal(made.spread, (high - low).astype("float32"))


def test_a_number_becomes_its_signed_logarithm():
    made = fitted()
    np.testing.assert_allclose(made.transform(X), compressed(X, made), rtol=0, atol=1e-4)


def test_numbers_of_every_size_stay_in_order_and_reach_15():
    made = Companding(1, median=[0.0], spread=[1.0])
    x = np.sort(np.concatenate([sign * np.logspace(-12, 38, 999) for sign in (-1, 1)])).astype("float32")[:, None]
    found = made.transform(x)[:, 0]
    assert (np.diff(found) >= 0).all() and 14.99 < found[-1] <= 15
    np.testing.assert_array_equal(found, -found[::-1])


def test_flags_and_constants_have_a_spread():
    flags = np.array([[0, 5], [0, 5], [0, 5], [0, 5], [1, 5], [0, 5], [0, 5], [0, 5]], "float32")
    made = fitted(flags)
    assert list(made.median) == [0, 5] and list(made.spread) == [0.125, 1]
    assert made.transform(flags)[:, 1].any() == 0 and made.transform(flags)[4, 0] > 0


def test_int8_learns_heavy_tails():
    z = RANDOM.normal(size=(2200, 4))
    y = (z[:, 0] * z[:, 1] + z[:, 2] > 0.2).astype("uint8")
    x = np.exp(2.5 * z).astype("float32")
    scaled, found = x / x.std(0), fitted(x[:1200]).transform(x)
    assert trained(found[:1200], y[:1200]).evaluate(found[1200:], y[1200:])[1] > 0.93
    assert trained(scaled[:1200], y[:1200]).evaluate(scaled[1200:], y[1200:])[1] < 0.88


# Whitening


def test_what_is_left_is_numpys_inverse_cholesky_factor_of_the_samples():
    x = ALIKE.astype("float64")
    made = fitted(ALIKE, Whitening)
    np.testing.assert_allclose(made.mean, x.mean(0), rtol=1e-6)
    factor = np.linalg.cholesky(np.cov(x.T, bias=True))
    np.testing.assert_allclose(np.array(made.factors)[::5], np.diag(factor), rtol=1e-5)
    expected = np.linalg.solve(factor, (x - x.mean(0)).T).T
    np.testing.assert_allclose(made.transform(ALIKE), expected, atol=2e-3)  # the mean of 300 is a float32


def test_what_is_left_has_deviation_1_and_is_not_correlated():
    found = fitted(ALIKE, Whitening).transform(ALIKE).astype("float64")
    np.testing.assert_allclose(np.cov(found.T, bias=True), np.eye(4), atol=1e-4)


def test_what_others_determine_and_what_does_not_move_become_0():
    x = np.stack([Z[:, 0], np.full(401, 7), Z[:, 1], 2 * Z[:, 0] - Z[:, 1], Z[:, 0]], 1).astype("float32")
    found = fitted(x, Whitening).transform(x)
    np.testing.assert_allclose(found[:, [1, 3, 4]], 0, atol=1e-5)
    np.testing.assert_allclose(found[:, [0, 2]].std(0), 1, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_int8_learns_which_of_two_nearly_equal_numbers_is_larger(dtype):
    x = RANDOM.normal(size=(3000, 4))
    gap = RANDOM.choice((-1, 1), 3000) * RANDOM.uniform(0.005, 0.05, 3000)
    x[:, 1] = x[:, 0] + gap
    x, y = x.astype("float32"), (gap > 0).astype("uint8")
    found = fitted(x[:2000], Whitening).transform(x)
    assert trained(found[:2000], y[:2000], dtype).evaluate(found[2000:], y[2000:])[1] > 0.99
    if dtype == "int8":
        assert trained(x[:2000], y[:2000]).evaluate(x[2000:], y[2000:])[1] < 0.92


# Both


@pytest.mark.parametrize("kind", [Companding, Whitening])
def test_axes_before_the_features_stay(kind):
    series = X[:400].reshape(20, 20, 3)
    made = fitted(series, kind)
    np.testing.assert_array_equal(made.transform(series), made.transform(series.reshape(-1, 3)).reshape(20, 20, 3))


@pytest.mark.parametrize("kind", [Companding, Whitening])
def test_lists_arrays_and_numpy_are_one(kind):
    found = []
    for x in (X, X.tolist(), array("f", X.tobytes()), [float(value) for value in X.reshape(-1)]):
        made = kind(3)
        made.adapt(x)
        found.append(bytes(memoryview(made.transform(x)).cast("B")))
    assert found[1:] == found[:1] * 3


def test_what_was_saved_transforms_alike():
    first, second = fitted(), fitted(ALIKE, Whitening)
    again = Companding(3, first.median, first.spread), Whitening(4, second.mean, second.factors)
    np.testing.assert_array_equal(again[0].transform(X), first.transform(X))
    np.testing.assert_array_equal(again[1].transform(ALIKE), second.transform(ALIKE))


@pytest.mark.parametrize("kind", [Companding, Whitening])
def test_what_does_not_fit_is_refused_and_changes_nothing(kind):
    made = kind(3)
    with pytest.raises(RuntimeError, match="adapt"):
        made.transform(X)
    made.adapt(X)
    before = made.transform(X)
    for x, words in (
        ([1, 2], "whole samples of 3"),
        ([], "whole samples"),
        ([1, float("nan"), 2], "number 1 is NaN"),
        (X.T, r"shape \(3, 401\), expected"),
    ):
        for call in (made.adapt, made.transform):
            with pytest.raises(ValueError, match=words):
                call(x)
    np.testing.assert_array_equal(made.transform(X), before)


def test_arguments_are_checked():
    for call, words in (
        (lambda: Companding(0), "Companding: features is an int above 0, got 0"),
        (lambda: Whitening(2.5), "Whitening: features is an int above 0, got 2.5"),
        (lambda: Companding(2, [0, 0]), "Companding: median and spread come together"),
        (lambda: Whitening(2, None, [1, 0, 0, 1]), "Whitening: mean and factors come together"),
        (lambda: Companding(2, [0], [1]), "median: 1 numbers, expected 2"),
        (lambda: Whitening(2, [0, 0], [1, 0, 0]), "factors: 3 numbers, expected 4"),
        (lambda: Companding(2, [0, 0], [1, 0]), "spread: numbers above 0"),
        (lambda: Whitening(2, [0, 0], [1, 0, 0, 0]), "factors: deviations, the diagonal, are above 0"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
