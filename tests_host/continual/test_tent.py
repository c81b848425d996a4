"""odt.continual.tent: the gradient of the entropy as PyTorch has it, what adapts, what it regains, what is refused."""

import numpy as np
import pytest
import torch
from checkout import ROOT
from single_calls import as_float, bits, call, control, softmax

import odt
from odt.base import opcodes
from odt.continual import adabn, tent
from odt.continual.tent import Entropy

DATA = np.frombuffer((ROOT / "examples/digits/digits.bin").read_bytes(), "uint8")
X, Y = DATA[: 1797 * 64].reshape(-1, 8, 8, 1), DATA[1797 * 64 :]
DIM = np.minimum(16, X // 2 + 8).astype("uint8")  # of little contrast
ASIDE = np.roll(X, 1, 2)


def layers(softmax_at_end=False):
    parts = [odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)]
    for channels in (8, 16):
        parts += [odt.Conv2D(channels, 3, padding="same"), odt.BatchNorm(), odt.ReLU(), odt.MaxPool2D()]
    return [*parts, odt.Flatten(), odt.Dense(10, activation="softmax" if softmax_at_end else None)]


TRAINED = {}


def network(dtype="int8", rate=0.004, diversity=1, policy=odt.adapt.update.norm, end=False, **options):
    """A model that has learned digits, ready to adapt."""
    if dtype not in TRAINED:
        TRAINED[dtype] = odt.Sequential(layers())
        TRAINED[dtype].compile(odt.Adam(0.004), batch_size=16, dtype=dtype, seed=1)
        TRAINED[dtype].fit(X[:1000], Y[:1000], epochs=8, verbose=0)
    model = odt.Sequential(layers(end))
    policy(model)
    model.compile(odt.Adam(rate), Entropy(diversity), dtype=dtype, seed=1, **options)
    model.load_weights(TRAINED[dtype])
    return model


def exact(out, diversity):
    """The mean entropy, and what is minimised, by PyTorch's distributions."""
    p = torch.softmax(out, 1)
    entropy = torch.distributions.Categorical(p).entropy().mean()
    return entropy, entropy - diversity * torch.distributions.Categorical(p.mean(0)).entropy()


@pytest.mark.parametrize("end", (None, "softmax"))
@pytest.mark.parametrize("diversity", (0, 0.5, 1, 4))
def test_one_step_of_rate_1_is_pytorchs_gradient(diversity, end):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(9, 5)).astype("float32"), [i % 4 for i in range(9)]
    model = odt.Sequential([odt.Input((5,)), odt.Dense(4, activation=end)])
    model.compile(odt.SGD(1), Entropy(diversity), dtype="float32", batch_size=9, seed=3)
    w, b = [torch.tensor(np.array(w), dtype=torch.float64, requires_grad=True) for w in model.get_weights()]
    out = torch.nn.functional.linear(torch.tensor(x).double(), w.reshape(4, 5), b)
    entropy, loss = exact(out, diversity)
    loss.backward()
    right = (out.argmax(1).numpy() == y).mean()
    assert model.evaluate(x, y) == (pytest.approx(entropy.item(), rel=1e-5), pytest.approx(right))
    assert model.train_step(x, y) == pytest.approx(entropy.item(), rel=1e-5)
    for before, after in zip((w, b), model.get_weights()):
        np.testing.assert_allclose(before.detach().numpy() - after, before.grad.numpy(), atol=2e-6 * (1 + diversity))


