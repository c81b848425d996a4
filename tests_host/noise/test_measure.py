"""odt.noise.evaluate: its noise against what it should be, its accuracies against NumPy's, and models that stay."""

import numpy as np
import pytest
from checkout import ROOT

import odt
from odt.noise import Noisy, evaluate

RNG = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def native():
    yield
    odt.executor.use("native")


def linear(dtype, count=40, outputs=5, frozen=False, **options):
    """Its output for sample i is weight i of each output: the squared error is that of the weights."""
    model = odt.Sequential([odt.Input((count,)), odt.Dense(outputs, use_bias=False)])
    model.layers[0].trainable = not frozen
    model.compile(None if frozen else odt.SGD(0.1), "mse", dtype=dtype, batch_size=count, **options)
    weights = RNG.uniform(-0.5, 0.5, (outputs, count))
    weights[2, 7] = -0.8
    model.set_weights([weights])
    return model, np.eye(count, dtype="float32"), np.array(model.get_weights()[0]).reshape(outputs, count).T.copy()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("weight, drift", ((0.1, 0), (0.3, 0), (0, 0.2), (0.1, 0.2)))
def test_noise_has_the_standard_deviation_that_was_asked_for(dtype, weight, drift):
    model, x, y = linear(dtype)
    model.calibrate(3 * x)
    losses = evaluate(model, x, y.astype("float32"), weight, drift, draws=40)[2]
    expected = (weight * abs(y).max()) ** 2 + drift**2 * (y**2).mean() + model.evaluate(x, y.astype("float32"))[0]
    assert np.mean(losses) == pytest.approx(expected, rel=0.05)
    assert len(set(losses)) == 40


def test_without_noise_it_is_evaluate():
    model, x, y = linear("int8")
    plain = model.evaluate(x, y.astype("float32"))[0]
    assert evaluate(model, x, y.astype("float32"), 0, 0, draws=2) == (plain, plain, [plain, plain])


def test_int8_noise_of_a_weight_at_the_end_of_the_range_is_not_cut():
    """All weights are the largest: half of the noise lies beyond it."""
    model, x, _ = linear("int8", 60, 20)
    model.set_weights([np.full((20, 60), 0.5)])
    y = np.array(model.get_weights()[0], "float32").reshape(20, 60).T.copy()
    model.calibrate(4 * x)
    assert np.mean(evaluate(model, x, y, 0.3, draws=10)[2]) == pytest.approx(0.15**2, rel=0.05)


def digits():
    data = (ROOT / "examples/digits/digits.bin").read_bytes()
    x = np.frombuffer(data[: 1797 * 64], "uint8").reshape(-1, 64)
    return x, np.frombuffer(data[1797 * 64 :], "uint8")


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_accuracies_are_those_of_numpys_noise(dtype):
    x, y = digits()
    model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(32, "relu"), odt.Dense(10)])
    model.compile(odt.Adam(0.004), dtype=dtype, seed=1)
    model.fit(x[:1200], y[:1200], epochs=10, verbose=0)
    mean, worst, each = evaluate(model, x[1200:], y[1200:], 0.15, 0.1, draws=40)
    first, b, second, c = [np.array(w, "float64") for w in model.get_weights()]
    first, second, found = first.reshape(32, 64), second.reshape(10, 32), []
    for _ in range(200):
        a, z = [w * (1 + 0.1 * RNG.normal(size=w.shape)) + 0.15 * abs(w).max() * RNG.normal(size=w.shape)
                for w in (first, second)]  # fmt: skip
        hidden = np.maximum(x[1200:] / 16 @ a.T + b, 0)
        found.append(((hidden @ z.T + c).argmax(1) == y[1200:]).mean())
    error = np.std(found) * (1 / 40 + 1 / 200) ** 0.5
    assert mean == pytest.approx(np.mean(found), abs=4 * error)
    assert np.std(each) == pytest.approx(np.std(found), rel=0.4)
    assert mean == pytest.approx(np.mean(each)) and worst == min(each)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_draw_depends_on_its_number_and_the_seed_alone_on_both_executors(dtype):
    model, x, y = linear(dtype)
    y = y.astype("float32")
    _, worst, each = evaluate(model, x, y, 0.1, 0.1, draws=6, seed=3)
    assert worst == max(each)
    assert evaluate(model, x, y, 0.1, 0.1, draws=4, seed=3)[2] == each[:4]
    assert not set(evaluate(model, x, y, 0.1, 0.1, draws=6, seed=4)[2]) & set(each)
    odt.executor.use("reference")
    other = odt.Sequential([odt.Input((40,)), odt.Dense(5, use_bias=False)])
    other.compile(odt.SGD(0.1), "mse", dtype=dtype, batch_size=40)
    other.load_weights(model)
    assert evaluate(other, x, y, 0.1, 0.1, draws=2, seed=3)[2] == each[:2]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("optimizer", (lambda: odt.Adam(0.01), lambda: Noisy(odt.Adam(0.01), 0.1)))
