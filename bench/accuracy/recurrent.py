"""MNIST-1D by recurrent layers of 32 units, in int8 and float32, beside PyTorch in float32.

    python bench/accuracy/recurrent.py                  GRU, five seeds; writes bench/results/recurrent.txt
    python bench/accuracy/recurrent.py --cells GRU LSTM SimpleRNN --seeds 2

A series is 20 steps of 2 samples. All train for 40 epochs in batches of 32 by Adam with a rate of 0.006 that falls to 0
by a cosine. int8 keeps Adam's moments in float32 (``Adam(state="float32")``), and in a row of its own in int16, the
default. PyTorch's first weights are its own. Also printed: RAM of training with 8 samples at a time, as ``summary()``
has it.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import written
from accuracy import mnist1d

import odt

STEPS, UNITS, EPOCHS, BATCH, RATE = 20, 32, 40, 32, 0.006
ROWS = (("PyTorch float32", None, None), ("float32", "float32", "float32"), ("int8", "int8", "float32"),
        ("int8, moments int16", "int8", "int16"))  # fmt: skip


def series():
    """((x, y), (x, y)): to learn from, and to test with."""
    return [(x.reshape(len(x), STEPS, -1), y) for x, y in mnist1d()]


def network(cell):
    return odt.Sequential([odt.Input((STEPS, 40 // STEPS)), getattr(odt, cell)(UNITS), odt.Dense(10)])


def ours(cell, seed, dtype, state, data):
    (x, y), test = data
    model = network(cell)
    rate = odt.CosineDecay(RATE, EPOCHS * -(-len(x) // BATCH))
    optimizer = odt.Adam(rate, state="float32") if (dtype, state) == ("int8", "float32") else odt.Adam(rate)
    model.compile(optimizer, dtype=dtype, batch_size=BATCH, seed=seed)
    model.fit(x, y, epochs=EPOCHS, verbose=0)
    return model.evaluate(*test)[1]


def torchs(cell, seed, data):
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    (x, y), (xt, yt) = [(torch.tensor(x), torch.tensor(y.astype("int64"))) for x, y in data]
    made = {"GRU": torch.nn.GRU, "LSTM": torch.nn.LSTM, "SimpleRNN": torch.nn.RNN}[cell]
    hidden, last = made(x.shape[-1], UNITS, batch_first=True), torch.nn.Linear(UNITS, 10)
    optimizer = torch.optim.Adam([*hidden.parameters(), *last.parameters()], RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * -(-len(x) // BATCH))
    for _ in range(EPOCHS):
        for at in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            F.cross_entropy(last(hidden(x[at])[0][:, -1]), y[at]).backward()
            optimizer.step()
            schedule.step()
    with torch.no_grad():
        return (last(hidden(xt)[0][:, -1]).argmax(1) == yt).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", nargs="*", default=["GRU"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", nargs="*", default=[row[0] for row in ROWS])
    options = parser.parse_args()
    data = series()
    print("test accuracy of 10,000 series, mean over %d seeds +- standard error, and each" % options.seeds)
    print("%-10s %-20s %16s   %-40s %6s" % ("", "", "%", "each seed", "s"))
    for cell in options.cells:
        for name, dtype, state in ROWS:
            if name not in options.rows:
                continue
            start, found = time.time(), []
            for seed in range(options.seeds):
                found.append(100 * (ours(cell, seed, dtype, state, data) if dtype else torchs(cell, seed, data)))
            error = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else 0
            each = " ".join(["%.1f" % value for value in found])
            taken = (time.time() - start) / len(found)
            print("%-10s %-20s %6.2f +- %4.2f    %-40s %6.0f" % (cell, name, np.mean(found), error, each, taken))
    print()
    print("RAM of training, bytes: arena and state; 8 samples at a time, moments in int16")
    for cell in options.cells:
        model = network(cell)
        model.compile(odt.Adam(), batch_size=8)
        print("%-10s %7d %7d" % (cell, len(model.session.arena), len(model.session.state)))


if __name__ == "__main__":
    written.recorded("recurrent.txt", main)
