"""Accuracy with each normalisation layer: odt's int8 and float32 against PyTorch's float32, on equal terms.

    python bench/normalisation.py                          all three layers
    python bench/normalisation.py --norm layer --seeds 2

MNIST-1D as in accuracy.py, whose data, schedule and pairing this takes: Adam, cosine to 0, the same first
weights and batches. bench/results/normalisation.txt holds the last full run.
"""

import argparse
import sys
import time

import numpy as np
import torch
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
    print("test accuracy, mean over %d seeds +- standard error; difference to the first row, paired; %d epochs" % (
        arguments.seeds, arguments.epochs))  # fmt: skip
    print("%-10s %-24s %16s %16s %6s" % ("norm", "", "accuracy %", "difference", "s"))
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
        base = np.array(results[rows[0][0]])
        spread = max(len(base) - 1, 1) ** 0.5
        for label, _ in rows:
            values = np.array(results[label])
            difference = values - base
            print(
                "%-10s %-24s %7.2f +- %4.2f  %+6.2f +- %4.2f %6.0f"
                % (norm, label, values.mean(), values.std() / spread, difference.mean(),
                   difference.std() / spread, seconds[label]),
                flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
