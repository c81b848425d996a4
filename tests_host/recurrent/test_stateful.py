"""Stateful layers: truncated backpropagation through time, against PyTorch with a state that is carried, detached."""

import numpy as np
import pytest
import torch
from gradient_cases import dequantized, int8_gradients
from twin import Twin

import odt
from odt import executor
from odt.adapt.zeroth import ZerothOrder
from odt.host.convert.export import save_onnx
from odt.recurrent import Steps, reset_states

CELLS = {"gru": odt.GRU, "lstm": odt.LSTM, "simple_rnn": odt.SimpleRNN}
ROWS, STEPS, WINDOWS = 4, 5, 3
X = np.random.default_rng(5).normal(size=(WINDOWS * ROWS, STEPS, 3)).astype("float32")
Y = np.random.default_rng(6).integers(0, 3, WINDOWS * ROWS).astype("uint8")
PARTS = [slice(at, at + ROWS) for at in range(0, len(X), ROWS)]
WHOLE = np.stack([np.concatenate(X[row::ROWS]) for row in range(ROWS)])
KINDS = sorted(CELLS) + ["two"]
DTYPES = ("int8", "float32")


def layers(kind, stateful=True):
    if kind == "two":
        return [odt.GRU(5, return_sequences=True, stateful=stateful), odt.LSTM(4, stateful=stateful)]
    return [CELLS[kind](4, stateful=stateful)]


def network(kind, dtype="int8", **options):
    model = odt.Sequential([odt.Input((STEPS, 3))] + layers(kind) + [odt.Dense(3)])
    model.compile(**{"optimizer": odt.Adam(0.02), "dtype": dtype, "batch_size": ROWS, "seed": 3, **options})
    return model


def trained(kind, dtype="int8", **options):
    model = network(kind, dtype, **options)
    model.fit(X, Y, epochs=4, verbose=0)
    model.reset_states()
    model.calibrate(X, Y)
    return model


def twin_of(model):
    return Twin(model, weights=dequantized(model) if model.dtype == "int8" else None)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_batches_one_after_the_other_give_the_bits_of_the_whole_sequence(kind, dtype):
    model = trained(kind, dtype)
    whole = odt.Sequential([odt.Input((WINDOWS * STEPS, 3))] + layers(kind, False) + [odt.Dense(3)])
    whole.compile(odt.Adam(0.02), dtype=dtype, batch_size=ROWS)
    if dtype == "int8":
        whole.calibrate(WHOLE, Y[:ROWS])
    whole.load_weights(model)
    found = model.predict(X)
    assert np.array_equal(found[-ROWS:], whole.predict(WHOLE))
    assert not np.array_equal(found[-ROWS:], model.predict(X)[-ROWS:])  # which goes on from there
    model.reset_states()
    assert np.array_equal(np.concatenate([model.predict(X[part]) for part in PARTS]), found)


