"""Networks of PyTorch that tests of the readers take: how they are made and trained, and data for them."""

import functools

import numpy as np
import torch
from checkout import ROOT
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)


class LeNet(nn.Module):
    shape = (1, 28, 28)

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 8, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(200, 30), nn.Linear(30, 21), nn.Linear(21, 10)

    def forward(self, x):
        x = F.avg_pool2d(torch.tanh(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


def separable(channels, filters, stride):
    return nn.Sequential(
        nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
        nn.Conv2d(channels, filters, 1, bias=False), nn.BatchNorm2d(filters), nn.ReLU(),
    )  # fmt: skip


class DSCNN(nn.Module):
    """Zhang et al. 2017: keywords; its first window is of 10 by 4 with strides 2 by 2, unevenly padded."""

    shape = (1, 49, 10)

    def __init__(self):
        super().__init__()
        self.pad = nn.ZeroPad2d((1, 1, 4, 5))
        self.first = nn.Sequential(
            nn.Conv2d(1, 12, (10, 4), 2, bias=False), nn.BatchNorm2d(12), nn.ReLU(), nn.Dropout(0.2)
        )
        self.blocks = nn.Sequential(*[separable(12, 12, 1) for _ in range(4)])
        self.last = nn.Linear(12, 12)

    def forward(self, x):
        return self.last(self.blocks(self.first(self.pad(x))).mean((2, 3)))


class Inverted(nn.Module):
    def __init__(self, channels, filters, stride, expand, kernel=3):
        super().__init__()
        inner = channels * expand
        self.residual = stride == 1 and channels == filters
        layers = [nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU6()] if expand > 1 else []
        self.conv = nn.Sequential(
            *layers, nn.Conv2d(inner, inner, kernel, stride, kernel // 2, groups=inner, bias=False),
            nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, filters, 1, bias=False), nn.BatchNorm2d(filters),
        )  # fmt: skip

    def forward(self, x):
        return x + self.conv(x) if self.residual else self.conv(x)


class MobileNetV2(nn.Module):
    shape = (3, 32, 32)

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(),
            Inverted(8, 8, 1, 1), Inverted(8, 12, 2, 4), Inverted(12, 12, 1, 4), Inverted(12, 16, 2, 4),
        )  # fmt: skip
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(16, 10))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), (1, 1)).reshape(x.shape[0], -1)
        return self.classifier(x)


class Block(nn.Module):
    def __init__(self, channels, filters, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, filters, 3, stride, 1, bias=False), nn.BatchNorm2d(filters)
        self.conv2, self.bn2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False), nn.BatchNorm2d(filters)
        self.short = nn.Conv2d(channels, filters, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        y += self.short(x)
        return F.relu(y)


class ResNet8(nn.Module):
    """MLPerf Tiny's, of fewer channels."""

    shape = (3, 32, 32)

    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8)
        self.stack = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2), Block(16, 32, 2))
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        x = self.stack(F.relu(self.bn(self.conv(x))))
        return self.fc(F.avg_pool2d(x, 8).view(x.size(0), -1))


class Series(nn.Module):
    """1-D, with a strided convolution whose padding is no "same", a ceiling pool and one that counts its zeros."""

    shape = (3, 50)

    def __init__(self):
        super().__init__()
        self.a, self.n = nn.Conv1d(3, 8, 5, stride=2, padding=2), nn.BatchNorm1d(8)
        self.b = nn.Conv1d(8, 12, 4, padding="same", groups=2)
        self.c = nn.Conv1d(12, 12, 3, padding=2)
        self.pool, self.mean = nn.MaxPool1d(3, 2, 1, ceil_mode=True), nn.AvgPool1d(3, 2, 1)
        self.norm, self.out = nn.BatchNorm1d(12 * 8), nn.Linear(12 * 8, 5)

    def forward(self, x):
        x = self.pool(F.leaky_relu(self.n(self.a(x)), 0.1))
        x = self.mean(F.silu(self.c(torch.sigmoid(self.b(x)))))
        return F.softmax(self.out(self.norm(x.flatten(1))), -1)


