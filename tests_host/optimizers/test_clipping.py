"""Clipping by the norm of all gradients, against torch.nn.utils.clip_grad_norm_."""

import numpy as np
import pytest
import torch
from gradient_cases import batch, int8_gradients
from twin import Twin

import odt
from odt.run import session

DTYPES = ("float32", "int8")


def network():
    return odt.Sequential([
        odt.Input((9, 3)), odt.Conv1D(6, 3), odt.LayerNorm(), odt.ReLU(), odt.Conv1D(24, 3, activation="relu"),
        odt.Flatten(), odt.Dense(3),
    ])  # fmt: skip


def step(dtype, limit, micro=None, rate=0.5, x_scale=1):
    """(the weights before, their change by one step of plain SGD, model, x, y)."""
    model = network()
    model.compile(odt.SGD(rate, global_clipnorm=limit), dtype=dtype, batch_size=16, micro_batch=micro, seed=3)
    x, y = batch(model, "sparse_categorical_crossentropy", 1, 16)
    if dtype == "int8":
        model.evaluate(x, y)
    before = model.get_weights()
    model.train_step(x * x_scale, y)
    return (
        before,
        [(np.array(a, "float64") - np.array(b)) / rate for a, b in zip(before, model.get_weights())],
        model,
        x,
        y,
    )


@pytest.mark.parametrize("limit", (0.01, 0.25, 100))
def test_float32_gradients_are_clipped_as_pytorch_clips_them(limit):
    before, moved, model, x, y = step("float32", limit)
    twin = Twin(model, weights=before)
    twin.loss(x, y).backward()
    norm = torch.nn.utils.clip_grad_norm_(twin.flat_parameters(), limit)
    assert (norm > limit) == (limit < 1)
    for ours, parameter in zip(moved, twin.flat_parameters()):
        exact = parameter.grad.numpy().ravel()
        assert np.linalg.norm(ours - exact) < 1e-4 * np.linalg.norm(exact) + 1e-7


@pytest.mark.parametrize("limit", (0.01, 0.25, 100))
def test_int8_gradients_are_clipped_by_their_own_norm(limit):
    model = network()
    model.compile(odt.SGD(0.5), batch_size=16, seed=3)
    x, y = batch(model, "sparse_categorical_crossentropy", 1, 16)
    gradients = [ours for ours, _ in int8_gradients(model, x, y)]
    norm = np.sqrt(sum([g @ g for g in gradients]))
    clipped = network()
    clipped.compile(odt.SGD(0.5, global_clipnorm=limit), batch_size=16, seed=3)
    session.bind(clipped.session, x, y)
    clipped.session.prepare(2)
    before = clipped.get_weights()
    clipped.train_step(x, y)
    for old, new, gradient in zip(before, clipped.get_weights(), gradients):
        ours = (np.array(old, "float64") - np.array(new)) * 2
        exact = gradient * min(1, limit / norm)
        rounding = 0.002 * np.abs(old).max() if len(old) > 24 else 1e-5  # of kernels to 16 bits
        assert np.abs(ours - exact).max() < rounding + 1e-3 * np.abs(exact).max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("optimizer", (odt.SGD, odt.Adam, odt.AdamW))
def test_a_limit_that_is_never_reached_changes_nothing(optimizer, dtype):
    results = []
    for limit in (None, 1e5):
        model = network()
        model.compile(optimizer(0.01, global_clipnorm=limit), dtype=dtype, batch_size=16, seed=3)
        x, y = batch(model, "sparse_categorical_crossentropy", 1, 40)
        model.fit(x, y, epochs=2, verbose=0)
        results.append(np.concatenate([np.array(w) for w in model.get_weights()]))
    assert (results[0] == results[1]).all()


def test_a_batch_in_micro_batches_is_clipped_as_a_whole():
    _, whole, _, _, _ = step("float32", 0.05)
    _, parts, _, _, _ = step("float32", 0.05, micro=5)
    for a, b in zip(whole, parts):
        assert np.linalg.norm(a - b) < 1e-4 * np.linalg.norm(a) + 1e-7


@pytest.mark.parametrize("value, error, text", (
    (0, ValueError, "SGD: global_clipnorm is in 1e-30..1e6, got 0"),
    (-1, ValueError, "SGD: global_clipnorm is in 1e-30..1e6, got -1"),
    ("1", TypeError, "SGD: global_clipnorm is a number, got '1'"),
))  # fmt: skip
def test_a_limit_that_is_none_is_refused(value, error, text):
    with pytest.raises(error) as info:
        odt.SGD(0.1, global_clipnorm=value)
    assert str(info.value) == text
