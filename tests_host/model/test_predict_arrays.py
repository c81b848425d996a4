"""predict() of NumPy arrays: from the second on one call of the engine (odt/host/arrays.py), with the same results."""

from array import array

import numpy as np
import pytest

import odt

_odt = pytest.importorskip("_odt")

RNG = np.random.default_rng(3)
X = RNG.integers(0, 256, (24, 6, 6, 2)).astype("uint8")
Y = RNG.integers(0, 3, 24).astype("uint8")


def network(dtype="int8"):
    model = odt.Sequential([
        odt.Input((6, 6, 2), dtype="uint8", scale=1 / 255), odt.Conv2D(20, 3, padding="same", activation="relu"),
        odt.DepthwiseConv2D(3, activation="relu"), odt.Conv2D(5, 1), odt.Flatten(), odt.Dense(3),
    ])  # fmt: skip
    model.compile(odt.Adam(0.01), batch_size=8, seed=2, dtype=dtype)
    return model


def plain(model, x):
    """By an array without a shape, which takes the other way."""
    return np.array(model.predict(array("B", x.tobytes())), "float32").reshape(len(x), 3)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("count", (1, 3, 8, 20))
def test_predictions_of_arrays_follow_the_weights(dtype, count):
    model = network(dtype)
    model.fit(X, Y, verbose=0)
    for _ in range(4):
        for x in (X[:count], X[-count:].copy()):
            expected = plain(model, x)
            for _ in range(3):
                found = model.predict(x)
                assert isinstance(found, np.ndarray) and found.dtype == "float32" and found.shape == (count, 3)
                assert found.tobytes() == expected.tobytes()
                found[:] = 0  # the caller's own
        model.train_step(X[:8], Y[:8])
    assert _odt.VERSION and model.session.seen.predict.__name__ == "short"


def test_weights_that_are_set_between_predictions_count():
    model, other = network(), network()
    for each in (model, other):
        each.calibrate(X)
    other.fit(X, Y, epochs=2, verbose=0)
    before = [model.predict(X[:1]) for _ in range(3)]
    model.load_weights(other)
    after = [model.predict(X[:1]) for _ in range(3)]
    assert after[0].tobytes() == after[2].tobytes() == plain(model, X[:1]).tobytes() != before[0].tobytes()


def test_ranges_that_do_not_hold_are_widened_as_for_other_data():
    dark, models = (X // 16).astype("uint8"), [network(), network()]
    for model in models:
        model.calibrate(dark)
    found = [models[0].predict(x) for x in (dark[:1], dark[1:2], X[:1], X[:1], dark[:1])]
    expected = [plain(models[1], x) for x in (dark[:1], dark[1:2], X[:1], X[:1], dark[:1])]
    assert [each.tobytes() for each in found] == [each.tobytes() for each in expected]
    assert models[0].digest() == models[1].digest()


def test_arrays_of_another_kind_are_looked_at():
    model = network()
    model.fit(X, Y, verbose=0)
    for _ in range(2):
        expected = model.predict(X[:2])
    gaps = np.zeros((2, 6, 6, 4), "uint8")[..., ::2]
    gaps[:] = X[:2]
    for other in (gaps, X[:2].tolist(), np.asfortranarray(X[:2]), memoryview(X[:2])):
        assert np.array(model.predict(other)).tobytes() == expected.tobytes()
        assert model.predict(X[:2]).tobytes() == expected.tobytes()
    assert model.predict(X[:5])[:2].tobytes() == expected.tobytes()
    assert model.predict(X[0]).tobytes() == expected[:1].tobytes()
    out = array("f", bytes(4 * 6))
    assert model.predict(X[:2], out) is out and out.tobytes() == expected.tobytes()
    for wrong, error in ((X[:2].astype("int16"), TypeError), (X[:2, :5], ValueError), (X[:0], ValueError)):
        with pytest.raises(error):
            model.predict(wrong)
        assert model.predict(X[:2]).tobytes() == expected.tobytes()


def test_floats_that_are_not_finite_are_refused_each_time():
    model = odt.Sequential([odt.Input((4,)), odt.Dense(3)])
    model.compile(batch_size=4)
    x = RNG.random((4, 4)).astype("float32")
    model.fit(x, Y[:4], verbose=0)
    for _ in range(3):
        model.predict(x)
    bad = x.copy()
    bad[2, 1] = np.nan
    with pytest.raises(ValueError, match="sample 2, element 1 is NaN"):
        model.predict(bad)
    assert model.predict(x).shape == (4, 3)
