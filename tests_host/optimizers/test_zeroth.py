"""odt.ZerothOrder: its estimate and its step against NumPy, weights restored exactly, RAM of a forward pass."""

import numpy as np
import pytest
from checkout import ROOT

import odt
from odt.base import opcodes

X = np.random.default_rng(5).normal(size=(24, 6)).astype("float32")
Y = np.random.default_rng(6).integers(0, 4, 24).astype("uint8")


@pytest.fixture(autouse=True)
def native():
    yield
    odt.executor.use("native")


def mlp():
    return [odt.Input((6,)), odt.Dense(9, "relu"), odt.Dense(7, "relu"), odt.Dense(4)]


def compiled(optimizer, dtype="int8", layers=None, **options):
    model = odt.Sequential(layers or mlp())
    options = {"batch_size": 24, "seed": 3, **options}
    model.compile(optimizer, dtype=dtype, **options)
    return model


# NumPy's own: z, and the network


def hash32(key, i):
    """docs/reference/numerics.md's, over uint64 arrays."""
    mask = np.uint64(0xFFFFFFFF)
    u = (np.uint64(key) + np.asarray(i, "uint64") * np.uint64(0x9E3779B9)) & mask
    u = ((u ^ (u >> np.uint64(16))) * np.uint64(0x7FEB352D)) & mask
    u = ((u ^ (u >> np.uint64(15))) * np.uint64(0x846CA68B)) & mask
    return u ^ (u >> np.uint64(16))


def directions(model, step):
    """z of each array of get_weights(), in step 1, 2, ..: the streams' ids are those of the program."""
    key = int(hash32(model.session.seed, step))
    ids = [
        immediates[code.immediates.index("id")]
        for _, code, _, immediates in model.program.walk(*model.session.sections["train"])
        if code.name.startswith("walk")
    ]
    opcodes.forget()
    found = []
    for stream, weights in zip(ids, model.get_weights()):
        i = np.arange(len(weights), dtype="uint64")
        two = (hash32(int(hash32(key, stream)), i >> np.uint64(4)) >> (2 * (i % np.uint64(16)))) & np.uint64(3)
        found.append(np.array([0, 1, 0, -1])[two.astype(int)])
    return found


def loss(weights, x, y):
    """Mean cross-entropy of the network of dense layers, in float64."""
    h = x.astype("float64")
    for number in range(0, len(weights), 2):
        bias = weights[number + 1]
        h = h @ weights[number].reshape(len(bias), -1).T + bias
        h = np.maximum(h, 0) if number + 2 < len(weights) else h
    h = h - h.max(1, keepdims=True)
    return np.mean(np.log(np.exp(h).sum(1)) - h[np.arange(len(y)), y])


def weights_of(model):
    return [np.array(w, "float64") for w in model.get_weights()]


def test_float_step_is_numpys_estimate_along_directions_of_its_own_hash():
    model = compiled(odt.ZerothOrder(0.1, epsilon=0.0625, sign=False), "float32")
    for step in range(1, 6):
        before = weights_of(model)
        z = directions(model, step)
        plus, minus = [loss([w + s * 0.0625 * d for w, d in zip(before, z)], X, Y) for s in (1, -1)]
        assert model.train_step(X, Y) == pytest.approx((plus + minus) / 2, rel=1e-5)
        slope = (plus - minus) / (2 * 0.0625)
        for w, d, after in zip(before, z, weights_of(model)):
            np.testing.assert_allclose(after, w - 0.1 * slope * d, rtol=0, atol=2e-4 * abs(0.1 * slope) + 1e-7)
            assert set(np.unique(d)) == {-1, 0, 1} or len(d) < 20


