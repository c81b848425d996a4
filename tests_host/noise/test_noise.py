"""odt.noise: gradients of noisy weights against PyTorch in float64, noise against a normal distribution, models that
stay as they are.
"""

import numpy as np
import pytest
import torch
from checkout import ROOT

import odt
from odt.base import opcodes
from odt.noise import Noisy, evaluate

SIZES = 26, 24, 22, 20, 18, 16
SIGMA = (sum(size * size for size in SIZES) / 2) ** 0.5
X = np.random.default_rng(5).normal(size=(24, 6, 6, 1)).astype("float32")
Y = np.random.default_rng(6).integers(0, 4, 24).astype("uint8")


@pytest.fixture(autouse=True)
def native():
    yield
    odt.executor.use("native")


def image():
    return [
        odt.Input((6, 6, 1)), odt.Conv2D(5, 3, activation="relu"), odt.DepthwiseConv2D(3, padding="same"),
        odt.MaxPool2D(), odt.Flatten(), odt.Dense(4),
    ]  # fmt: skip


def mlp(inputs=9, hidden=7, outputs=4):
    return [odt.Input((inputs,)), odt.Dense(hidden, "relu"), odt.Dense(outputs)]


def compiled(optimizer, dtype="int8", layers=None, **options):
    model = odt.Sequential(layers or image())
    model.compile(optimizer, dtype=dtype, **{"batch_size": 24, "seed": 3, **options})
    return model


# The noise by NumPy alone: the hash of docs/reference/numerics.md, streams' ids as the program has them


def hash32(key, i):
    mask = np.uint64(0xFFFFFFFF)
    u = (np.uint64(key) + np.asarray(i, "uint64") * np.uint64(0x9E3779B9)) & mask
    u = ((u ^ (u >> np.uint64(16))) * np.uint64(0x7FEB352D)) & mask
    u = ((u ^ (u >> np.uint64(15))) * np.uint64(0x846CA68B)) & mask
    return u ^ (u >> np.uint64(16))


def drawn(model, step, count):
    """{id of the first stream: draws of standard deviation 1} of a step, ``count(id)`` numbers each."""
    ids = []
    for _, code, _, immediates in model.program.walk(*model.session.sections["train"]):
        if code.name.startswith("perturb"):
            ids.append(immediates[code.immediates.index("id")])
    opcodes.forget()
    key, found = int(hash32(model.session.seed, step)), {}
    for first in dict.fromkeys(ids[:: len(SIZES)]):
        i, total = np.arange(count(first), dtype="uint64"), 0
        for number, size in enumerate(SIZES):
            stream = int(hash32(key, ids[ids.index(first) + number]))
            two = hash32(stream, i >> np.uint64(4)) >> np.uint64(2) * (i % np.uint64(16)) & np.uint64(3)
            total = total + size * np.array([0, 1, 0, -1])[two.astype(int)]
        found[first] = total / SIGMA
    return found


def noisy_kernels(model, step, kernels, weight, drift, largest):
    """The kernels as a step has them; ``largest``: of each, after the step before."""
    kinds = (weight > 0) + (drift > 0)
    draws = list(drawn(model, step, lambda _: max(kernel.size for kernel in kernels)).values())
    made = []
    for number, (kernel, most) in enumerate(zip(kernels, largest)):
        mine = [draw[: kernel.size].reshape(kernel.shape) for draw in draws[number * kinds : (number + 1) * kinds]]
        noise = weight * most * mine[0] if weight else 0
        made.append(kernel + noise + (drift * kernel * mine[-1] if drift else 0))
    return made


