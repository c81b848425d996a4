"""Spoken digits by a GRU and by a small transformer, in int8, beside PyTorch in float32.

    git clone https://github.com/Jakobovski/free-spoken-digit-dataset build/fsdd
    python bench/accuracy/spoken.py       both, five seeds; writes bench/results/spoken.txt
    python bench/accuracy/spoken.py --networks GRU --seeds 2 --rows int8

3,000 utterances of six speakers, 0.65 s each (story_keyword.loudest), as 32 frames of 20 log-mel channels: the int16 of
examples/keyword's LogMel, frame by frame, without a scale of the word, so that a board computes the same as sound
comes. Of each speaker's fifty takes of each digit the first ten are the test, 600 in all; the other 2,400 train.
GRU: 32 units, the last output, a Dense of 10. Transformer: a convolution over 3 frames in steps of 2 to width 32 with a
ReLU, positions that train, one pre-norm block (4 heads, then 64 units with a ReLU), the mean over 16 steps, a Dense of
10. All train for 30 epochs in batches of 32 by Adam with a rate of 0.004 that falls to 0 by a cosine. int8 keeps Adam's
moments of the GRU in float32 (``Adam(state="float32")``), those of the transformer in int16, the default. PyTorch's
first weights are its own. Also printed: multiplications of a frame or a word, RAM of training with 8 samples at a time,
of predictions, and of a step with odt.recurrent.Steps.
"""

import argparse
import sys
import time
import wave
from array import array
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import numpy as np
import paired
import story_keyword
import words
import written

import odt
from odt.recurrent import Steps

UNITS, WIDTH, HEADS, HIDDEN, RATE, EPOCHS, EPSILON, TESTED = 32, 32, 4, 64, 0.004, 30, 1e-3, 10
SCALE, ZERO = 1 / 1024, 5120
ROWS = ("PyTorch float32", "int8")


def recordings():
    """((x, y), (x, y)): to learn from, and to test with; x int16 of (samples, frames, channels)."""
    parts = ([], []), ([], [])
    for path in sorted(story_keyword.SOURCE.glob("*.wav")):
        digit, _, take = path.stem.split("_")
        with wave.open(str(path)) as file:
            sound = story_keyword.loudest(np.frombuffer(file.readframes(file.getnframes()), "<i2"))
        x, y = parts[int(take) < TESTED]
        x.append(frames(sound.astype("int16") * 256))
        y.append(int(digit))
    if len(parts[0][0]) != 2400 or len(parts[1][0]) != 600:
        raise SystemExit("%s: the 3,000 files of the data set are expected: see --help" % story_keyword.SOURCE)
    return [(np.array(x), np.array(y, "uint8")) for x, y in parts]


def frames(sound):
    """The log-mel of each frame, int16."""
    rows = array("h", bytes(2 * words.ROWS * words.CHANNELS))
    view = memoryview(rows)
    for row in range(words.ROWS):
        at = row * words.HOP
        words.mel(sound[at : at + words.WINDOW], view[row * words.CHANNELS : (row + 1) * words.CHANNELS])
    return np.array(rows, "int16").reshape(words.ROWS, words.CHANNELS)


def network(kind):
    x = odt.Input((words.ROWS, words.CHANNELS), dtype="int16", scale=SCALE, zero_point=ZERO)
    if kind == "GRU":
        return odt.Model(x, odt.Dense(10)(odt.GRU(UNITS)(x)))
    y = odt.Conv1D(WIDTH, 3, strides=2, padding="same", activation="relu")(x)
    y = odt.PositionEmbedding()(y)
    y = odt.Add()([y, odt.MultiHeadAttention(HEADS)(odt.LayerNorm(EPSILON)(y))])
    hidden = odt.Dense(HIDDEN, activation="relu")(odt.LayerNorm(EPSILON)(y))
    y = odt.Add()([y, odt.Dense(WIDTH)(hidden)])
    return odt.Model(x, odt.Dense(10)(odt.GlobalAvgPool()(y)))


def module(kind):
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.output = nn.GRU(words.CHANNELS, UNITS, batch_first=True), nn.Linear(UNITS, 10)

        def forward(self, x):
            return self.output(self.hidden(x)[0][:, -1])

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Conv1d(words.CHANNELS, WIDTH, 3, stride=2)
            self.position = nn.Parameter(torch.zeros(words.ROWS // 2, WIDTH))
            self.first, self.second = nn.LayerNorm(WIDTH, EPSILON), nn.LayerNorm(WIDTH, EPSILON)
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.hidden, self.last = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
            self.output = nn.Linear(WIDTH, 10)

        def forward(self, x):
            x = F.relu(self.embedding(F.pad(x.transpose(1, 2), (0, 1)))).transpose(1, 2)  # "same" as odt has it
            x = x + self.position
            y = self.first(x)
            x = x + self.attention(y, y, y, need_weights=False)[0]
            x = x + self.last(F.relu(self.hidden(self.second(x))))
            return self.output(x.mean(1))

    return Recurrent() if kind == "GRU" else Transformer()


def table(kinds, seeds, rows):
    data = recordings()
    real = [((x.astype("float32") - ZERO) * SCALE, y) for x, y in data]
    print("test accuracy of 600 utterances, mean over %d seeds +- standard error, and each" % seeds)
    print("%-13s %-16s %16s   %-40s %6s" % ("", "", "%", "each seed", "s"))
    for kind in kinds:
        for row in rows:
            start, found = time.time(), []
            for seed in range(seeds):
                if row == "int8":
                    state = "float32" if kind == "GRU" else "int16"
                    found.append(100 * paired.ours(network(kind), seed, "int8", state, data, RATE, EPOCHS))
                else:
                    found.append(100 * paired.torchs(lambda kind=kind: module(kind), seed, real, RATE, EPOCHS))
            error = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else 0
            each, taken = " ".join(["%.1f" % value for value in found]), (time.time() - start) / len(found)
            print("%-13s %-16s %6.2f +- %4.2f    %-40s %6.0f" % (kind, row, np.mean(found), error, each, taken))
            sys.stdout.flush()


def sizes(kinds):
    print("\n%-13s%12s%12s%22s%22s%22s" % ("bytes", "parameters", "products", "training", "predicting", "a step"))
    print("%-13s%12s%12s%22s%22s%22s" % ("", "", "of a word", "arena    state", "arena    state", "arena    kept"))
    for kind in kinds:
        model = network(kind)
        model.compile(odt.Adam(), batch_size=8)
        cells = ["%d %8d" % (len(model.session.arena), len(model.session.state))]
        counts = [sum(row[at] for row in model.session.plan.table) for at in (3, 4)]
        model = network(kind)
        model.compile(None, batch_size=1)
        cells.append("%d %8d" % (len(model.session.arena), len(model.session.state)))
        if kind == "GRU":
            model.calibrate(np.zeros((1, words.ROWS, words.CHANNELS), "int16"))
            steps = Steps(model)
            cells.append("%d %8d" % (len(steps.session.arena), len(steps.state)))
        print("%-13s%12d%12d" % (kind, *counts) + "".join(["%22s" % cell for cell in cells]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="*", choices=("GRU", "transformer"), default=("GRU", "transformer"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=ROWS)
    options = parser.parse_args()
    table(options.networks, options.seeds, options.rows)
    sizes(options.networks)


if __name__ == "__main__":
    written.recorded("spoken.txt", main)
