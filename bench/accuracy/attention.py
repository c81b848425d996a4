"""MNIST-1D by blocks of attention of width 32, in int8 and float32, beside PyTorch in float32.

    python bench/accuracy/attention.py       one and two blocks, five seeds; writes bench/results/attention.txt
    python bench/accuracy/attention.py --blocks 1 --seeds 2 --rows int8

A series has 40 samples: a convolution of length 5 makes 20 steps of width 32 of it, with a ReLU; then positions that
train, pre-norm blocks (4 heads, then 64 units with a ReLU), the mean over the steps, a Dense of 10. All train for 40
epochs in batches of 32 by Adam with a rate of 0.003 that falls to 0 by a cosine. int8 keeps Adam's moments in int16,
the default, and in a row of its own in float32 (``Adam(state="float32")``). PyTorch's first weights are its own, but
for positions, which begin with 0. Also printed: RAM of training with 8 samples at a time, as ``summary()`` has it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import paired
import written
from accuracy import mnist1d

import odt

STEPS, WIDTH, HEADS, HIDDEN, RATE, EPSILON = 20, 32, 4, 64, 0.003, 1e-3
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


def module(blocks):
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

    return Network()


def main():
    paired.table(__doc__, "blocks", [1, 2], mnist1d(), ROWS, network, module, RATE)


if __name__ == "__main__":
    written.recorded("attention.txt", main)
