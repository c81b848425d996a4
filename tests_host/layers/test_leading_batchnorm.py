"""A BatchNorm that comes first in int8: raw features, of any unit, are read by its running statistics."""

import numpy as np
import pytest
from twin import Twin

import odt
from odt import executor

RANDOM = np.random.default_rng(8)
# Deviations from 0.03, where epsilon counts, to 1e5, means up to a hundred deviations away.
DEVIATIONS, MEANS = np.array((0.03, 1, 300, 1e5)), np.array((0, -4, 1e4, 1e7))
X = (RANDOM.normal(size=(72, 4)) * DEVIATIONS + MEANS).astype(np.float32)
Y = ((X - MEANS) / DEVIATIONS @ (1, -1, 1, 1) > 0).astype(int)


def network(dtype="int8", input=(), shape=(4,), first=(), trainable=True, batch_size=8, optimizer=None, **options):
    norm = odt.BatchNorm(0.8, trainable=trainable)
    layers = [odt.Input(shape, **dict(input)), *first, norm, odt.Dense(6, activation="relu"), odt.Dense(2)]
    model = odt.Sequential(layers)
    model.compile(optimizer or odt.Adam(0.01), dtype=dtype, batch_size=batch_size, seed=2, **options)
    return model


def statistics(model):
    return [np.array(values, np.float64) for values in model.get_weights()[2:4]]


def randomised(model):
    """Weights as after a training elsewhere, on these features."""
    values = [np.array(value) for value in model.get_weights()]
    values[0] = RANDOM.uniform(0.5, 1.5, 4)
    values[1] = RANDOM.normal(size=4)
    values[2] = MEANS + DEVIATIONS * RANDOM.normal(size=4)
    values[3] = DEVIATIONS**2 * RANDOM.uniform(0.5, 2, 4)
    return values


def exact(model, values, x=X):
    twin = Twin(model, weights=values)
    twin.training = False
    return twin.forward(x).detach().numpy()


def test_features_of_any_unit_train_as_in_float32():
    models = [network(dtype) for dtype in ("float32", "int8")]
    for model in models:
        model.fit(X, Y, epochs=30, verbose=0)
    found = [model.evaluate(X, Y)[1] for model in models]
    assert found[1] > 0.93 and found[1] > found[0] - 0.05


def test_statistics_follow_the_batches_as_pytorchs():
    model = network(optimizer=odt.SGD(0), batch_size=24)
    twin = Twin(model)
    model.fit(X, Y, epochs=6, shuffle=False, verbose=0)
    for _ in range(6):
        for at in (0, 24, 48):
            twin.forward(X[at : at + 24])
    mean, variance = [tensor.numpy() for tensor in twin.parameters[model.nodes[1]][2:]]
    left = 0.8**18  # of 0 and 1, with which PyTorch's begin; odt's with statistics of the data
    mean, variance = mean / (1 - left), (variance - left) / (1 - left)
    found = statistics(model)
    assert (np.abs(found[0] - mean) < 0.02 * DEVIATIONS).all()
    assert (np.abs(found[1] / variance - 1) < 0.05).all()


def test_a_batch_is_normalised_by_its_own_statistics():
    """What reads the samples is then only their unit: the loss is that of PyTorch, whatever ran before."""
    model = network(optimizer=odt.SGD(0), batch_size=24)
    model.train_step(X[:24], Y[:24])
    moved = X[24:48] + 0.3 * DEVIATIONS.astype(np.float32)
    for _ in range(3):
        loss = model.train_step(moved, Y[24:48])
    wanted = Twin(model).loss(moved, Y[24:48]).item()
    assert loss == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize("trainable", (True, False))