def test_a_step_is_replayed_from_its_seed_and_one_scalar():
    model = compiled(odt.ZerothOrder(0.1, epsilon=0.0625, sign=False), "float32")
    model.compile(odt.ZerothOrder(0.0, epsilon=0.0625), dtype="float32", batch_size=24, seed=3)
    for _ in range(40):
        model.train_step(X, Y)
    settled = [np.array(w) for w in model.get_weights()]  # multiples of what w +- epsilon can hold
    for _ in range(40):
        model.train_step(X, Y)
    assert all((a == np.array(b)).all() for a, b in zip(settled, model.get_weights()))
    other = compiled(odt.ZerothOrder(0.1, epsilon=0.0625, sign=False), "float32")
    other.set_weights(settled)
    z = directions(other, 1)
    other.train_step(X, Y)
    moved = [np.array(w) for w in other.get_weights()]
    first = int(np.flatnonzero(z[1])[0])
    scalar = np.float32((settled[1] - moved[1])[first] * z[1][first])  # biases began at 0: exact
    for w, d, after in zip(settled, z, moved):
        assert (np.where(d == 0, w, w - scalar * d.astype("float32")) == after).all()


def test_mean_of_the_directions_is_the_gradient():
    """Over many steps of rate 0: the mean of estimates, as NumPy's directions and losses give them, twice that of
    E[zz'] = I/2.
    """
    model = compiled(odt.ZerothOrder(0.0, epsilon=0.03125), "float32")
    weights = weights_of(model)
    total = [np.zeros_like(w) for w in weights]
    for step in range(1, 3001):
        z = directions(model, step) if step < 3 else _fast(model, step)
        plus, minus = [loss([w + s * 0.03125 * d for w, d in zip(weights, z)], X, Y) for s in (1, -1)]
        for t, d in zip(total, z):
            t += (plus - minus) / 0.03125 * d / 3000
    exact = []
    for index, w in enumerate(weights):
        exact.append(np.zeros_like(w))
        for i in range(len(w)):
            ends = []
            for step in (1e-5, -1e-5):
                moved = [v.copy() for v in weights]
                moved[index][i] += step
                ends.append(loss(moved, X, Y))
            exact[-1][i] = (ends[0] - ends[1]) / 2e-5
    found, exact = np.concatenate(total), np.concatenate(exact)
    assert found @ exact / np.linalg.norm(found) / np.linalg.norm(exact) > 0.95
    assert found @ exact / (exact @ exact) == pytest.approx(1, abs=0.1)


_ids = {}


def _fast(model, step):
    if model not in _ids:
        _ids.clear()
        walk = model.program.walk(*model.session.sections["train"])
        _ids[model] = [w[3][w[1].immediates.index("id")] for w in walk if w[1].name.startswith("walk")]
    key = int(hash32(model.session.seed, step))
    found = []
    for stream, weights in zip(_ids[model], model.get_weights()):
        i = np.arange(len(weights), dtype="uint64")
        two = (hash32(int(hash32(key, stream)), i >> np.uint64(4)) >> (2 * (i % np.uint64(16)))) & np.uint64(3)
        found.append(np.array([0, 1, 0, -1])[two.astype(int)])
    return found


# int8


def scales(model):
    """Each kernel's scale of its first row."""
    state = bytes(model.session.state)
    return [np.frombuffer(state, "float32", 1, weights.scale.offset)[0] for _, weights in model.session.plan.weights]


def stored(model):
    """The bytes of kernels, residuals, scales and biases."""
    state = bytes(model.session.state)
    found = []
    for _, weights in model.session.plan.weights:
        for buffer in (weights.kernel, weights.residual, weights.scale, weights.bias):
            found.append(state[buffer.offset : buffer.offset + buffer.size])
    return found


@pytest.mark.parametrize("epsilon", (0.001, 0.05, 3))
@pytest.mark.parametrize("backend", ("native", "reference"))
def test_int8_weights_are_restored_to_the_bit_where_the_rate_is_0(epsilon, backend):
    odt.executor.use(backend)
    model = compiled(odt.ZerothOrder(0, epsilon=epsilon))
    before = stored(model)
    for _ in range(3):
        model.train_step(X, Y)
    assert stored(model) == before or epsilon == 3
    full = [np.array(w) for w in model.get_weights()]
    for w in full:
        w[::3], w[1::3] = np.abs(full[0]).max(), -np.abs(full[0]).max()
    model.set_weights(full)  # every third weight at an end of its range
    model.train_step(X, Y)
    for a, b, scale in zip(
        full[::2], model.get_weights()[::2], scales(model)
    ):  # once in a scale with room: rounded by half
        np.testing.assert_allclose(b, a, atol=scale / 500)
    with_room = stored(model)
    for _ in range(5):
        model.train_step(X, Y)
    assert stored(model) == with_room
    assert max(abs(v) for v in np.frombuffer(with_room[0], "int8")) < 127


