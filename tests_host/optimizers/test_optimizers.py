"""Nesterov's momentum and decoupled weight decay against PyTorch, in float32 and, as far as it goes, in int8."""

import numpy as np
import pytest
import torch
from twin import Twin

import odt

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(11, 5)).astype("float32")
Y = RANDOM.integers(0, 3, 11).astype("uint8")
RATE = 0.02


def network(optimizer, dtype="float32"):
    model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu"), odt.Dense(3)])
    model.compile(optimizer, dtype=dtype, batch_size=4, seed=1)
    return model


def arrays(model):
    return [np.array(value, "float64") for value in model.get_weights()]


class Decayed:
    """PyTorch's SGD has coupled weight decay: this is the decoupled one around it."""

    def __init__(self, optimizer, decay):
        self.optimizer, self.decay = optimizer, decay
        self.zero_grad = optimizer.zero_grad

    def step(self):
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                p.data.mul_(1 - group["lr"] * self.decay)
        self.optimizer.step()


SGD, ADAMW = torch.optim.SGD, torch.optim.AdamW
CASES = {
    "nesterov": (lambda **o: odt.SGD(RATE, 0.9, nesterov=True, **o), lambda p: SGD(p, RATE, 0.9, nesterov=True)),
    "nesterov, little": (
        lambda **o: odt.SGD(RATE, 0.3, nesterov=True, **o), lambda p: SGD(p, RATE, 0.3, nesterov=True),
    ),
    "sgd, decay": (lambda **o: odt.SGD(RATE, weight_decay=1.5, **o), lambda p: Decayed(SGD(p, RATE), 1.5)),
    "nesterov, decay": (
        lambda **o: odt.SGD(RATE, 0.9, nesterov=True, weight_decay=0.7, **o),
        lambda p: Decayed(SGD(p, RATE, 0.9, nesterov=True), 0.7),
    ),
    "adamw": (
        lambda **o: odt.AdamW(0.01, 0.9, **o), lambda p: ADAMW(p, 0.01, (0.9, 0.999), 1e-7, weight_decay=0.9),
    ),
    "adam, little decay": (
        lambda epsilon=1e-3, **o: odt.Adam(0.02, 0.8, 0.99, epsilon, weight_decay=0.01, **o),
        lambda p: ADAMW(p, 0.02, (0.8, 0.99), 1e-3, weight_decay=0.01),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES))
def test_twenty_float_steps_follow_pytorch(name):
    ours, theirs = CASES[name]
    model = network(ours())
    twin = Twin(model)
    optimizer = theirs(twin.flat_parameters())
    for _ in range(7):
        model.fit(X, Y, shuffle=False, verbose=0)
        for at in range(0, 11, 4):
            optimizer.zero_grad()
            twin.loss(X[at : at + 4], Y[at : at + 4]).backward()
            optimizer.step()
    for value, expected in zip(arrays(model), twin.flat_parameters()):
        expected = expected.detach().numpy().ravel()
        assert np.linalg.norm(value - expected) < 1e-4 * np.linalg.norm(expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("state", ("int16", "float32"))
def test_int8_optimizers_go_where_the_float_ones_go(state, name):
    """The direction of 30 steps, as far as int8 keeps it."""
    ours, _ = CASES[name]
    options = {"epsilon": 1e-7} if (state, name) == ("int16", "adam, little decay") else {}
    models = [network(ours(state=state, **options), "int8"), network(ours())]
    models[0].set_weights(models[1].get_weights())
    before = arrays(models[1])
    for model in models:
        model.fit(X, Y, epochs=10, shuffle=False, verbose=0)
    for start, one, other in zip(before, arrays(models[0]), arrays(models[1])):
        a, b = one - start, other - start
        assert a @ b / (np.linalg.norm(a) * np.linalg.norm(b)) > 0.9
        assert 0.7 < np.linalg.norm(a) / np.linalg.norm(b) < 1.4


@pytest.mark.parametrize("optimizer", (odt.SGD, odt.Adam))
def test_weights_without_a_gradient_decay_exponentially_in_int8(optimizer):
    """Inputs of 0: no kernel of the first layer has a gradient. Each step takes less than a residual's unit."""
    model = network(optimizer(0.001, weight_decay=1.0), "int8")
    before = arrays(model)[0]
    model.fit(X, Y, verbose=0)  # ranges
    start = arrays(model)[0]
    kernel = model.session.plan.weights[0][1].kernel
    assert abs(start - before).max() > 0 and kernel.size == 30
    for _ in range(700):
        model.train_step(np.zeros((4, 5), "float32"), Y[:4])
    moved = optimizer is odt.Adam  # its old gradients still move the weights a little
    assert np.linalg.norm(arrays(model)[0]) / np.linalg.norm(start) == pytest.approx(
        np.exp(-0.7), rel=0.1 if moved else 0.02
    )


@pytest.mark.slow
def test_without_decay_and_nesterov_a_program_is_as_before():
    codes = [
        network(o, d).session.plan.code
        for d in ("int8", "float32")
        for o in (odt.Adam(0.01), odt.Adam(0.01, weight_decay=0))
    ]
    assert codes[0] == codes[1] and codes[2] == codes[3]
    names = network(odt.AdamW()).disassemble()
    assert names.count("decay_f32") == 4
    model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu", trainable=False), odt.Dense(3)])
    model.compile("adamw", dtype="int8", batch_size=4)
    assert model.disassemble().count("decay_i8") == model.disassemble().count("decay_i32") == 1


@pytest.mark.parametrize("make, words", (
    (lambda: odt.SGD(0.1, nesterov=True), "SGD nesterov momentum 0"),
    (lambda: odt.SGD(0.1, weight_decay=-1), "SGD weight_decay -1"),
    (lambda: odt.Adam(0.1, weight_decay="x"), "Adam weight_decay 'x'"),
    (lambda: odt.AdamW(0.1, 1e9), "Adam weight_decay 1000000000.0"),
))  # fmt: skip
def test_bad_hyperparameters_are_refused(make, words):
    with pytest.raises((ValueError, TypeError)) as error:
        make()
    assert all(word in str(error.value) for word in words.split()), str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("state", (None, "int16"))
def test_an_epsilon_that_int16_state_has_no_use_for_is_refused(state):
    model = network(odt.Adam(0.01, state=state), "int8")
    before = model.digest()
    for epsilon in (1.0, 1e-8, 1.1e-7):
        with pytest.raises(ValueError, match='epsilon belongs to state "float32".*got epsilon=%g' % epsilon):
            model.compile(odt.Adam(0.01, epsilon=epsilon, state=state), batch_size=4, seed=1)
        assert model.digest() == before
    model.compile(odt.Adam(0.01, epsilon=1e-7, state=state), batch_size=4, seed=1)
    assert model.digest() == before


@pytest.mark.slow
@pytest.mark.parametrize("dtype, state", (("int8", "float32"), ("float32", None)))
def test_an_epsilon_that_is_taken_is_used(dtype, state):
    digests = set()
    for epsilon in (1e-7, 1e-3, 1.0):
        model = network(odt.Adam(0.01, epsilon=epsilon, state=state), dtype)
        model.fit(X, Y, epochs=2, verbose=0)
        digests.add(model.digest())
    assert len(digests) == 3
