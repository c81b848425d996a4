"""RoundedSGD: int8 weights without residuals (odt/adapt/rounded.py)."""

import numpy as np
import pytest
from digits_data import X, Y, cnn
from single_calls import call, control

import odt
from odt import executor
from odt.adapt import RoundedSGD, update
from odt.base.primitives import scale_of
from odt.noise import Noisy


def reader(optimizer, **options):
    model = odt.Sequential(cnn())
    model.compile(optimizer, **{"batch_size": 16, "seed": 1, **options})
    return model


def as_float(words):
    return np.asarray(words, np.int32).view(np.float32)


def test_a_step_is_whole_and_exact_on_average():
    """Against the formula in float64: of one step for many weights, and of many steps."""
    rng = np.random.default_rng(8)
    n, k = 2, 4000
    w = rng.integers(-100, 101, (n, k)).astype(np.int8)
    scales = np.array([0.01, 0.02], np.float32)
    d = rng.integers(-500000, 500000, (n, k))
    operands = dict(w=w, sw=scales.view(np.int32), d=d, ds=[scale_of(2e-5)] * n, rate=0.001)
    got = call("round_i8", dict(operands, c=control(KEY=4)), N=n, K=k, id=1, common=0)
    exact = -0.001 * 2e-5 * d / scales[:, None]
    moved = got["w"].reshape(n, k).astype(float) - w
    assert np.abs(exact).max() > 0.9 and np.abs(moved - exact).max() < 1
    share = np.abs(exact - np.floor(exact))
    assert abs((moved - exact).mean()) < 4 * np.sqrt((share * (1 - share)).mean() / (n * k))
    total = np.zeros((n, k))
    for key in range(2, 202):
        total += call("round_i8", dict(operands, c=control(KEY=key)), N=n, K=k, id=1, common=0)["w"].reshape(n, k) - w
    error = (total / 200 - exact) / np.sqrt(np.maximum(share * (1 - share), 1e-3) / 200)
    assert np.abs(error).max() < 5.5 and 0.9 < error.std() < 1.1


@pytest.mark.parametrize("common", (0, 1))
def test_a_row_that_is_full_gets_twice_its_scale(common):
    n, k = 3, 50
    w = np.arange(n * k).reshape(n, k) % 100 - 50
    w[1, 7] = 127
    d = np.zeros((n, k), int)
    d[1, 7] = -1000
    operands = dict(w=w.astype(np.int8), sw=np.full(n, 0.5, np.float32).view(np.int32), d=d, ds=[scale_of(1.0)] * n)
    got = call("round_i8", dict(operands, rate=1.0, c=control(KEY=4)), N=n, K=k, id=1, common=common)
    rows = slice(None) if common else slice(1, 2)
    expected = w.copy()
    expected[rows] = np.round(w[rows] / 2)  # to even
    factors = np.ones(n)
    factors[rows] = 2
    np.testing.assert_array_equal(got["w"].reshape(n, k), expected)
    np.testing.assert_array_equal(as_float(got["sw"]), 0.5 * factors)
    assert got["limited"] == 0


def test_a_weight_that_trains_takes_a_byte_less():
    model, whole = reader(RoundedSGD(0.05)), reader(odt.SGD(0.05))
    kernels = sum([np.prod(layer.kernel_shape) for layer in model.layers if layer.kernel_shape])
    assert len(whole.session.state) - len(model.session.state) == kernels
    assert len(model.session.arena) == len(whole.session.arena)


@pytest.mark.parametrize("momentum", (0, 0.9))
def test_digits_are_learned_as_with_residuals(momentum):
    rate = 0.02 if momentum else 0.1
    found = []
    for kind in (odt.SGD, RoundedSGD):
        model = reader(kind(rate, momentum))
        model.fit(X[:1200], Y[:1200], epochs=8, verbose=0)
        found.append(model.evaluate(X[1200:], Y[1200:])[1])
    assert found[0] > 0.88 and found[1] > found[0] - 0.03, found


