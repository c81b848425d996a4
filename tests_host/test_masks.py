"""Clamps as bits: the same training in less arena, where backward wants nothing else of an activation."""

import numpy as np
import pytest

import odt
from odt import update

X = np.random.default_rng(1).normal(size=(24, 8, 8, 2)).astype("float32")
Y = np.random.default_rng(2).integers(0, 4, 24).astype("uint8")


def network():
    return odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(9, 3, padding="same", activation="relu"), odt.Conv2D(9, 3, padding="same"), odt.ReLU6(),
        odt.DepthwiseConv2D(3, activation="relu"), odt.Conv2D(8, 1, activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(4),
    ])  # fmt: skip


def trained(policy, dtype):
    model = network()
    policy(model)
    model.compile(odt.Adam(0.02), dtype=dtype, batch_size=8, seed=4)
    model.fit(X, Y, epochs=2, verbose=0)
    return model


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("policy", (update.bias, lambda model: update.sparse(model, {"conv2d": 1, "dense": 1}, biases=4)))
def test_bits_train_as_the_activations_do_in_less_memory(policy, dtype, monkeypatch):
    bits = trained(policy, dtype)
    monkeypatch.setattr("odt.compiler.keep_bits", lambda instructions, ends, output: instructions)
    whole = trained(policy, dtype)
    assert bits.digest() == whole.digest()
    assert len(bits._arena) < len(whole._arena)
    assert "masked" in bits.disassemble() and "masked" not in whole.disassemble()
    assert bits.predict(X).tolist() == whole.predict(X).tolist()


def test_activations_that_a_gradient_reads_stay():
    model = trained(update.whole, "int8")
    assert "masked" not in model.disassemble()