def loss_and_gradients(kernels, biases, x, y):
    """Of the network image(), by PyTorch in float64."""
    import torch.nn.functional as F

    w = [torch.tensor(kernel, dtype=torch.float64, requires_grad=True) for kernel in kernels]
    b = [torch.tensor(bias, dtype=torch.float64) for bias in biases]
    h = torch.tensor(x, dtype=torch.float64).permute(0, 3, 1, 2)
    h = F.relu(F.conv2d(h, w[0].permute(0, 3, 1, 2), b[0]))
    h = F.conv2d(h, w[1].permute(0, 3, 1, 2), b[1], padding=1, groups=5)
    h = F.max_pool2d(h, 2).permute(0, 2, 3, 1).flatten(1)
    loss = F.cross_entropy(F.linear(h, w[2], b[2]), torch.tensor(y.astype("int64")))
    loss.backward()
    return loss.item(), [each.grad.numpy() for each in w]


SHAPES = (5, 3, 3, 1), (5, 3, 3, 1), (4, 20)


def parts(model):
    weights = [np.array(each, "float64") for each in model.get_weights()]
    return [each.reshape(shape) for each, shape in zip(weights[::2], SHAPES)], weights[1::2]


@pytest.mark.parametrize("weight, drift", ((0.1, 0), (0, 0.2), (0.2, 0.1)))
def test_float_steps_follow_pytorchs_gradients_of_noisy_weights(weight, drift):
    model = compiled(Noisy(odt.SGD(0.1), weight, drift), "float32")
    largest = [0, 0, 0]  # of the first step there is no step before
    for step in range(1, 7):
        kernels, biases = parts(model)
        loss, gradients = loss_and_gradients(noisy_kernels(model, step, kernels, weight, drift, largest), biases, X, Y)
        assert model.train_step(X, Y) == pytest.approx(loss, rel=2e-5)
        after, _ = parts(model)
        for before, gradient, now in zip(kernels, gradients, after):
            np.testing.assert_allclose(now, before - 0.1 * gradient, rtol=0, atol=2e-5 * abs(gradient).max() + 1e-7)
        largest = [abs(kernel).max() for kernel in after]


@pytest.mark.parametrize("weight, drift", ((0.1, 0), (0, 0.2), (0.1, 0.1)))
def test_int8_losses_are_those_of_noisy_weights(weight, drift):
    """Each step's loss less that without noise; per channel, the depthwise kernel's noise is of its row's largest."""
    model = compiled(Noisy(odt.SGD(0), weight, drift))
    model.train_step(X, Y)
    kernels, biases = parts(model)
    clean, found, expected = loss_and_gradients(kernels, biases, X, Y)[0], [], []
    rows = abs(kernels[1]).max((1, 2, 3), keepdims=True)
    for step in range(2, 32):
        noisy = noisy_kernels(model, step, kernels, weight, drift, [abs(kernels[0]).max(), rows, abs(kernels[2]).max()])
        expected.append(loss_and_gradients(noisy, biases, X, Y)[0] - clean)
        found.append(model.train_step(X, Y) - clean)
    found, expected = np.array(found), np.array(expected)
    assert expected.std() > 0.02
    assert np.corrcoef(found, expected)[0, 1] > 0.97
    assert found @ expected / (expected @ expected) == pytest.approx(1, abs=0.1)


def test_draws_are_near_a_normal_distribution():
    from statistics import NormalDist

    model = compiled(Noisy(odt.SGD(0.1), 0.1), "float32", mlp())
    draws = np.concatenate(list(drawn(model, 1, lambda _: 40000).values()))
    assert abs(draws.mean()) < 0.01 and draws.std() == pytest.approx(1, abs=0.01)
    assert (draws**4).mean() == pytest.approx(2.8, abs=0.1)
    places = np.linspace(-2.5, 2.5, 41)
    shares = np.searchsorted(np.sort(draws), places) / len(draws)
    assert abs(shares - [NormalDist().cdf(place) for place in places]).max() < 0.02
    assert abs(np.corrcoef(draws[:40000], draws[40000:])[0, 1]) < 0.02


# What stays as it is


