"""Data as it comes: int8 against float32 on raw and on standardised features, with and without a Normalization.

    python bench/accuracy/raw.py               all; without arguments it writes bench/results/raw.txt
    python bench/accuracy/raw.py --splits 1 --seeds 2

scikit-learn's wine, breast cancer and diabetes, three splits of 70 and 30 %: a hidden layer of 16, Adam 0.01, batch 16,
60 epochs (diabetes 15). Test accuracy in %; of diabetes R2, with standardised targets except in the rows that say
otherwise. "standardised" is (x - mean) / deviation of the training part, in float64. Each figure is a mean over seeds
0.. of first weights and order: one sample of wine's test part is 1.9 points, of breast cancer's 0.6. By split: int8
less float32, paired by seed, and its standard error.
"""

import argparse
import statistics
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import written
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split

import odt

EPOCHS, RATE, SEEDS = 60, 0.01, 10  # of diabetes a quarter of the epochs: it overfits


def data(name, seed):
    """(training x, test x, training y, test y), raw."""
    if name == "diabetes":
        x, y = load_diabetes(return_X_y=True, scaled=False)
    else:
        x, y = (load_wine if name == "wine" else load_breast_cancer)(return_X_y=True)
    labels = None if name == "diabetes" else y
    return train_test_split(x, y, test_size=0.3, random_state=seed, stratify=labels)


def figure(name, features, layer, dtype, split, seed, targets="standardised"):
    """Test accuracy in %, or R2."""
    x, test, y, wanted = data(name, split)
    regression = name == "diabetes"
    if features == "standardised":
        mean, deviation = x.mean(0), x.std(0)
        x, test = (x - mean) / deviation, (test - mean) / deviation
    first = [getattr(odt, kind)() for kind in layer.split(", ") if kind != "none"]
    outputs = 1 if regression else y.max() + 1
    layers = [odt.Input(x.shape[1:]), *first, odt.Dense(16, activation="relu"), odt.Dense(outputs)]
    model = odt.Sequential(layers)
    x, test = x.astype(np.float32), test.astype(np.float32)
    if first and first[0].kind == "normalization":
        first[0].adapt(x)
    centre, unit = (y.mean(), y.std()) if regression and targets == "standardised" else (0, 1)
    model.compile(odt.Adam(RATE), "mse" if regression else "sparse_categorical_crossentropy", dtype=dtype, seed=seed)
    y = ((y - centre) / unit).astype(np.float32) if regression else y
    model.fit(x, y, epochs=EPOCHS // 4 if regression else EPOCHS, verbose=0)
    found = np.array(model.predict(test)).reshape(len(test), -1)
    if not regression:
        return 100 * (found.argmax(1) == wanted).mean()
    found = found[:, 0] * unit + centre
    return 1 - ((found - wanted) ** 2).sum() / ((wanted - wanted.mean()) ** 2).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    args = parser.parse_args()
    print("%d seeds a split" % args.seeds)
    print("data             features      first layer               float32     int8   int8 - float32, by split")
    rows = [
        (name, features, layer, "standardised")
        for name in ("wine", "breast cancer", "diabetes")
        for features, layer in (
            ("standardised", "none"), ("raw", "none"), ("raw", "BatchNorm"), ("raw", "Normalization"),
            ("raw", "Normalization, BatchNorm"), ("standardised", "Normalization"),
        )
    ]  # fmt: skip
    rows.append(("diabetes", "raw", "Normalization", "raw"))
    for name, features, layer, targets in rows:
        found = [
            [
                [figure(name, features, layer, d, split, seed, targets) for seed in range(args.seeds)]
                for d in ("float32", "int8")
            ]
            for split in range(args.splits)
        ]
        places = "%.3f" if name == "diabetes" else "%.1f"
        means = [places % statistics.mean([v for pair in found for v in pair[column]]) for column in (0, 1)]
        by_split = "  ".join([difference(*pair, places) for pair in found])
        name += ", y raw" if targets == "raw" else ""
        print("%-17s%-14s%-25s%8s %8s   %s" % (name, features, layer, means[0], means[1], by_split), flush=True)


def difference(float32, int8, places):
    """The mean of int8 less float32 over the seeds, and its standard error."""
    pairs = [b - a for a, b in zip(float32, int8)]
    error = statistics.stdev(pairs) / len(pairs) ** 0.5 if len(pairs) > 1 else 0
    return ("%+" + places[1:] + " +- " + places) % (statistics.mean(pairs), error)


if __name__ == "__main__":
    written.recorded("raw.txt", main)
