"""odt.generative: sampling and its divergence against PyTorch, and what a variational autoencoder is for."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from gradient_cases import dequantized

import odt
from odt import executor
from odt import generative as vae
from odt.base.fixed import hash32
from odt.continual import teach

X = np.random.default_rng(1).normal(size=(8, 5)).astype("float32")
RATE = 0.05


def normal(seed, step, stream, size):
    """What docs/reference/numerics.md says of g, of the first ``size`` outputs of a batch at position 0."""
    key = hash32(hash32(seed, step), stream)
    words = np.array([[hash32(key, 2 * i), hash32(key, 2 * i + 1)] for i in range(size)], "uint32")
    sums = words.view("uint8").reshape(size, 8).astype("float64").sum(1) - 1020
    return sums / np.sqrt(8 * 65535 / 12)


def stream(model):
    """The id of the random numbers that the model's Sampling draws."""
    program = model.session.program
    for _, code, _, immediates in program.walk(*program.section("train")):
        if code.name.startswith("sampling_"):
            return dict(zip(code.immediates, immediates))["id"]
    raise AssertionError("nothing samples")


def network(sampling, last=5, loss="mse", dtype="float32", rate=RATE, batch_size=8, **options):
    layers = [odt.Input((5,)), odt.Dense(7, "relu"), odt.Dense(6), sampling, odt.Dense(last)]
    model = odt.Sequential(layers)
    model.compile(odt.SGD(rate), loss, dtype=dtype, batch_size=batch_size, seed=11, **options)
    return model


def torchs(weights, sampling, y, loss, g=None, rise=1.0):
    """(the loss, gradients) as PyTorch has them; g None: the mean."""
    w = [torch.tensor(np.array(each), dtype=torch.float64, requires_grad=True) for each in weights]
    x = torch.tensor(X, dtype=torch.float64)
    hidden = F.relu(F.linear(x, w[0].reshape(7, 5), w[1]))
    mean, v = F.linear(hidden, w[2].reshape(6, 7), w[3]).chunk(2, 1)
    z = mean if g is None else mean + torch.exp(v / 2) * torch.tensor(g.reshape(8, 3))
    out = F.linear(z, w[4].reshape(-1, 3), w[5])
    known = {"mse": F.mse_loss, "binary_crossentropy": F.binary_cross_entropy_with_logits, "mae": F.l1_loss}
    labels = loss == "sparse_categorical_crossentropy"
    width = 1 if labels else out.shape[1]
    target = torch.tensor(y, dtype=torch.int64 if labels else torch.float64)
    total = F.cross_entropy(out, target) if labels else known[loss](out, target)
    each = torch.distributions.kl_divergence(
        torch.distributions.Normal(mean, torch.exp(v / 2)), torch.distributions.Normal(0.0, 1.0)
    )
    each = torch.clamp(each, min=sampling.free_bits)
    total = total + rise * sampling.beta * each.sum(1).mean() / width
    total.backward()
    return total.item(), [each.grad.numpy().ravel() for each in w]


def targets(loss):
    if loss == "sparse_categorical_crossentropy":
        return np.arange(8) % 5
    if loss == "binary_crossentropy":
        return (1 / (1 + np.exp(-X))).astype("float32")
    return X


@pytest.mark.parametrize("loss", ("mse", "binary_crossentropy", "mae", "sparse_categorical_crossentropy"))
@pytest.mark.parametrize("options", ({}, {"beta": 4, "warmup": 3}, {"beta": 2, "free_bits": 0.05}))
@pytest.mark.parametrize("dtype", ("float32", "int8"))
def test_loss_and_gradients_are_pytorchs(dtype, options, loss):
    sampling = vae.Sampling(**options)
    model = network(sampling, loss=loss, dtype=dtype)
    y = targets(loss)
    precise = dtype == "float32"
    for step in range(1, 4):
        before = model.get_weights()
        used = before if precise else dequantized(model)
        g = normal(11, step, stream(model), 24)
        rise = min(1.0, step / options.get("warmup", 1))
        expected, gradients = torchs(used, sampling, y, loss, g, rise)
        assert model.train_step(X, y) == pytest.approx(expected, rel=1e-5 if precise else 0.05)
        moved = [(np.array(a, "float64") - np.array(b, "float64")) / RATE for a, b in zip(before, model.get_weights())]
        for change, gradient in zip(moved, gradients):
            if precise:
                assert np.linalg.norm(change.ravel() - gradient) < 1e-4 * np.linalg.norm(gradient)
            elif loss != "mae" or step > 1:
                cosine = change.ravel() @ gradient / np.linalg.norm(change) / np.linalg.norm(gradient)
                assert cosine > 0.95  # as of other layers in int8: test_gradients.py
    used = model.get_weights() if precise else dequantized(model)
    rise = min(1.0, 4 / options.get("warmup", 1))
    digest = model.digest()
    expected = torchs(used, sampling, y, loss, None, rise)[0]
    assert model.evaluate(X, y)[0] == pytest.approx(expected, rel=1e-5 if precise else 0.05)
    model.predict(X)
    assert model.digest() == digest


