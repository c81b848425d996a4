"""Heads that are cut, against PyTorch's module with these heads masked."""

import copy
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn
from twin import Twin

import odt
from odt.adapt.lora import lora
from odt.host.convert import load
from odt.host.heads import importance, prune_heads

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 6, 8)).astype("float32")
Y = (np.arange(40) % 3).astype("uint8")


class Torch(nn.Module):
    def __init__(self, heads=4):
        super().__init__()
        self.first, self.norm = nn.MultiheadAttention(8, heads, batch_first=True), nn.LayerNorm(8)
        self.second, self.last = nn.MultiheadAttention(8, heads, batch_first=True), nn.Linear(8, 3)

    def forward(self, x):
        x = x + self.first(x, x, x, need_weights=False)[0]
        y = self.norm(x)
        return self.last((x + self.second(y, y, y, need_weights=False)[0]).mean(1))


@cache
def trained():
    torch.manual_seed(2)
    net = Torch()
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(torch.tensor(X)), torch.tensor(Y.astype("int64"))).backward()
        optimizer.step()
    return net


def masked(net, heads):
    """PyTorch's network with heads masked: {0: heads of the first attention, 1: of the second}."""
    net = copy.deepcopy(net)
    with torch.no_grad():
        for number, gone in heads.items():
            for head in gone:
                (net.first, net.second)[number].out_proj.weight[:, 2 * head : 2 * head + 2] = 0
    return net


@cache
def imported(dtype="float32"):
    return load(trained(), shape=(6, 8), dtype=dtype, calibrate=X, train="all", batch_size=8)


def names(model):
    return [node.layer.name for node in model.nodes if node.layer.kind == "attention"]


@pytest.mark.parametrize("dtype, within", (("float32", 1e-5), ("int8", 0.06)))
@pytest.mark.parametrize("heads", ({0: [1]}, {1: [0, 3]}, {0: [0, 1, 2], 1: [2]}))
def test_outputs_are_those_of_pytorch_with_these_heads_masked(heads, dtype, within):
    model = imported(dtype)
    before, first = bytes(model.predict(X)), names(model)
    small = prune_heads(model, {first[number]: gone for number, gone in heads.items()}, X)
    with torch.no_grad():
        expected = masked(trained(), heads)(torch.tensor(X)).numpy()
    found = np.array(small.predict(X)).reshape(expected.shape)
    assert np.abs(found - expected).max() <= within * np.abs(expected).max()
    assert bytes(model.predict(X)) == before and names(small) == first
    layers = {node.layer.name: node.layer for node in small.nodes}
    for number, name in enumerate(first):
        assert layers[name].num_heads == 4 - len(heads.get(number, ()))
    assert small.count_params() == model.count_params() - sum([len(gone) for gone in heads.values()]) * (
        4 * 2 * 8 + 2 * 2
    )  # four kernels, and the biases of queries and values


def test_importance_is_by_how_much_pytorchs_loss_rises():
    model, target = imported(), torch.tensor(Y.astype("int64"))

    def loss(heads):
        return nn.functional.cross_entropy(masked(trained(), heads)(torch.tensor(X)), target).item()

    found = importance(model, X, Y)
    for number, name in enumerate(names(model)):
        expected = [loss({number: [head]}) - loss({}) for head in range(4)]
        np.testing.assert_allclose(found[name], expected, atol=2e-5)


def test_the_least_important_go_one_after_another():
    model = imported()
    first, second = names(model)
    rises = importance(model, X, Y)
    rise, name, head = min((rise, name, head) for name in rises for head, rise in enumerate(rises[name]))
    one = prune_heads(model, 1, X, Y)
    expected = prune_heads(model, {name: [head]}, X)
    assert bytes(one.predict(X)) == bytes(expected.predict(X))
    assert one.evaluate(X, Y)[0] == pytest.approx(model.evaluate(X, Y)[0] + rise, abs=1e-5)
    counts = [node.layer.num_heads for node in prune_heads(model, 6, X, Y).nodes if node.layer.kind == "attention"]
    assert counts == [1, 1]


@pytest.mark.parametrize("dtype", ("float32", "int8"))
@pytest.mark.parametrize("causal", (False, True))
def test_a_model_of_odts_own_trains_on(dtype, causal):
    x = odt.Input((6, 8))
    attention = odt.MultiHeadAttention(2, key_dim=3, use_causal_mask=causal, use_bias=False)
    query = odt.Reshape((2, 8))(odt.Dense(16)(odt.Flatten()(x)))
    model = odt.Model(x, odt.Dense(3)(odt.Flatten()(attention([query, x]))))
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1)
    model.fit(X, Y, epochs=5, verbose=0)
    small = prune_heads(model, {attention.name: [0]}, X)
    weights = [np.array(each) for each in model.get_weights()]
    places = [layer.name for layer, _ in model.session.plan.weights]
    at = len([None for layer, _ in model.session.plan.weights[: places.index(attention.parts[3].name)]
              for _ in layer.weight_shapes()])  # fmt: skip
    weights[at] = (weights[at].reshape(8, 2, 3) * np.array([0, 1])[:, None]).ravel()
    expected = Twin(model, weights=weights).forward(X).detach().numpy()
    found = np.array(small.predict(X)).reshape(expected.shape)
    assert np.abs(found - expected).max() <= (0.06 if dtype == "int8" else 1e-5) * np.abs(expected).max()
    small.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1)
    first = small.evaluate(X, Y)[0]
    small.fit(X, Y, epochs=10, verbose=0)
    assert small.evaluate(X, Y)[0] < first


def test_what_cannot_be_is_named():
    model = imported()
    first = names(model)[0]
    for heads, samples, kind, text in (
        (1, (), TypeError, "give x and y"),
        (7, (X, Y), ValueError, r"1\.\.6 of the heads can go, got 7"),
        (0, (X, Y), ValueError, "got 0"),
        ({"nobody": [1]}, (), ValueError, "no attention is called 'nobody'; there are " + first),
        ({first: [4]}, (), ValueError, r"different ones of 0\.\.3, got \[4\]"),
        ({first: [1, 1]}, (), ValueError, r"got \[1, 1\]"),
        ({first: [0, 1, 2, 3]}, (), ValueError, "one of 4 heads must stay"),
    ):
        with pytest.raises(kind, match=text):
            prune_heads(model, heads, *samples)
    plain = odt.Sequential([odt.Input((3,)), odt.Dense(2)])
    plain.compile(batch_size=2)
    with pytest.raises(ValueError, match="no MultiHeadAttention"):
        prune_heads(plain, 1, X, Y)
    pairs = lora(model)
    pairs.compile(dtype="float32", batch_size=8)
    with pytest.raises(ValueError, match="merge"):
        prune_heads(pairs, {first: [1]})
