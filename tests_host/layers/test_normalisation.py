"""LayerNorm, GroupNorm and BatchNorm against PyTorch, and what they do beside the gradient."""

from array import array
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from gradient_cases import LOSSES, batch, dequantized, int8_gradients
from twin import Twin

import odt
from odt.base.fixed import bits_to_float, float_to_bits
from odt.base.opcodes import KEY
from odt.base.primitives import scale_add, scale_sqrt
from odt.reference import norm_i8
from odt.run import session

NETWORKS = {
    "vectors": ((7,), lambda norm: [odt.Dense(12), norm(), odt.Dense(12, activation="relu"), norm(), odt.Dense(3)]),
    "series": ((11, 3), lambda norm: [
        odt.Conv1D(6, 3), norm(), odt.ReLU(), odt.Conv1D(6, 2, strides=2), norm(), odt.Flatten(), odt.Dense(3),
    ]),
    "images": ((7, 6, 3), lambda norm: [
        odt.Conv2D(6, 3, padding="same", use_bias=False), norm(), odt.ReLU6(), odt.DepthwiseConv2D(3),
        norm(epsilon=1e-5),
        odt.GlobalAvgPool(), odt.Dense(3),
    ]),
    "below others": ((6, 6), lambda norm: [norm(), odt.Conv1D(6, 2, activation="relu"), odt.MaxPool1D(2), norm(),
    odt.Flatten(), odt.Dense(3)]),
    "at the end": ((6,), lambda norm: [odt.Dense(3), norm()]),
    "frozen": ((8, 3), lambda norm: [odt.Conv1D(6, 3), norm(trainable=False), odt.ReLU(), odt.Conv1D(6, 1), norm(),
    odt.Flatten(), odt.Dense(3)]),
}  # fmt: skip
# Of one normalisation, without biases before it, whose gradients cancel: what int8 is held to.
SINGLE = {
    "vectors": ((7,), lambda norm: [odt.Dense(24, use_bias=False), norm(), odt.ReLU(), odt.Dense(3)]),
    "series": ((11, 3), lambda norm: [
        odt.Conv1D(6, 3, use_bias=False), norm(), odt.ReLU(), odt.Conv1D(6, 2, strides=2), odt.Flatten(), odt.Dense(3),
    ]),
    "images": ((7, 6, 3), lambda norm: [
        odt.Conv2D(12, 3, padding="same", use_bias=False), norm(), odt.ReLU6(), odt.AvgPool2D(), odt.Flatten(),
        odt.Dense(3),
    ]),
    "before a convolution": ((9, 6), lambda norm: [norm(), odt.Conv1D(6, 2, activation="relu"), odt.Flatten(),
    odt.Dense(3)]),
    "at the end": ((6,), lambda norm: [odt.Dense(12, use_bias=False), norm(), odt.Reshape((4, 3)),
    odt.GlobalAvgPool()]),
    "frozen": ((8, 3), lambda norm: [odt.Conv1D(6, 3, use_bias=False), norm(trainable=False), odt.ReLU(), odt.Flatten(),
    odt.Dense(3)]),
}  # fmt: skip
KINDS = {"layer": odt.LayerNorm, "group": lambda **options: odt.GroupNorm(3, **options), "batch": odt.BatchNorm}


def cases(networks):
    every = [(name, kind) for name in sorted(networks) for kind in sorted(KINDS)]
    return [case for case in every if networks is SINGLE or case != ("at the end", "group")]


def build(name, kind, networks=NETWORKS):
    shape, network = networks[name]
    return odt.Sequential([odt.Input(shape)] + network(KINDS[kind]))


def randomised(model, seed=5):
    """Weights of which no gamma is 1, no beta 0, no moving mean 0."""
    random = np.random.default_rng(seed)
    values = []
    for layer, _ in model.session.plan.weights:
        for name, shape in layer.weight_shapes():
            value = np.array(model.get_weights()[len(values)])
            if name in ("gamma", "moving_variance"):
                value = random.uniform(0.5, 2, shape) * (1 if name[0] == "m" else random.choice((1, -1), shape))
            elif name != "kernel":
                value = random.normal(size=shape) * 0.3
            values.append(value.astype("float32"))
    return values


