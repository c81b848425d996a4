"""An epoch of the digits CNN on this PC: odt in int8 through fit, beside PyTorch in float32 on one thread.

    python bench/host.py              writes bench/results/host.txt

The network, batch size, optimizer and order at random are the same; the data lies in memory. Epochs of both take
turns, so that what else the PC does hits both; wall time, the median of EPOCHS after 3 to warm up.
"""

import statistics
import time

import counting
import numpy as np
import torch
from counting import ROOT
from torch import nn

import odt

EPOCHS, SAMPLES, BATCH, RATE = 31, 1000, 16, 0.004
BOUND = 1  # times PyTorch's time, at most


def digits():
    data = np.fromfile(ROOT / "examples/digits/digits.bin", "uint8")
    return data[: 64 * SAMPLES].copy(), data[64 * 1797 :][:SAMPLES].copy()


def ours(x, y):
    """An epoch."""
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(8, 3, padding="same", activation="relu"), odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(),
        odt.Flatten(), odt.Dense(10),
    ])  # fmt: skip
    model.compile(odt.Adam(RATE), batch_size=BATCH, seed=7)
    return lambda: model.fit(x, y, verbose=0)


def theirs(x, y, **options):
    """An epoch, with options of Adam's."""
    torch.manual_seed(7)
    network = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    images = torch.from_numpy(x.reshape(-1, 1, 8, 8)).float() / 16
    labels = torch.from_numpy(y).long()
    optimizer = torch.optim.Adam(network.parameters(), RATE, **options)
    loss = nn.CrossEntropyLoss()

    def epoch():
        order = torch.randperm(SAMPLES)
        for at in range(0, SAMPLES, BATCH):
            chosen = order[at : at + BATCH]
            optimizer.zero_grad()
            loss(network(images[chosen]), labels[chosen]).backward()
            optimizer.step()

    return epoch


def main():
    torch.set_num_threads(1)
    x, y = digits()
    runs = {
        "odt int8, fit": ours(x, y),
        "PyTorch float32, Adam": theirs(x, y),
        "PyTorch float32, Adam(fused=True)": theirs(x, y, fused=True),
    }
    times = {name: [] for name in runs}
    for turn in range(3 + EPOCHS):
        for name, epoch in runs.items():
            begin = time.perf_counter()
            epoch()
            if turn >= 3:
                times[name].append(1e3 * (time.perf_counter() - begin))
    out = counting.head("An epoch of the digits CNN on a PC. Written by: python bench/host.py")
    out += ["torch %s, one thread; %d samples, batches of %d" % (torch.__version__, SAMPLES, BATCH), ""]
    medians = {}
    for name, found in times.items():
        medians[name] = statistics.median(found)
        row = (name, medians[name], min(found), max(found))
        out.append("  %-36s %7.1f ms, from %.1f to %.1f" % row)
    mine = medians.pop("odt int8, fit")
    ratio = mine / min(medians.values())
    verdict = "met" if ratio <= BOUND else "MISSED"
    out += ["", "  odt's time in the faster of PyTorch's: %.2f   bound %g: %s" % (ratio, BOUND, verdict)]
    print("\n".join(out))
    (ROOT / "bench/results/host.txt").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