def test_its_numbers_are_normal():
    g = normal(3, 1, 1, 20000)
    assert abs(g.mean()) < 0.03 and abs(g.std() - 1) < 0.02 and abs((g**4).mean() - 2.85) < 0.1
    p = np.array(vae.points(20, 1000, 7)).reshape(1000, 20)
    assert abs(p.mean()) < 0.03 and abs(p.std() - 1) < 0.02
    assert np.abs(np.corrcoef(p.T) - np.eye(20)).max() < 0.15
    assert (p != np.array(vae.points(20, 1000, 8)).reshape(1000, 20)).any()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_micro_batches_draw_the_numbers_of_their_batch_and_both_executors_agree(dtype):
    found = []
    for backend, micro in (("reference", 2), ("native", 2), ("native", None)):
        executor.use(backend)
        model = network(vae.Sampling(0.5, 3, 0.01), dtype=dtype, micro_batch=micro)
        found.append(([model.train_step(X, X) for _ in range(3)], model.digest(), model.evaluate(X, X)))
    assert found[0] == found[1]
    assert found[2][0] == pytest.approx(found[1][0], rel=1e-4 if dtype == "float32" else 0.1)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_part_of_a_batch_counts_its_own_rows(dtype):
    model = network(vae.Sampling(2.0), dtype=dtype)
    model.train_step(X, X)
    whole = model.evaluate(X, X)[0]
    each = [model.evaluate(X[i : i + 1], X[i : i + 1])[0] for i in range(8)]
    assert np.mean(each) == pytest.approx(whole, rel=1e-5)
    assert model.evaluate(X[:3], X[:3])[0] == pytest.approx(np.mean(each[:3]), rel=1e-5)


def digits():
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return x.astype("uint8"), y.astype("uint8")