@pytest.mark.parametrize("options", ({}, {"micro_batch": 4}, {"batch_size": 1}), ids=str)
def test_both_executors_compute_the_same_bits(options):
    digests = []
    for backend in ("native", "reference"):
        executor.use(backend)
        try:
            model = reader(RoundedSGD(0.1, 0.9, global_clipnorm=5), **options)
            before = bytes(model.session.state)
            for at in range(0, 48, 16):
                model.train_on_batch(X[at : at + model.batch_size], Y[at : at + model.batch_size])
            assert bytes(model.session.state) != before
            digests.append(model.digest())
        finally:
            executor.use("native")
    assert digests[0] == digests[1]


def test_in_float32_it_is_sgd():
    digests = []
    for kind in (odt.SGD, RoundedSGD):
        model = reader(kind(0.05, 0.9, nesterov=True), dtype="float32")
        model.fit(X[:160], Y[:160], epochs=2, verbose=0)
        digests.append(model.digest())
    assert digests[0] == digests[1]


def test_files_and_checkpoints_go_on_with_the_same_bits(tmp_path):
    model = reader(RoundedSGD(0.1))
    model.fit(X[:320], Y[:320], epochs=1, verbose=0)
    model.export(tmp_path / "rounded.odt")
    model.save(tmp_path / "rounded.ckpt")
    opened, again = odt.load_model(str(tmp_path / "rounded.odt")), reader(RoundedSGD(0.1))
    again.load(tmp_path / "rounded.ckpt")
    for each in (model, opened, again):
        each.fit(X[:320], Y[:320], epochs=2, initial_epoch=1, verbose=0)
    assert model.digest() == opened.digest() == again.digest()
    with pytest.raises(ValueError):
        reader(odt.SGD(0.1)).load(tmp_path / "rounded.ckpt")
    taken = reader(RoundedSGD(0.1))
    taken.set_weights(model.get_weights())
    for mine, other in zip(taken.get_weights(), model.get_weights()):
        step = np.abs(np.array(other)).max() / 64  # at most: the largest weight of a row has 64 steps
        assert np.abs(np.array(mine) - np.array(other)).max() <= 0.51 * step


def test_rows_of_split_kernels_have_none_either():
    """Beside the same steps with whole kernels."""

    def made(**options):
        model = odt.Sequential(cnn())
        update.channels(model, {"conv2d_1": ((2, 3), (8, 4)), "dense": ((0, 10),)})
        model.compile(RoundedSGD(0.05), batch_size=1, seed=1, **options)
        return model

    whole = made()
    frozen = odt.files.frozen.pack(whole)
    with pytest.raises(MemoryError) as error:
        made(frozen=frozen, memory_budget=1)
    split = made(frozen=frozen, memory_budget=int(str(error.value).split("at least ")[1].split()[0]))
    assert len(split.session.state) < len(whole.session.state) - 500
    for model in (whole, split):
        model.fit(X[:24], Y[:24], epochs=1, verbose=0)
    for mine, other in zip(whole.get_weights(), split.get_weights()):
        assert list(mine) == list(other)


def test_weights_under_noise_have_none():
    model = reader(Noisy(RoundedSGD(0.1), 0.05))
    whole = reader(Noisy(odt.SGD(0.1), 0.05))
    assert len(model.session.state) < len(whole.session.state) - 1000
    model.fit(X[:320], Y[:320], epochs=6, verbose=0)
    assert model.evaluate(X[:320], Y[:320])[1] > 0.7


def test_what_needs_residuals_is_refused_by_name():
    with pytest.raises(TypeError, match="weight_decay"):
        RoundedSGD(0.1, weight_decay=0.1)
    with pytest.raises(ValueError, match="RoundedSGD: .* with ZerothOrder take SGD"):
        reader(odt.ZerothOrder(0.003, tail=1, optimizer=RoundedSGD(0.1)))
    model = odt.Sequential(cnn())
    update.dynamic(model)
    with pytest.raises(ValueError, match="RoundedSGD: .* with a dynamic update take SGD"):
        model.compile(RoundedSGD(0.1), batch_size=16)
