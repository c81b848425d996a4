"""MNIST-1D by recurrent layers of 32 units, in int8 and float32, beside PyTorch in float32.

    python bench/accuracy/recurrent.py                  GRU, five seeds; writes bench/results/recurrent.txt
    python bench/accuracy/recurrent.py --cells GRU LSTM SimpleRNN --seeds 2

A series is 20 steps of 2 samples. All train for 40 epochs in batches of 32 by Adam with a rate of 0.006 that falls to 0
by a cosine. int8 keeps Adam's moments in float32 (``Adam(state="float32")``), and in a row of its own in int16, the
default. PyTorch's first weights are its own. Also printed: RAM of training with 8 samples at a time, as ``summary()``
has it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import paired
import written
from accuracy import mnist1d

import odt

STEPS, UNITS, RATE = 20, 32, 0.006
ROWS = (("PyTorch float32", None, None), ("float32", "float32", "float32"), ("int8", "int8", "float32"),
        ("int8, moments int16", "int8", "int16"))  # fmt: skip


def series():
    """((x, y), (x, y)): to learn from, and to test with."""
    return [(x.reshape(len(x), STEPS, -1), y) for x, y in mnist1d()]


def network(cell):
    return odt.Sequential([odt.Input((STEPS, 40 // STEPS)), getattr(odt, cell)(UNITS), odt.Dense(10)])


def module(cell):
    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            made = {"GRU": torch.nn.GRU, "LSTM": torch.nn.LSTM, "SimpleRNN": torch.nn.RNN}[cell]
            self.hidden = made(40 // STEPS, UNITS, batch_first=True)
            self.last = torch.nn.Linear(UNITS, 10)

        def forward(self, x):
            return self.last(self.hidden(x)[0][:, -1])

    return Network()


def main():
    paired.table(__doc__, "cells", ["GRU"], series(), ROWS, network, module, RATE)


if __name__ == "__main__":
    written.recorded("recurrent.txt", main)
