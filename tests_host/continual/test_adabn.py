"""odt.continual.adabn: running statistics beside those that PyTorch's layers see, and what it is for."""

import numpy as np
import pytest
import torch
from checkout import ROOT

import odt
from odt.continual import adabn

DRAW = np.random.default_rng(5)
X = DRAW.normal(1.5, 2, size=(24, 6, 6, 2)).astype("float32")
Y = DRAW.integers(0, 3, size=24)


def network(dtype="float32", momentum=0.8, batch_size=8, **options):
    model = odt.Sequential([
        odt.Input((6, 6, 2)), odt.Conv2D(4, 3), odt.BatchNorm(momentum=momentum), odt.ReLU(), odt.MaxPool2D(),
        odt.Flatten(), odt.Dense(7), odt.BatchNorm(momentum=momentum), odt.ReLU(), odt.Dense(3),
    ])  # fmt: skip
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=batch_size, seed=4, **options)
    model.fit(X / 2 - 1, Y, epochs=2, verbose=0)
    return model


def statistics(model):
    """Moving means and variances, layer by layer."""
    weights = [np.array(values) for values in model.get_weights()]
    return weights[4:6] + weights[10:12]


def rest(model):
    """All other weights."""
    return [bytes(values) for i, values in enumerate(model.get_weights()) if i not in (4, 5, 10, 11)]


def followed(model, x, batches, momentum=0.8):
    """What the moving means and variances become: of batches as PyTorch's BatchNorm layers see them."""
    w = [np.array(values) for values in model.get_weights()]
    conv, first = torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4, eps=1e-3)
    dense, second = torch.nn.Linear(16, 7), torch.nn.BatchNorm1d(7, eps=1e-3)
    with torch.no_grad():
        conv.weight.copy_(torch.tensor(w[0].reshape(4, 3, 3, 2).transpose(0, 3, 1, 2)))
        dense.weight.copy_(torch.tensor(w[6].reshape(7, 2, 2, 4).transpose(0, 3, 1, 2).reshape(7, 16)))
        for layer, at in ((conv, 1), (dense, 7)):
            layer.bias.copy_(torch.tensor(w[at]))
        for layer, at in ((first, 2), (second, 8)):
            layer.weight.copy_(torch.tensor(w[at]))
            layer.bias.copy_(torch.tensor(w[at + 1]))
    seen = []
    for layer, axes in ((first, (0, 2, 3)), (second, (0,))):
        layer.register_forward_pre_hook(
            lambda _, given, axes=axes: seen.append(torch.var_mean(given[0], axes, correction=0))
        )
    network = torch.nn.Sequential(
        conv, first, torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), dense, second
    )  # fmt: skip
    found = statistics(model)
    for rows in batches:
        seen.clear()
        with torch.no_grad():
            network.train()(torch.tensor(x[rows].transpose(0, 3, 1, 2)))
        for at, (variance, mean) in enumerate(seen):
            for part, values in ((0, mean), (1, variance)):
                found[2 * at + part] = momentum * found[2 * at + part] + (1 - momentum) * values.numpy()
    return found


@pytest.mark.parametrize("count, batches", ((24, 3), (19, 2), (20, 3), (5, 1)))
def test_statistics_are_those_that_pytorchs_layers_see(count, batches):
    model = network()
    x = X[:count]
    expected = followed(model, x, [slice(8 * i, min(count, 8 * i + 8)) for i in range(batches)] * 2)
    others, steps = rest(model), model.session.steps()
    adabn.update_bn(model, x, epochs=2, guard=False)
    for got, wanted in zip(statistics(model), expected):
        assert got == pytest.approx(wanted, rel=1e-5, abs=1e-5)
    assert rest(model) == others and model.session.steps() == steps


def test_those_of_int8_are_within_a_step_of_its_numbers():
    model = network("int8")
    expected = followed(model, X, [slice(0, 8), slice(8, 16), slice(16, 24)])
    adabn.update_bn(model, X, epochs=1, guard=False)
    for at in (0, 2):
        spread = np.sqrt(expected[at + 1])
        got = statistics(model)
        assert np.abs(got[at] - expected[at]).max() < 0.05 * spread.max()
        assert np.sqrt(got[at + 1]) == pytest.approx(spread, rel=0.05)


