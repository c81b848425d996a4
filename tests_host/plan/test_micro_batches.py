"""A batch in micro-batches is the batch: exactly in int8, up to the order of summation in float32."""

import asyncio

import numpy as np
import pytest

import odt
from odt import metrics
from odt.run import session

DTYPES = ("int8", "float32")
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(29, 6, 6, 1)).astype("float32")
Y = RANDOM.integers(0, 3, 29).astype("uint8")
OPTIMIZERS = {
    "adam": lambda: odt.Adam(0.01),
    "adamw": lambda: odt.AdamW(0.01),
    "sgd": lambda: odt.SGD(0.05),
    "nesterov": lambda: odt.SGD(0.05, 0.9, nesterov=True),
}


def network(dtype="int8", micro=None, optimizer="adam", batch_size=12, loss="sparse_categorical_crossentropy"):
    model = odt.Sequential([
        odt.Input((6, 6, 1)), odt.Conv2D(3, 3, padding="same", activation="relu"), odt.MaxPool2D(),
        odt.DepthwiseConv2D(3), odt.ReLU(), odt.Flatten(), odt.Dense(7, "relu"), odt.Dense(3),
    ])  # fmt: skip
    model.compile(OPTIMIZERS[optimizer](), loss, dtype, batch_size, 1, micro)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("loss", ("sparse_categorical_crossentropy", "mse"))
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
@pytest.mark.parametrize("micro", (1, 4, 5, 12))
def test_int8_steps_in_micro_batches_end_with_the_digest_of_whole_batches(micro, optimizer, loss):
    targets = RANDOM.normal(size=(29, 3)).astype("float32") if loss == "mse" else Y
    whole, parts = network(optimizer=optimizer, loss=loss), network("int8", micro, optimizer, loss=loss)
    for model in (whole, parts):
        model.history = model.fit(X, targets, epochs=3, verbose=0).history  # the last batch is of 5
    assert parts.digest() == whole.digest()
    for name, values in whole.history.items():  # but for the rounding of what is added to the loss
        assert parts.history[name] == pytest.approx(values, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("micro", (1, 5))
def test_first_ranges_are_those_of_the_whole_batch_or_of_all_data_where_nothing_trains(micro):
    large = X * np.linspace(1, 30, len(X), dtype="float32")[:, None, None, None]  # the first sample says little
    whole, parts = network(), network(micro=micro)
    for model in (whole, parts):
        session.bind(model.session, large, Y)
        model.session.prepare(2)
    assert parts.digest() == whole.digest()
    whole, parts = network(), network(micro=micro)
    assert bytes(parts.predict(large)) == bytes(whole.predict(large)) and parts.digest() == whole.digest()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("micro", (1, 5))
def test_dropout_drops_the_same_in_micro_batches(dtype, micro):
    models = []
    for rows in (None, micro):
        model = odt.Sequential([
            odt.Input((6, 6, 1)), odt.Flatten(), odt.Dropout(0.3), odt.Dense(9, "relu"), odt.Dropout(0.5), odt.Dense(3),
        ])  # fmt: skip
        model.compile(odt.SGD(0.05), dtype=dtype, batch_size=12, seed=3, micro_batch=rows)
        model.fit(X, Y, epochs=2, verbose=0)
        models.append(model)
    whole, parts = models
    if dtype == "int8":
        assert parts.digest() == whole.digest()
    for one, other in zip(parts.get_weights(), whole.get_weights()):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
@pytest.mark.parametrize("micro", (1, 4, 5, 12))
def test_float_steps_in_micro_batches_differ_by_the_order_of_summation(micro, optimizer):
    whole, parts = network("float32", None, optimizer), network("float32", micro, optimizer)
    for model in (whole, parts):
        model.fit(X, Y, epochs=3, verbose=0)
    for one, other in zip(parts.get_weights(), whole.get_weights()):
        one, other = np.array(one), np.array(other)
        assert np.linalg.norm(one - other) < 1e-4 * np.linalg.norm(other)


@pytest.mark.parametrize("dtype", DTYPES)
def test_everything_else_is_as_with_whole_batches(dtype):
    whole, parts = network(dtype), network(dtype, 5)
    for model in (whole, parts):
        model.fit(X, Y, verbose=0)
    if dtype == "float32":
        parts.set_weights(whole.get_weights())
    assert bytes(parts.predict(X)) == bytes(whole.predict(X))
    assert parts.evaluate(X, Y) == pytest.approx(whole.evaluate(X, Y), rel=1e-6)
    batches = [(X[at : at + 12], Y[at : at + 12]) for at in range(0, 29, 12)]
    assert parts.evaluate(iter(batches)) == pytest.approx(whole.evaluate(X, Y), rel=1e-6)
    matrix = metrics.confusion_matrix(whole, X, Y)
    assert metrics.confusion_matrix(parts, X, Y) == metrics.confusion_matrix(parts, iter(batches)) == matrix


@pytest.mark.parametrize("dtype", DTYPES)
def test_slices_change_no_bit_of_micro_batches(dtype):
    plain, sliced = network(dtype, 5), network(dtype, 5)
    expected = plain.fit(X, Y, epochs=2, validation_data=(X, Y), verbose=0).history
    found = asyncio.run(sliced.fit_async(X, Y, epochs=2, validation_data=(X, Y), verbose=0, slice_ms=1))
    assert found.history == expected and sliced.digest() == plain.digest()


@pytest.mark.parametrize("dtype", DTYPES)
def test_summary_states_the_sums_and_the_arena_is_smaller(dtype, capsys):
    whole, parts = network(dtype, batch_size=64), network(dtype, 2, batch_size=64)
    parts.summary()
    weights = sum(len(w) for w in parts.get_weights())
    line = next(line for line in capsys.readouterr().out.splitlines() if "gradient sums" in line)
    assert int(line.split()[2].strip(",")) == 4 * weights + 4
    assert len(parts.session.arena) < len(whole.session.arena) / 2
    whole.summary()
    assert "gradient sums" not in capsys.readouterr().out


def test_bad_micro_batches_are_refused():
    for micro in (0, 13, -1):
        with pytest.raises(ValueError, match="micro_batch is in 1..12, got %d" % micro):
            network("int8", micro)
    with pytest.raises(TypeError, match="micro_batch.*2.5"):
        network("int8", 2.5)
