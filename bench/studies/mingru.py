"""Whether minGRU, which odt has not, is ahead of a GRU at equal bytes: MNIST-1D, PyTorch in float32.

    python bench/studies/mingru.py               five seeds; writes bench/results/mingru.txt
    python bench/studies/mingru.py --seeds 1     prints

minGRU (Feng et al., 2024, "Were RNNs all we needed?") computes its gate and candidate from the inputs alone, so that
one layer sees no order of steps: it has two layers here, of as many units as give it a GRU's number of parameters.
Data and training are those of bench/accuracy/recurrent.py.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT))

import recurrent  # noqa: E402
import sequences  # noqa: E402
import torch  # noqa: E402
import written  # noqa: E402
from torch import nn  # noqa: E402

UNITS = 40  # of two layers of minGRU


class MinGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(40 // recurrent.STEPS, 2 * UNITS), nn.Linear(UNITS, 2 * UNITS)
        self.output = nn.Linear(UNITS, 10)

    def forward(self, x):
        for layer in (self.first, self.second):
            gate, candidate = layer(x).chunk(2, 2)
            gate, h, steps = torch.sigmoid(gate), x.new_zeros(len(x), UNITS), []
            for t in range(x.shape[1]):
                h = h + gate[:, t] * (candidate[:, t] - h)
                steps.append(h)
            x = torch.stack(steps, 1)
        return self.output(x[:, -1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name, make in (("GRU of 32", lambda: recurrent.module("GRU")), ("minGRU, two layers of 40", MinGRU)):
        name = "%s, %d parameters" % (name, sum([part.numel() for part in make().parameters()]))
        sequences.row(name, make, recurrent.series(), recurrent.RATE, options.seeds)


if __name__ == "__main__":
    written.recorded("mingru.txt", main)
