"""What a user's script sees: fit, evaluate, predict, files, interruptions, schedules, progress."""

import array
import io
import math
import sys

import numpy as np
import pytest
import torch
from twin import Twin

import odt
from odt.base import fixed, opcodes
from odt.run import progress, session

DTYPES = ("int8", "float32")
XENT = "sparse_categorical_crossentropy"
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(11, 5)).astype("float32")
Y = RANDOM.integers(0, 3, 11).astype("uint8")
HELD = RANDOM.normal(size=(7, 5)).astype("float32"), RANDOM.integers(0, 3, 7).astype("uint8")


def network(dtype="float32", optimizer=None, loss=XENT, seed=1, batch_size=4, frozen=False, classes=3):
    model = odt.Sequential([
        odt.Input((5,)), odt.Dense(6, "relu", trainable=not frozen), odt.Dense(classes),
    ])  # fmt: skip
    model.compile(optimizer or odt.Adam(0.01), loss, dtype, batch_size, seed)
    return model


def arrays(model):
    return [np.array(value, "float64") for value in model.get_weights()]


def far(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


class Wrapped:
    """An executor that calls back before each run, and may end it early."""

    def __init__(self, model, before):
        self.engine, self.before = model.session.engine, before
        model.session.engine = self

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def run(self, loaded, regions, start, stop, rows=0):
        self.before(self, loaded, regions, start, stop)
        self.engine.run(loaded, regions, start, stop, rows)


def begins_a_step(model, start, stop):
    """Of training, which may run in parts; calibration runs single instructions."""
    return start == model.program.section("train")[0] and stop >= model.program.section("evaluate")[1]


# Learning


@pytest.mark.parametrize("dtype", DTYPES)
def test_xor_is_learnt(dtype):
    x, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    for seed in (1, 2):
        model = odt.Sequential([odt.Input((2,)), odt.Dense(16, "relu"), odt.Dense(2)])
        model.compile(odt.Adam(0.03), dtype=dtype, batch_size=4, seed=seed)
        history = model.fit(x, y, epochs=80, verbose=0).history
        assert history["loss"][-1] < 0.1 < history["loss"][0]
        assert model.evaluate(x, y)[1] == 1
        logits = np.array(model.predict(x)).reshape(4, 2)
        assert list(logits.argmax(1)) == y


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_seed_gives_one_digest_and_another_seed_another(dtype):
    digests = []
    for seed in (1, 1, 2):
        model = network(dtype, seed=seed)
        model.fit(X, Y, epochs=2, verbose=0)
        digests.append(model.digest())
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.slow
@pytest.mark.parametrize("loss", (XENT, "mse"))
def test_the_gradient_of_a_partial_batch_is_the_mean_over_its_rows(loss):
    targets = RANDOM.normal(size=(11, 3)).astype("float32") if loss == "mse" else Y
    for count in (1, 3, 7):
        model = network("float32", odt.SGD(1), loss, batch_size=8)
        before = arrays(model)
        expected = Twin(model).gradients(X[:count], targets[:count], loss)
        value = model.train_step(X[:count], targets[:count])
        assert value == pytest.approx(
            Twin(model, weights=before).loss(X[:count], targets[:count], loss).item(), rel=1e-5
        )
        for old, new, gradient in zip(before, arrays(model), expected):
            assert far(old - new, gradient) < 1e-4


OPTIMIZERS = {
    "sgd": (lambda: odt.SGD(0.1), lambda p: torch.optim.SGD(p, 0.1)),
    "momentum": (lambda: odt.SGD(0.05, 0.9), lambda p: torch.optim.SGD(p, 0.05, 0.9)),
    "adam": (lambda: odt.Adam(0.01), lambda p: torch.optim.Adam(p, 0.01, (0.9, 0.999), 1e-7)),
    "adam, other betas": (
        lambda: odt.Adam(0.02, 0.8, 0.99, 1e-3),
        lambda p: torch.optim.Adam(p, 0.02, (0.8, 0.99), 1e-3),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("loss", (XENT, "mse"))
@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_twenty_float_steps_follow_pytorch(name, loss):
    """Batches of 4, 4 and 3 rows in turn, in the order of the data."""
    ours, theirs = OPTIMIZERS[name]
    targets = RANDOM.normal(size=(11, 3)).astype("float32") if loss == "mse" else Y
    model = network("float32", ours(), loss)
    twin = Twin(model)
    optimizer = theirs(twin.flat_parameters())
    for epoch in range(7):
        model.fit(X, targets, shuffle=False, verbose=0)
        for at in range(0, 11, 4):
            optimizer.zero_grad()
            twin.loss(X[at : at + 4], targets[at : at + 4], loss).backward()
            optimizer.step()
    assert len(twin.flat_parameters()) == 4
    for value, expected in zip(arrays(model), twin.flat_parameters()):
        assert far(value, expected.detach().numpy().ravel()) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("state", ("int16", "float32"))
def test_int8_optimizers_go_where_the_float_ones_go(state):
    """The direction of 30 steps, as far as int8 keeps it."""
    for ours, theirs in (
        (odt.SGD(0.05, 0.9, state=state), odt.SGD(0.05, 0.9)),
        (odt.Adam(0.01, state=state), odt.Adam(0.01)),
    ):
        models = [network("int8", ours), network("float32", theirs)]
        models[0].set_weights(models[1].get_weights())
        before = arrays(models[1])
        for model in models:
            model.fit(X, Y, epochs=10, shuffle=False, verbose=0)
        for start, one, other in zip(before, arrays(models[0]), arrays(models[1])):
            a, b = one - start, other - start
            assert a @ b / (np.linalg.norm(a) * np.linalg.norm(b)) > 0.9
            assert 0.7 < np.linalg.norm(a) / np.linalg.norm(b) < 1.4


@pytest.mark.slow
@pytest.mark.parametrize("executor", ("native", "reference"))
@pytest.mark.parametrize("loss", ("mse", "mae", "huber"))
def test_the_reported_loss_is_right_when_ranges_widen_within_the_epoch(loss, executor):
    rng = np.random.default_rng(8)
    x = (rng.normal(size=(20, 6)) * 1.7 ** (np.arange(20)[:, None] // 4)).astype("float32")
    y = rng.normal(size=(20, 2)).astype("float32")

    def model():
        model = odt.Sequential([odt.Input((6,)), odt.Dense(2)])
        model.compile(odt.SGD(0), loss, batch_size=4, seed=2)
        session.bind(model.session, x[:4], y[:4])
        model.session.prepare(2)
        return model

    odt.executor.use(executor)
    try:
        stepped = model()
        losses = []
        for at in range(0, 20, 4):
            d = stepped.predict(x[at : at + 4]).ravel() - y[at : at + 4].ravel()  # in the step's own ranges
            size = np.abs(d)
            huber = np.where(size < 1, d * d / 2, size - 0.5)
            losses.append({"mse": d * d, "mae": size, "huber": huber}[loss].mean())
            assert stepped.train_step(x[at : at + 4], y[at : at + 4]) == pytest.approx(losses[-1], rel=2e-3)
        assert np.frombuffer(stepped.session.scale, "f")[0] > 2 * np.frombuffer(model().session.scale, "f")[0]
        fitted = model().fit(x, y, shuffle=False, verbose=0).history["loss"][0]
        assert fitted == pytest.approx(np.mean(losses), rel=2e-3)
    finally:
        odt.executor.use(odt.backend)


def test_history_has_an_entry_an_epoch_and_knows_what_the_loss_offers():
    history = network().fit(X, Y, epochs=3, validation_data=HELD, verbose=0).history
    assert sorted(history) == ["accuracy", "loss", "val_accuracy", "val_loss"]
    assert {len(values) for values in history.values()} == {3}
    assert sorted(network().fit(X, Y, verbose=0).history) == ["accuracy", "loss"]
    targets = np.zeros((11, 3), "float32")
    assert sorted(network(loss="mse").fit(X, targets, verbose=0).history) == ["loss"]
    assert network(loss="mse").evaluate(X, targets)[1] is None


def test_an_epochs_loss_is_the_mean_over_samples_before_each_update():
    model = network("float32", odt.SGD(0.1))
    twin = Twin(model)
    optimizer = torch.optim.SGD(twin.flat_parameters(), 0.1)
    total = 0
    for at in range(0, 11, 4):
        optimizer.zero_grad()
        loss = twin.loss(X[at : at + 4], Y[at : at + 4])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(X[at : at + 4])
    assert model.fit(X, Y, shuffle=False, verbose=0).history["loss"][0] == pytest.approx(total / 11, rel=1e-5)


def test_validation_figures_are_those_of_evaluate():
    for dtype in DTYPES:
        model = network(dtype)
        history = model.fit(X, Y, epochs=2, validation_data=HELD, verbose=0).history
        assert (history["val_loss"][-1], history["val_accuracy"][-1]) == model.evaluate(*HELD)


def test_float_evaluate_and_predict_are_pytorchs():
    model = network()
    model.fit(X, Y, epochs=2, verbose=0)
    logits = Twin(model).forward(X).detach().numpy()
    loss, accuracy = model.evaluate(X, Y)
    assert loss == pytest.approx(Twin(model).loss(X, Y).item(), rel=1e-5)
    assert accuracy == (logits.argmax(1) == Y).mean()
    found = model.predict(array.array("f", X.tobytes()))
    assert isinstance(found, array.array) and found.typecode == "f" and len(found) == 33
    np.testing.assert_allclose(np.array(found).reshape(11, 3), logits, rtol=1e-4, atol=1e-5)


def test_int8_evaluate_is_the_loss_of_what_predict_says():
    model = network("int8")
    model.fit(X, Y, epochs=3, verbose=0)
    logits = torch.tensor(np.array(model.predict(X), "float64").reshape(11, 3))
    loss, accuracy = model.evaluate(X, Y)
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor(Y.astype("int64")))
    assert loss == pytest.approx(expected.item(), abs=1e-3)
    assert accuracy == (logits.numpy().argmax(1) == Y).mean()


# Order and independence


def decoded(total):
    """Which samples a sum of squares holds: sample i counts 4^i."""
    digits = [int(total) // 4**i % 4 for i in range(11)]
    return [i for i, digit in enumerate(digits) for _ in range(digit)]


@pytest.mark.parametrize("shuffle", (True, False))
def test_each_epoch_visits_each_sample_once(shuffle):
    """Outputs are 0 and stay so; sample i has the squared error 4^i, which float32 sums exactly."""
    model = network("float32", odt.SGD(0), "mse", classes=1)
    model.set_weights([np.zeros_like(value) for value in arrays(model)])
    batches = []

    def before(self, loaded, regions, start, stop):
        if begins_a_step(model, start, stop):
            batches.append(fixed.bits_to_float(regions[2][opcodes.LOSS] & 0xFFFFFFFF))

    Wrapped(model, before)
    history = model.fit(X, [[2.0**i] for i in range(11)], epochs=4, shuffle=shuffle, verbose=0)
    orders = set()
    for epoch in range(4):
        sums = batches[3 * epoch : 3 * epoch + 3] + [history.history["loss"][epoch] * 11]
        parts = [tuple(decoded(round(b - a))) for a, b in zip(sums, sums[1:])]
        assert [len(part) for part in parts] == [4, 4, 3]
        assert sorted(sum(parts, ())) == list(range(11))
        orders.add(tuple(parts))
    if shuffle:
        assert len(orders) == 4
    else:
        assert orders == {((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10))}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_validation_does_not_change_training(dtype):
    plain, watched = network(dtype), network(dtype)
    one = plain.fit(X, Y, epochs=3, verbose=0).history["loss"]
    other = watched.fit(X, Y, epochs=3, validation_data=HELD, verbose=0).history["loss"]
    assert one == other and plain.digest() == watched.digest()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_evaluate_and_predict_change_nothing_after_fit(dtype):
    plain, used = network(dtype), network(dtype)
    for model in (plain, used):
        model.fit(X, Y, verbose=0)
    before = used.digest()
    used.evaluate(*HELD)
    used.predict(HELD[0])
    assert used.digest() == before
    for model in (plain, used):
        model.fit(X, Y, verbose=0)
    assert plain.digest() == used.digest()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_fit_twice_is_fit_for_twice_the_epochs(dtype):
    once, twice = network(dtype), network(dtype)
    once.fit(X, Y, epochs=4, verbose=0)
    twice.fit(X, Y, epochs=2, verbose=0)
    twice.fit(X, Y, epochs=2, verbose=0)
    assert once.digest() == twice.digest()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", (1, 9))
def test_a_loaded_model_goes_on_as_if_nothing_had_been(dtype, seed, tmp_path):
    """Whatever the seed with which the model that loads was compiled."""
    path = str(tmp_path / "model")

    def optimizer():
        return odt.Adam(odt.CosineDecay(0.02, 14))

    whole = network(dtype, optimizer())
    whole.fit(X, Y, epochs=2, verbose=0)
    whole.save(path)
    saved = whole.digest()
    whole.fit(X, Y, epochs=2, verbose=0)
    other = network(dtype, optimizer(), seed=seed)
    other.load(path)
    assert other.digest() == saved
    other.fit(X, Y, epochs=2, verbose=0)
    assert other.digest() == whole.digest() != saved


def test_a_model_saved_before_its_first_step_still_finds_its_ranges(tmp_path):
    path = str(tmp_path / "model")
    fresh, other = network("int8"), network("int8", seed=2)
    fresh.save(path)
    other.fit(X, Y, verbose=0)
    other.load(path)
    for model in (fresh, other):
        model.fit(X, Y, epochs=2, verbose=0)
    assert fresh.digest() == other.digest()


# Ctrl-C


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("part", (0, 0.5, 1))
def test_a_model_works_on_after_ctrl_c_at_any_run(dtype, part):
    """Interrupted before, within and after a run: calibration's, training's, validation's."""
    counted = network(dtype)
    runs = []
    Wrapped(counted, lambda *arguments: runs.append(0))
    counted.fit(X, Y, epochs=2, validation_data=HELD, verbose=0)
    for at in range(0, len(runs), max(1, len(runs) // 8)):
        model = network(dtype)
        left = [at]

        def before(self, loaded, regions, start, stop, left=left, model=model):
            left[0] -= 1
            if left[0] == -1:
                bounds = [word for word, _, _, _ in model.program.walk(start, stop)] + [stop]
                self.engine.run(loaded, regions, start, bounds[int(part * (len(bounds) - 1))])
                raise KeyboardInterrupt

        Wrapped(model, before)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y, epochs=2, validation_data=HELD, verbose=0)
        assert left == [-1]
        assert math.isfinite(model.evaluate(*HELD)[0])
        losses = model.fit(X, Y, epochs=12, verbose=0).history["loss"]
        assert losses[-1] < losses[0]
        assert all(math.isfinite(value) for value in model.predict(X).ravel())


@pytest.mark.parametrize("dtype", DTYPES)
def test_ctrl_c_between_steps_keeps_the_steps_made(dtype):
    model, steps = network(dtype), network(dtype)
    left = [2]

    def before(self, loaded, regions, start, stop):
        if begins_a_step(model, start, stop):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt

    Wrapped(model, before)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, shuffle=False, verbose=0)
    steps.train_step(X[:4], Y[:4])
    steps.train_step(X[4:8], Y[4:8])
    assert model.digest() == steps.digest()


# Freezing and weights


@pytest.mark.parametrize("dtype", DTYPES)
def test_frozen_layers_keep_their_bits_and_cost_no_state_and_no_instruction(dtype):
    model, free = network(dtype, frozen=True), network(dtype)
    before = model.get_weights()
    model.fit(X, Y, epochs=3, verbose=0)
    after = model.get_weights()
    assert after[:2] == before[:2] and after[2] != before[2] and after[3] != before[3]
    kernel = model.session.plan.weights[0][1].kernel.offset
    bias = model.session.plan.weights[0][1].bias.offset
    names = []
    for _, code, addresses, _ in model.program.walk(*model.program.section("train")):
        names.append(code.name)
        for operand, address in zip(code.operands, addresses):
            if operand[1] != ":":
                assert address not in [(opcodes.STATE << opcodes.REGION_SHIFT) + at for at in (kernel, bias)]
    gradients = [name for name in names if "_dw_" in name or "_dx_" in name]
    assert len(gradients) == 2  # kernel and bias of the last layer, no error below it
    if dtype == "float32":
        assert model.session.plan.totals["optimizer state"] == 8 * (6 * 3 + 3)
    else:
        assert model.session.plan.weights[0][1].residual is None
    assert model.session.plan.totals["optimizer state"] < free.session.plan.totals["optimizer state"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_wholly_frozen_model_can_be_fitted_and_stays(dtype):
    model = odt.Sequential([odt.Input((5,)), odt.Dense(3, trainable=False)])
    model.compile(dtype=dtype, batch_size=4)
    before = model.get_weights()
    model.fit(X, Y, verbose=0)
    assert model.get_weights() == before


@pytest.mark.parametrize("frozen", (True, False))
@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_come_back_within_half_a_step(dtype, frozen):
    model = network(dtype, frozen=frozen)
    shapes = [(6, 5), (6,), (3, 6), (3,)]
    given = [RANDOM.normal(size=shape) * 3 for shape in shapes]
    given[2][1] = 0  # a row of zeros has no scale of its own
    model.set_weights(given)
    for number, (value, shape, back) in enumerate(zip(given, shapes, arrays(model))):
        back = back.reshape(shape)
        if dtype == "float32":
            assert (back == value.astype("float32")).all()
        elif len(shape) == 1:
            assert abs(back - value).max() <= 2**-21 + 2**-23 * abs(value).max()
        else:
            # 64 of int8's 127 steps, in 256 parts and one for all rows if trained
            rows = abs(value).max(1, keepdims=True)
            step = rows / 64 if frozen and number == 0 else abs(value).max() / 64 / 256
            assert (abs(back - value) <= step * 0.5001).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_taken_over_predict_alike(dtype):
    model, other = network(dtype, batch_size=4), network(dtype, seed=2, batch_size=4)
    model.fit(X, Y, epochs=3, verbose=0)
    other.predict(X)  # its ranges are of other weights
    other.set_weights(model.get_weights())
    expected = Twin(model).forward(X).detach().numpy().ravel()
    error = abs(other.predict(X).ravel() - np.ravel(expected)).max()
    assert error < (0.05 if dtype == "int8" else 1e-5) * abs(expected).max()


def test_an_untrained_int8_model_looks_at_all_data_for_its_ranges():
    model = odt.Sequential([odt.Input((1,)), odt.Dense(1)])
    model.compile("sgd", "mse", batch_size=2)
    model.set_weights([[1.0], [0.0]])
    x = np.array([0.1, 0.2, 3, 5, 40, 50], "float32")
    assert abs(model.predict(x).ravel() - x.ravel()).max() < 50 / 127


# Data


def samples():
    yield "list", X.tolist()
    yield "flat list", X.ravel().tolist()
    yield "tuple", tuple(tuple(row) for row in X.tolist())
    yield "array", array.array("f", X.ravel())
    yield "bytes", X.tobytes()
    yield "bytearray", bytearray(X.tobytes())
    yield "memoryview of bytes", memoryview(X.tobytes())
    yield "memoryview of floats", memoryview(array.array("f", X.ravel()))
    yield "memoryview of NumPy", memoryview(X)
    yield "NumPy flat", X.ravel()
    yield "NumPy with more axes", X.reshape(11, 5, 1)
    yield "NumPy float64", X.astype("float64")
    yield "array of doubles", array.array("d", X.ravel())


def labels():
    yield "list", Y.tolist()
    yield "columns", [[label] for label in Y.tolist()]
    yield "bytes", Y.tobytes()
    yield "memoryview", memoryview(Y.tobytes())
    yield "NumPy column", Y.reshape(11, 1)
    for code in "bBhilq":
        yield "array " + code, array.array(code, Y.tolist())
    for dtype in ("uint8", "int8", "int16", "int32", "int64"):
        yield "NumPy " + dtype, Y.astype(dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_kind_of_data_trains_to_one_digest(dtype):
    expected = network(dtype)
    expected.fit(X, Y, verbose=0)
    for name, x in samples():
        before = bytes(memoryview(x).cast("B")) if hasattr(x, "itemsize") and name != "memoryview of NumPy" else None
        model = network(dtype)
        model.fit(x, Y, verbose=0)
        assert model.digest() == expected.digest(), name
        assert before is None or bytes(memoryview(x).cast("B")) == before, name
    for name, y in labels():
        model = network(dtype)
        model.fit(X, y, verbose=0)
        assert model.digest() == expected.digest(), name


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_integer_samples_mean_what_the_input_says(dtype):
    raw = RANDOM.integers(0, 200, (9, 5))
    real = ((raw - 100) * 0.03125).astype("float32")
    as_float = network(dtype)
    weights = as_float.get_weights()
    expected = np.array(as_float.predict(real))
    for kind in ("uint8", "int16", "int32"):
        model = odt.Sequential([odt.Input((5,), kind, 1 / 32, 100), odt.Dense(6, "relu"), odt.Dense(3)])
        model.compile(dtype=dtype, batch_size=4)
        model.set_weights(weights)
        found = np.array(model.predict(raw.astype(kind)))
        assert abs(found - expected).max() <= (0.03 if dtype == "int8" else 1e-6) * abs(expected).max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_autoencoder_of_bytes_learns_and_knows_its_error(dtype):
    """Targets in the Input's format mean what they mean as an input."""
    basis = RANDOM.integers(0, 120, (2, 6))
    pixels = (RANDOM.integers(0, 2, (24, 2)) @ basis).astype("uint8")
    model = odt.Sequential([odt.Input((6,), "uint8", 1 / 255), odt.Dense(8, "relu"), odt.Dense(6)])
    model.compile(odt.Adam(0.01), "mse", dtype, batch_size=8, seed=3)
    losses = model.fit(pixels, pixels, epochs=25, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 5
    found = np.array(model.predict(pixels), "float64").reshape(24, 6)
    expected = ((found - pixels / 255) ** 2).mean()
    assert model.evaluate(pixels, pixels)[0] == pytest.approx(expected, rel=0.02)
    assert model.evaluate(pixels.tobytes(), pixels.tobytes())[0] == model.evaluate(pixels, pixels)[0]
    assert model.evaluate(pixels, pixels / 255)[0] == pytest.approx(expected, rel=0.02)


# Schedules and hyperparameters


class Small(int):
    """An int that no operation takes beyond a small int of MicroPython on 32 bits."""


def _checked(name):
    def operation(self, other):
        result = getattr(int, name)(self, other)
        assert result is NotImplemented or -(2**30) <= result < 2**30, (name, self, other)
        return result if isinstance(result, (bool, type(NotImplemented))) else Small(result)

    return operation


_OPERATIONS = ("add", "sub", "mul", "floordiv", "lshift", "rshift", "and", "or")
for _name in _OPERATIONS + tuple("r" + name for name in _OPERATIONS):
    setattr(Small, "__%s__" % _name, _checked("__%s__" % _name))


@pytest.mark.parametrize("steps", (1, 2, 7, 100, 1000, 65535))
@pytest.mark.parametrize("rate", (0.001, 0.02, 0.5, 1.5))
def test_cosine_decay_is_the_cosine_in_small_integers(rate, steps):
    schedule = odt.CosineDecay(rate, steps)
    schedule.base = Small(schedule.base)
    schedule.decay_steps = Small(steps)
    points = sorted({*range(min(steps, 300)), steps // 2, steps // 3, steps - 1})
    for step in points:
        expected = rate * (1 + math.cos(math.pi * step / steps)) / 2
        found = fixed.bits_to_float(schedule.bits(Small(step)))
        # Four truncations of 2^-14 in the half angle's cosine, doubled by its square.
        assert found == pytest.approx(expected, rel=1e-3, abs=5e-4 * rate), step
    assert schedule.bits(steps) == schedule.bits(10 * steps) == 0


def test_cosine_decay_never_rises():
    schedule = odt.CosineDecay(0.01, 2000)
    rates = [fixed.bits_to_float(schedule.bits(step)) for step in range(2001)]
    assert all(a >= b for a, b in zip(rates, rates[1:]))
    assert rates[0] == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("gamma", (0.1, 0.5, 0.9))
def test_step_decay_is_a_power(gamma):
    schedule = odt.StepDecay(0.3, 7, gamma)
    for step in (0, 6, 7, 13, 14, 70, 3, 139):  # also back: a loaded model may be younger
        expected = 0.3 * gamma ** (step // 7)
        assert fixed.bits_to_float(schedule.bits(step)) == pytest.approx(expected, rel=1e-5)


def test_a_rate_of_zero_stays_zero():
    for schedule in (odt.StepDecay(0, 2), odt.CosineDecay(0, 9)):
        assert [schedule.bits(step) for step in range(10)] == [0] * 10
    model = network("int8", odt.SGD(0))
    before = model.get_weights()
    model.fit(X, Y, verbose=0)
    assert model.get_weights() == before


def test_the_schedule_sets_the_rate_of_each_step():
    schedule = odt.StepDecay(0.25, 2, 0.5)
    model = network("float32", odt.SGD(schedule))
    for rate in (0.25, 0.25, 0.125, 0.125, 0.0625):
        before = arrays(model)
        gradients = Twin(model).gradients(X[:4], Y[:4])
        model.train_step(X[:4], Y[:4])
        for old, new, gradient in zip(before, arrays(model), gradients):
            assert far(old - new, rate * gradient) < 1e-4


class Short(float):
    """A float of 22 bits, as in CircuitPython: every result loses its last bits."""

    def __new__(cls, value):
        mantissa, exponent = math.frexp(value)
        return float.__new__(cls, math.ldexp(int(mantissa * 2**22), exponent - 22))


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):

    def _short(self, other, name="__%s__" % _name):
        return Short(getattr(float, name)(float(self), float(other)))

    setattr(Short, "__%s__" % _name, _short)


@pytest.mark.slow
@pytest.mark.parametrize("rate", (0.001, 0.0003, 0.05, 2.5))
def test_hyperparameters_are_the_same_from_short_floats(rate):
    for dtype in DTYPES:
        programs = []
        for kind in (float, Short):
            model = odt.Sequential([odt.Input((2,)), odt.Dense(2)])
            for optimizer in (
                odt.Adam(kind(rate), kind(0.9), kind(0.999), kind(1e-7)),
                odt.SGD(odt.CosineDecay(kind(rate), 100), kind(0.95)),
                odt.SGD(odt.StepDecay(kind(rate), 10, kind(0.3))),
            ):
                model.compile(optimizer, dtype=dtype)
                programs.append((model.session.plan.code, [optimizer.learning_rate.bits(n) for n in range(100)]))
        assert programs[:3] == programs[3:]


# Text


def test_a_pipe_gets_one_whole_line_an_epoch(capsys):
    network().fit(X, Y, epochs=3)
    first, _, third = capsys.readouterr().out.splitlines()
    assert first.startswith("epoch 1/3  loss ") and third.startswith("epoch 3/3  loss ")
    assert "  acc 0." in first and "ms/step" in first and third.rstrip().endswith("0:00 left")
    network(loss="mse").fit(X, np.zeros((11, 3), "float32"), validation_data=(X, np.zeros((11, 3), "float32")))
    text = capsys.readouterr().out
    assert "acc" not in text and "val_loss" in text and "\r" not in text
    network().fit(X, Y, verbose=0)
    assert capsys.readouterr().out == ""


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def screen(self):
        """What a person sees: a carriage return goes back, what follows writes over."""
        lines = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for part in line.split("\r"):
                shown = part + shown[len(part) :]
            lines.append(shown.rstrip())
        return lines


def test_a_terminal_gets_a_line_that_is_written_over(monkeypatch):
    clock = [0]

    def now():
        clock[0] += 130
        return clock[0]

    terminal = Terminal()
    monkeypatch.setattr(progress, "now", now)
    monkeypatch.setattr(sys, "stdout", terminal)
    network(batch_size=1).fit(X, Y, epochs=2)
    lines = terminal.screen()
    assert len(lines) == 3 and lines[2] == ""
    for number, line in enumerate(lines[:2]):
        assert line.startswith("epoch %d/2  loss " % (number + 1)) and line.endswith(" left")
        assert "/11" not in line  # nothing of the steps' longer lines is left
    steps = [part for part in terminal.getvalue().split("\r") if "/11" in part]
    assert len(steps) > 6 and any(part.startswith("epoch 2/2  ") for part in steps)
    assert lines[1].endswith("0:00 left")


@pytest.mark.parametrize("rewrite", (True, False))
def test_time_a_step_and_time_left_are_the_clocks(monkeypatch, rewrite):
    """Steps of 400 ms and one of 1,600 ms, epochs of 50 steps; the figures by hand."""
    clock = [123456]
    screen = Terminal() if rewrite else io.StringIO()
    monkeypatch.setattr(progress, "now", lambda: clock[0])
    monkeypatch.setattr(sys, "stdout", screen)
    line = progress.Progress(4)
    for step in range(1, 51):
        clock[0] += 1600 if step == 10 else 400
        assert line.due() == rewrite
        if rewrite and step in (9, 10):
            line.step(0, step, 50, (0.5, None))
    line.epoch(0, 50, (0.25, 0.75))
    last = "epoch 1/4  loss 0.2500  acc 0.7500  424 ms/step  1:03 left"  # 21.2 s, 150 steps are left: 63.6 s
    assert (screen.screen() if rewrite else screen.getvalue().split("\n")) == [last, ""]
    if rewrite:
        parts = [part.rstrip() for part in screen.getvalue().split("\r")]
        assert parts[1] == "epoch 1/4  9/50  loss 0.5000  400 ms/step  1:16 left"  # 191 steps
        assert parts[2] == "epoch 1/4  10/50  loss 0.5000  520 ms/step  1:38 left"  # 190 steps of 0.52 s


def test_short_steps_are_rewritten_four_times_a_second_and_told_in_tenths(monkeypatch):
    clock = [0]
    monkeypatch.setattr(progress, "now", lambda: clock[0])
    monkeypatch.setattr(sys, "stdout", Terminal())
    line = progress.Progress(1)
    due = []
    for step in range(1, 101):
        clock[0] += 10
        if line.due():
            due.append(step)
    assert due == [25, 50, 75, 100]
    line.step(0, 100, None, (None,))
    assert sys.stdout.screen()[-1].endswith("100    10.0 ms/step")


def test_reading_the_clock_is_all_that_progress_does_to_training(capsys):
    silent, loud = network("int8"), network("int8")
    silent.fit(X, Y, epochs=2, verbose=0)
    loud.fit(X, Y, epochs=2, verbose=1)
    assert silent.digest() == loud.digest()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_totals_of_summary_are_the_bytes_reserved(dtype, capsys):
    model = network(dtype)
    model.summary()
    lines = capsys.readouterr().out.splitlines()
    figures = {
        line[:18].strip(): int(line[18:].split()[0])
        for line in lines
        if " bytes" in line[18:] and line[18:27].strip().isdigit()
    }
    assert figures["total RAM"] == len(model.session.arena) + len(model.session.state)
    assert figures["arena"] == len(model.session.arena)
    # Besides weights and optimizer state: 16 bytes of step, seed and powers of the betas.
    assert figures["weights"] + figures["optimizer state"] + 16 == len(model.session.state)
    total = next(line for line in lines if line.startswith("total")).split()
    assert total[1] == str(6 * 5 + 6 + 3 * 6 + 3)
    assert total[2] == str(6 * 5 + 3 * 6)
    assert total[3] == str(6 * 5 + 2 * 3 * 6)


def test_weights_are_taken_over_to_the_same_bits_from_array_list_and_numpy():
    """An array('f') is read as bytes, for the sake of machines with shorter floats."""
    digests = set()
    for kind in (list, lambda value: value, lambda value: np.array(value, "float32")):
        model = network()
        model.set_weights([kind(array.array("f", np.sin(np.arange(n) + 1))) for n in (30, 6, 18, 3)])
        digests.add(model.digest())
    assert len(digests) == 1
