"""Normalization: statistics of data, samples read by them, in both number systems and executors."""

import array
import re

import numpy as np
import pytest
from sklearn import datasets

import odt
from odt import executor

RANDOM = np.random.default_rng(5)
X = (RANDOM.normal(size=(60, 4)) * (1e-3, 1, 300, 1e5) + (0, -4, 1e4, 1e7)).astype(np.float32)
Y = (X[:, 0] * 1e3 + (X[:, 2] - 1e4) / 300 > 0).astype(int)


def network(dtype="int8", data=None, shape=(4,), adapted=True, **options):
    layer = odt.Normalization()
    layers = [odt.Input(shape, **(data or {})), layer, odt.Flatten(), odt.Dense(6, activation="relu"), odt.Dense(2)]
    model = odt.Sequential(layers)
    if adapted:
        layer.adapt(X)
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=2, **options)
    return model


def statistics(model):
    return [np.array(weights) for weights in model.get_weights()[:2]]


@pytest.mark.parametrize(
    "kind", (np.array, lambda x: x.tolist(), lambda x: array.array("f", x.ravel().tolist()), np.float64)
)
def test_adapt_finds_mean_and_variance(kind):
    model = network(adapted=False)
    assert [list(found) for found in statistics(model)] == [[0] * 4, [1] * 4]
    model.layers[0].adapt(kind(X))
    mean, variance = statistics(model)
    exact = X.astype(np.float64)
    assert np.array_equal(mean, exact.mean(0).astype(np.float32))
    assert np.allclose(variance, exact.var(0), rtol=1e-6)  # n, not n - 1
    digest = model.digest()
    model.layers[0].adapt(kind(X[::-1]))
    assert model.digest() == digest == network().digest()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_integers_mean_what_the_input_says(dtype):
    raw = RANDOM.integers(0, 256, (50, 4)).astype(np.uint8)
    model = network(dtype, {"dtype": "uint8", "scale": 0.25, "zero_point": 100}, adapted=False)
    model.layers[0].adapt(raw)
    mean, variance = statistics(model)
    real = (raw.astype(np.float64) - 100) * 0.25
    assert np.allclose(mean, real.mean(0), rtol=1e-6) and np.allclose(variance, real.var(0), rtol=1e-6)


@pytest.mark.parametrize("compiled", (True, False))
@pytest.mark.parametrize("dtype", ("int8", "uint8", "int16", "int32", "float32"))
def test_bytes_are_raw_data_of_the_inputs_dtype(dtype, compiled):
    """As fit() takes them: what a file or a frozen front's latents are."""
    x = RANDOM.integers(-100, 100, (50, 4)) if dtype != "uint8" else RANDOM.integers(0, 256, (50, 4))
    x = x.astype(dtype)
    scale = {} if dtype == "float32" else {"scale": 0.25}
    for data in (x.tobytes(), bytearray(x.tobytes()), memoryview(x.tobytes())):
        model = odt.Sequential([odt.Input((4,), dtype=dtype, **scale), odt.Normalization(), odt.Dense(3)])
        if compiled:
            model.compile()
        model.layers[0].adapt(data)
        if not compiled:
            model.compile()
        real = x.astype(np.float64) * scale.get("scale", 1)
        mean, variance = statistics(model)
        assert np.allclose(mean, real.mean(0), rtol=1e-6) and np.allclose(variance, real.var(0), rtol=1e-6)
        if dtype not in ("int8", "uint8"):
            with pytest.raises(ValueError, match="are not whole"):
                model.layers[0].adapt(data[:-1])


def normalised(x):
    exact = x.astype(np.float64)
    return ((exact - X.astype(np.float64).mean(0)) / X.astype(np.float64).std(0)).astype(np.float32)


def test_float32_samples_are_read_less_the_mean_over_the_deviation():
    model = network("float32")
    plain = odt.Sequential([odt.Input((4,)), odt.Dense(6, activation="relu"), odt.Dense(2)])
    plain.compile(dtype="float32")
    plain.set_weights(model.get_weights()[2:])
    assert np.allclose(model.predict(X), plain.predict(normalised(X)), atol=1e-4)