@pytest.mark.parametrize("dtype, within", (("float32", 1e-5), ("int8", 0.1)))
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_and_the_state_are_pytorchs(kind, dtype, within):
    model = trained(kind, dtype)
    twin = twin_of(model)
    with torch.no_grad():
        expected = np.concatenate([twin.forward(X[part]).numpy() for part in PARTS])
    assert np.abs(model.predict(X) - expected).max() < within * max(1, np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_in_float32_are_those_of_a_detached_state(kind):
    model = network(kind, "float32", optimizer=odt.SGD(1.0))
    twin = twin_of(model)
    plain = twin_of(model).gradients(X[PARTS[2]], Y[PARTS[2]], "sparse_categorical_crossentropy")
    for part in PARTS[:2]:
        model.predict(X[part])
        twin.forward(X[part])
    expected = twin.gradients(X[PARTS[2]], Y[PARTS[2]], "sparse_categorical_crossentropy")
    before = model.get_weights()
    model.train_step(X[PARTS[2]], Y[PARTS[2]])
    for old, new, gradient in zip(before, model.get_weights(), expected):
        moved = np.array(old, "float64") - np.array(new, "float64")
        assert np.linalg.norm(moved - gradient.ravel()) < 2e-4 * np.linalg.norm(gradient)
    apart = [np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in zip(plain, expected)]
    assert max(apart[:3]) > 0.05  # those of a sequence that begins with 0 are others


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_in_int8_follow_those_of_a_detached_state(kind, monkeypatch):
    random = np.random.default_rng(8)
    x, y = random.normal(size=(96, STEPS, 3)).astype("float32"), random.integers(0, 3, 96).astype("uint8")
    model = network(kind, batch_size=32, optimizer=odt.SGD(0.1))
    model.calibrate(x, y)
    carried, follow, begin = dict(twin_of(model).carried), twin_of(model), Twin.gradients
    for part in (slice(32), slice(32, 64)):
        model.predict(x[part])
        follow.forward(x[part])
    carried.update(follow.carried)
    monkeypatch.setattr(Twin, "gradients", lambda twin, *args: twin.carried.update(carried) or begin(twin, *args))
    pairs = int8_gradients(model, x[64:], y[64:])
    monkeypatch.undo()
    plain = [each for each in twin_of(model).gradients(x[64:], y[64:]) if each is not None]
    apart = []
    for number, ((ours, expected), other) in enumerate(zip(pairs, plain)):
        ours, expected = ours.ravel(), expected.ravel()
        near, far = [ours @ each / np.linalg.norm(ours) / np.linalg.norm(each) for each in (expected, other)]
        assert near > 0.95 and near >= far - 1e-3, (number, near, far)
        apart.append(near - far)
    assert max(apart) > 0.02, apart  # the gradient of a sequence that begins with 0 is another


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_both_executors_train_to_the_same_bits(kind, dtype):
    found = []
    before = executor.backend
    try:
        for backend in ("native", "reference"):
            executor.use(backend)
            model = network(kind, dtype)
            model.fit(X, Y, epochs=2, validation_data=(X, Y), verbose=0)
            found.append((model.digest(), bytes(model.predict(X)), model.history.history["val_loss"]))
    finally:
        executor.use(before)
    assert found[0] == found[1]


def test_fit_is_a_step_on_each_batch_in_its_order():
    one, other = network("two", "float32"), network("two", "float32")
    one.fit(X, Y, epochs=2, verbose=0)
    for part in PARTS + PARTS:
        other.train_step(X[part], Y[part])
    assert one.digest() == other.digest()


@pytest.mark.parametrize("dtype", DTYPES)
def test_fit_shuffles_nothing(dtype):
    one, other = network("two", dtype), network("two", dtype)
    one.fit(X, Y, epochs=2, shuffle=True, verbose=0)
    other.fit(X, Y, epochs=2, shuffle=False, verbose=0)
    assert one.digest() == other.digest()


def test_ranges_that_are_found_leave_the_state():
    model = network("two")
    before = model.digest()
    model.predict(X)  # finds those of the forward pass, and holds them
    again = network("two")
    again.calibrate(X[:ROWS])
    assert again.digest() != before  # scales
    again.reset_states()
    first = again.predict(X[:ROWS])
    assert np.array_equal(first, model.predict(X[:ROWS])) is False  # model is three batches further
    model.reset_states()
    assert np.allclose(model.predict(X[:ROWS]), first, atol=0.1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_interrupted_call_leaves_the_state_before_the_batch(dtype, monkeypatch):
    model = trained("two", dtype)
    model.predict(X[:ROWS])
    state = bytes(model.session.state)
    engine = model.session.engine.engine

    class Cut:
        """Ends each run half way."""

        def __getattr__(self, name):
            return getattr(engine, name)

        def run(self, loaded, regions, start, stop, rows=0):
            starts = [at for at, _, _, _ in model.session.program.walk(start, stop)]
            engine.run(loaded, regions, start, starts[self.number], rows)
            raise KeyboardInterrupt

    outputs = bytes(model.predict(X[ROWS : 2 * ROWS]))
    model.session.state[:] = state
    count = len(list(model.session.program.walk(*model.session.sections["predict"])))
    for number in range(0, count, 3):
        cut = Cut()
        cut.number = number
        monkeypatch.setattr(model.session.engine, "engine", cut)
        with pytest.raises(KeyboardInterrupt):
            model.predict(X[ROWS : 2 * ROWS])
        monkeypatch.undo()
        assert bytes(model.predict(X[ROWS : 2 * ROWS])) == outputs, number
        model.session.state[:] = state


def test_a_loss_that_is_not_finite_leaves_the_state():
    model = network("gru", "float32", loss="mse")
    targets = np.zeros((len(X), 3), "float32")
    model.fit(X, targets, verbose=0)
    before = bytes(model.session.state)
    with pytest.raises(ArithmeticError, match="not finite"):
        model.train_step(X[:ROWS], targets[:ROWS] + np.float32(3e38))
    blocks = model.session.engine.blocks
    assert blocks
    for _, _, size, _, after in blocks:
        assert bytes(model.session.state[after : after + size]) == before[after : after + size]


@pytest.mark.parametrize("dtype", DTYPES)
def test_checkpoints_and_files_hold_the_state(dtype, tmp_path):
    model = trained("two", dtype)
    model.fit(X, Y, epochs=1, verbose=0)
    model.save(str(tmp_path / "two.ckpt"))
    model.export(str(tmp_path / "two.odt"))
    expected = bytes(model.predict(X))
    again = network("two", dtype)
    again.load(str(tmp_path / "two.ckpt"))
    assert bytes(again.predict(X)) == expected
    opened = odt.load_model(str(tmp_path / "two.odt"))
    assert bytes(opened.predict(X)) == expected
    reset_states(opened)
    model.reset_states()
    assert bytes(opened.predict(X)) == bytes(model.predict(X))
    with pytest.raises(ValueError, match="x: 3 samples; of a stateful layer"):
        opened.predict(X[:3])
    model.export(str(tmp_path / "less.odt"), purpose="inference")
    less = odt.load_model(str(tmp_path / "less.odt"))
    model.reset_states()
    assert bytes(less.predict(X)) == bytes(model.predict(X))


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_run_a_stateful_model_step_by_step(dtype):
    model = trained("two", dtype)
    steps = Steps(model)
    found = [steps.predict(row) for row in WHOLE[0]]
    expected = model.predict(X)
    assert np.array_equal(found[-1].ravel(), expected[-ROWS])


def test_a_layer_that_is_not_stateful_takes_no_memory_for_it():
    plain, less = network("two"), odt.Sequential([odt.Input((STEPS, 3))] + layers("two", False) + [odt.Dense(3)])
    less.compile(odt.Adam(0.02), dtype="int8", batch_size=ROWS, seed=3)
    assert not hasattr(less.session.engine, "blocks")
    taken = plain.session.plan.state - less.session.plan.state
    assert taken == (4 + 10 * 5 * ROWS) + (4 + 12 * 4 * ROWS + 8)  # a GRU's 10 bytes of a row and unit, an LSTM's 12
    assert len(plain.session.program.words) > len(less.session.program.words)


def test_bad_input_is_named_and_changes_nothing():
    model = trained("gru")
    model.predict(X)
    state = bytes(model.session.state)
    words = "x: 5 samples; of a stateful layer each row goes on from batch to batch: a multiple of batch_size 4"
    for call in (
        lambda: model.fit(X[:5], Y[:5], verbose=0),
        lambda: model.evaluate(X[:5], Y[:5]),
        lambda: model.predict(X[:5]),
        lambda: model.calibrate(X[:5]),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(ValueError, match="x: 3 samples; of a stateful layer"):
        model.train_step(X[:3], Y[:3])
    assert bytes(model.session.state) == state
    fresh = network("gru")
    before = fresh.digest()
    with pytest.raises(ValueError, match=words):
        fresh.fit(X[:5], Y[:5], verbose=0)
    assert fresh.digest() == before
    for options, words in (
        ({"micro_batch": 2}, "gru: a stateful layer does not go with micro_batch"),
        (
            {"optimizer": ZerothOrder(0.1)},
            "gru: a stateful layer does not go with checkpoint, memory_budget or ZerothOrder",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            network(**{"kind": "gru", **options})
    deep = [odt.GRU(5, return_sequences=True, stateful=True), odt.Dense(8), odt.ReLU(), odt.Dense(8), odt.LSTM(4)]
    deep = odt.Sequential([odt.Input((STEPS, 3))] + deep + [odt.Dense(3)])
    with pytest.raises(ValueError, match="gru: a stateful layer does not go with checkpoint, memory_budget"):
        deep.compile("adam", batch_size=ROWS, memory_budget=3000)
    with pytest.raises(ValueError, match="layer gru: is stateful; ONNX's operators begin with 0"):
        save_onnx(model, "gru.onnx")
    plain = odt.Sequential([odt.Input((STEPS, 3)), odt.GRU(4), odt.Dense(3)])
    plain.compile("adam", batch_size=4)
    with pytest.raises(ValueError, match="reset_states: no layer of the model is stateful"):
        plain.reset_states()
