"""odt.recurrent: the cells against PyTorch's modules with weights of their own layout, bad input, files, memory."""

import numpy as np
import pytest
import torch

import odt
from odt import executor

X = np.random.default_rng(1).normal(size=(24, 5, 3)).astype("float32")
Y = [i % 3 for i in range(24)]
CELLS = {"gru": odt.GRU, "lstm": odt.LSTM, "simple_rnn": odt.SimpleRNN}


def network(kind, units=4, sequences=False, dtype="int8", **options):
    layers = [odt.Input((5, 3)), CELLS[kind](units, return_sequences=sequences)]
    model = odt.Sequential(layers + [odt.Flatten()] * sequences + [odt.Dense(3)])
    model.compile(**dict({"optimizer": odt.Adam(0.01), "dtype": dtype, "batch_size": 8, "seed": 3}, **options))
    return model


def modules(model, kind, units):
    """PyTorch's module and output layer with the model's weights, in PyTorch's places."""
    kernel, bias, recurrent, *rest = [np.array(each, "float64") for each in model.get_weights()]
    made = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM, "simple_rnn": torch.nn.RNN}[kind]
    module = made(3, units, batch_first=True, dtype=torch.float64)
    rows = np.arange(len(bias))
    if kind == "gru":
        rows = np.concatenate([rows[units : 2 * units], rows[:units], rows[2 * units :]])  # r, z, n
    second = rest.pop(0)[rows] if kind == "gru" else np.zeros(len(bias))
    values = kernel.reshape(len(bias), 3)[rows], recurrent.reshape(len(bias), units)[rows], bias[rows], second
    with torch.no_grad():
        for parameter, value in zip(module.parameters(), values):
            parameter.copy_(torch.tensor(value))
    last = torch.nn.Linear(rest[0].size // 3, 3, dtype=torch.float64)
    with torch.no_grad():
        last.weight.copy_(torch.tensor(rest[0]).reshape(3, -1))
        last.bias.copy_(torch.tensor(rest[1]))
    return module, last


@pytest.mark.parametrize("dtype, within", (("float32", 2e-6), ("int8", 0.1)))
@pytest.mark.parametrize("sequences", (False, True))
@pytest.mark.parametrize("kind", sorted(CELLS))
def test_outputs_are_those_of_pytorchs_module(kind, sequences, dtype, within):
    model = network(kind, sequences=sequences, dtype=dtype)
    model.fit(X, Y, epochs=20, verbose=0)  # biases other than 0
    module, last = modules(model, kind, 4)
    with torch.no_grad():
        hidden = module(torch.tensor(X, dtype=torch.float64))[0]
        expected = last(hidden.reshape(len(X), -1) if sequences else hidden[:, -1]).numpy()
    found = np.array(model.predict(X)).reshape(expected.shape)
    assert np.abs(found - expected).max() < within * max(1, np.abs(expected).max())


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("kind", sorted(CELLS))
def test_both_executors_train_to_the_same_bits(kind, dtype):
    found = []
    before = executor.backend
    try:
        for backend in ("native", "reference"):
            executor.use(backend)
            model = network(kind, dtype=dtype)
            model.fit(X, Y, epochs=2, verbose=0)
            found.append((model.digest(), bytes(model.predict(X))))
    finally:
        executor.use(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", sorted(CELLS))
def test_micro_batches_and_recomputation_change_no_bit_in_int8(kind):
    plain = network(kind)
    plain.fit(X, Y, epochs=3, verbose=0)
    for options in ({"micro_batch": 2}, {"checkpoint": "sqrt"}):
        model = network(kind, **options)
        model.fit(X, Y, epochs=3, verbose=0)
        assert model.digest() == plain.digest()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("kind", sorted(CELLS))
def test_a_model_that_does_not_train_predicts_the_same_in_less_memory(kind, dtype):
    """It keeps one step's gates instead of all."""
    model = network(kind, dtype=dtype)
    model.fit(X, Y, epochs=3, verbose=0)
    arena, expected = len(model.session.arena), bytes(model.predict(X))
    layers = [odt.Input((5, 3)), CELLS[kind](4), odt.Dense(3)]
    other = odt.Sequential(layers)
    other.compile(None, dtype=dtype, batch_size=8)
    other.set_weights(model.get_weights())
    if dtype == "int8":
        other.calibrate(X)
        distance = np.abs(np.array(other.predict(X)) - np.array(model.predict(X))).max()
        assert distance < 0.1 * np.abs(np.array(model.predict(X))).max()
    else:
        assert bytes(other.predict(X)) == expected
    assert len(other.session.arena) < 0.6 * arena


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_file_of_a_model_goes_on_as_the_model_does(dtype, tmp_path):
    model = network("gru", dtype=dtype)
    model.fit(X, Y, epochs=2, verbose=0)
    model.export(str(tmp_path / "gru.odt"))
    opened = odt.load_model(str(tmp_path / "gru.odt"))
    assert bytes(opened.predict(X)) == bytes(model.predict(X))
    model.save(str(tmp_path / "gru.ckpt"))
    again = network("gru", dtype=dtype)
    again.load(str(tmp_path / "gru.ckpt"))
    assert again.digest() == model.digest()


def test_a_gru_learns_what_only_the_order_tells():
    """The sign of the first step that is not 0, which the last step does not have."""
    rng = np.random.default_rng(4)
    x = np.zeros((240, 9, 1), "float32")
    y = rng.integers(0, 2, 240).astype("uint8")
    for row, label in enumerate(y):
        first, second = sorted(rng.choice(7, 2, replace=False))
        x[row, first], x[row, second] = 2 * int(label) - 1, 1 - 2 * int(label)
    assert not x.sum(1).any()  # what the steps sum up to says nothing
    for kind in CELLS:
        model = odt.Sequential([odt.Input((9, 1)), CELLS[kind](8), odt.Dense(2)])
        model.compile(odt.Adam(0.02, state="float32"), dtype="int8", batch_size=16, seed=1)
        model.fit(x[:160], y[:160], epochs=40, verbose=0)
        assert model.evaluate(x[160:], y[160:])[1] > 0.9, kind


def test_wrong_arguments_are_named():
    for call, words in (
        (lambda: odt.GRU(0), "GRU: units is in 1..67108863, got 0"),
        (lambda: odt.LSTM(4, activation="relu"), "LSTM: activation is 'tanh', got 'relu'"),
        (lambda: odt.GRU(4, recurrent_activation="tanh"), "GRU: recurrent_activation is 'sigmoid', got 'tanh'"),
        (lambda: odt.GRU(4, reset_after=False), "GRU: reset_after is True, got False"),
        (lambda: odt.GRU(4)(odt.Input((5,))), "takes input of shape .steps, features., got .5,."),
        (lambda: odt.GRU(4)(odt.Input((5, 3, 2))), "takes input of shape .steps, features., got .5, 3, 2."),
        (lambda: odt.Input((0, 3)), "shape"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()


def test_sums_that_an_int32_does_not_hold_are_named():
    model = odt.Sequential([odt.Input((2000, 1)), odt.GRU(1), odt.Dense(2)])
    with pytest.raises(ValueError, match="overflow an int32"):
        model.compile("adam", dtype="int8", batch_size=100)
    model = odt.Sequential([odt.Input((2, 1)), odt.GRU(700), odt.Dense(2)])
    with pytest.raises(ValueError, match="gru: an error from 2100 gates may overflow an int32, at most 2064 do not"):
        model.compile("adam", dtype="int8", batch_size=1)


def test_a_frozen_layer_stands_before_all_that_trains_in_int8():
    layers = [odt.Input((5, 3)), odt.GRU(4, return_sequences=True, trainable=False), odt.LSTM(4), odt.Dense(3)]
    model = odt.Sequential(layers)
    model.compile("adam", dtype="int8", batch_size=8)
    before = [np.array(each) for each in model.get_weights()]
    model.fit(X, Y, epochs=2, verbose=0)
    after = [np.array(each) for each in model.get_weights()]
    assert [np.array_equal(a, b) for a, b in zip(before, after)] == [True] * 4 + [False] * 5
    late = odt.Sequential([odt.Input((5, 3)), odt.Dense(3), odt.GRU(4, trainable=False), odt.Dense(3)])
    with pytest.raises(ValueError, match="in int8 it trains as a whole"):
        late.compile("adam", dtype="int8", batch_size=8)
    late.compile("adam", dtype="float32", batch_size=8)
    late.fit(X, Y, epochs=1, verbose=0)
