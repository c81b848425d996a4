"""Clamps as bits: the same training in less arena, where backward wants nothing else of an activation."""

import numpy as np
import pytest

import odt
from odt.adapt import update

X = np.random.default_rng(1).normal(size=(24, 8, 8, 2), scale=20).astype("float32")  # such that ReLU6 cuts off
Y = np.random.default_rng(2).integers(0, 4, 24).astype("uint8")


def network():
    return odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(9, 3, padding="same", activation="relu"), odt.Conv2D(9, 3, padding="same"),
        odt.ReLU6(),
        odt.DepthwiseConv2D(3, activation="relu"), odt.Conv2D(8, 1, activation="relu"), odt.MaxPool2D(), odt.Flatten(),
        odt.Dense(4),
    ])  # fmt: skip


def trained(policy, dtype):
    model = network()
    policy(model)
    model.compile(odt.Adam(0.02), dtype=dtype, batch_size=8, seed=4)
    model.fit(X, Y, epochs=2, verbose=0)
    return model


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize(
    "policy", (update.bias, lambda model: update.sparse(model, {"conv2d": 1, "dense": 1}, biases=4))
)
def test_bits_train_as_the_activations_do_in_less_memory(policy, dtype, monkeypatch):
    bits = trained(policy, dtype)
    monkeypatch.setattr("odt.plan.compiler.keep_bits", lambda *unused: None)
    whole = trained(policy, dtype)
    assert bits.digest() == whole.digest()
    assert len(bits.session.arena) < len(whole.session.arena)
    assert "masked" in bits.disassemble() and "masked" not in whole.disassemble()
    assert bits.predict(X).tolist() == whole.predict(X).tolist()


@pytest.mark.parametrize("widths, gain", (((64, 4, 4), False), ((4, 4, 4), True)))
def test_bits_come_in_where_they_save_arena_and_nowhere_else(widths, gain, monkeypatch):
    """Of 64 inputs and narrow layers the most is needed where no activation lies: bits would save nothing."""

    def arena_and_program():
        model = odt.Sequential(
            [odt.Input((widths[0],)), *[odt.Dense(width, "relu") for width in widths[1:]], odt.Dense(3)]
        )
        update.bias(model)
        model.compile(odt.Adam(0.02), batch_size=2)
        return len(model.session.arena), model.disassemble()

    arena, program = arena_and_program()
    monkeypatch.setattr("odt.plan.compiler.keep_bits", lambda *unused: None)
    before, plain = arena_and_program()
    assert (arena < before and "masked" in program) if gain else (arena, program) == (before, plain)


def test_activations_that_a_gradient_reads_stay():
    model = trained(update.whole, "int8")
    assert "masked" not in model.disassemble()
