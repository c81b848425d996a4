"""Accuracy with each normalisation layer: odt's int8 and float32 against PyTorch's float32, on equal terms.

    python bench/studies/normalisation.py                          all three layers
    python bench/studies/normalisation.py --norm layer --seeds 2

MNIST-1D as in accuracy.py, whose data, schedule and pairing this takes: Adam, cosine to 0, the same first
weights and batches. a run without arguments writes bench/results/normalisation.txt.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
from accuracy import mnist1d, train_odt, train_torch

import odt

NORMS = {"layer": None, "group": lambda: odt.GroupNorm(5), "batch": odt.BatchNorm}
RATES = (0.002, 0.05)


def network(norm):
    def layers():
        stack = [odt.Input((40, 1))]
        if norm == "layer":  # of all features: position by position it would take the amplitude away
            for size in (5, 3, 3):
                stack.append(odt.Conv1D(25, size, strides=2, padding="same", activation="relu"))
            return stack + [odt.Flatten(), odt.LayerNorm(), odt.Dense(10)]
        for size in (5, 3, 3):
            stack += [odt.Conv1D(25, size, strides=2, padding="same", use_bias=False), NORMS[norm](), odt.ReLU()]
        return stack + [odt.Flatten(), odt.Dense(10)]

    return layers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--norm", choices=sorted(NORMS), action="append")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--without", choices=("torch", "float32"), help="leave out these rows")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    train, test = mnist1d()
    rows = [("PyTorch float32", None), ("odt float32", "float32"), ("odt int8, int16 state", "int8")]
    if arguments.without:
        del rows[("torch", "float32").index(arguments.without)]
    floats = [label for label, dtype in rows if dtype != "int8"]
    print("test accuracy, mean over %d seeds +- standard error; differences paired by seed; %d epochs" % (
        arguments.seeds, arguments.epochs))  # fmt: skip
    columns = "".join(" %18s" % ("to " + label) for label in floats)
    print("%-7s %-22s %14s%s %6s" % ("norm", "", "accuracy %", columns, "s"))
    for norm in arguments.norm or NORMS:
        results = {label: [] for label, _ in rows}
        seconds = dict.fromkeys(results, 0)
        for seed in range(arguments.seeds):
            for label, dtype in rows:
                begin = time.time()
                common = (network(norm), train, test, arguments.epochs, "adam", RATES)
                if dtype is None:
                    found = train_torch(*common, seed)
                else:
                    found = train_odt(*common, dtype, None, seed)
                results[label].append(found)
                seconds[label] += time.time() - begin
                print(norm, seed, label, "%.2f" % found, file=sys.stderr, flush=True)
        spread = max(arguments.seeds - 1, 1) ** 0.5
        for label, _ in rows:
            values = np.array(results[label])
            line = "%-7s %-22s %6.2f +- %4.2f" % (norm, label, values.mean(), values.std() / spread)
            for base in floats:
                difference = values - results[base]
                line += (
                    "   %+7.2f +- %4.2f" % (difference.mean(), difference.std() / spread) if base != label else " " * 19
                )
            print("%s %6.0f" % (line, seconds[label]), flush=True)


if __name__ == "__main__":
    import written

    written.recorded("normalisation.txt", main)
