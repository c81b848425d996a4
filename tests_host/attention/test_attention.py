"""odt.attention: against PyTorch's module with weights of its own layout, bad input, files, memory."""

import numpy as np
import pytest
import torch

import odt
from odt import executor

RNG = np.random.default_rng(1)
X = RNG.normal(size=(24, 6, 3)).astype("float32")
Y = [i % 3 for i in range(24)]
DTYPES = ("int8", "float32")


def network(heads=2, dtype="int8", causal=False, bias=True, **options):
    x = odt.Input((6, 3))
    y = odt.PositionEmbedding()(odt.Dense(8)(x))
    attention = odt.MultiHeadAttention(heads, use_bias=bias, use_causal_mask=causal, name="mix")
    y = odt.Add()([y, attention(odt.LayerNorm()(y))])
    y = odt.Add()([y, odt.Dense(8)(odt.Dense(12, activation="relu")(odt.LayerNorm()(y)))])
    model = odt.Model(x, odt.Dense(3)(odt.GlobalAvgPool()(y)))
    model.compile(**dict({"optimizer": odt.Adam(0.01), "dtype": dtype, "batch_size": 8, "seed": 3}, **options))
    return model


def alone(heads, dtype, causal):
    """A model of one attention, trained a little, so that biases are not 0."""
    layers = [odt.Input((6, 8)), odt.MultiHeadAttention(heads, use_causal_mask=causal), odt.Flatten(), odt.Dense(3)]
    model = odt.Sequential(layers)
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=3)
    x = RNG.normal(size=(24, 6, 8)).astype("float32")
    model.fit(x, Y, epochs=15, verbose=0)
    return model, x


