"""Classifiers and clusters of odt.online on five data sets that nobody here chose them by.

    python bench/accuracy/neighbours.py           writes bench/results/neighbours.txt
    python bench/accuracy/neighbours.py --seeds 2 prints

KNN with a budget: the newest samples, and condense=True; the accuracy on the two fifths that were not learned. KMeans:
the adjusted Rand index of one pass over all samples, beside scikit-learn's MiniBatchKMeans of the same first means by
partial_fit() in batches of 16, one pass, and by fit(), which sees all samples as often as it likes. Each seed is
another order.
"""

import argparse
import sys
from pathlib import Path

import mnist1d.data
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import written
from sklearn import datasets
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from odt.online import KNN, KMeans

BUDGETS = (8, 16, 32, 64)


def sets():
    """(name, samples, labels): standardised but the pixels, which are 0 .. 4."""
    for name in ("digits", "wine", "breast_cancer", "iris"):
        data = getattr(datasets, "load_" + name)()
        yield name, data.data / 4 if name == "digits" else StandardScaler().fit_transform(data.data), data.target
    made = mnist1d.data.make_dataset(mnist1d.data.get_dataset_args())
    yield "MNIST-1D", made["x"][:1500], made["y"][:1500]


def right(x, y, budget, condense):
    learned = len(x) * 3 // 5
    model = KNN(x.shape[1], budget, condense=condense)
    for row, label in zip(x[:learned].tolist(), y.tolist()):
        model.learn_one(row, label)
    return np.mean([model.predict_one(row) == label for row, label in zip(x[learned:].tolist(), y[learned:].tolist())])


def agreement(x, y, seed):
    count = int(y.max()) + 1
    model = KMeans(x.shape[1], count)
    for row in x.tolist():
        model.learn_one(row)
    found = [adjusted_rand_score(y, [model.predict_one(row) for row in x.tolist()])]
    other = MiniBatchKMeans(count, random_state=seed, n_init=1, init=x[:count])
    for at in range(0, len(x) - count, 16):
        other.partial_fit(x[at : at + 16])
    found.append(adjusted_rand_score(y, other.predict(x)))
    found.append(adjusted_rand_score(y, MiniBatchKMeans(count, random_state=seed, n_init=3).fit_predict(x)))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=8)
    seeds = range(parser.parse_args().seeds)
    print("Means of %d orders" % len(seeds))
    print("KNN, accuracy in %%: newest, condensed, by budget %s; the adjusted Rand index of KMeans, partial_fit, fit"
          % ", ".join(map(str, BUDGETS)))  # fmt: skip
    rows = []
    for name, x, y in sets():
        orders = [np.random.RandomState(seed).permutation(len(x)) for seed in seeds]
        row = [
            100 * np.mean([right(x[order], y[order], budget, condense) for order in orders])
            for budget in BUDGETS
            for condense in (False, True)
        ]
        row += list(np.mean([agreement(x[order], y[order], seed) for seed, order in zip(seeds, orders)], 0))
        rows.append(row)
        print("%-14s" % name + line(row))
    print("%-14s" % "mean" + line(np.mean(rows, 0)))


def line(row):
    return " ".join(
        ["%6.1f %5.1f " % tuple(row[at : at + 2]) for at in range(0, 8, 2)]
    ) + "  %5.2f %5.2f %5.2f" % tuple(row[8:])


if __name__ == "__main__":
    written.recorded("neighbours.txt", main)
