"""compile() again keeps what the model has learnt, as Keras does;
trainable, whenever it was set, counts from then on.
"""

import gc
import random
from array import array

import networks
import numpy as np
import pytest

import odt

X = np.random.default_rng(0).normal(size=(60, 6)).astype("float32")
Y = (X[:, 0] + X[:, 1] > 0).astype("uint8")


def network(*options, **more):
    model = odt.Sequential([odt.Input((6,)), odt.Dense(16, "relu", name="a"), odt.Dense(2, name="b")])
    model.compile(*options, **more)
    return model


def same(first, second):
    return [np.array_equal(a, b) for a, b in zip(first, second)]


def test_any_network_predicts_the_same_bits_after_compile_with_another_rate():
    changed = 0
    for seed in range(120):
        model, options, x, y = networks.draw_case(networks.Random(random.Random(seed)))
        model.compile(**options)
        first = model.get_weights()
        try:
            model.fit(x, y, verbose=0)
        except ArithmeticError:
            continue
        model.calibrate(x)
        weights, outputs = model.get_weights(), model.predict(x)
        changed += not all(same(first, weights))
        model.compile(odt.SGD(0.001), **{key: options[key] for key in ("loss", "dtype", "batch_size")})
        assert all(same(weights, model.get_weights())), seed
        assert np.array_equal(outputs, model.predict(x), equal_nan=True), seed
    assert changed > 25


@pytest.mark.parametrize("first, second", (("int8", "float32"), ("float32", "int8")))
def test_another_dtype_keeps_the_weights_as_far_as_int8_holds_them(first, second, capsys):
    model = network(odt.Adam(0.01), dtype=first)
    model.fit(X, Y, epochs=20, verbose=0)
    weights, right = model.get_weights(), model.evaluate(X, Y)[1]
    model.compile(odt.Adam(0.001), dtype=second, batch_size=4)
    for before, after in zip(weights, model.get_weights()):
        assert np.abs(np.subtract(before, after)).max() <= np.abs(before).max() / 127
    assert model.evaluate(X, Y)[1] == pytest.approx(right, abs=0.04) and right > 0.9


def test_the_optimizer_and_the_epochs_begin_anew_and_a_first_compile_draws_by_its_seed():
    model, other = network(odt.Adam(0.01), seed=3), network("sgd", seed=3)
    assert all(same(model.get_weights(), other.get_weights()))
    other.compile(odt.Adam(0.01), seed=3)  # nothing has been learnt
    assert other.digest() == model.digest()
    model.fit(X, Y, epochs=2, verbose=0)
    model.compile(odt.Adam(0.01), seed=3)
    assert model.epoch == model.session.steps() == 0 and model.digest() != other.digest()


@pytest.mark.parametrize("again", ("compile", "fit"))
@pytest.mark.parametrize("error", (MemoryError, KeyboardInterrupt))
def test_on_a_board_the_arena_makes_room_and_the_model_goes_on_where_compile_fails(again, error, monkeypatch, tmp_path):
    monkeypatch.setattr(gc, "mem_free", lambda: 100_000, raising=False)
    model, other = network(odt.Adam(0.01), seed=3), network(odt.Adam(0.01), seed=3)
    for each in (model, other):
        each.fit(X, Y, verbose=0)
    model.save(tmp_path / "saved.ckpt")
    found = []

    def failing(*arguments, **named):
        found.append(model.session.arena)
        raise error

    def fail():
        with monkeypatch.context() as patched, pytest.raises(error):
            patched.setattr("odt.run.build.weights.initialise", failing)
            model.compile(batch_size=4) if again == "compile" else model.fit(X, Y, batch_size=4, verbose=0)

    for use in (lambda: model.predict(X), lambda: model.fit(X, Y, verbose=0), lambda: model.evaluate(X, Y)):
        fail()
        assert found.pop() is None
        use()
        assert model.session.arena is not None
    other.fit(X, Y, verbose=0)
    assert model.digest() == other.digest()
    assert np.array_equal(model.predict(X), other.predict(X))
    fail()
    weights = model.get_weights()
    model.load(tmp_path / "saved.ckpt")
    assert not all(same(weights, model.get_weights()))
    weights = model.get_weights()
    fail()
    model.compile(batch_size=4)
    assert all(same(weights, model.get_weights()))