def names(model):
    return [name for layer, _ in model.session.plan.weights for name, _ in layer.weight_shapes()]


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name, kind", cases(NETWORKS))
def test_float32_gradients_match_pytorch(name, kind, loss):
    model = build(name, kind)
    model.compile(odt.SGD(0.125), loss, dtype="float32", batch_size=8, seed=3)
    model.set_weights(randomised(model))
    x, y = batch(model, loss, 1)
    before = model.get_weights()
    expected = Twin(model).gradients(x, y, loss)
    exact = Twin(model).loss(x, y, loss).item()
    assert model.train_step(x, y) == pytest.approx(exact, rel=1e-5)
    for weight, old, new, gradient in zip(names(model), before, model.get_weights(), expected):
        moved = (np.array(old, "float64") - np.array(new, "float64")) * 8
        if gradient is None:
            assert "moving" in weight or not moved.any()
            continue
        if np.linalg.norm(gradient) < 1e-6:  # a bias before a normalisation over its channel has none
            assert np.linalg.norm(moved) < 1e-5
            continue
        assert np.linalg.norm(moved - gradient) < 1e-4 * np.linalg.norm(gradient)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name, kind", cases(SINGLE))
def test_int8_gradients_follow_the_dequantized_network(name, kind, loss):
    model = build(name, kind, SINGLE)
    model.compile(odt.SGD(0.125), loss, dtype="int8", batch_size=64, seed=3)
    model.set_weights(randomised(model))
    x, y = batch(model, loss, 1, 64)
    for ours, exact in int8_gradients(model, x, y, loss):
        assert ours @ exact > 0.99 * np.linalg.norm(ours) * np.linalg.norm(exact)
        assert 0.9 < np.linalg.norm(ours) / np.linalg.norm(exact) < 1.1


@pytest.mark.parametrize("sizes", ((40, 1, 1, 24), (6, 30, 3, 4), (1, 200, 6, 1)))
def test_int8_layer_and_its_gradients_are_those_of_real_numbers(sizes):
    """The instructions alone, forward and backward, against PyTorch's autograd on what the integers mean."""
    rows, positions, groups, channels = sizes
    width = groups * channels
    random = np.random.default_rng(7)
    x = np.clip(random.normal(-20, 25, (rows, positions, groups, channels)), -128, 127).round()
    e = np.clip(random.normal(0, 40, x.shape), -127, 127).round()
    gamma = (random.uniform(-2, 2, width) * 2**20).round()
    beta = (random.normal(size=width) * 2**20).round()
    sx, se, sy, sdx = 0.03, 0.002, 0.06, 0.002
    o = SimpleNamespace(
        M=rows, S=positions, G=groups, C=channels, N=width, z=-30, zx=-30, zy=5, lo=-127, bits=8, rows=0,
        factor=float_to_bits(1.0), eps=float_to_bits(1e-3), x=array("b", x.astype("int8").ravel()),
        e=array("b", e.astype("int8").ravel()), gamma=array("i", gamma.astype("int32")),
        beta=array("i", beta.astype("int32")), sx=[float_to_bits(sx)], se=[float_to_bits(se)], sy=[float_to_bits(sy)],
        sdx=[float_to_bits(sdx)], peak=[0], st=array("i", bytes(8 * rows * groups)), q=array("i", bytes(8 * width)),
        b=array("i", bytes(4 * width)), dw=array("i", bytes(4 * width)), y=array("b", bytes(x.size)),
        dx=array("b", bytes(x.size)), c=array("i", bytes(64)), id=3, F=x.size // rows,
    )  # fmt: skip
    for name in ("norm_stats_i8", "affine_i8", "norm_i8", "norm_dw_i8"):
        getattr(norm_i8, name)(o)
    assert o.peak[0] <= 127 and o.y.tolist() == np.clip(o.y, -122, 127).tolist()
    draws = []
    for step in range(1, 65):
        o.peak, o.c[KEY] = [0], step
        norm_i8.norm_dx_i8(o)
        draws.append(np.array(o.dx))
    real = torch.tensor((x + 30) * sx, requires_grad=True)
    gain = torch.tensor(gamma.reshape(groups, channels) / 2**20, requires_grad=True)
    mean = real.mean((1, 3), keepdim=True)
    variance = real.var((1, 3), keepdim=True, correction=0)
    y = (real - mean) / torch.sqrt(variance + 1e-3) * gain + torch.tensor(beta.reshape(groups, channels) / 2**20)
    y.backward(torch.tensor(e * se))
    expected = y.detach().numpy().ravel() / sy + 5
    assert np.abs(np.array(o.y) - np.clip(expected, -127, 127)).max() < 0.51
    expected = np.clip(real.grad.numpy().ravel() / sdx, -127, 127)
    assert np.abs(draws - expected).max() < 1.03  # rounded up or down at random, but on the average to neither
    errors = np.mean(draws, 0) - expected
    assert np.abs(errors).max() < 6 * 0.5 / 64**0.5 and abs(errors.mean()) < 6 * 0.5 / (64 * x.size) ** 0.5
    expected = gain.grad.numpy().ravel() / se * 256
    assert np.linalg.norm(np.array(o.dw) - expected) < 0.002 * np.linalg.norm(expected)


