"""Two things that odt has not for sequences, in PyTorch, on MNIST-1D: linear attention, and truncated backpropagation.

    python bench/studies/sequences.py               five seeds; writes bench/results/sequences.txt
    python bench/studies/sequences.py --seeds 1     prints

Linear attention (Katharopoulos et al., 2020) has ``elu(x) + 1`` of queries and keys in the place of softmax of their
products: it keeps a matrix for each head, not a number for each pair of steps. The network is that of
bench/accuracy/attention.py with one block, of 40 steps, not 20, as RAM for pairs is then the larger part.

Truncated backpropagation through time cuts the gradient every k steps (``detach()``). The network is the GRU of
bench/accuracy/recurrent.py, of 20 steps: its loss is of the last step alone, so a gradient reaches the steps after the
last cut. RAM beside it is the plan's of a network of these steps alone. Both train as those scripts' do.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT))

import attention  # noqa: E402
import numpy as np  # noqa: E402
import paired  # noqa: E402
import recurrent  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import written  # noqa: E402
from accuracy import mnist1d  # noqa: E402
from torch import nn  # noqa: E402

import odt  # noqa: E402

STEPS, WIDTH, HEADS, UNITS = 40, attention.WIDTH, attention.HEADS, recurrent.UNITS
CUTS = 20, 10, 5


class Linear(nn.Module):
    """Attention whose weights are products of elu(x) + 1; called as nn.MultiheadAttention is."""

    def __init__(self):
        super().__init__()
        self.all, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        nn.init.xavier_uniform_(self.all.weight)
        nn.init.zeros_(self.all.bias)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, *_, need_weights):
        batch, steps, _ = x.shape
        q, k, v = self.all(x).view(batch, steps, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        made = q @ (k.transpose(2, 3) @ v) / (q @ k.sum(2, keepdim=True).transpose(2, 3))
        return [self.out(made.transpose(1, 2).reshape(batch, steps, WIDTH))]


def block(linear):
    made = attention.module(1)
    made.embedding = nn.Conv1d(1, WIDTH, 5)
    made.position = nn.Parameter(torch.zeros(STEPS, WIDTH))
    made.forward = lambda x: made.output(made.blocks(
        F.relu(made.embedding(F.pad(x.transpose(1, 2), (2, 2)))).transpose(1, 2) + made.position).mean(1))  # fmt: skip
    if linear:
        made.blocks[0].attention = Linear()
    return made


class Truncated(nn.Module):
    """A GRU whose gradient is cut every ``steps`` steps."""

    def __init__(self, steps):
        super().__init__()
        self.cells, self.output, self.steps = nn.GRU(2, UNITS, batch_first=True), nn.Linear(UNITS, 10), steps

    def forward(self, x):
        h = None
        for part in x.split(self.steps, 1):
            _, h = self.cells(part, None if h is None else h.detach())
        return self.output(h[-1])


def row(name, make, data, rate, seeds):
    found = [100 * paired.torchs(make, seed, data, rate) for seed in range(seeds)]
    error = np.std(found, ddof=1) / seeds**0.5 if seeds > 1 else 0
    print("%-34s %6.2f +- %4.2f   %s" % (name, np.mean(found), error, " ".join(["%.1f" % each for each in found])))
    sys.stdout.flush()


def planned(first, last):
    model = odt.Model(first, odt.Dense(10)(last))
    model.compile(odt.Adam(), batch_size=8)
    return len(model.session.arena), len(model.session.state)


def attending():
    x = odt.Input((STEPS, 1))
    y = odt.PositionEmbedding()(odt.Conv1D(WIDTH, 5, padding="same", activation="relu")(x))
    y = odt.Add()([y, odt.MultiHeadAttention(HEADS)(odt.LayerNorm()(y))])
    hidden = odt.Dense(attention.HIDDEN, activation="relu")(odt.LayerNorm()(y))
    return x, odt.GlobalAvgPool()(odt.Add()([y, odt.Dense(WIDTH)(hidden)]))


def of_gru(steps):
    x = odt.Input((steps, 2))
    return x, odt.GRU(UNITS)(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    data = mnist1d()
    print("RAM of training in int8, 8 samples at a time, bytes: arena and state")
    print("%-34s %7d %7d" % ("attention, 40 steps", *planned(*attending())))
    pairs, heads = 8 * HEADS * STEPS**2, 8 * HEADS * (WIDTH // HEADS) * (WIDTH // HEADS + 1)
    print("  of them weights of pairs %d, linear attention has %d numbers, of 4 bytes %d" % (pairs, heads, 4 * heads))
    for steps in CUTS:
        print("%-34s %7d %7d" % ("GRU, the last %d steps" % steps, *planned(*of_gru(steps))))
    print("\ntest accuracy of 10,000 series, PyTorch float32, mean +- standard error, and each seed")
    for steps in CUTS:
        name, series = "GRU, cut every %d steps" % steps, recurrent.series()
        row(name, lambda steps=steps: Truncated(steps), series, recurrent.RATE, options.seeds)
    for name, linear in (("attention", False), ("linear attention", True)):
        row(name, lambda linear=linear: block(linear), data, attention.RATE, options.seeds)


if __name__ == "__main__":
    written.recorded("sequences.txt", main)