@pytest.mark.parametrize("diversity", (0, 1, 3))
@pytest.mark.parametrize("scale", (0.01, 0.05, 0.2))
def test_the_error_in_int8_is_that_of_float64_to_a_step(diversity, scale):
    rng = np.random.default_rng(5)
    x, labels = rng.integers(-127, 128, (12, 7)), rng.integers(0, 7, 12).astype(np.uint8)
    c = control(COUNT=12, SAMPLES=12, Y_FORMAT=opcodes.UINT8)
    given = dict(x=x, labels=labels, c=c, sx=scale, se=0.008)
    got = call("entropy_i8", given, B=12, N=7, diversity=diversity * 65536)
    v = torch.tensor(x * np.float64(np.float32(scale)), requires_grad=True)
    entropy, loss = exact(v, diversity)
    loss.backward()
    e = v.grad.numpy().ravel() * 12 / np.float64(np.float32(0.008))
    assert np.abs(got["e"] - np.clip(e, -127, 127)).max() <= 0.6
    assert got["peak"][0] == pytest.approx(np.abs(e).max(), abs=0.6)
    assert as_float(got["so"])[0] == pytest.approx(0.008 / 12, rel=1e-6)
    assert got["c"][opcodes.LOSS] / 65536 == pytest.approx(12 * entropy.item(), rel=2e-3, abs=2e-3)
    assert got["c"][opcodes.CORRECT] == (x.argmax(1) == labels).sum()


def test_rows_that_are_not_there_are_in_no_mean():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(5, 3)).astype(np.float32)
    c = control(COUNT=3, SAMPLES=3, Y_FORMAT=opcodes.UINT8)
    given = dict(x=x, labels=np.zeros(3, np.uint8), c=c)
    got = call("entropy_f32", given, B=5, N=3, diversity=bits(1.0))
    v = torch.tensor(x[:3].astype(np.float64), requires_grad=True)
    exact(v, 1)[1].backward()
    np.testing.assert_allclose(got["e"].reshape(5, 3)[:3], v.grad.numpy(), atol=1e-6)
    assert not got["e"].reshape(5, 3)[3:].any()
    assert np.abs(softmax(x[:3]).sum() - 3) < 1e-6


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_both_executors_and_a_model_file_end_with_the_same_bits(dtype, tmp_path):
    model = network(dtype, batch_size=8)
    model.export(str(tmp_path / "m.odt"))
    digests = []
    try:
        for backend in ("native", "reference"):
            odt.executor.use(backend)
            for each in (network(dtype, batch_size=8), odt.load_model(str(tmp_path / "m.odt"))):
                adabn.update_bn(each, DIM[:20], epochs=1)
                tent.adapt(each, DIM[:20], epochs=1, guard=False)
                digests.append(each.digest())
    finally:
        odt.executor.use("native")
    assert len(set(digests)) == 1 and digests[0] != model.digest()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_gamma_and_beta_alone_learn(dtype):
    model = network(dtype)
    before = [bytes(w) for w in model.get_weights()]
    tent.adapt(model, DIM[:40], epochs=1, guard=False)
    names = [name for node in model.nodes for name, _ in node.layer.weight_shapes()]
    changed = {name for name, old, new in zip(names, before, model.get_weights()) if old != bytes(new)}
    assert changed == {"gamma", "beta", "moving_mean", "moving_variance"}


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_digits_a_pixel_aside_are_read_better_than_by_statistics_alone(dtype):
    model = network(dtype, rate=0.01)
    adabn.update_bn(model, ASIDE[1000:1200])
    before = model.evaluate(ASIDE[1200:], Y[1200:])
    tent.adapt(model, ASIDE[1000:1200], epochs=10)
    after = model.evaluate(ASIDE[1200:], Y[1200:])
    assert after[1] > before[1] + 0.02 and after[0] < before[0], (before, after)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_collapse_is_undone(dtype):
    model = network(dtype, rate=2, diversity=0)
    adabn.update_bn(model, DIM[:64])
    model.predict(DIM[:64])  # whose ranges it takes
    state, steps = bytes(model.session.state), model.session.steps()
    with pytest.raises(ValueError, match=r"adapt: \d+ of 64 samples would be of one class, of \d+ before"):
        tent.adapt(model, DIM[:64], epochs=20)
    assert bytes(model.session.state) == state and model.session.steps() == steps and model.epoch == 0
    tent.adapt(model, DIM[:64], epochs=20, guard=False)
    said = model.predict_classes(DIM[:64])
    assert max(said.count(label) for label in range(10)) > 40