def test_scales_add_and_have_roots_as_real_numbers_do():
    random = np.random.default_rng(3)
    for _ in range(2000):
        a, b = np.exp2(random.uniform(-30, 30, 2)).astype("float32")
        exact = float(a) + float(b)
        found = bits_to_float(scale_add(float_to_bits(a), float_to_bits(b)))
        assert abs(found - exact) < exact * 2**-23.5
        found = bits_to_float(scale_sqrt(float_to_bits(a)))
        assert -(2**-22.99) < found / float(a) ** 0.5 - 1 <= 2**-50


def test_batchnorm_follows_the_batches_and_predicts_by_what_it_followed():
    for dtype in ("float32", "int8"):
        model = odt.Sequential(
            [odt.Input((6, 3)), odt.Conv1D(5, 3, use_bias=False), odt.BatchNorm(0.75), odt.Flatten(), odt.Dense(3)]
        )
        model.compile(odt.SGD(0), dtype=dtype, batch_size=16, seed=3)
        x, y = batch(model, LOSSES[0], 1, 40)  # the last batch has 8 rows
        weights = model.get_weights() if dtype == "float32" else dequantized(model)
        twin = Twin(model, weights=weights)
        model.fit(x, y, epochs=3, shuffle=False, verbose=0)
        for _ in range(3):
            for at in (0, 16, 32):
                twin.forward(x[at : at + 16])
        _, _, mean, variance = twin.parameters[model.nodes[2]]
        found = model.get_weights()[3:5]
        close = 1e-5 if dtype == "float32" else 0.01
        assert np.abs(np.array(found[0]) - mean.numpy()).max() < close * variance.max() ** 0.5
        assert np.abs(np.array(found[1]) / variance.numpy() - 1).max() < close
        twin.training = False
        exact = twin.forward(x).detach().numpy().ravel()
        for _ in range(2):  # predict changes nothing
            digest = model.digest()
            error = np.abs(model.predict(x).ravel() - exact).max()
            assert error < (1e-5 if dtype == "float32" else 0.05 * np.abs(exact).max())
            assert model.digest() == digest
        loss, accuracy = model.evaluate(x, y)
        assert loss == pytest.approx(twin.loss(x, y).item(), rel=close * 3)


@pytest.mark.slow
def test_batchnorm_of_padded_rows_is_that_of_the_rows_alone():
    """A batch of 5 in a program for 8 moves the weights as one in a program for 5 does."""
    for dtype in ("float32", "int8"):
        results = []
        for size in (5, 8):
            model = odt.Sequential(
                [odt.Input((6, 3)), odt.Conv1D(5, 3), odt.BatchNorm(), odt.ReLU(), odt.Flatten(), odt.Dense(3)]
            )
            model.compile(odt.SGD(0.125), dtype=dtype, batch_size=size, seed=3)
            x, y = batch(model, LOSSES[0], 1, 5)
            model.train_step(x, y)
            results.append(np.concatenate([np.array(w) for w in model.get_weights()]))
        assert np.abs(results[0] - results[1]).max() < (1e-6 if dtype == "float32" else 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("float32", "int8"))