def test_training_goes_on_as_if_it_had_not_been_asked(dtype, optimizer):
    x, y = digits()
    digests = []
    for asks in (False, True):
        layers = [odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(16, "relu"), odt.Dropout(0.2), odt.Dense(10)]
        model = odt.Sequential(layers)
        model.compile(optimizer(), dtype=dtype, seed=1)
        for part in range(3):
            model.fit(x[:100], y[:100], epochs=part + 1, initial_epoch=part, verbose=0)
            model.evaluate(x[:9], y[:9])
            before = model.digest(), model.evaluate(x, y), bytes(model.predict(x[:7]))
            if asks:
                evaluate(model, x[:50], y[:50], 0.2, 0.1, draws=2)
            assert (model.digest(), model.evaluate(x, y), bytes(model.predict(x[:7]))) == before
        model.train_step(x[:16], y[:16])
        digests.append(model.digest())
    assert digests[0] == digests[1]


def test_models_of_a_file_models_without_an_optimizer_and_weights_in_flash_are_measured_alike(tmp_path):
    model, x, y = linear("int8", frozen=True)
    y = y.astype("float32")
    each = evaluate(model, x, y, 0.1, 0.1, draws=3)[2]
    assert len(set(each)) == 3
    data = odt.files.frozen.pack(model)
    flash = bytes(data)
    model.compile(None, "mse", batch_size=40, frozen=data)
    assert evaluate(model, x, y, 0.1, 0.1, draws=3)[2] == each and bytes(data) == flash
    model.export(str(tmp_path / "a.odt"))
    opened = odt.load_model(str(tmp_path / "a.odt"))
    assert evaluate(opened, x, y, 0.1, 0.1, draws=3)[2] == each


def test_depthwise_rows_have_noise_of_their_own_largest_weights():
    """A pixel and 3 channels of very different weights, in int8: each with noise of its own size."""
    model = odt.Sequential([odt.Input((1, 1, 3)), odt.DepthwiseConv2D(1, use_bias=False), odt.Flatten()])
    model.compile(odt.SGD(0.1), "mse", batch_size=1)
    weights = np.array([4.0, 0.5, 0.0625])
    model.set_weights([weights])
    model.calibrate(np.full((1, 1, 1, 3), 2.0, "float32"))
    losses = evaluate(model, np.ones((1, 1, 1, 3), "float32"), weights.reshape(1, 3).astype("float32"), 0.2, draws=300)
    assert np.mean(losses[2]) == pytest.approx(0.04 * (weights**2).mean(), rel=0.2)


def test_a_reader_is_measured_like_arrays(tmp_path):
    from odt.data import NpyReader

    x, y = digits()
    np.save(tmp_path / "x.npy", x[:50])
    np.save(tmp_path / "y.npy", y[:50])
    model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(10)])
    model.compile(odt.Adam(0.01), seed=1)
    model.fit(x[:200], y[:200], epochs=3, verbose=0)
    reader = NpyReader(str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), 16)
    expected = evaluate(model, x[:50], y[:50], 0.2, draws=3)
    found = evaluate(model, reader, weight=0.2, draws=3)
    assert found[2] == pytest.approx(expected[2]) and found[:2] == pytest.approx(expected[:2]) and expected[1] < 1


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_two_models_are_measured_in_turn_and_within_other_work(dtype):
    """The arena is the model's own: what was bound for training is bound again."""
    (first, x, y), (second, _, z) = linear(dtype), linear(dtype)
    y, z = y.astype("float32"), z.astype("float32")
    alone = evaluate(first, x, y, draws=2), evaluate(second, x, z, draws=2)
    for _ in range(2):
        assert (evaluate(first, x, y, draws=2), evaluate(second, x, z, draws=2)) == alone
        outputs = np.array(first.predict(x))
        evaluate(first, x[:7], y[:7], draws=1)
        assert (np.array(first.predict(x)) == outputs).all()


@pytest.mark.parametrize("options, error, words", (
    ({"weight": -1}, ValueError, "evaluate: weight is 0, or a share in 0.0001..0.5, got -1"),
    ({"drift": 2}, ValueError, "evaluate: drift is 0, or a share in 0.0001..0.5, got 2"),
    ({"draws": 0}, ValueError, "evaluate: draws is "),
    ({"draws": 1.5}, TypeError, "evaluate: draws is "),
    ({"seed": -1}, ValueError, "evaluate: seed is an int in 0..1073741823, got -1"),
    ({"seed": "a"}, ValueError, "evaluate: seed is an int in 0..1073741823, got 'a'"),
))  # fmt: skip
def test_bad_arguments_are_refused(options, error, words):
    model, x, y = linear("int8")
    with pytest.raises(error, match=words.replace(".", r"\.")):
        evaluate(model, x, y.astype("float32"), **options)


def test_a_model_that_is_not_compiled_and_data_of_another_shape_are_refused():
    model = odt.Sequential([odt.Input((40,)), odt.Dense(5)])
    with pytest.raises(RuntimeError, match="the model is not compiled: call compile"):
        evaluate(model, [[0] * 40], [[0] * 5])
    model, x, y = linear("int8")
    with pytest.raises(ValueError, match="x"):
        evaluate(model, x[:, :30], y.astype("float32"))

    class Asking:
        def on_epoch_end(self, epoch, logs):
            with pytest.raises(RuntimeError):
                evaluate(model, x, y.astype("float32"))

    model.fit(x, y.astype("float32"), verbose=0, callbacks=[Asking()])
