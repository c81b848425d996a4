"""Channels that are cut, against what PyTorch computes without them."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from zoo import ZOO, close, data, made

from odt.host.convert import load
from odt.host.prune import count, distillation, prune


@pytest.mark.parametrize("evenly", [True, False])
@pytest.mark.parametrize("kind", ZOO)
def test_what_is_left_is_a_network_that_odt_imports(kind, evenly):
    net, x = made(kind), data(kind)
    before = copy.deepcopy(net.state_dict())
    small = prune(net, x, 0.5, evenly=evenly)
    assert 0.4 <= count(small) / count(net) <= 0.5
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    close(load(small, shape=kind.shape), small, x)


def mlp(hidden=20):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, hidden), nn.ReLU(), nn.Linear(hidden, 4))


X = torch.from_numpy(np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32))


@pytest.mark.parametrize("importance", ["magnitude", "taylor"])
def test_channels_that_do_nothing_go_first(importance):
    net, dead = mlp(), [3, 4, 11, 19]
    with torch.no_grad():
        net[2].weight[:, dead] = 0  # nothing hears them: no loss changes without them
        if importance == "magnitude":
            net[0].weight[dead] = 0
            net[0].bias[dead] = 0
    whole, target = count(net), torch.arange(30) % 4
    loss = None if importance == "magnitude" else lambda net: nn.functional.cross_entropy(net(X), target)
    small = prune(
        net, X, (whole - 4 * 11) / whole, rounds=2, importance=importance, loss=loss
    )  # a channel has 6 + 1 + 4
    assert small[0].out_features == 16
    torch.testing.assert_close(small(X), net(X))
    kept = [row for row in range(20) if row not in dead]
    assert torch.equal(small[0].weight, net[0].weight[kept])


def test_much_goes_at_first_and_little_at_last():
    counts, net = [], mlp(200)

    def tune(small, number):
        assert number == len(counts) and all(each.grad is None for each in small.parameters())
        counts.append(count(small) / count(net))

    prune(net, X, 0.2, tune, rounds=4)
    expected = [0.2 + 0.8 * (1 - (n + 1) / 4) ** 3 for n in range(4)]
    assert all(want - 0.01 < left <= want for left, want in zip(counts, expected, strict=True))


def test_what_was_trained_in_between_stays_trained():
    def tune(small, number):
        with torch.no_grad():
            small[2].bias.fill_(number)

    small = prune(mlp().train(), X, 0.5, tune, rounds=3)
    assert torch.equal(small[2].bias, torch.full((4,), 2.0)) and small.training


def test_multiples_are_kept():
    assert prune(mlp(64), X, 0.4, multiple=8)[0].out_features % 8 == 0


BAD = {
    "none left": (dict(parameters=0), r"parameters.*above 0 and below 1.*got 0"),
    "all left": (dict(parameters=1.0), r"parameters.*got 1.0"),
    "no rounds": (dict(parameters=0.5, rounds=0), r"rounds.*got 0"),
    "importance": (dict(parameters=0.5, importance="norm"), r"importance.*magnitude, taylor.*'norm'"),
    "no loss": (dict(parameters=0.5, importance="taylor"), r"loss\(net\).*taylor"),
    "a loss": (dict(parameters=0.5, loss=len), r"loss\(net\).*taylor"),
    "most": (dict(parameters=0.5, most=1.5), r"most.*got 1.5"),
    "too few": (dict(parameters=0.001), r"% of the parameters are left.*0.1 % are asked for"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_named(name):
    arguments, expected = BAD[name]
    with pytest.raises(ValueError, match=expected):
        prune(mlp(), X, **arguments)


def test_distillation_is_hintons():
    rng = np.random.default_rng(3)
    output, teacher, labels = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), np.array([0, 2, 1, 1, 0])

    def softmax(v):
        e = np.exp(v - v.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    p, q = softmax(teacher / 4), softmax(output / 4)
    soft = 16 * (p * np.log(p / q)).sum(1).mean()
    hard = -np.log(softmax(output)[range(5), labels]).mean()
    got = distillation(torch.from_numpy(output), torch.from_numpy(teacher), torch.from_numpy(labels))
    assert float(got) == pytest.approx(0.7 * soft + 0.3 * hard, rel=1e-9)
