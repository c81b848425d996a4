"""Networks of phones and of MCUNet's kind come in whole and are planned: of full size, from PyTorch."""

import re

import numpy as np
import pytest
import torch
from checkout import ROOT
from large_networks import eighths, stack
from torch import nn

from odt.host.convert import load

torch.set_num_threads(1)


def head(filters):
    return [nn.Conv2d(3, filters, 3, 2, 1, bias=False), nn.BatchNorm2d(filters), nn.ReLU6()]


class MobileNetV2(nn.Module):
    """Sandler et al. 2018, table 2, of width 0.35."""

    shape, macs, numbers = (3, 224, 224), 59.2e6, 1.66e6  # as their repository's table of checkpoints has them

    def __init__(self, classes=1000):
        super().__init__()
        rows = (
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        )
        first = eighths(32 * 0.35)
        channels, blocks = stack(first, rows, 0.35)
        last = [nn.Conv2d(channels, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6()]
        self.features = nn.Sequential(*head(first), *blocks, *last)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, classes))

    def forward(self, x):
        return self.classifier(nn.functional.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


class OfManyKernels(nn.Module):
    """Of MCUNet's kind (Lin et al. 2020): inverted residuals with kernels of 3, 5 and 7."""

    shape, macs, numbers = (3, 96, 96), None, None

    def __init__(self):
        super().__init__()
        rows = ((1, 8, 1, 1), (3, 16, 3, 2, 7), (4, 24, 3, 2, 5), (5, 40, 3, 2, 7), (5, 48, 3, 1, 5), (6, 96, 3, 2, 5))
        channels, blocks = stack(16, rows)
        self.features, self.last = nn.Sequential(*head(16), *blocks), nn.Linear(channels, 10)

    def forward(self, x):
        return self.last(self.features(x).mean((2, 3)))


def made(kind, *options):
    torch.manual_seed(1)
    net = kind(*options).eval()
    for layer in net.modules():
        if isinstance(layer, nn.BatchNorm2d):  # as after a training
            layer.running_mean.normal_(0, 0.1)
            layer.running_var.uniform_(0.5, 1.5)
            nn.init.uniform_(layer.weight, 0.5, 1.5)
            nn.init.normal_(layer.bias, 0, 0.1)
    return net


@pytest.mark.parametrize("kind", (MobileNetV2, OfManyKernels))
def test_networks_of_full_size_come_in(kind):
    net = made(kind)
    x = np.random.default_rng(0).normal(size=(2, *kind.shape)).astype(np.float32)
    with torch.no_grad():
        wanted = net(torch.from_numpy(x)).numpy()
    model = load(net, shape=kind.shape, train="none", batch_size=1)
    found = model.predict(model.imported.samples(x))
    assert np.abs(found - wanted).max() < 1e-5 * np.abs(wanted).max()
    if kind.macs:
        assert sum(node.layer.macs for node in model.nodes) == pytest.approx(kind.macs, rel=0.01)
        assert sum(weight.numel() for weight in net.parameters()) == pytest.approx(kind.numbers, rel=0.02)
    model = load(net, calibrate=x, train="last", batch_size=1)
    samples = model.imported.samples(x)
    assert np.corrcoef(model.predict(samples).ravel(), wanted.ravel())[0, 1] > 0.99
    before = model.digest()
    assert model.train_step(samples[:1], np.zeros(1, np.uint16)) > 0 and model.digest() != before


def test_the_bytes_of_one_are_those_of_the_page():
    x = np.random.default_rng(0).normal(size=(2, 3, 96, 96)).astype(np.float32)
    options = dict(calibrate=x, batch_size=1)
    none, last, whole = [
        load(made(MobileNetV2, 10), train=how, **options).session.plan for how in ("none", "last", "all")
    ]
    text = " ".join((ROOT / "docs" / "howto" / "import.md").read_text().split())
    found = re.search(
        r"MobileNetV2-0.35 .*? (\d+) KB of activations and (\d+) KB of weights\. .*? (\d+) KB more; .*? (\d+) KB", text
    )
    wanted = none.arena, none.state, last.arena + last.state - none.arena - none.state, whole.arena + whole.state
    assert [int(figure) for figure in found.groups()] == [round(figure / 1000) for figure in wanted]