def bits(model):
    """The weights' bytes: kernels, residuals, scales, biases."""
    state, found = bytes(model.session.state), []
    for _, weights in model.session.plan.weights:
        for buffer in (weights.kernel, weights.residual, weights.scale, weights.bias):
            if buffer:
                found.append(state[buffer.offset : buffer.offset + buffer.size])
    return found


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_weights_stay_as_they_are_where_the_rate_is_0(dtype):
    model = compiled(Noisy(odt.SGD(0), 0.3, 0.3), dtype)
    before = bits(model)
    model.fit(X, Y, epochs=3, verbose=0)
    assert bits(model) == before


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_without_noise_it_is_the_optimizer_alone(dtype):
    plain, noisy = compiled(odt.Adam(), dtype), compiled(Noisy(odt.Adam(), 0, 0), dtype)
    for model in (plain, noisy):
        model.fit(X, Y, epochs=2, verbose=0)
    assert plain.digest() == noisy.digest() and plain.session.plan.arena == noisy.session.plan.arena


@pytest.mark.parametrize("count", (24, 7, 1))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_predictions_have_no_noise_in_whole_batches_and_others(dtype, count):
    model = compiled(Noisy(odt.SGD(0.05), 0.3, 0.3), dtype)
    model.fit(X, Y, epochs=3, verbose=0)
    plain = compiled(odt.SGD(0), dtype)
    plain.load_weights(model)
    for backend in ("native", "reference"):
        odt.executor.use(backend)
        first, again = [np.array(model.predict(X[:count])) for _ in range(2)]
        assert (first == again).all()
        expected = np.array(plain.predict(X[:count]))
        np.testing.assert_allclose(first, expected, atol=1e-5 if dtype == "float32" else 0.1 * abs(expected).max())
        assert model.evaluate(X[:count], Y[:count])[0] == pytest.approx(
            plain.evaluate(X[:count], Y[:count])[0], rel=0.1
        )


class Interrupting:
    """An executor that raises KeyboardInterrupt before or after instruction ``at`` of all that it runs."""

    def __init__(self, model, late):
        self.engine, self.program, self.late = model.session.engine, model.program, late
        self.at, self.done = None, 0

    def __getattr__(self, name):
        if name in ("calibrate", "step"):  # which would run instructions by itself
            raise AttributeError(name)
        return getattr(self.engine, name)

    def run(self, loaded, regions, start, stop, rows=0):
        for at, code, _, _ in self.program.walk(start, stop):
            self.done += 1
            if self.done - 1 == self.at and not self.late:
                raise KeyboardInterrupt
            self.engine.run(loaded, regions, at, at + code.words, rows)
            if self.done - 1 == self.at:
                raise KeyboardInterrupt


@pytest.mark.parametrize("late", (False, True))
@pytest.mark.parametrize("dtype, micro", (("int8", None), ("int8", 2), ("float32", None)))
def test_weights_are_as_they_were_wherever_a_step_or_a_measurement_is_interrupted(dtype, micro, late):
    layers = [odt.Input((6, 6, 1)), odt.Conv2D(2, 3, activation="relu"), odt.Flatten(), odt.Dense(4)]
    model = compiled(Noisy(odt.SGD(0), 0.3, 0.1), dtype, layers, batch_size=3, micro_batch=micro)
    model.fit(X[:3], Y[:3], verbose=0)
    model.session.engine = engine = Interrupting(model, late)
    for call, kept in (
        (lambda: model.train_step(X[:3], Y[:3]), lambda: bits(model)),
        (lambda: evaluate(model, X[:4], Y[:4], draws=2), lambda: (bits(model), model.digest(), model.evaluate(X, Y))),
    ):
        engine.at = None
        measures, before = False, kept()
        for at in range(1000):
            engine.at, engine.done = at, 0
            try:
                call()
            except KeyboardInterrupt:
                measures |= engine.done > 0
                engine.at = None
                assert kept() == before, at
                continue
            break
        assert at > 30 and measures
        engine.at = None
        assert kept() == before