@pytest.mark.parametrize("first", ((), (odt.Flatten,)))
def test_weights_from_elsewhere_predict_as_in_float64(first, trainable):
    model = network(first=[layer() for layer in first], trainable=trainable)
    values = randomised(model)
    model.set_weights(values)
    wanted = exact(model, values)
    for _ in range(2):
        assert np.abs(np.array(model.predict(X)).reshape(-1, 2) - wanted).max() < 0.05 * np.abs(wanted).max()
    before = statistics(model)
    assert np.allclose(before[0], values[2], rtol=1e-6) and np.allclose(before[1], values[3], rtol=1e-4)
    model.fit(X, Y, verbose=0)
    assert trainable != np.array_equal(statistics(model), before)


def test_keras_epsilon_counts_in_the_unit_of_the_feature():
    """A feature whose variance is below epsilon: 1e-6 against 1e-3."""
    model = network(trainable=False)
    values = randomised(model)
    values[2][0], values[3][0] = 0, 1e-6
    x = np.tile(MEANS, (40, 1)).astype(np.float32)
    x[:, 0] = RANDOM.normal(size=40) * 1e-3
    model.set_weights(values)
    wanted = exact(model, values, x)
    found = np.array(model.predict(x)).reshape(-1, 2)
    assert np.abs(found - wanted).max() < 0.05 * np.abs(wanted).max()


def test_predict_before_fit_does_not_change_what_follows():
    digests = set()
    for before in (False, True):
        model = network()
        if before:
            model.predict(X[:3] * 7)
            model.calibrate(X[:9] - 5)
        model.fit(X, Y, verbose=0)
        digests.add(model.digest())
    assert len(digests) == 1


