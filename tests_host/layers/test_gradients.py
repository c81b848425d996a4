"""Gradients of every layer and loss, against PyTorch in float64."""

import digits_data
import numpy as np
import pytest
import torch
from gradient_cases import LOSSES, NETWORKS, batch, build, dequantized, int8_gradients
from twin import Twin

import odt
from odt.base import fixed, primitives

MORE_LOSSES = {
    "binary": odt.BinaryCrossentropy(),
    "mae": odt.MeanAbsoluteError(),
    "huber": odt.Huber(),
    "huber 0.25": odt.Huber(0.25),
    "class weights": odt.SparseCategoricalCrossentropy(class_weight=[0.5, 2, 1]),
    "smoothing": odt.SparseCategoricalCrossentropy(label_smoothing=0.1),
    "weights and smoothing": odt.SparseCategoricalCrossentropy([3, 1, 0.125], 0.25),
}


def batch_of(loss, model, seed, size=8):
    """x and y as the loss wants them."""
    random = np.random.default_rng(seed)
    x, y = batch(model, "sparse_categorical_crossentropy" if loss.labels else "mse", seed, size)
    if loss.binary:
        y = random.uniform(size=y.shape).astype("float32")
        y[size // 2 :] = np.round(y[size // 2 :])
    return x, y


@pytest.mark.parametrize("name", sorted(MORE_LOSSES))
def test_losses_match_pytorch_in_float32(name):
    loss = MORE_LOSSES[name]
    model = build("dense")
    model.compile(odt.SGD(1), loss, dtype="float32", batch_size=8, seed=3)
    x, y = batch_of(loss, model, 1, 6)
    before = model.get_weights()
    value = Twin(model).loss(x, y, loss).item()
    expected = Twin(model).gradients(x, y, loss)
    assert model.evaluate(x, y)[0] == pytest.approx(value, rel=1e-5)
    assert model.train_step(x, y) == pytest.approx(value, rel=1e-5)
    for old, new, gradient in zip(before, model.get_weights(), expected):
        moved = np.array(old, "float64") - np.array(new, "float64")
        assert np.linalg.norm(moved - gradient) < 1e-4 * np.linalg.norm(gradient)


@pytest.mark.parametrize("name", sorted(MORE_LOSSES))
def test_losses_follow_pytorch_in_int8(name):
    loss = MORE_LOSSES[name]
    model = build("dense")
    model.compile(odt.SGD(0.1), loss, dtype="int8", batch_size=8, seed=3)
    x, y = batch_of(loss, model, 1)
    assert min(int8_cosines(model, x, y, loss)) > 0.97
    exact = Twin(model, weights=dequantized(model)).loss(x, y, loss).item()
    assert model.evaluate(x, y)[0] == pytest.approx(exact, rel=0.03)


def test_binary_labels_are_bytes_too_and_count_as_hits():
    model = odt.Sequential([odt.Input((7,), dtype="uint8", scale=1 / 255), odt.Dense(1)])
    x = np.random.default_rng(2).integers(0, 256, (40, 7)).astype("uint8")
    y = (x[:, 0] > x[:, 1]).astype("uint8")
    for dtype in ("int8", "float32"):
        model.compile(odt.Adam(0.05), "binary_crossentropy", dtype=dtype, batch_size=8)
        model.fit(x, y, epochs=30, verbose=0)
        loss, accuracy = model.evaluate(x, y)
        assert loss < 0.4
        assert accuracy == np.mean((model.predict(x).ravel() > 0) == y) > 0.9


@pytest.mark.parametrize("dtype", ("float32", "int8"))
def test_dropout_drops_what_its_hash_says_and_only_in_training(dtype):
    first, second = odt.Dropout(0.25), odt.Dropout(0.5)
    model = odt.Sequential(
        [odt.Input((7,)), odt.Dense(9), first, odt.Dense(8, activation="relu"), second, odt.Dense(3)]
    )
    rate = 0.05 if dtype == "float32" else 0.02
    model.compile(odt.SGD(rate), "mse", dtype=dtype, batch_size=6, seed=11)
    x, y = batch(model, "mse", 1)
    walk = model.program.walk(*model.session.sections["predict"])
    streams = [
        dict(zip(code.immediates, sizes))["id"]
        for _, code, _, sizes in walk
        if code.name == "dropout_" + ("i8" if dtype == "int8" else "f32")
    ]
    assert len(set(streams)) == 2
    for step in range(1, 4):
        before = model.get_weights()
        twin = Twin(model, weights=before if dtype == "float32" else dequantized(model))
        twin.masks = {}
        for layer, width, stream in zip((first, second), (9, 8), streams):
            key = fixed.hash32(fixed.hash32(11, step), stream)
            kept = [fixed.hash32(key, i) >> 16 >= layer.drop for i in range(6 * width)]
            twin.masks[layer] = torch.tensor(kept).to(torch.float64) * 65536 / (65536 - layer.drop)
        expected = twin.gradients(x, y, "mse")
        loss = twin.loss(x, y, "mse").item()
        precise = dtype == "float32"
        assert model.train_step(x, y) == pytest.approx(loss, rel=1e-5 if precise else 0.05)
        for old, new, gradient in zip(before, model.get_weights(), expected):
            moved = (np.array(old, "float64") - np.array(new, "float64")) / rate
            error = np.linalg.norm(moved - gradient) / np.linalg.norm(gradient)
            assert error < (1e-4 if precise else 0.15)
        plain = Twin(model, weights=model.get_weights() if precise else dequantized(model))
        expected = plain.loss(x, y, "mse").item()
        assert model.evaluate(x, y)[0] == pytest.approx(expected, rel=1e-5 if precise else 0.05)
    digest = model.digest()
    model.evaluate(x, y)
    model.predict(x)
    assert model.digest() == digest


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_float32_gradients_match_pytorch(name, loss):
    model = build(name)
    model.compile(odt.SGD(1), loss, dtype="float32", batch_size=8, seed=3)
    x, y = batch(model, loss, 1)
    before = model.get_weights()
    expected = Twin(model).gradients(x, y, loss)
    value = model.train_step(x, y)
    assert value == pytest.approx(Twin(model, weights=before).loss(x, y, loss).item(), rel=1e-5)
    for old, new, gradient in zip(before, model.get_weights(), expected):
        moved = np.array(old, "float64") - np.array(new, "float64")
        if gradient is None:
            assert not moved.any()
            continue
        error = np.linalg.norm(moved - gradient) / np.linalg.norm(gradient)
        assert error < 1e-4  # the difference of two float32 weights: 1e-7 of 1, gradients of 0.01


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_int8_gradients_follow_the_dequantized_network(name, loss):
    model = build(name)
    model.compile(odt.SGD(0.1), loss, dtype="int8", batch_size=8, seed=3)
    x, y = batch(model, loss, 1, 8)
    cosines = int8_cosines(model, x, y, loss)
    assert len(cosines) == sum(len(pair) for pair in _trainable(model))
    assert min(cosines) > 0.95  # rounding also moves the maxima of pools and the edges of ReLUs


def _trainable(model):
    return [node.layer.weight_shapes() for node in model.nodes if node.layer.trainable]


def int8_cosines(model, x, y, loss="sparse_categorical_crossentropy", scale=1):
    """Cosine between odt's int8 gradient and the float gradient of what it computed, a tensor each.

    ``scale``: what an integer of x means.
    """
    pairs = int8_gradients(model, x, y, loss, scale)
    return [a @ b / (np.linalg.norm(a) * np.linalg.norm(b)) for a, b in pairs]


LAST = {
    "relu": [odt.Dense(3), odt.GlobalAvgPool(), odt.ReLU()],
    "relu6": [odt.Dense(3), odt.GlobalAvgPool(), odt.ReLU6()],
    "leaky relu": [odt.Dense(3, activation="leaky_relu"), odt.Flatten()],
    "sigmoid": [odt.Flatten(), odt.Dense(3, activation="sigmoid")],
    "elu": [odt.Flatten(), odt.Dense(3, activation="elu")],
    "gelu": [odt.Flatten(), odt.Dense(3, activation="gelu")],
    "tanh": [odt.Flatten(), odt.Dense(3, activation="tanh")],
    "softmax": [odt.Flatten(), odt.Dense(3, activation="softmax")],
    "dropout": [odt.Flatten(), odt.Dense(3), odt.Dropout(0.5)],
    "reshape": [odt.Dense(3), odt.Reshape((3, -1))],
}


@pytest.mark.parametrize("dtype", ("float32", "int8"))
@pytest.mark.parametrize("name", sorted(LAST))
def test_any_layer_may_be_the_last_and_be_predicted(name, dtype):
    model = odt.Sequential([odt.Input((4, 6)), *LAST[name]])
    model.compile(odt.SGD(0.01), "mse", dtype=dtype, batch_size=4, seed=3)
    x, y = batch(model, "mse", 1, 8)
    model.fit(x, y, verbose=0)
    twin = Twin(model, weights=model.get_weights() if dtype == "float32" else dequantized(model))
    exact = twin.forward(x).detach().numpy().ravel()
    error = np.abs(model.predict(x).ravel() - exact).max()
    assert error < (1e-5 if dtype == "float32" else 0.04 * np.abs(exact).max())


def test_scale_of_one_is_one():
    assert primitives.scale_of(1) == fixed.ONE


def test_int8_gradients_of_the_digits_cnn_are_those_of_the_float_network():
    """Cosine above 0.99 for each tensor, at first weights and after an epoch, on real images."""
    x, y = digits_data.X[:512], digits_data.Y[:512]
    model = odt.Sequential(digits_data.cnn())
    model.compile(odt.SGD(0.05, momentum=0.9), dtype="int8", batch_size=64, seed=1)
    for _ in range(2):
        cosines = int8_cosines(model, x[:64], y[:64], scale=1 / 16)
        assert len(cosines) == 6
        assert min(cosines) > 0.99
        model.fit(x, y, verbose=0)