@pytest.mark.parametrize("dtype, within", (("float32", 2e-6), ("int8", 0.1)))
@pytest.mark.parametrize("causal", (False, True))
@pytest.mark.parametrize("heads", (1, 2, 4))
def test_outputs_are_those_of_pytorchs_module(heads, causal, dtype, within):
    model, x = alone(heads, dtype, causal)
    weights = [np.array(each, "float64") for each in model.get_weights()]
    query, query_bias, key, value, value_bias, out, out_bias, last, last_bias = weights
    module = torch.nn.MultiheadAttention(8, heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.tensor(np.concatenate([query, key, value]).reshape(24, 8)))
        module.in_proj_bias.copy_(torch.tensor(np.concatenate([query_bias, np.zeros(8), value_bias])))
        module.out_proj.weight.copy_(torch.tensor(out.reshape(8, 8)))
        module.out_proj.bias.copy_(torch.tensor(out_bias))
        z = torch.tensor(x, dtype=torch.float64)
        mask = torch.nn.Transformer.generate_square_subsequent_mask(6, dtype=torch.float64) if causal else None
        y = module(z, z, z, need_weights=False, attn_mask=mask, is_causal=causal)[0].reshape(24, -1).numpy()
    expected = y @ last.reshape(3, -1).T + last_bias
    found = np.array(model.predict(x)).reshape(expected.shape)
    assert np.abs(found - expected).max() < within * max(1, np.abs(expected).max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", (False, True))
def test_both_executors_train_to_the_same_bits(causal, dtype):
    found = []
    before = executor.backend
    try:
        for backend in ("native", "reference"):
            executor.use(backend)
            model = network(dtype=dtype, causal=causal)
            model.fit(X, Y, epochs=2, verbose=0)
            found.append((model.digest(), bytes(model.predict(X))))
    finally:
        executor.use(before)
    assert found[0] == found[1]


def test_micro_batches_and_recomputation_change_no_bit_in_int8():
    plain = network()
    plain.fit(X, Y, epochs=3, verbose=0)
    for options in ({"micro_batch": 2}, {"checkpoint": "sqrt"}):
        model = network(**options)
        model.fit(X, Y, epochs=3, verbose=0)
        assert model.digest() == plain.digest()


def test_a_causal_mask_hides_later_steps():
    """What a step's output is does not change when later steps do: to the bit in float32."""
    x = odt.Input((6, 4))
    model = odt.Model(x, odt.MultiHeadAttention(2, use_causal_mask=True)(odt.PositionEmbedding()(x)))
    model.compile(None, "mse", dtype="float32", batch_size=2, seed=5)
    data = RNG.normal(size=(2, 6, 4)).astype("float32")
    for step in range(1, 6):
        other = data.copy()
        other[:, step:] = RNG.normal(size=(2, 6 - step, 4))
        one, two = [np.array(model.predict(each)).reshape(2, 6, 4) for each in (data, other)]
        assert np.array_equal(one[:, :step], two[:, :step])
        assert not np.array_equal(one[:, step:], two[:, step:])


def test_without_positions_an_attention_does_not_see_the_order():
    x = odt.Input((5, 4))
    model = odt.Model(x, odt.GlobalAvgPool()(odt.MultiHeadAttention(2)(x)))
    model.compile(None, dtype="float32", batch_size=1, seed=5)
    data = RNG.normal(size=(1, 5, 4)).astype("float32")
    np.testing.assert_allclose(model.predict(data), model.predict(data[:, ::-1].copy()), atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_query_of_other_steps_looks_at_a_value(dtype):
    x = odt.Input((6, 3))
    y = odt.Dense(8)(x)
    query = odt.Reshape((2, 5))(odt.Dense(10)(odt.Flatten()(x)))
    layer = odt.MultiHeadAttention(2, key_dim=3)
    out = layer([query, y])
    assert out.shape == (2, 5) and layer.sizes == (2, 2, 6, 3)
    model = odt.Model(x, odt.Dense(3)(odt.Flatten()(out)))
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1)
    first = model.fit(X, Y, epochs=1, verbose=0).history["loss"][0]
    assert model.fit(X, Y, epochs=60, verbose=0).history["loss"][-1] < 0.8 * first


@pytest.mark.parametrize("dtype", DTYPES)
def test_it_learns_which_step_another_step_names(dtype):
    """The first step says at which of the others to look: no mean and no filter finds that."""
    x = np.zeros((600, 5, 6), "float32")
    y = RNG.integers(0, 2, 600).astype("uint8")
    for row, label in enumerate(y):
        at = int(RNG.integers(1, 5))
        x[row, 1:, 5] = RNG.choice((-1, 1), 4)
        x[row, at, 5] = 2 * int(label) - 1
        x[row, 1:, :4] = np.eye(4)
        x[row, 0, at - 1] = x[row, 0, 4] = 1
    given = odt.Input((5, 6))
    z = odt.Dense(16)(given)
    z = odt.Add()([z, odt.MultiHeadAttention(2)(odt.LayerNorm()(z))])
    model = odt.Model(given, odt.Dense(2)(odt.Flatten()(z)))
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=16, seed=1)
    model.fit(x[:400], y[:400], epochs=30, verbose=0)
    assert model.evaluate(x[400:], y[400:])[1] > 0.95


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_model_that_does_not_train_predicts_the_same(dtype):
    model = network(dtype=dtype)
    model.fit(X, Y, epochs=3, verbose=0)
    other = network(dtype=dtype, optimizer=None)
    other.set_weights(model.get_weights())
    if dtype == "int8":
        other.calibrate(X)
    distance = np.abs(np.array(other.predict(X)) - np.array(model.predict(X))).max()
    assert distance <= (0.1 if dtype == "int8" else 0) * np.abs(np.array(model.predict(X))).max()
    assert len(other.session.arena) < 0.6 * len(model.session.arena)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_file_of_a_model_goes_on_as_the_model_does(dtype, tmp_path):
    model = network(dtype=dtype)
    model.fit(X, Y, epochs=2, verbose=0)
    model.export(str(tmp_path / "mix.odt"))
    opened = odt.load_model(str(tmp_path / "mix.odt"))
    assert bytes(opened.predict(X)) == bytes(model.predict(X))
    model.save(str(tmp_path / "mix.ckpt"))
    again = network(dtype=dtype)
    again.load(str(tmp_path / "mix.ckpt"))
    assert again.digest() == model.digest()
    for each in (opened, model, again):
        each.fit(X, Y, epochs=1, verbose=0)
    assert opened.digest() == model.digest() == again.digest()


def test_summary_names_the_parts(capsys):
    network().summary()
    text = capsys.readouterr().out
    for name in ("mix_query", "mix_key", "mix_value", "mix ", "mix_attentionoutput", "positionembedding"):
        assert name in text