@pytest.mark.parametrize("below", ("conv", "conv without bias", "dense", "transposed", "depthwise"))
def test_frozen_batchnorm_becomes_part_of_the_frozen_layer_before_it(below, dtype):
    layer = {
        "conv": odt.Conv2D(5, 3, trainable=False),
        "conv without bias": odt.Conv2D(5, 3, use_bias=False, trainable=False, name="conv"),
        "dense": odt.Dense(5, trainable=False),
        "transposed": odt.Conv2DTranspose(5, 2, strides=2, trainable=False),
        "depthwise": odt.DepthwiseConv2D(2, trainable=False),
    }[below]
    norm = odt.BatchNorm(trainable=False)
    model = odt.Sequential([odt.Input((5, 4, 3)), layer, norm, odt.ReLU(), odt.Flatten(), odt.Dense(3)])
    plain = odt.Sequential([odt.Input((5, 4, 3)), layer, odt.ReLU(), odt.Flatten(), odt.Dense(3)])
    plain.compile(odt.Adam(), dtype=dtype, batch_size=8)
    model.compile(odt.Adam(), dtype=dtype, batch_size=8)
    instructions = [line.split()[1] for line in model.disassemble().splitlines() if line.split()[1:]]
    assert not [name for name in instructions if "norm" in name or "affine" in name or "stats" in name]
    if below != "conv without bias":  # which gets one
        assert model.disassemble() == plain.disassemble()
    values = randomised(model)
    x, y = batch(model, LOSSES[0], 1, 40)
    model.set_weights(values)
    exact = Twin(model, weights=values).forward(x).detach().numpy().ravel()
    error = np.abs(model.predict(x).ravel() - exact).max()
    assert error < (1e-5 if dtype == "float32" else 0.04) * np.abs(exact).max()
    digest = model.digest()
    model.set_weights(model.get_weights())  # the identity for the layer that is folded
    if dtype == "float32":
        assert model.digest() == digest
    kept = model.get_weights()
    model.fit(x, y, verbose=0)
    for before, after in zip(kept[:-2], model.get_weights()):
        assert before == after
    assert kept[-1] != model.get_weights()[-1]


def test_frozen_batchnorm_is_computed_where_it_cannot_be_folded():
    for dtype in ("float32", "int8"):
        x = odt.Input((6, 3))
        a = odt.Conv1D(4, 3)(x)  # trains
        b = odt.BatchNorm(trainable=False)(a)
        c = odt.Conv1D(4, 3, trainable=False)(x)  # read twice
        d = odt.BatchNorm(trainable=False)(c)
        e = odt.Conv1D(4, 3, trainable=False, activation="relu")(x)  # its ReLU comes first
        f = odt.BatchNorm(trainable=False)(e)
        model = odt.Model(x, odt.Dense(3)(odt.Flatten()(odt.Add()([b, c, d, f]))))
        model.compile(odt.SGD(0.01), dtype=dtype, batch_size=8)
        assert model.disassemble().count("running_stats") == 3
        assert "batch_stats" not in model.disassemble() and "track" not in model.disassemble()
        values = randomised(model)
        model.set_weights(values)
        samples, labels = batch(model, LOSSES[0], 1, 8)
        exact = Twin(model, weights=values).forward(samples).detach().numpy().ravel()
        error = np.abs(model.predict(samples).ravel() - exact).max()
        assert error < (1e-5 if dtype == "float32" else 0.05) * np.abs(exact).max()
        before = model.get_weights()
        model.train_step(samples, labels)
        moved = [name for name, a, b in zip(names(model), before, model.get_weights()) if a != b]
        assert moved == ["kernel", "bias", "kernel", "bias"]  # of the first convolution and of Dense