def test_int8_samples_are_quantized_after_it():
    """Each output is one feature, by weights of 1: within a step of 127 of the largest."""
    layer = odt.Normalization()
    model = odt.Sequential([odt.Input((4,)), layer, odt.Dense(4, use_bias=False)])
    layer.adapt(X)
    model.compile(dtype="int8", batch_size=8)
    model.set_weights(model.get_weights()[:2] + [np.eye(4)])
    wanted = normalised(X)
    found = np.array(model.predict(X)).reshape(-1, 4)
    assert np.abs(found - wanted).max() < 1.2 * np.abs(wanted).max() / 127


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_raw_features_train_as_normalised_ones(dtype):
    model = network(dtype)
    model.fit(X, Y, epochs=20, verbose=0)
    assert model.evaluate(X, Y)[1] > 0.93


FORMATS = {
    "float32": (X, {}),
    "uint8": (RANDOM.integers(0, 256, (20, 4)).astype(np.uint8), {"scale": 0.01, "zero_point": 9}),
    "int8": (RANDOM.integers(-128, 128, (20, 4)).astype(np.int8), {"scale": 3}),
    "int16": (RANDOM.integers(-32768, 32768, (20, 4)).astype(np.int16), {"scale": 0.5}),
    "uint16": (RANDOM.integers(0, 65536, (20, 4)).astype(np.uint16), {"scale": 0.5, "zero_point": 32768}),
    "int32": (RANDOM.integers(-(2**31), 2**31, (20, 4)).astype(np.int32), {"zero_point": 2**31 - 1}),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("name", FORMATS)
def test_both_executors_end_with_the_same_bits(name, dtype):
    x, options = FORMATS[name]
    digests = set()
    try:
        for backend in ("native", "reference"):
            executor.use(backend)
            model = network(dtype, {"dtype": name, **options}, adapted=False)
            model.layers[0].adapt(x)
            model.fit(x, Y[: len(x)], verbose=0)
            digests.add((model.digest(), bytes(model.predict(x))))
    finally:
        executor.use("native")
    assert len(digests) == 1


@pytest.mark.parametrize("options", ({"micro_batch": 4}, {"checkpoint": "sqrt"}, {"memory_budget": 2000}), ids=str)
def test_it_may_come_in_parts(options):
    whole, parts = network(), network(**options)
    for model in (whole, parts):
        model.fit(X, Y, epochs=2, verbose=0)
    assert [list(w) for w in whole.get_weights()] == [list(w) for w in parts.get_weights()]


def test_features_of_series_are_their_channels():
    x = RANDOM.normal(size=(30, 7, 3)) * (1, 100, 0.01) + 5
    layer = odt.Normalization()
    model = odt.Sequential([odt.Input((7, 3)), layer, odt.Conv1D(4, 3), odt.Flatten(), odt.Dense(2)])
    layer.adapt(x)
    model.compile(dtype="float32")
    assert np.allclose(statistics(model)[0], x.reshape(-1, 3).mean(0), rtol=1e-6)


def test_a_constant_feature_is_0_and_others_stay():
    x = X.copy()
    x[:, 1] = 77
    model = network("float32", adapted=False)
    model.layers[0].adapt(x)
    assert statistics(model)[1][1] == 0
    assert np.isfinite(model.predict(x)).all()
    model.set_weights([np.array([0, 77, 0, 0]), np.array([1, 0, 1, 1])] + model.get_weights()[2:])
    plain = odt.Sequential([odt.Input((4,)), odt.Dense(6, activation="relu"), odt.Dense(2)])
    plain.compile(dtype="float32")
    plain.set_weights(model.get_weights()[2:])
    small = np.abs(x) % 3
    assert np.allclose(model.predict(small), plain.predict(small - (0, 77, 0, 0)), atol=1e-5)


def test_it_is_saved_with_the_state(tmp_path):
    model, other = network(), network(adapted=False)
    model.fit(X, Y, verbose=0)
    model.save(str(tmp_path / "m"))
    other.load(str(tmp_path / "m"))
    assert other.digest() == model.digest() and bytes(other.predict(X)) == bytes(model.predict(X))
    assert np.array_equal(statistics(other), statistics(model))


def test_adapting_a_trained_model_takes_effect_and_keeps_its_weights():
    model = network()
    model.fit(X, Y, epochs=3, verbose=0)
    before = model.get_weights()
    model.layers[0].adapt(X * 2)
    assert np.allclose(statistics(model)[0], 2 * X.astype(np.float64).mean(0), rtol=1e-6)
    assert all(list(a) == list(b) for a, b in zip(before[2:], model.get_weights()[2:]))
    model.layers[0].adapt(X)
    assert model.evaluate(X, Y)[1] > 0.5


def test_update_policies_leave_it_alone():
    model = network(adapted=False)
    odt.adapt.update.bias(model)
    odt.adapt.update.last(model, 2)
    model.compile()
    model.fit(X, Y, verbose=0)
    assert [list(found) for found in statistics(model)] == [[0] * 4, [1] * 4]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_fit_says_once_that_features_differ(dtype, capsys):
    def lines(x, first=()):
        model = odt.Sequential([odt.Input((x.shape[1],)), *first, odt.Dense(2)])
        model.compile(dtype=dtype)
        for _ in range(2):
            model.fit(x.astype(np.float32), Y[: len(x)])
        return [line for line in capsys.readouterr().out.splitlines() if "epoch" not in line]

    wine, digits = datasets.load_wine().data[:60], datasets.load_digits().data[:60]
    (line,) = lines(wine)
    assert line.startswith("input: features differ: values reach") and line.endswith(
        "odt.Normalization(), adapted to x"
    )
    for x in (
        datasets.load_breast_cancer().data[:60],
        datasets.load_diabetes(scaled=False).data[:60],
        300 + 5 * X[:, 1:3] / X[0, 1:3],
    ):
        assert len(lines(x)) == 1
    for x in (normalised(X), digits, digits / 16, datasets.load_diabetes().data[:60], datasets.load_iris().data[:60]):
        assert lines(x) == []
    (line_,) = lines(wine, [odt.Normalization()])
    assert (
        line_
        == "normalization: never adapted, samples are read as they are: call adapt(x), with x as fit takes it, before "
        "fit"
    )
    assert lines(wine, [odt.BatchNorm()]) == lines(wine, [odt.Flatten(), odt.BatchNorm()]) == []
    assert lines(wine, [odt.Dense(3), odt.BatchNorm()]) == [line]
    if dtype == "int8":  # whose input has one scale: BatchNorm comes too late
        (late,) = lines(wine, [odt.ReLU(), odt.BatchNorm(name="first")])
        assert (
            late.startswith(line[: line.index(" begin")]) and "int8 loses it before first: begin with odt.Norm" in late
        )
    assert lines(wine, [odt.Normalization(), odt.BatchNorm()]) == [line_]
    model = odt.Sequential([odt.Input((13,)), odt.Dense(2)])
    model.compile(dtype=dtype)
    model.fit(wine.astype(np.float32).tobytes(), bytes(60))
    assert capsys.readouterr().out.startswith(line)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_fit_says_once_that_features_lie_far_from_0(dtype, capsys):
    """Six deviations off; the digits, a sensor around 0 and a network that begins with what mends it are silent."""

    def lines(x, first=(), shape=None, **options):
        shape = x.shape[1:] if shape is None else shape
        model = odt.Sequential([odt.Input(shape, **options), *first, odt.Flatten(), odt.Dense(2)])
        model.compile(dtype=dtype)
        for _ in range(2):
            model.fit(x, Y[: len(x)])
        return [line for line in capsys.readouterr().out.splitlines() if "epoch" not in line]

    random = np.random.default_rng(4)
    rooms = (random.normal(size=(60, 3)) * (2, 3, 2.5) + (21, 48, 60)).astype("f")
    series = (random.normal(size=(60, 50, 1)) * 9 + 500).astype("f")
    (line,) = lines(rooms)
    assert re.fullmatch(
        r"input: features lie far from 0: no. \d about [\d.]+, which moves by [\d.]+: begin with "
        r"odt.Normalization\(\), adapted to x",
        line,
    )
    number, mean, moves = re.findall(r"[\d.]+\d|\d", line)[1:]
    spread = rooms[np.arange(16) * 60 // 16, int(number)]
    assert float(mean) == pytest.approx(spread.mean(), rel=1e-4) and float(moves) == pytest.approx(
        spread.std(), rel=1e-3
    )
    adc = (series * 4).astype("int16")
    for x, options in ((series, {}), (adc, {"dtype": "int16"}), (series.repeat(20, 1).reshape(60, 1000, 1), {}),
        (-series, {}), (1e6 + series, {}),
                       (rooms.repeat(2, 1), {}), ((random.normal(size=(60, 25, 20)) * 500 + 5900).astype("int16"),
                       {"dtype": "int16", "scale": 1 / 2048})):  # fmt: skip
        assert len(lines(x, **options)) == 1
    layer = odt.Normalization()
    layer.adapt(rooms)
    for x, first, options in (
        (rooms, [layer], {}), (rooms, [odt.BatchNorm()], {}), (rooms - rooms.mean(0), [], {}),
        (adc, [], {"dtype": "int16", "zero_point": 2000}),
        (random.uniform(0, 1, (60, 6)).astype("f"), [], {}), (np.full((60, 3), 7, "f"), [], {}),
        (adc.astype("uint8"), [], {"dtype": "uint8"}),
        (np.c_[rooms[:, :1], 3 * random.normal(size=(60, 2))].astype("f"), [], {}),
    ):  # fmt: skip
        assert lines(x, first, **options) == [], (x[0], options)


def test_a_normalization_that_was_never_adapted_says_so_once(capsys):
    def model():
        made = odt.Sequential([odt.Input((2,)), odt.Normalization(name="norm"), odt.Dense(2)])
        made.compile(dtype="float32", batch_size=2)
        return made

    x, y, said = np.array([[1, 2], [3, 5]], "f"), [0, 1], "norm: never adapted, samples are read as they are"
    for call in (lambda m: m.predict(x), lambda m: m.fit(x, y, verbose=0)):
        made = model()
        for _ in range(2):
            call(made)
        assert capsys.readouterr().out.count(said) == 1
    before, after = model(), model()
    after.layers[0].adapt(x)
    before.set_weights(after.get_weights())
    for made in (before, after):
        made.predict(x)
        made.fit(x, y, verbose=0)
    assert said not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("loss", ("mse", "mae", "huber"))
def test_fit_says_once_that_targets_are_far_from_0(loss, capsys):
    y = datasets.load_diabetes().target[:60].astype(np.float32)

    def lines(y):
        model = odt.Sequential([odt.Input((2,)), odt.Dense(1)])
        model.compile(loss=loss)
        for _ in range(2):
            model.fit(normalised(X)[:, 1:3], y)
        return [line for line in capsys.readouterr().out.splitlines() if "epoch" not in line]

    (line,) = lines(y * 10)
    far, mean = abs(y[:16] * 10 - y[:16].mean() * 10).max(), y[:16].mean() * 10
    assert line == "targets lie up to %g from their mean, about %g: train on (y - mean) / deviation" % (far, mean)
    assert len(lines(y + 5000)) == 1  # int8 has no such bias
    assert lines((y - y.mean()) / y.std()) == lines(y) == []


def test_axes_in_another_order_are_refused_before_the_layer_has_a_model_and_after():
    x = np.random.default_rng(0).normal(size=(5, 3, 6, 3)).astype("float32")  # the last axis fits by chance
    early, late = odt.Normalization(), odt.Normalization()
    early.adapt(x)
    late(odt.Input((6, 3, 3)))
    # channels first are what it takes them for
    words = r"shape \(samples, 3, 6, 3\), expected \(samples, 6, 3, 3\): x.transpose\(0, 2, 3, 1\)"
    with pytest.raises(ValueError, match=words):
        early(odt.Input((6, 3, 3)))
    with pytest.raises(ValueError, match=words):
        late.adapt(x)
    late.adapt(x.transpose(0, 2, 1, 3))
    rows = x.reshape(-1, 3)  # each row a sample: only features are told
    early.adapt(rows)
    early(odt.Input((6, 3, 3)))
    assert early.sums == late.sums[:1] + (90,) + early.sums[2:] and late.sums[1] == 90
    with pytest.raises(
        ValueError, match=r"shape \(samples, 54\), expected \(samples, 6, 3, 3\): x.reshape\(-1, 6, 3, 3\)"
    ):
        late.adapt(x.reshape(5, -1))


def test_what_does_not_fit_is_refused_by_name():
    x = odt.Input((4,))
    with pytest.raises(ValueError, match="normalization: a Normalization follows the Input"):
        odt.Model(x, odt.Dense(2)(odt.Normalization()(odt.Dense(3)(x)))).compile()
    model = network()
    layer, digest = model.layers[0], model.digest()
    for data, words in (
        (X[:, :3], r"x: shape \(samples, 3\), expected \(samples, 4\)"), (np.zeros(5), "5 numbers"),
        (np.full((2, 4), np.nan), "number 0 is NaN"), ([], "0 numbers"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            layer.adapt(data)
    with pytest.raises(ValueError, match=r"\(samples, .., features\)"):
        odt.Normalization().adapt([1.0, 2.0])
    values = model.get_weights()
    values[1][2] = -1
    with pytest.raises(ValueError, match="variance is at least 0"):
        model.set_weights(values)
    assert model.digest() == digest