def test_micro_batches_have_statistics_of_their_own():
    model = network(micro_batch=4)
    expected = followed(model, X, [slice(at, at + 4) for at in range(0, 24, 4)])
    adabn.update_bn(model, X, epochs=1, guard=False)
    for got, wanted in zip(statistics(model), expected):
        assert got == pytest.approx(wanted, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("count, momentum", ((24, 0.8), (8, 0.8), (24, 0.97), (13, 0.5)))
def test_without_epochs_less_than_a_64th_of_what_was_is_left_and_no_pass_too_much(count, momentum):
    passes = next(n for n in range(1, 99) if momentum ** (n * round(count / 8)) < 1 / 64)
    digests = []
    for epochs in (None, passes):
        model = network(momentum=momentum)
        adabn.update_bn(model, X[:count], epochs=epochs, guard=False)
        digests.append(model.digest())
    assert digests[0] == digests[1]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_models_file_and_recomputation_end_with_the_same_bits(dtype, tmp_path):
    model = network(dtype)
    model.export(str(tmp_path / "m.odt"))
    opened = odt.load_model(str(tmp_path / "m.odt"))
    sparing = network(dtype, checkpoint="sqrt")
    before = model.digest()
    assert sparing.digest() == before
    for each in (model, opened, sparing):
        adabn.update_bn(each, X, guard=False)
    assert opened.digest() == model.digest() == sparing.digest() != before


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_what_goes_wrong_half_way_leaves_all_as_it_was(dtype, monkeypatch):
    model = network(dtype)
    far = 50 * X
    model.predict(X)
    state, run = bytes(model.session.state), adabn._follow
    for stop in range(4):
        calls = []

        def follow(*args, calls=calls, stop=stop):
            if len(calls) == stop:
                raise KeyboardInterrupt
            calls.append(1)
            run(*args)

        monkeypatch.setattr(adabn, "_follow", follow)
        if stop < 3:
            with pytest.raises(KeyboardInterrupt):
                adabn.update_bn(model, far, epochs=1)
            assert bytes(model.session.state) == state
    monkeypatch.setattr(adabn, "_follow", run)
    said = iter((([8, 8, 8], 0.9), ([24, 0, 0], 0.9)))
    monkeypatch.setattr(adabn, "said", lambda *_: next(said))
    with pytest.raises(ValueError, match="update_bn: x: all 24 samples would be of one class, of 3 before"):
        adabn.update_bn(model, far)
    assert bytes(model.session.state) == state
    adabn.update_bn(model, far, guard=False)
    assert bytes(model.session.state) != state


def test_what_cannot_be_followed_is_refused_by_name():
    model = network("int8")
    state = bytes(model.session.state)
    for x, error, text in (
        (X[:1], ValueError, "update_bn: x: 1 sample, at least 2 are expected"),
        (X[:0], ValueError, "x"),
        (np.repeat(X[:1], 5, 0), ValueError, "update_bn: x: all 5 samples are alike: they have no variance"),
        (X[:, :5], ValueError, "x"),
        (X * np.nan, ValueError, "x"),
    ):
        with pytest.raises(error, match=text):
            adabn.update_bn(model, x)
    for epochs in (0, -1, 1.5, "2"):
        with pytest.raises((ValueError, TypeError), match="update_bn: epochs"):
            adabn.update_bn(model, X, epochs=epochs)
    assert bytes(model.session.state) == state
    without = odt.Sequential([odt.Input((3,)), odt.Dense(2)])
    frozen = odt.Sequential([odt.Input((3,)), odt.Dense(2), odt.BatchNorm(trainable=False), odt.Dense(2)])
    for other in (without, frozen):
        other.compile(odt.Adam(), batch_size=2)
        with pytest.raises(ValueError, match="update_bn: the model has no BatchNorm that trains"):
            adabn.update_bn(other, [[0, 1, 2], [3, 4, 5]])
    with pytest.raises(RuntimeError, match="compile"):
        adabn.update_bn(odt.Sequential([odt.Input((3,)), odt.Dense(2)]), X)


def test_within_fit_it_is_refused():
    model = network()

    class Within:
        def on_batch_end(self, step):
            adabn.update_bn(model, X)

    with pytest.raises(RuntimeError, match="update_bn: fit is underway"):
        model.fit(X, Y, epochs=1, verbose=0, callbacks=[Within()])


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_dim_digits_are_read_again_without_a_label(dtype):
    data = np.frombuffer((ROOT / "examples/digits/digits.bin").read_bytes(), "uint8")
    x, y = data[: 1797 * 64].reshape(-1, 8, 8, 1), data[1797 * 64 :]
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(8, 3, padding="same"), odt.BatchNorm(), odt.ReLU(), odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same"), odt.BatchNorm(), odt.ReLU(), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
    ])  # fmt: skip
    model.compile(odt.Adam(0.004), batch_size=16, dtype=dtype, seed=1)
    model.fit(x[:1000], y[:1000], epochs=8, verbose=0)
    dim = x // 3
    before = model.evaluate(dim[1200:], y[1200:])[1]
    adabn.update_bn(model, dim[1000:1064])
    assert before < 0.6 and model.evaluate(dim[1200:], y[1200:])[1] > 0.9
