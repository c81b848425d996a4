"""Epochs of training on this PC: odt in int8 through fit, beside PyTorch in float32 on one thread.

    python bench/costs/host.py              some minutes; writes bench/results/host.txt

Three networks at each batch size: the digits CNN, one of images of 32x32x3 with 16 and 32 filters, a perceptron of
784-128-10; numbers at random for the last two. The network, batch size, optimizer and order at random are the same; the
data lies in memory. Epochs of odt and of PyTorch, by Adam and by Adam(fused=True), take turns, so that what else the PC
does hits all; wall time, the medians of TURNS after 2 to warm up.
"""

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
import numpy as np
import torch
from counting import ROOT
from torch import nn

import odt

TURNS, RATE = 15, 0.004
BOUND = 1  # times PyTorch's time, at most


def digits(count):
    data = np.fromfile(ROOT / "examples/digits/digits.bin", "uint8")
    return data[: 64 * count].copy(), data[64 * 1797 :][:count].copy()


def noise(size):
    def drawn(count):
        rng = np.random.default_rng(0)
        return rng.integers(0, 256, count * size).astype("uint8"), rng.integers(0, 10, count).astype("uint8")

    return drawn


def cnn(shape, *filters):
    """(odt's layers, PyTorch's) of 3x3 convolutions with ReLU and max-pooling, and a dense layer."""
    height, width, channels = shape
    ours, theirs = [], []
    for count in filters:
        ours += [odt.Conv2D(count, 3, padding="same", activation="relu"), odt.MaxPool2D()]
        theirs += [nn.Conv2d(channels, count, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        channels, height, width = count, height // 2, width // 2
    return [*ours, odt.Flatten(), odt.Dense(10)], [*theirs, nn.Flatten(), nn.Linear(height * width * channels, 10)]


def perceptron():
    return [odt.Dense(128, "relu"), odt.Dense(10)], [nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)]


# Of each the input's shape, the largest value there, samples of an epoch at most, what makes samples, layers, batch
# sizes.
NETWORKS = {
    "digits": ((8, 8, 1), 16, 1000, digits, lambda: cnn((8, 8, 1), 8, 16), (1, 16, 64, 250)),
    "32x32x3": ((32, 32, 3), 255, 128, noise(3072), lambda: cnn((32, 32, 3), 16, 32), (1, 16, 64)),
    "784-128-10": ((784,), 255, 500, noise(784), perceptron, (1, 16, 64, 250)),
}  # fmt: skip


def ours(layers, shape, largest, batch, x, y):
    """An epoch."""
    model = odt.Sequential([odt.Input(shape, dtype="uint8", scale=1 / largest), *layers])
    model.compile(odt.Adam(RATE), batch_size=batch, seed=7)
    return lambda: model.fit(x, y, verbose=0)


def theirs(layers, shape, largest, batch, x, y, **options):
    """An epoch, with options of Adam's."""
    torch.manual_seed(7)
    network = nn.Sequential(*layers)
    x = x.reshape(-1, *shape)
    images = torch.from_numpy(np.moveaxis(x, -1, 1).copy() if len(shape) == 3 else x).float() / largest
    labels = torch.from_numpy(y).long()
    optimizer = torch.optim.Adam(network.parameters(), RATE, **options)
    loss = nn.CrossEntropyLoss()

    def epoch():
        order = torch.randperm(len(y))
        for at in range(0, len(y), batch):
            chosen = order[at : at + batch]
            optimizer.zero_grad()
            loss(network(images[chosen]), labels[chosen]).backward()
            optimizer.step()

    return epoch


def medians(network, batch):
    """Milliseconds of an epoch: odt, PyTorch with Adam, with Adam(fused=True)."""
    shape, largest, most, samples, layers, _ = NETWORKS[network]
    data = samples(most // batch * batch)
    runs = [
        ours(layers()[0], shape, largest, batch, *data), theirs(layers()[1], shape, largest, batch, *data),
        theirs(layers()[1], shape, largest, batch, *data, fused=True),
    ]  # fmt: skip
    times = [[] for _ in runs]
    for turn in range(2 + TURNS):
        for epoch, found in zip(runs, times):
            begin = time.perf_counter()
            epoch()
            if turn >= 2:
                found.append(1e3 * (time.perf_counter() - begin))
    return len(data[1]), [statistics.median(found) for found in times]


def main():
    torch.set_num_threads(1)
    out = counting.head("Epochs of training on a PC. Written by: python bench/costs/host.py")
    out += ["torch %s, one thread; milliseconds" % torch.__version__, ""]
    out.append("network       batch  samples   odt int8    PyTorch      fused   odt's in the faster of PyTorch's")
    print("\n".join(out), flush=True)
    worst = 0
    for network, (*_, batches) in NETWORKS.items():
        for batch in batches:
            count, found = medians(network, batch)
            ratio = found[0] / min(found[1:])
            worst = max(worst, ratio)
            out.append("%-12s%7d%9d%11.1f%11.1f%11.1f%8.2f" % (network, batch, count, *found, ratio))
            print(out[-1], flush=True)
    out += ["", "worst %.2f, bound %g: %s" % (worst, BOUND, "met" if worst <= BOUND else "MISSED")]
    print("\n".join(out[-2:]))
    (ROOT / "bench/results/host.txt").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
