"""Factors move between layers: the network computes the same, and int8 with one scale for a kernel no longer loses its
small channels.
"""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from zoo import DSCNN, ZOO, LeNet, MobileNetV2, ResNet8, close, data, made

import odt
from odt.host.convert import Imported, build, load, read
from odt.host.convert.equalize import equalize


def model_of(graph, **options):
    model, found = build.assemble(graph)
    vars(model)["imported"] = Imported(graph)  # as load() sets it
    model.compile(odt.Adam(), "mse", "float32", 4)
    build.set_weights(model, graph, found)
    return model


@pytest.mark.parametrize("kind", ZOO)
def test_outputs_stay(kind):
    net = made(kind)
    graph = read(net, kind.shape)
    build.fold(graph)
    kernels = [node.weights["kernel"] for node in graph.nodes if "kernel" in node.weights]
    equalize(graph)
    changed = [
        not np.allclose(old, node.weights["kernel"])
        for old, node in zip(kernels, (node for node in graph.nodes if "kernel" in node.weights), strict=True)
    ]
    if kind in (
        LeNet,
        DSCNN,
        MobileNetV2,
        ResNet8,
    ):  # in the others there is a tanh or a join wherever two kernels meet
        assert any(changed)
    close(model_of(graph), net, data(kind))


def uneven(seed):
    """A residual network, and the same one of channels that differ a thousandfold."""
    torch.manual_seed(seed)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.inner = nn.Conv2d(2, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
            self.deep, self.last = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Linear(8 * 9, 5)

        def forward(self, x):
            x = torch.relu(self.first(x))
            x = torch.relu(x + self.inner(x))
            return self.last(torch.flatten(nn.functional.max_pool2d(torch.relu(self.deep(x)), 2), 1))

    plain = Net().eval()
    net = copy.deepcopy(plain)
    residual, deep = torch.from_numpy(10 ** rng_of(seed).uniform(-1.5, 1.5, (2, 8))).float()
    with torch.no_grad():
        for layer in (net.first, net.inner):
            layer.weight *= residual[:, None, None, None]
            layer.bias *= residual
        net.inner.weight /= residual[:, None, None]
        net.deep.weight *= (deep / residual)[:, None, None, None]
        net.deep.bias *= deep
        net.last.weight /= deep.repeat_interleave(9)
    return plain, net


def rng_of(seed):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("seed", range(5))
def test_int8_of_uneven_channels_is_as_good_as_of_even_ones(seed):
    plain, net = uneven(seed)
    x, more = rng_of(1).normal(size=(2, 60, 2, 6, 6)).astype(np.float32)
    expected = plain(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(net(torch.from_numpy(x)).detach().numpy(), expected, atol=1e-4)
    errors = []
    for each in (plain, net):
        model = load(each, calibrate=more)
        errors.append(np.abs(model.predict(model.imported.samples(x)) - expected).mean())
    assert errors[1] <= 1.5 * errors[0]


def test_layers_that_do_not_train_stay_as_they_are():
    """They have a scale for each channel."""
    _, net = uneven(0)
    model = load(net, calibrate=data_of(), train="last")
    kernel = net.first.weight.detach().numpy().transpose(0, 2, 3, 1)
    step = np.abs(kernel).max((1, 2, 3), keepdims=True) / 127
    assert (np.abs(np.reshape(model.get_weights()[0], kernel.shape) - kernel) <= 0.51 * step).all()


def data_of():
    return rng_of(2).normal(size=(20, 2, 6, 6)).astype(np.float32)