def test_another_seed_draws_no_weights_and_says_so(capsys):
    model = network(seed=1)
    model.fit(X, Y, verbose=0)
    weights = model.get_weights()
    model.compile(seed=1)
    model.compile()
    assert "seed" not in capsys.readouterr().out
    model.compile(seed=2)
    assert all(same(weights, model.get_weights())) and model.seed == 2
    assert "keeps the weights: build the model again for new ones of seed 2" in capsys.readouterr().out


def test_a_normalization_keeps_what_it_was_adapted_to():
    layer = odt.Normalization()
    model = odt.Sequential([odt.Input((6,)), layer, odt.Dense(2)])
    model.compile("sgd")
    layer.adapt(X * 5 + 3)
    weights = model.get_weights()
    model.compile(odt.Adam())
    assert all(same(weights, model.get_weights())) and not np.allclose(weights[0], 0)


OWNERS = [
    lambda: odt.Dense(4), lambda: odt.Conv1D(4, 3), lambda: odt.Conv1D(4, 3, groups=2),
    lambda: odt.Conv1DTranspose(4, 2),
    odt.BatchNorm, odt.LayerNorm, lambda: odt.GroupNorm(2),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("make", OWNERS)
def test_each_layer_with_weights_stays_when_it_is_frozen_after_it_was_made(make, dtype):
    frozen = make()
    model = odt.Sequential([odt.Input((8, 4)), odt.Conv1D(4, 1), frozen, odt.Flatten(), odt.Dense(3)])
    x, y = np.random.default_rng(1).normal(size=(40, 8, 4)).astype("float32"), np.arange(40) % 3
    model.compile(odt.Adam(0.01), dtype=dtype)
    model.fit(x, y, verbose=0)
    for trains in (False, True):
        frozen.trainable = trains
        model.compile(odt.Adam(0.01), dtype=dtype)
        first = 2 * [layer for layer in model.layers if layer.weight_shapes()].index(frozen)
        count = len(frozen.weight_shapes())
        weights = model.get_weights()
        model.fit(x, y, epochs=2, verbose=0)
        kept = same(weights, model.get_weights())
        assert kept[first : first + count] == [not trains] * count and not any(kept[:2]), (kept, trains)


def test_trainable_of_a_model_is_that_of_all_its_layers():
    model = network(odt.Adam(0.01))
    assert model.trainable
    for trains in (False, True):
        model.trainable = trains
        assert model.trainable is trains
        model.compile(odt.Adam(0.01))
        weights = model.get_weights()
        model.fit(X, Y, epochs=2, verbose=0)
        assert same(weights, model.get_weights()) == [not trains] * 4
    model.trainable = False
    model.layers[1].trainable = True
    model.compile(odt.Adam(0.01))
    model.fit(X, Y, epochs=2, verbose=0)
    assert same(weights, model.get_weights())[2:] == [False, False]


def test_trainable_after_a_policy_means_all_of_a_layer():
    model = network()
    odt.adapt.update.last(model)
    model.layers[0].trainable = True
    model.compile()
    weights = model.get_weights()
    model.fit(X, Y, verbose=0)
    assert same(weights, model.get_weights()) == [False] * 4


@pytest.mark.parametrize("options", ({"class_weight": {0: 1, 1: 2}}, {"batch_size": 8}))
def test_a_fit_that_plans_anew_wants_compile_after_trainable_has_changed(options):
    model = network()
    model.trainable = False
    digest = model.digest()
    with pytest.raises(ValueError, match="trainable has changed since compile"):
        model.fit(X, Y, verbose=0, **options)
    assert model.digest() == digest


def test_an_attribute_that_a_model_does_not_know_is_refused():
    model = network()
    for name in ("trainabel", "learning_rate", "foo", "stop_trainig", "optimizer", "batch_size", "layers"):
        with pytest.raises(AttributeError, match=name):
            setattr(model, name, 1)
        assert name in ("batch_size", "layers", "optimizer") or not hasattr(model, name)
    model.stop_training, model.labels = True, ["a", "b"]
    from_file = odt.Sequential.__mro__[2]()  # a Network, as load_model() makes
    with pytest.raises(AttributeError, match="trainable"):
        from_file.trainable = False


def test_a_class_of_ones_own_has_attributes_of_its_own():
    class Mine(odt.Sequential):
        def __init__(self):
            super().__init__([odt.Input((6,)), odt.Dense(2)])
            self.note = "mine"

    model = Mine()
    model.more = 1
    model.compile()
    model.fit(array("f", X.ravel()), Y, verbose=0)
    assert (model.note, model.more) == ("mine", 1)