class Autoencoder(nn.Module):
    """Down to 12 numbers and up again: a Dense that makes images, transposed convolutions, concatenation,
    upsampling.
    """

    shape = (2, 16, 12)

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(2, 4, 3, 2, 1), nn.Conv2d(4, 6, 3, 2, 1)
        self.down, self.up, self.bn = nn.Linear(72, 12), nn.Linear(12, 72), nn.BatchNorm1d(72)
        self.c = nn.ConvTranspose2d(6, 4, 3, 2, 1, output_padding=1)
        self.d = nn.ConvTranspose2d(8, 3, 4, 2, 1)
        self.e, self.gn = nn.Conv2d(3, 2, 3, padding=1, padding_mode="zeros"), nn.GroupNorm(2, 4)

    def forward(self, x):
        a = F.relu(self.a(x))
        z = F.relu(self.down(torch.flatten(F.relu(self.b(a)), 1)))
        y = F.relu(self.bn(self.up(z))).unflatten(1, (6, 4, 3))
        y = torch.cat([self.gn(self.c(y)), a], 1)
        y = self.d(y)
        return self.e(F.interpolate(F.max_pool2d(y, 2), scale_factor=2, mode="nearest"))


class SqueezeExcite(nn.Module):
    """Hard swish, a gate per channel, constants, samples with the channels last that the network turns itself."""

    shape = (9, 9, 3)

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, 2)
        self.down, self.up = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)
        self.register_buffer("mean", torch.tensor([0.4, 0.5, 0.6]).reshape(3, 1, 1))
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        x = (x.permute(0, 3, 1, 2) - self.mean) / 0.25
        x = F.hardswish(self.a(x))
        gate = F.hardsigmoid(self.up(F.relu(self.down(x.mean((2, 3), keepdim=True)))))
        return self.out((x * gate * 2).mean([2, 3])) + 1


class Mixer(nn.Module):
    """Rows of features: Dense along the last axis, LayerNorm, and a convolution over the transposed rows."""

    shape = (6, 10)

    def __init__(self):
        super().__init__()
        self.a, self.n, self.c = nn.Linear(10, 8), nn.LayerNorm(8), nn.Conv1d(8, 4, 3)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        x = self.n(F.relu(self.a(x)))
        x = self.c(x.transpose(1, 2))
        y = F.adaptive_avg_pool1d(x, 2)
        return self.out(y.flatten(1))


class Dilated(nn.Module):
    """Images, then a line of their pixels: what was before in time, at distances of 1, 2, 4 .., as WaveNet has it."""

    shape = (2, 12, 10)

    def __init__(self):
        super().__init__()
        self.a, self.n = nn.Conv2d(2, 12, 3, padding=2, dilation=2), nn.BatchNorm2d(12)
        self.b = nn.Conv2d(12, 12, (3, 2), dilation=(2, 3), groups=12)
        self.c, self.d = nn.Conv1d(12, 8, 3, dilation=2), nn.Conv1d(8, 8, 2, dilation=4)
        self.e, self.out = nn.Conv1d(8, 8, 3, padding=5, dilation=5, groups=2), nn.Linear(8, 3)

    def forward(self, x):
        x = self.b(F.relu(self.n(self.a(x)))).flatten(2)
        x = F.relu(self.c(F.pad(x, (4, 0))))
        x = self.e(x + F.relu(self.d(F.pad(x, (4, 0)))))
        return self.out(x.mean(2))


ZOO = (LeNet, DSCNN, MobileNetV2, ResNet8, Series, Autoencoder, SqueezeExcite, Mixer, Dilated)


def made(kind, seed=0):
    """A network with statistics of its own in each BatchNorm, as after training."""
    torch.manual_seed(seed)
    net = kind()
    for module in net.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            nn.init.normal_(module.running_mean, 0, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 2)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.2)
    return net.eval()


@functools.cache
def exported(kind):
    """The network and its ExportedProgram: what torch.export takes a second for."""
    net = made(kind)
    return net, torch.export.export(net, (torch.zeros(2, *kind.shape),))


def data(kind, count=6):
    return np.random.default_rng(1).normal(size=(count, *kind.shape)).astype(np.float32)


def close(model, net, x, tolerance=1e-5):
    expected = net(torch.from_numpy(x)).detach().numpy()
    got = model.imported.outputs(model.predict(model.imported.samples(x)))
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= tolerance * np.abs(expected).max()


@functools.cache
def trained(seed=0):
    """A convolutional network that PyTorch has trained on 1000 images, and the data as it takes them: 0..16."""
    raw = np.fromfile(ROOT / "examples" / "digits" / "digits.bin", "uint8")
    x, y = raw[: 1797 * 64].reshape(-1, 1, 8, 8), raw[1797 * 64 :]
    torch.manual_seed(seed)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    optimizer = torch.optim.Adam(net.parameters(), 0.005)
    images, labels = torch.from_numpy(x[:1000] / 16).float(), torch.from_numpy(y[:1000].astype("int64"))
    for _ in range(4):
        for i in range(0, 1000, 20):
            optimizer.zero_grad()
            F.cross_entropy(net(images[i : i + 20]), labels[i : i + 20]).backward()
            optimizer.step()
    return net.eval(), x, y