def test_positions_are_read_and_written():
    model = network()
    weights = model.get_weights()
    assert len(weights[2]) == 6 * 8 and not np.array(weights[2]).any()
    weights[2] = np.linspace(-1, 1, 48).astype("float32")
    model.set_weights(weights)
    np.testing.assert_allclose(model.get_weights()[2], weights[2], atol=1e-6)
    frozen = odt.Sequential([odt.Input((6, 3)), odt.PositionEmbedding(trainable=False), odt.Flatten(), odt.Dense(3)])
    frozen.compile(odt.Adam(0.01), dtype="int8", batch_size=8)
    frozen.fit(X, Y, epochs=2, verbose=0)
    assert not np.array(frozen.get_weights()[0]).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_frozen_attention_passes_errors_on(dtype):
    x = odt.Input((6, 3))
    y = odt.MultiHeadAttention(2, trainable=False)(odt.Dense(8, name="first")(x))
    model = odt.Model(x, odt.Dense(3)(odt.GlobalAvgPool()(y)))
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=2)
    before = [np.array(each) for each in model.get_weights()]
    model.fit(X, Y, epochs=2, verbose=0)
    same = [np.array_equal(a, np.array(b)) for a, b in zip(before, model.get_weights())]
    assert same == [False, False] + [True] * 7 + [False, False]


def test_wrong_arguments_are_named():
    x, flat, image = odt.Input((6, 8)), odt.Input((8,)), odt.Input((4, 4, 8))
    for call, words in (
        (lambda: odt.MultiHeadAttention(0), "MultiHeadAttention: num_heads is in 1..67108863, got 0"),
        (lambda: odt.MultiHeadAttention(2.5), "num_heads"),
        (lambda: odt.MultiHeadAttention(2, key_dim=0), "MultiHeadAttention: key_dim is in 1..67108863, got 0"),
        (lambda: odt.MultiHeadAttention(3)(x), "a width of 8 is no multiple of 3 heads: give key_dim"),
        (lambda: odt.MultiHeadAttention(2)(flat), "takes input of shape .steps, width., got .8,."),
        (lambda: odt.MultiHeadAttention(2)(image), "takes input of shape .steps, width., got .4, 4, 8."),
        (lambda: odt.MultiHeadAttention(2)([x] * 4), "takes a query, or .query, value. or .query, value, key., got 4"),
        (lambda: odt.MultiHeadAttention(2)([x, x, odt.Input((5, 8))]), "key and value have as many steps, got 5 and 6"),
        (lambda: odt.MultiHeadAttention(2)("x"), "takes layers' outputs, got"),
        (lambda: odt.MultiHeadAttention(2, dropout=0.1), "dropout"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()


@pytest.mark.parametrize(
    "steps, width, heads", ((40000, 4, 1), (4000, 64, 1), (20, 300, 1)), ids=("mixed", "scores", "width")
)
def test_sums_that_an_int32_does_not_hold_are_named(steps, width, heads):
    x = odt.Input((steps, 2))
    model = odt.Model(x, odt.Dense(2)(odt.GlobalAvgPool()(odt.MultiHeadAttention(heads, key_dim=width)(x))))
    words = "multiheadattention: heads of %d features over %d steps may overflow an int32: take more" % (width, steps)
    with pytest.raises(ValueError, match=words):
        model.compile("adam", dtype="int8", batch_size=1)


def test_sums_of_the_largest_sizes_stay_below_an_int32():
    """By the bounds that the planner takes, of the largest magnitudes, in Python's integers."""
    for width, steps in ((1, 32896), (8, 32000), (64, 3100), (128, 1020), (256, 4)):
        layer = odt.MultiHeadAttention(1, key_dim=width)
        layer.sizes = (1, steps, steps, width)
        from odt.attention.plan import check

        class Place:
            pass

        Place.layer = layer
        check(Place, 1, ())
        largest = width * 127 * 127
        most = 256 + (steps + 1) // 2  # sum of weights, each rounded up by half a step at most
        assert 256 * largest + 128 + largest * most < 1 << 31 and steps * 255 * 127 < 1 << 31
        assert ((256 * largest + largest * most) // 256 + 1) * 255 < 1 << 31