# On every executor, in parts, and on


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_both_executors_micro_batches_and_recomputation_end_with_one_digest(dtype):
    digests = []
    for backend, options in (
        ("native", {}), ("reference", {}), ("native", {"micro_batch": 24}), ("native", {"checkpoint": "sqrt"}),
        ("native", {"micro_batch": 5}), ("reference", {"micro_batch": 5}),
    ):  # fmt: skip
        odt.executor.use(backend)
        model = compiled(Noisy(odt.Adam(0.01), 0.1, 0.1), dtype, **options)
        for _ in range(4):
            model.train_step(X[:23], Y[:23])
        digests.append(model.digest())
    assert len(set(digests[:4])) == 1 and digests[4] == digests[5]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_large_kernel_is_noisy_too(dtype):
    """Its largest weight is looked for in chunks, its copy is made again for the backward pass."""
    model = compiled(Noisy(odt.SGD(0), 0.2), dtype, mlp(300, 9), batch_size=4)
    x = np.random.default_rng(1).normal(size=(4, 300)).astype("float32")
    weights = model.get_weights()
    weights[0] = np.array(weights[0])
    weights[0][2477] = -0.75  # in the last chunk, and negative
    model.set_weights(weights)
    found, expected = [], []
    kernels = [np.array(each, "float64") for each in model.get_weights()]
    hidden, last = kernels[0].reshape(9, 300), kernels[2].reshape(4, 9)
    for step in range(1, 31):
        found.append(model.train_step(x, Y[:4]))
        first, second = noisy_kernels(model, step, [hidden, last], 0.2, 0, [0.75, abs(last).max()])
        z = np.maximum(x @ first.T, 0) @ second.T
        expected.append(np.mean(np.log(np.exp(z).sum(1)) - z[np.arange(4), Y[:4]]))
    found, expected = np.array(found[10:]), np.array(expected[10:])  # int8's ranges have followed the noise
    if dtype == "float32":
        np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert np.corrcoef(found, expected)[0, 1] > 0.98
    assert found @ expected / (expected @ expected) == pytest.approx(1, abs=0.05)
    digests = []
    for backend in ("native", "reference"):
        odt.executor.use(backend)
        model = compiled(Noisy(odt.Adam(0.01), 0.2, 0.1), dtype, mlp(300, 9), batch_size=4)
        model.train_step(x, Y[:4])
        model.train_step(x, Y[:4])
        digests.append(model.digest())
    assert digests[0] == digests[1]


def sequences():
    x = odt.Input((6, 6))
    y = odt.Dropout(0.2)(odt.GRU(4, return_sequences=True)(x))
    y = odt.Flatten()(odt.LayerNorm()(odt.MultiHeadAttention(2)(y)))
    return odt.Model(x, odt.Dense(4)(y))


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_recurrence_attention_and_dropout_train_under_noise(dtype):
    digests = []
    for backend in ("native", "reference"):
        odt.executor.use(backend)
        model = sequences()
        model.compile(Noisy(odt.Adam(0.01), 0.1, 0.1), dtype=dtype, batch_size=24, seed=2)
        for _ in range(3):
            model.train_step(X, Y)
        model.calibrate(X, Y)
        digests.append(model.digest())
    assert digests[0] == digests[1]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_checkpoint_and_a_model_file_go_on_to_the_same_bits(tmp_path, dtype):
    model = compiled(Noisy(odt.Adam(0.01), 0.1, 0.1), dtype, batch_size=8)
    model.fit(X, Y, epochs=2, verbose=0)
    model.save(str(tmp_path / "a.bin"))
    model.export(str(tmp_path / "a.odt"))
    model.fit(X, Y, epochs=4, initial_epoch=2, verbose=0)
    again = compiled(Noisy(odt.Adam(0.01), 0.1, 0.1), dtype, batch_size=8)
    again.load(str(tmp_path / "a.bin"))
    again.fit(X, Y, epochs=4, initial_epoch=2, verbose=0)
    opened = odt.load_model(str(tmp_path / "a.odt"))
    opened.fit(X, Y, epochs=4, initial_epoch=2, verbose=0)
    assert again.digest() == opened.digest() == model.digest()