def test_int8_signs_are_those_of_float64_where_the_slope_is_clear():
    model = compiled(odt.ZerothOrder(0.02, epsilon=0.05, sign=True))
    agree = clear = 0
    for step in range(1, 61):
        before, z, units = weights_of(model), directions(model, step), scales(model)
        delta = []
        for number in range(0, len(before), 2):
            delta += [np.clip(np.floor(0.05 / units[number // 2] + 0.5), 1, 31) * units[number // 2], 0.05]
        quantized = []  # kernels compute without the residual
        for number, w in enumerate(before):
            unit = units[number // 2]
            quantized.append(w if number % 2 else np.floor(w / unit + 0.5) * unit)
        plus, minus = [loss([w + s * e * d for w, e, d in zip(quantized, delta, z)], X, Y) for s in (1, -1)]
        model.train_step(X, Y)
        moved = [(a - b)[d != 0] * d[d != 0] for a, b, d in zip(weights_of(model), before, z)]
        for a, b, d in zip(weights_of(model), before, z):
            assert (a[d == 0] == b[d == 0]).all() or units != scales(model)
        direction = np.sign(np.median(np.concatenate(moved)))
        np.testing.assert_allclose(np.concatenate(moved[1::2]), 0.02 * direction, atol=2e-6)
        np.testing.assert_allclose([each.mean() for each in moved if len(each)], 0.02 * direction, atol=1e-3)
        if abs(plus - minus) > 0.03:
            clear += 1
            agree += direction == -np.sign(plus - minus)
    assert clear > 20 and agree == clear


def test_int8_step_by_value_is_numpys():
    model = compiled(odt.ZerothOrder(0.2, epsilon=0.05, sign=False))
    ratios = []
    for step in range(1, 41):
        before, z, units = weights_of(model), directions(model, step), scales(model)
        delta = []
        for number in range(0, len(before), 2):
            delta += [np.clip(np.floor(0.05 / units[number // 2] + 0.5), 1, 31) * units[number // 2], 0.05]
        plus, minus = [loss([w + s * e * d for w, e, d in zip(before, delta, z)], X, Y) for s in (1, -1)]
        model.train_step(X, Y)
        biases = [(a - b)[d != 0] * d[d != 0] for a, b, d in zip(weights_of(model), before, z)][1::2]
        found = np.concatenate(biases)
        assert np.ptp(found) < 2e-6  # one scalar
        ratios.append((-found.mean(), 0.2 * (plus - minus) / 0.1))
    found, expected = np.array(ratios).T
    assert np.corrcoef(found, expected)[0, 1] > 0.98
    assert found @ expected / (expected @ expected) == pytest.approx(1, abs=0.05)


# On every executor, in parts, and on


def networks():
    yield "dense", {"sign": False}, mlp(), "sparse_categorical_crossentropy"
    yield (
        "tail",
        {"tail": 2, "sign": False, "optimizer": odt.SGD(0.05, momentum=0.9)},
        mlp(),
        "sparse_categorical_crossentropy",
    )
    yield "sign", {}, mlp(), "sparse_categorical_crossentropy"
    yield "regression", {"tail": 1, "sign": False}, [odt.Input((6,)), odt.Dense(5, "tanh"), odt.Dense(2)], "mse"
    yield "distance", {"sign": False}, [odt.Input((6,)), odt.Dense(5), odt.LeakyReLU(), odt.Dense(2)], "mae"
    yield "image", {"tail": 1}, [
        odt.Input((6, 6, 1)), odt.Conv2D(4, 3, activation="relu"), odt.DepthwiseConv2D(3, padding="same"),
        odt.LayerNorm(), odt.ReLU6(), odt.Dropout(0.2), odt.MaxPool2D(), odt.Flatten(), odt.Dense(8, use_bias=False),
        odt.Dense(4),
    ], "sparse_categorical_crossentropy"  # fmt: skip


def data_of(layers, loss_name):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(24, *layers[0].shape)).astype("float32")
    return x, (Y if "cross" in loss_name else rng.normal(size=(24, 2)).astype("float32"))


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_both_executors_and_micro_batches_end_with_one_digest(number, dtype):
    digests = []
    for backend, micro in (("native", None), ("reference", None), ("native", 5), ("native", 24)):
        odt.executor.use(backend)
        name, options, layers, kind = list(networks())[number]
        model = compiled(odt.ZerothOrder(0.01, 0.05, **options), dtype, layers, loss=kind, micro_batch=micro)
        x, y = data_of(layers, kind)
        for _ in range(4):
            model.train_step(x[:23], y[:23])
        digests.append(model.digest())
    assert digests[0] == digests[1]
    if dtype == "int8":  # a backward pass rounds errors of some layers at random; these have none
        assert digests[0] == digests[2] == digests[3]
    assert digests[0] == digests[3]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_prediction_and_evaluation_move_no_weight_and_know_no_direction(dtype):
    model = compiled(odt.ZerothOrder(0.01, 0.05, tail=1), dtype)
    plain = compiled(odt.SGD(0.01), dtype)
    model.fit(X, Y, epochs=3, verbose=0)
    digest, result = model.digest(), model.evaluate(X, Y)
    assert model.evaluate(X, Y) == result and model.digest() == digest
    plain.load_weights(model)
    assert plain.evaluate(X, Y) == pytest.approx(result, rel=1e-6 if dtype == "float32" else 0.02)
    assert (np.array(model.predict(X)) == np.array(model.predict(X))).all() and model.digest() == digest


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("options", ({}, {"tail": 1}))
def test_a_checkpoint_and_a_model_file_go_on_to_the_same_bits(tmp_path, dtype, options):
    model = compiled(odt.ZerothOrder(0.01, 0.05, **options), dtype, batch_size=8)
    model.fit(X, Y, epochs=2, verbose=0)
    model.save(str(tmp_path / "a.bin"))
    model.export(str(tmp_path / "a.odt"))
    model.fit(X, Y, epochs=4, initial_epoch=2, verbose=0)
    again = compiled(odt.ZerothOrder(0.01, 0.05, **options), dtype, batch_size=8)
    again.load(str(tmp_path / "a.bin"))
    again.fit(X, Y, epochs=4, initial_epoch=2, verbose=0)
    assert again.digest() == model.digest()
    opened = odt.load_model(str(tmp_path / "a.odt"))
    opened.fit(X, Y, epochs=4, initial_epoch=2, verbose=0)
    assert opened.digest() == model.digest()
    with pytest.raises(ValueError):
        compiled(odt.Adam(), dtype, batch_size=8).load(str(tmp_path / "a.bin"))


def test_a_power_cut_within_an_epoch_goes_on_to_the_same_bits(tmp_path):
    class Cut(Exception):
        pass

    class Saving:
        def __init__(self, at):
            self.at = at

        def on_batch_end(self, step):
            if model.session.steps() == 4:
                model.save(str(tmp_path / "c.bin"))
            if model.session.steps() == self.at:
                raise Cut

    model = compiled(odt.ZerothOrder(0.01, 0.05, tail=1), batch_size=8)
    model.fit(X, Y, epochs=3, verbose=0)
    whole = model.digest()
    model = compiled(odt.ZerothOrder(0.01, 0.05, tail=1), batch_size=8)
    with pytest.raises(Cut):
        model.fit(X, Y, epochs=3, verbose=0, callbacks=[Saving(5)])
    model = compiled(odt.ZerothOrder(0.01, 0.05, tail=1), batch_size=8)
    model.load(str(tmp_path / "c.bin"))
    model.fit(X, Y, epochs=3, initial_epoch=model.epoch, verbose=0)
    assert model.digest() == whole


# What it is for


def digits():
    data = (ROOT / "examples/digits/digits.bin").read_bytes()
    x = np.frombuffer(data[: 1797 * 64], "uint8").reshape(-1, 64)
    return x, np.frombuffer(data[1797 * 64 :], "uint8")


def digits_mlp():
    return [odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(32, "relu"), odt.Dense(10)]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_fit_learns_digits(dtype):
    x, y = digits()
    model = compiled(odt.ZerothOrder(0.01, 0.02, sign=False), dtype, digits_mlp(), batch_size=16)
    history = model.fit(x[:1000], y[:1000], epochs=20, verbose=0).history
    assert history["loss"][-1] < 1.8 < 2.2 < history["loss"][0]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_what_is_before_the_tail_learns_what_the_tail_alone_does_not(dtype):
    x, y = digits()
    accuracies = []
    for alone in (False, True):
        layers = digits_mlp()
        layers[1].trainable = not alone
        optimizer = odt.Adam(0.002) if alone else odt.ZerothOrder(tail=1, optimizer=odt.Adam(0.002))
        model = compiled(optimizer, dtype, layers, batch_size=16)
        model.fit(x[:1000], y[:1000], epochs=40, verbose=0)
        accuracies.append(model.evaluate(x[1000:], y[1000:])[1])
    assert accuracies[0] > accuracies[1] + 0.02


@pytest.mark.parametrize("dtype, size", (("int8", 1), ("float32", 4)))
def test_the_arena_is_that_of_a_forward_pass(dtype, size):
    def deep():
        return [odt.Input((64,)), *[odt.Dense(64, "relu") for _ in range(6)], odt.Dense(10)]

    plans = {}
    for name, optimizer in (
        ("none", None), ("zeroth", odt.ZerothOrder()), ("tail", odt.ZerothOrder(tail=1)), ("sgd", odt.SGD()),
        ("adam", odt.Adam()),
    ):  # fmt: skip
        plans[name] = compiled(optimizer, dtype, deep(), batch_size=16).session.plan
    arena = {name: plan.arena for name, plan in plans.items()}
    assert arena["none"] <= arena["zeroth"] <= arena["none"] + 64
    assert arena["tail"] <= arena["none"] + 64 + 4 * 64 * 10
    assert min(arena["sgd"], arena["adam"]) > arena["zeroth"] + 5 * 16 * 64 * size
    weights = 6 * 64 * 64 + 64 * 10
    assert plans["zeroth"].state - plans["none"].state <= (weights + 64 if dtype == "int8" else 64)  # the residuals
    assert plans["adam"].state - plans["zeroth"].state > (4 if dtype == "int8" else 8) * weights


def test_summary_counts_a_second_forward_pass(capsys):
    model = compiled(odt.ZerothOrder(tail=1), layers=digits_mlp())
    model.summary()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    macs = {row[0]: row[-3:-1] for row in rows if row and row[0].startswith("dense")}
    assert macs == {"dense": ["2048", "2048"], "dense_1": ["320", "640"]}


def test_a_schedule_of_the_tail_moves_both_rates():
    def first_bias(rate, steps):
        tail = odt.SGD(odt.StepDecay(rate, 2, 0.5))
        model = compiled(odt.ZerothOrder(0.1, 0.0625, tail=1, optimizer=tail, sign=True), "float32")
        for _ in range(steps):
            before = np.array(model.get_weights()[1])
            model.train_step(X, Y)
        return np.abs(np.array(model.get_weights()[1]) - before).max()

    assert first_bias(0.3, 1) == pytest.approx(0.1, rel=1e-5)
    assert first_bias(0.3, 3) == pytest.approx(0.05, rel=1e-5)
    assert first_bias(0.7, 5) == pytest.approx(0.025, rel=1e-5)


def test_a_slope_that_is_not_finite_moves_nothing():
    model = compiled(odt.ZerothOrder(1e3, 100, sign=False), "float32")
    for _ in range(20):
        try:
            model.train_step(X * 1e12, Y)
        except ArithmeticError:
            break
    assert all(np.isfinite(np.array(w)).all() for w in model.get_weights())


# Arguments


@pytest.mark.parametrize("make, error, words", (
    (lambda: odt.ZerothOrder(tail=-1), ValueError, "tail is 0 or more layers, got -1"),
    (lambda: odt.ZerothOrder(tail=1.5), TypeError, "tail is an int, got 1.5"),
    (lambda: odt.ZerothOrder(tail="1"), TypeError, "tail is an int, got '1'"),
    (lambda: odt.ZerothOrder(epsilon=0), ValueError, "epsilon is in 1e-6..100, got 0"),
    (lambda: odt.ZerothOrder(epsilon=float("nan")), ValueError, "epsilon is in 1e-6..100, got nan"),
    (lambda: odt.ZerothOrder(epsilon="0.1"), TypeError, "epsilon is a number, got '0.1'"),
    (lambda: odt.ZerothOrder(sign=2), TypeError, "sign is True or False, got 2"),
    (lambda: odt.ZerothOrder(-1), ValueError, "learning_rate is in 0..1e6, got -1"),
    (lambda: odt.ZerothOrder("fast"), TypeError, "learning_rate is a number or a schedule"),
    (lambda: odt.ZerothOrder(optimizer=odt.Adam()), ValueError, "that of the tail, got one and tail=0"),
    (lambda: odt.ZerothOrder(tail=1, optimizer="adam"), TypeError, "optimizer is an SGD or an Adam, got 'adam'"),
    (lambda: odt.ZerothOrder(tail=1, optimizer=odt.ZerothOrder()), TypeError, "optimizer is an SGD or an Adam"),
    (lambda: odt.ZerothOrder(0, tail=1), ValueError, "with a tail learning_rate is a number above 0"),
    (lambda: odt.ZerothOrder(odt.CosineDecay(0.1, 9), tail=1), ValueError, "with a tail learning_rate is a number"),
    (lambda: odt.ZerothOrder(tail=1, optimizer=odt.SGD(0)), ValueError, "which begins above 0"),
))  # fmt: skip
def test_bad_arguments_are_refused(make, error, words):
    with pytest.raises(error, match=words.replace("(", r"\(").replace(".", r"\.")):
        make()


def test_what_it_cannot_train_is_refused_and_the_model_is_as_before():
    model = compiled(odt.SGD())
    digest = model.digest()
    with pytest.raises(ValueError, match="tail is below the number of layers that train, 3, got 3"):
        model.compile(odt.ZerothOrder(tail=3))
    with pytest.raises(ValueError, match="no activation is kept that checkpoint"):
        model.compile(odt.ZerothOrder(), checkpoint="sqrt")
    with pytest.raises(ValueError, match='state "int16" belongs to dtype "int8"'):
        model.compile(odt.ZerothOrder(tail=1, optimizer=odt.Adam(state="int16")), dtype="float32")
    assert model.digest() == digest
    normed = odt.Sequential([odt.Input((6,)), odt.Dense(9), odt.BatchNorm(), odt.ReLU(), odt.Dense(4)])
    with pytest.raises(ValueError, match="follows its batches: freeze it, or use LayerNorm"):
        normed.compile(odt.ZerothOrder())
    normed.layers[1].trainable = False
    normed.compile(odt.ZerothOrder())
    chosen = odt.Sequential(mlp())
    odt.adapt.update.dynamic(chosen)
    with pytest.raises(ValueError, match="a dynamic update belongs to the tail"):
        chosen.compile(odt.ZerothOrder())


def test_rows_biases_and_frozen_layers_move_as_they_are_told():
    model = odt.Sequential(mlp())
    model.layers[0].trainable = False
    odt.adapt.update.channels(model, {model.layers[1].name: [(1, 2), (5, 1)], model.layers[2].name: [(0, 4)]})
    model.compile(odt.ZerothOrder(0.05, 0.05, sign=True), batch_size=24, seed=3)
    before = weights_of(model)
    for _ in range(5):
        model.train_step(X, Y)
    changed = [np.flatnonzero((a != b).reshape(-1)) for a, b in zip(weights_of(model), before)]
    names = [w.size for w in before]
    for found, size, w in zip(changed, names, before):
        if size == 54 or size == 9:
            assert len(found) == 0
        if size == 63:
            assert set(found // 9) == {1, 2, 5}
    assert any(len(found) for found, size in zip(changed, names) if size == 28)