@pytest.mark.slow
def test_checkpoint_and_resumed_training_hold_the_statistics(tmp_path):
    for dtype in ("float32", "int8"):
        model = build("series", "batch")
        model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=2)
        x, y = batch(model, LOSSES[0], 1, 40)
        model.fit(x, y, epochs=2, verbose=0)
        model.save(str(tmp_path / "model"))
        model.fit(x, y, epochs=4, initial_epoch=2, verbose=0)
        again = build("series", "batch")
        again.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=9)
        again.load(str(tmp_path / "model"))
        again.fit(x, y, epochs=4, initial_epoch=again.epoch, verbose=0)
        assert again.digest() == model.digest()


@pytest.mark.slow
def test_layernorm_of_micro_batches_is_that_of_the_batch():
    models, state = [], None
    for micro in (None, 8, 3):
        model = odt.Sequential([
            odt.Input((6, 3)), odt.Conv1D(6, 3), odt.LayerNorm(), odt.ReLU(), odt.GroupNorm(2), odt.Flatten(),
            odt.Dense(3),
        ])  # fmt: skip
        model.compile(odt.SGD(0.05), batch_size=16, micro_batch=micro, seed=2)
        x, y = batch(model, LOSSES[0], 1, 40)
        if micro:
            model.session.state[:] = state
            model.session.calibrated = 2
        else:
            session.bind(model.session, x, y)
            model.session.prepare(2)  # a whole batch's ranges, for all three
            state = bytes(model.session.state)
        model.fit(x, y, epochs=2, verbose=0)
        models.append(model.digest())
    assert len(set(models)) == 1


BAD = (
    (lambda: odt.GroupNorm(0), ValueError, "GroupNorm: groups is in 1..67108863, got 0"),
    (lambda: odt.GroupNorm("2"), TypeError, "GroupNorm: groups is an int, got '2'"),
    (lambda: odt.LayerNorm(0), ValueError, "LayerNorm: epsilon is in 1e-12..1, got 0"),
    (lambda: odt.LayerNorm("a"), TypeError, "LayerNorm: epsilon is a number, got 'a'"),
    (lambda: odt.BatchNorm(1), ValueError, "BatchNorm: momentum is in 0.0001..0.9999, got 1"),
    (lambda: odt.BatchNorm(None), TypeError, "BatchNorm: momentum is a number, got None"),
    (lambda: odt.GroupNorm(4)(odt.Input((5, 6))), ValueError,
    "GroupNorm takes input of shape channels that are a multiple of 4 groups, got (5, 6)"),
    (lambda: odt.GroupNorm(6)(odt.Input((6,))), ValueError,
    "GroupNorm takes input of shape at least 2 numbers in a group, got (6,)"),
    (lambda: odt.LayerNorm(name="n")(odt.Input((6, 1))), ValueError,
    "n takes input of shape at least 2 channels, got (6, 1)"),
)  # fmt: skip


@pytest.mark.parametrize("make, error, text", BAD, ids=[text for _, _, text in BAD])
def test_wrong_arguments_are_named(make, error, text):
    with pytest.raises(error) as info:
        make()
    assert str(info.value) == text


def test_impossible_statistics_are_refused_and_the_model_is_as_before():
    model = odt.Sequential(
        [odt.Input((4,)), odt.Dense(2, trainable=False), odt.BatchNorm(trainable=False), odt.Dense(2)]
    )
    for dtype in ("float32", "int8"):
        model.compile(dtype=dtype, batch_size=4)
        before = model.digest()
        weights = model.get_weights()
        weights[5] = [-1, 1]
        with pytest.raises(ValueError, match="batchnorm: moving_variance is at least 0, got -1"):
            model.set_weights(weights)
        weights[5] = [1, 1e-30]
        weights[4] = [0, 900]
        if dtype == "int8":
            with pytest.raises(ValueError, match="batchnorm: folded, as a bias, element 1 is -28.*, not in .-1024"):
                model.set_weights(weights)
        assert model.digest() == before
