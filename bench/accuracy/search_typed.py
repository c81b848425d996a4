"""`odt search` for five minutes on one core against the first network that a person types, on four data sets.

    python bench/accuracy/search_typed.py                 writes bench/results/search_typed.txt
    python bench/accuracy/search_typed.py --minutes 1     prints

Digits (sklearn's 8x8 images), MNIST-1D (40 numbers in a row), River's ImageSegments (raw features) and exercises on the
wrist (examples/gesture: windows of 2.56 s at 25 Hz; no recording is in two parts). The command gets the RAM of the
typed network as its limit, trains for the same epochs and chooses by samples that the typed network does not see.
Accuracy is on samples that neither has seen: that of the model file that the command writes, and that of the typed
network's five seeds.
"""

import argparse
import contextlib
import io
import os
import statistics
import sys
import tempfile
from pathlib import Path

import mnist1d.data
import numpy as np
import river.datasets

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import written
from counting import ROOT

import odt
from odt.host import commands

sys.path.insert(0, str(ROOT / "examples" / "gesture"))
from motions import NAMES, recordings  # noqa: E402

EPOCHS, SEEDS = 18, 5


def digits():
    data = np.frombuffer((ROOT / "examples/digits/digits.bin").read_bytes(), "uint8")
    x, y = data[: 64 * 1797].reshape(-1, 8, 8, 1), data[64 * 1797 :].astype("int32")
    layers = [odt.Conv2D(16, 3, activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(32, "relu")]
    return [odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), *layers], parts(x, y, 1000, 1297)


def series():
    made = mnist1d.data.make_dataset(mnist1d.data.get_dataset_args())
    x, y = np.concatenate([made["x"], made["x_test"]]), np.concatenate([made["y"], made["y_test"]])
    layers = [
        odt.Conv1D(16, 5, activation="relu"), odt.MaxPool1D(), odt.Conv1D(32, 5, activation="relu"), odt.MaxPool1D(),
        odt.Flatten(), odt.Dense(32, "relu"),
    ]  # fmt: skip
    return [odt.Input((40, 1)), *layers], parts(x.astype("float32").reshape(-1, 40, 1), y.astype("int32"), 3000, 4000)


def exercises():
    """Every third recording chooses, every third tests."""
    found = [[], [], []]
    clips = [clip for name in ("teach.bin", "day.bin") for clip in recordings(ROOT / "examples/gesture" / name)]
    for number, (label, samples) in enumerate(sorted(clips)):
        g = np.frombuffer(samples, "int16").reshape(-1, 4, 3).mean(1).astype("float32") / 16384
        found[number % 3] += [(g[at : at + 64], NAMES.index(label)) for at in range(0, len(g) - 63, 8)]
    layers = [odt.Conv1D(16, 5, activation="relu"), odt.MaxPool1D(), odt.Flatten(), odt.Dense(32, "relu")]
    return [odt.Input((64, 3)), *layers], [
        (np.stack([x for x, _ in each]), np.array([y for _, y in each], "int32")) for each in found
    ]


def segments():
    """Features of 2310 pieces of photographs, as measured: River's ImageSegments."""
    samples = list(river.datasets.ImageSegments())
    names = sorted({label for _, label in samples})
    order = np.random.RandomState(0).permutation(len(samples))
    x = np.array([list(samples[at][0].values()) for at in order], "float32")
    y = np.array([names.index(samples[at][1]) for at in order], "int32")
    first = odt.Normalization()
    first.adapt(x[:1000])
    return [odt.Input(x.shape[1:]), first, odt.Dense(32, "relu")], parts(x, y, 1000, 1300)


def parts(x, y, *ends):
    return list(zip(np.split(x, ends), np.split(y, ends)))


def typed(layers, train, seed):
    """The network that a person types, trained."""
    model = odt.Sequential([*layers, odt.Dense(int(train[1].max()) + 1)])
    model.compile(odt.Adam(0.004), batch_size=16, seed=seed)
    model.fit(*train, epochs=EPOCHS, verbose=0)
    return model


def ram(model):
    return len(model.session.arena) + len(model.session.state)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5)
    minutes = parser.parse_args().minutes
    print("odt search DATA --ram <that of the typed network> --minutes %g --workers 1, %d epochs" % (minutes, EPOCHS))
    print("accuracy on samples that neither has seen, in %")
    print("               typed: mean   worst      RAM    search     RAM   what was written")
    for data in (digits, series, segments, exercises):
        _, (train, choose, test) = data()
        models = [typed(data()[0], train, seed) for seed in range(SEEDS)]
        right = [100 * model.evaluate(*test)[1] for model in models]
        with tempfile.TemporaryDirectory() as folder:
            arrays = {"x": train[0], "y": train[1], "x_test": choose[0], "y_test": choose[1]}
            np.savez(os.path.join(folder, "data.npz"), **arrays)
            words = [
                "search",
                os.path.join(folder, "data.npz"),
                "-o",
                os.path.join(folder, "best.odt"),
                "--workers",
                "1",
            ]
            words += ["--ram", str(ram(models[0])), "--minutes", str(minutes), "--epochs", str(EPOCHS)]
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                if commands.main(words):
                    raise SystemExit(said.getvalue())
            model = odt.load_model(os.path.join(folder, "best.odt"))
        best = [line for line in said.getvalue().splitlines() if line.startswith("trial ")][-1]
        print("%-12s %13.2f %7.2f %8d %9.2f %7d   %s" % (
            data.__name__, statistics.mean(right), min(right), ram(models[0]), 100 * model.evaluate(*test)[1],
            ram(model),
            best.partition(": ")[2]))  # fmt: skip


if __name__ == "__main__":
    written.recorded("search_typed.txt", main)
