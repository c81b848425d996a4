"""MNIST-1D by blocks of attention of width 32, in int8 and float32, beside PyTorch in float32.

    python bench/accuracy/attention.py       one and two blocks, five seeds; writes bench/results/attention.txt
    python bench/accuracy/attention.py --blocks 1 --seeds 2 --rows int8

A series has 40 samples: a convolution of length 5 makes 20 steps of width 32 of it, with a ReLU; then positions that
train, pre-norm blocks (4 heads, then 64 units with a ReLU), the mean over the steps, a Dense of 10. All train for 40
epochs in batches of 32 by Adam with a rate of 0.003 that falls to 0 by a cosine. int8 keeps Adam's moments in int16,
the default, and in a row of its own in float32 (``Adam(state="float32")``). PyTorch's first weights are its own, but
for positions, which begin with 0. Also printed: RAM of training with 8 samples at a time, as ``summary()`` has it.
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

STEPS, WIDTH, HEADS, HIDDEN, EPOCHS, BATCH, RATE, EPSILON = 20, 32, 4, 64, 40, 32, 0.003, 1e-3
ROWS = (("PyTorch float32", None, None), ("float32", "float32", "float32"), ("int8", "int8", "int16"),
        ("int8, moments float32", "int8", "float32"))  # fmt: skip


def network(blocks):
    x = odt.Input((40, 1))
    y = odt.Conv1D(WIDTH, 5, strides=2, padding="same", activation="relu")(x)
    y = odt.PositionEmbedding()(y)
    for _ in range(blocks):
        y = odt.Add()([y, odt.MultiHeadAttention(HEADS)(odt.LayerNorm(EPSILON)(y))])
        hidden = odt.Dense(HIDDEN, activation="relu")(odt.LayerNorm(EPSILON)(y))
        y = odt.Add()([y, odt.Dense(WIDTH)(hidden)])
    return odt.Model(x, odt.Dense(10)(odt.GlobalAvgPool()(y)))


def ours(blocks, seed, dtype, state, data):
    (x, y), test = data
    model = network(blocks)
    rate = odt.CosineDecay(RATE, EPOCHS * -(-len(x) // BATCH))
    optimizer = odt.Adam(rate, state="float32") if (dtype, state) == ("int8", "float32") else odt.Adam(rate)
    model.compile(optimizer, dtype=dtype, batch_size=BATCH, seed=seed)
    model.fit(x, y, epochs=EPOCHS, verbose=0)
    return model.evaluate(*test)[1]


def torchs(blocks, seed, data):
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(WIDTH, EPSILON), nn.LayerNorm(WIDTH, EPSILON)
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.hidden, self.last = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

        def forward(self, x):
            y = self.first(x)
            x = x + self.attention(y, y, y, need_weights=False)[0]
            return x + self.last(F.relu(self.hidden(self.second(x))))

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.output = nn.Conv1d(1, WIDTH, 5, stride=2), nn.Linear(WIDTH, 10)
            self.position = nn.Parameter(torch.zeros(STEPS, WIDTH))
            self.blocks = nn.Sequential(*[Block() for _ in range(blocks)])

        def forward(self, x):
            x = F.relu(self.embedding(F.pad(x.transpose(1, 2), (1, 2)))).transpose(1, 2)  # "same" as odt has it
            return self.output(self.blocks(x + self.position).mean(1))

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    (x, y), (xt, yt) = [(torch.tensor(x), torch.tensor(y.astype("int64"))) for x, y in data]
    model = Network()
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * -(-len(x) // BATCH))
    for _ in range(EPOCHS):
        for at in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            F.cross_entropy(model(x[at]), y[at]).backward()
            optimizer.step()
            schedule.step()
    model.eval()
    with torch.no_grad():
        return (model(xt).argmax(1) == yt).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", nargs="*", default=[row[0] for row in ROWS])
    options = parser.parse_args()
    data = mnist1d()
    print("test accuracy of 10,000 series, mean over %d seeds +- standard error, and each" % options.seeds)
    print("%-8s %-22s %16s   %-40s %6s" % ("blocks", "", "%", "each seed", "s"))
    for blocks in options.blocks:
        for name, dtype, state in ROWS:
            if name not in options.rows:
                continue
            start, found = time.time(), []
            for seed in range(options.seeds):
                found.append(100 * (ours(blocks, seed, dtype, state, data) if dtype else torchs(blocks, seed, data)))
            error = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else 0
            each = " ".join(["%.1f" % value for value in found])
            taken = (time.time() - start) / len(found)
            print("%-8d %-22s %6.2f +- %4.2f    %-40s %6.0f" % (blocks, name, np.mean(found), error, each, taken))
            sys.stdout.flush()
    print()
    print("RAM of training, bytes: arena and state; 8 samples at a time, moments in int16")
    for blocks in options.blocks:
        model = network(blocks)
        model.compile(odt.Adam(), batch_size=8)
        print("%-8d %7d %7d" % (blocks, len(model.session.arena), len(model.session.state)))


if __name__ == "__main__":
    written.recorded("attention.txt", main)