def test_frozen_layers_and_layers_of_which_rows_train_are_noisy_too():
    model = odt.Sequential(mlp(36, 7))
    odt.adapt.update.channels(model, {model.layers[1].name: [(1, 2)]})
    model.compile(Noisy(odt.SGD(0), 0.3), batch_size=24, seed=3)
    x = X.reshape(24, 36)
    losses = {model.train_step(x, Y) for _ in range(6)}
    assert len(losses) == 6
    data = odt.files.frozen.pack(model)
    inside = odt.Sequential(mlp(36, 7))
    inside.layers[0].trainable = False
    inside.compile(odt.SGD(0), batch_size=24)
    data = odt.files.frozen.pack(inside)
    inside.compile(Noisy(odt.SGD(0), 0.3), batch_size=24, frozen=data)
    assert len({inside.train_step(x, Y) for _ in range(6)}) == 6


def test_training_under_noise_is_worth_more_under_noise():
    data = (ROOT / "examples/digits/digits.bin").read_bytes()
    x = np.frombuffer(data[: 1797 * 64], "uint8").reshape(-1, 8, 8, 1)
    y = np.frombuffer(data[1797 * 64 :], "uint8")
    found = []
    for optimizer in (odt.Adam(0.004), Noisy(odt.Adam(0.004), 0.1)):
        layers = [odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(8, 3, strides=2, activation="relu"),
                  odt.Flatten(), odt.Dense(10)]  # fmt: skip
        model = compiled(optimizer, layers=layers, batch_size=16)
        model.fit(x[:1200], y[:1200], epochs=20, verbose=0)
        found.append((model.evaluate(x[1200:], y[1200:])[1], evaluate(model, x[1200:], y[1200:], 0.2, draws=5)[0]))
    assert found[1][1] > found[0][1] + 0.05 and found[1][0] > found[0][0] - 0.02


# Arguments


@pytest.mark.parametrize("make, error, words", (
    (lambda: Noisy(weight=-0.1), ValueError, "Noisy: weight is 0, or a share in 0.0001..0.5, got -0.1"),
    (lambda: Noisy(weight=0.6), ValueError, "weight is 0, or a share in 0.0001..0.5, got 0.6"),
    (lambda: Noisy(weight=float("nan")), ValueError, "weight is 0, or a share in 0.0001..0.5, got nan"),
    (lambda: Noisy(weight="0.1"), TypeError, "Noisy: weight is a number, got '0.1'"),
    (lambda: Noisy(drift=-1), ValueError, "Noisy: drift is 0, or a share in 0.0001..0.5, got -1"),
    (lambda: Noisy(drift=None), TypeError, "Noisy: drift is a number, got None"),
    (lambda: Noisy("adam"), TypeError, "Noisy: optimizer is an SGD or an Adam, got 'adam'"),
    (lambda: Noisy(Noisy()), TypeError, "Noisy: optimizer is an SGD or an Adam, got <"),
    (lambda: Noisy(odt.ZerothOrder()), TypeError, "Noisy: optimizer is an SGD or an Adam, got <"),
))  # fmt: skip
def test_bad_arguments_are_refused(make, error, words):
    with pytest.raises(error, match=words.replace(".", r"\.")):
        make()


def test_weights_of_4_bits_are_refused_and_the_model_is_as_before():
    model = odt.Sequential([odt.Input((64,)), odt.Dense(32, "relu"), odt.Dense(4)])
    model.layers[0].trainable = False
    model.compile(odt.SGD(0.1), batch_size=4)
    x = np.random.default_rng(1).normal(size=(16, 64)).astype("float32")
    model.fit(x, Y[:16], verbose=0)
    data = odt.files.frozen.pack(model, bits=4)
    digest = model.digest()
    with pytest.raises(ValueError, match="Noisy: .*dense.* is frozen with 4 bits"):
        model.compile(Noisy(odt.SGD(0.1)), batch_size=4, frozen=data)
    assert model.digest() == digest
    model.compile(odt.SGD(0.1), batch_size=4, frozen=data)
    with pytest.raises(ValueError, match="evaluate: .*dense.* is frozen with 4 bits"):
        evaluate(model, x, Y[:16])