def test_samples_of_one_class_are_refused():
    model = network()
    zeros = X[Y == 0][:40]
    model.predict(zeros)  # whose ranges it takes
    before = model.digest()
    with pytest.raises(ValueError, match=r"adapt: x: (39|40) of 40 samples seem to be of one class; all are expected"):
        tent.adapt(model, zeros)
    assert model.digest() == before


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_what_goes_wrong_half_way_leaves_all_as_it_was(dtype, monkeypatch):
    model = network(dtype)
    adabn.update_bn(model, DIM[:64])
    model.predict(DIM[:64])
    state, steps, fit = bytes(model.session.state), model.session.steps(), odt.Sequential.fit
    for error in (KeyboardInterrupt, ArithmeticError):

        def broken(self, *args, error=error, **options):
            fit(self, *args, **options)
            raise error

        monkeypatch.setattr(odt.Sequential, "fit", broken)
        with pytest.raises(error):
            tent.adapt(model, DIM[:64], epochs=2)
        assert bytes(model.session.state) == state and model.session.steps() == steps and model.epoch == 0


def test_less_than_half_a_batch_at_the_end_is_left_out():
    digests = []
    for count in (32, 39, 40):
        model = network()
        tent.adapt(model, DIM[:count], epochs=1, guard=False)
        digests.append((model.digest(), model.session.steps()))
    assert digests[0] == digests[1] != digests[2] and [steps for _, steps in digests] == [2, 2, 3]
    model = network()
    tent.adapt(model, DIM[:5], epochs=1, guard=False)
    assert model.session.steps() == 1


def test_micro_batches_have_means_of_their_own():
    x = np.random.default_rng(2).normal(size=(8, 5)).astype("float32")
    model = odt.Sequential([odt.Input((5,)), odt.Dense(4)])
    model.compile(odt.SGD(1), Entropy(2), dtype="float32", batch_size=8, micro_batch=4, seed=3)
    w, b = [torch.tensor(np.array(w), dtype=torch.float64, requires_grad=True) for w in model.get_weights()]
    out = torch.nn.functional.linear(torch.tensor(x).double(), w.reshape(4, 5), b)
    (sum(exact(part, 2)[1] for part in out.split(4)) / 2).backward()
    model.train_step(x, bytes(8))
    np.testing.assert_allclose(w.detach().numpy() - model.get_weights()[0], w.grad.numpy(), atol=1e-5)


def test_what_cannot_be_adapted_is_refused_by_name():
    model = network()
    state = bytes(model.session.state)
    for x, text in ((X[:1], "adapt: x: 1 sample"), (X[:0], "x"), (X[:, :5], "x")):
        with pytest.raises(ValueError, match=text):
            tent.adapt(model, x)
    for epochs in (0, -1, 1.5, "2"):
        with pytest.raises((ValueError, TypeError), match="adapt: epochs"):
            tent.adapt(model, X[:32], epochs=epochs)
    assert bytes(model.session.state) == state
    with pytest.raises(
        ValueError, match=r"adapt: the model's loss is sparse_categorical_crossentropy: compile it with"
    ):
        tent.adapt(TRAINED["int8"], X[:32])
    with pytest.raises(ValueError, match="class_weight: the loss entropy has no weights of classes"):
        model.fit(X[:32], Y[:32], class_weight={3: 2}, verbose=0)
    untrained = odt.Sequential(layers())
    untrained.compile(None, Entropy())
    untrained.calibrate(X[:32])
    before = untrained.digest()
    with pytest.raises(RuntimeError, match="compiled with optimizer=None"):
        tent.adapt(untrained, X[:32], guard=False)
    assert untrained.digest() == before

    class Within:
        def on_batch_end(self, step):
            tent.adapt(model, X[:32])

    with pytest.raises(RuntimeError, match="adapt: fit is underway"):
        model.fit(X[:32], Y[:32], epochs=1, verbose=0, callbacks=[Within()])


@pytest.mark.parametrize("diversity", (-1, 17, "1", None, float("nan"), 0.0001))
def test_a_diversity_that_is_none_is_refused(diversity):
    with pytest.raises(ValueError, match="Entropy: diversity is 0, or a number in 0.001..16, got"):
        Entropy(diversity)