FORMATS = {
    "float32": (X, {}),
    "int16": (RANDOM.integers(-32768, 32768, (20, 4)).astype(np.int16) // np.int16([1, 10, 100, 1]), {"scale": 0.5}),
    "uint16": (
        RANDOM.integers(0, 65536, (20, 4)).astype(np.uint16) // np.uint16([1, 10, 100, 1]),
        {"scale": 0.5, "zero_point": 40000},
    ),
    "int32": (RANDOM.integers(-(2**31), 2**31, (20, 4)).astype(np.int32), {"zero_point": 2**31 - 1}),
}


@pytest.mark.parametrize("name", FORMATS)
def test_both_executors_end_with_the_same_bits(name):
    x, options = FORMATS[name]
    digests = set()
    try:
        for backend in ("native", "reference"):
            executor.use(backend)
            model = network(input={"dtype": name, **options})
            model.fit(x, Y[: len(x)], epochs=2, verbose=0)
            digests.add((model.digest(), bytes(model.predict(x))))
    finally:
        executor.use("native")
    assert len(digests) == 1
    scale, zero = options.get("scale", 1), options.get("zero_point", 0)
    real = (x.astype(np.float64) - zero) * scale
    assert (np.abs(statistics(model)[0] - real.mean(0)) < real.std(0)).all()


@pytest.mark.parametrize("format", ("int8", "uint8"))
def test_bytes_are_read_as_they_are(format):
    model = network(input={"dtype": format})
    assert "gather_norm" not in model.disassemble() and "read_stats" not in model.disassemble()


@pytest.mark.parametrize("input", ({}, {"limit": 1e7}), ids=str)
def test_others_find_their_ranges_as_before(input):
    """Where more than the BatchNorm reads the samples, or their range was given."""
    x = odt.Input((4,), **input)
    y = odt.Add()([odt.BatchNorm()(x), x] if not input else [odt.BatchNorm()(x)] * 2)
    model = odt.Model(x, odt.Dense(2)(y))
    model.compile()
    assert "gather_norm" not in model.disassemble() and "running_stats_i8" in model.disassemble()


def test_weights_move_between_dtypes_and_formats():
    source = network("float32")
    source.fit(X, Y, epochs=4, verbose=0)
    model, narrow, back = network(), network(input={"dtype": "int8"}), network("float32")
    model.load_weights(source)
    wanted = statistics(source)
    assert np.allclose(statistics(model)[0], wanted[0], rtol=1e-6)
    assert np.allclose(statistics(model)[1], wanted[1], rtol=1e-4)
    back.load_weights(model)
    assert np.allclose(statistics(back), statistics(model), rtol=1e-6)
    twin = network()
    twin.load_weights(model)
    assert np.array_equal(statistics(twin), statistics(model))
    small = [*model.get_weights()[:2], [0.5, -1, 3, 0], [1, 2, 3, 4], *model.get_weights()[4:]]
    model.set_weights(small)
    narrow.load_weights(model)
    assert np.allclose(statistics(narrow), small[2:4], atol=1e-6)


def test_what_cannot_be_kept_is_refused_as_elsewhere():
    model = network()
    digest = model.digest()
    values = randomised(model)
    values[3][1] = -1
    with pytest.raises(ValueError, match="moving_variance is at least 0"):
        model.set_weights(values)
    values[3][1] = 1
    values[2][1] = 1e39
    with pytest.raises(ValueError, match="moving_mean, element 1 is .*1e.39"):
        model.set_weights(values)
    assert model.digest() == digest


def test_a_model_file_of_a_network_that_has_seen_nothing_begins_as_it(tmp_path):
    model = network()
    model.export(tmp_path / "m.odt")
    opened = odt.load_model(tmp_path / "m.odt")
    for each in (model, opened):
        each.fit(X, Y, verbose=0)
    assert opened.digest() == model.digest()
    assert [list(values) for values in opened.get_weights()] == [list(values) for values in model.get_weights()]
    assert np.array_equal(opened.predict(X), model.predict(X))


def test_a_checkpoint_goes_on(tmp_path):
    model, other = network(), network()
    model.fit(X, Y, epochs=2, verbose=0)
    model.save(str(tmp_path / "m"))
    other.load(str(tmp_path / "m"))
    for each in (model, other):
        each.fit(X, Y, epochs=4, initial_epoch=2, verbose=0)
    assert other.digest() == model.digest()


def test_activations_that_are_computed_again_change_nothing():
    digests = set()
    for options in ({}, {"checkpoint": "sqrt"}):
        model = network(**options)
        model.fit(X, Y, epochs=2, verbose=0)
        digests.add(model.digest())
    assert len(digests) == 1


def test_micro_batches_have_statistics_of_their_own():
    model, small = network(optimizer=odt.SGD(0), micro_batch=4), network(optimizer=odt.SGD(0), batch_size=4)
    for each in (model, small):
        each.fit(X, Y, epochs=5, shuffle=False, verbose=0)
    for found, wanted in zip(statistics(model), statistics(small)):
        assert np.allclose(found, wanted, rtol=0.01)


def test_update_bn_moves_it_to_another_sensor():
    model = network(batch_size=24)
    model.fit(X, Y, epochs=2, verbose=0)
    moved = ((X - MEANS) * 3 + MEANS + DEVIATIONS).astype(np.float32)
    odt.continual.update_bn(model, moved, guard=False)
    mean, variance = statistics(model)
    assert (np.abs(mean - moved.mean(0, np.float64)) < 0.1 * moved.std(0, np.float64)).all()
    assert (np.abs(np.sqrt(variance) / moved.std(0, np.float64) - 1) < 0.1).all()


def test_a_feature_that_never_moves_and_one_sample_harm_nothing():
    x = X.copy()
    x[:, 1] = 77
    models = [network(dtype) for dtype in ("float32", "int8")]
    for model in models:
        model.fit(x, Y, epochs=30, verbose=0)
    wanted, found = [model.evaluate(x, Y)[1] for model in models]
    assert found > wanted - 0.06
    single = network(batch_size=2)
    for _ in range(3):
        single.fit(X[:9], Y[:9], verbose=0)  # the last batch is of one
    assert np.isfinite(statistics(single)).all() and np.isfinite(single.predict(X)).all()