def autoencoder(dtype, seed=1, optimizer=None, **options):
    model = odt.Sequential([
        odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(32, "relu"), odt.Dense(16, name="latent"),
        odt.Sampling(name="z", **options), odt.Dense(32, "relu"), odt.Dense(64),
    ])  # fmt: skip
    model.compile(optimizer or odt.Adam(0.002), "binary_crossentropy", dtype=dtype, batch_size=16, seed=seed)
    return model


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_what_it_is_for(dtype, tmp_path):
    x, y = digits()
    usual = x[y < 9]
    model = autoencoder(dtype)
    model.fit(usual[:1200], usual[:1200], epochs=30, verbose=0)
    encoder = teach.front(model, "z")
    means = np.array(encoder.predict(usual[1200:]))
    assert means.shape == (len(usual) - 1200, 8)
    decoder = vae.decoder(model)
    again = np.array(decoder.predict(means.astype("float32")))
    assert np.abs(again - np.array(model.predict(usual[1200:]))).mean() < 0.15
    made = np.array(vae.generate(vae.decoder(model), 20, seed=3))
    assert made.shape == (20, 64) and (made == np.array(vae.generate(vae.decoder(model), 20, seed=3))).all()
    assert (made > 0)[:, [0, 8, 16, 24, 32, 40, 48, 56]].mean() < 0.05 < (made > 0).mean()  # a margin that is blank
    scores = [model.evaluate(one, one)[0] for one in usual[1200:1300, None]]
    odd = [model.evaluate(one, one)[0] for one in x[1200:1300, None, ::-1] // 2 + 4]
    assert np.mean(np.array(odd)[:, None] > np.array(scores)) > 0.99
    model.export(tmp_path / "vae.odt")
    opened = odt.load_model(tmp_path / "vae.odt")
    for each in (model, opened):
        each.fit(usual[:160], usual[:160], epochs=1, verbose=0)
    assert opened.digest() == model.digest()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_targets_that_are_the_samples_mean_what_these_mean(dtype):
    x, _ = digits()
    x = x[:64]
    losses = []
    for y in (x, (x / 16).astype("float32")):
        model = autoencoder(dtype)
        losses.append(model.fit(x, y, epochs=2, verbose=0).history["loss"] + [model.evaluate(x, y)[0]])
    assert losses[0] == pytest.approx(losses[1], rel=2e-3)
    with pytest.raises(ValueError, match="y.*(0|1)"):
        model.evaluate(x, x[::-1].copy())  # other data: 0 and 1, as labels are
    assert model.evaluate(x, x.copy())[0] == pytest.approx(losses[1][-1], rel=0.1)


def test_warm_up_begins_without_the_divergence_and_free_bits_keep_what_is_known():
    x, _ = digits()
    known = {}
    for name, options in (("plain", {"beta": 30}), ("free", {"beta": 30, "free_bits": 0.5})):
        model = autoencoder("int8", **options)
        model.fit(x[:800], x[:800], epochs=10, verbose=0)
        known[name] = np.array(teach.front(model, "z").predict(x[800:])).std(0).max()
    assert known["plain"] < 0.1 < known["free"]  # posterior collapse, and none
    slow, now = (autoencoder("float32", beta=30, warmup=warmup) for warmup in (100, 0))
    assert slow.train_step(x[:16], x[:16]) < now.train_step(x[:16], x[:16])


def test_zeroth_order_trains_it_too():
    losses = []
    for dtype in ("float32", "int8"):
        model = autoencoder(dtype, optimizer=odt.ZerothOrder(0.003, tail=1, optimizer=odt.Adam(0.002)))
        x = digits()[0][:320]
        history = model.fit(x, x, epochs=30, verbose=0).history["loss"]
        assert history[-1] < 0.75 * history[0]
        losses.append(history[-1])
    assert losses[0] == pytest.approx(losses[1], rel=0.1)


@pytest.mark.parametrize("options", (
    {"beta": 0}, {"beta": "1"}, {"beta": float("nan")}, {"free_bits": -1}, {"free_bits": 101}, {"warmup": -1},
    {"warmup": 1.5}, {"warmup": 1 << 30},
))  # fmt: skip
def test_arguments_that_are_none(options):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match="Sampling: %s is .*, got %s" % (name, re.escape(repr(value)))):
        odt.Sampling(**options)


def test_networks_and_calls_that_cannot_be():
    for layers in ([odt.Dense(5), odt.Sampling(name="z")], [odt.Reshape((2, 4)), odt.Sampling(name="z")]):
        with pytest.raises(ValueError, match=r"z takes input of shape \(2 \* n,\)"):
            odt.Sequential([odt.Input((8,)), *layers, odt.Dense(2)])
    model = network(odt.Sampling(name="z"))
    with pytest.raises(KeyError, match="no Sampling is called 'dense'"):
        vae.decoder(model, "dense")
    with pytest.raises(ValueError, match="points: seed"):
        vae.points(2, 3, -1)
    with pytest.raises(ValueError, match="class_weight"):
        network(odt.Sampling(), dtype="int8", loss=odt.SparseCategoricalCrossentropy([1, 2, 3, 4, 5]))
    plain = odt.Sequential([odt.Input((4,)), odt.Dense(2)])
    plain.compile("sgd", "mse")
    with pytest.raises(KeyError, match="has no Sampling"):
        vae.decoder(plain)
    x = odt.Input((4,))
    first = odt.Dense(4, name="before")(x)
    z = odt.Sampling(name="z")(first)
    model = odt.Model(x, odt.Dense(2)(odt.Concatenate(name="both")([first, z])))
    model.compile("sgd", "mse", dtype="float32")
    with pytest.raises(ValueError, match="'both' takes 'before'"):
        vae.decoder(model)
    ends = odt.Sequential([odt.Input((4,)), odt.Dense(4), odt.Sampling(name="z")])
    ends.compile("sgd", "mse", dtype="float32")
    with pytest.raises(ValueError, match="nothing is left after 'z'"):
        vae.decoder(ends)
