"""What few and weak labels give: active learning, votes of rules, pseudo-labels, on digits.

    python bench/accuracy/labels.py               all; without arguments it writes bench/results/labels.txt
    python bench/accuracy/labels.py --seeds 2

scikit-learn's digits: a pool of 1,200, the other 597 to test on; dense 64-32-10, Adam 0.01, batch 16. Test accuracy in
%, mean over seeds 0.. (first weights, first labels, examples of rules) +- standard error. Each training begins from
first weights.

Active learning: 20 labels by chance, then 20 more at a time by each measure. Rules: of two examples of each class each
looks at a part of the image, takes the class of the nearest, and abstains where another class's is nearly as near.
Pseudo-labels: 5 labels a class; four times the network labels the pool, where it is sure (0.9).
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
import written

import odt
from odt.continual import labels

POOL, FIRST, MORE, ROUNDS = 1200, 20, 20, 9
PARTS = {
    "upper half": lambda row, column: row < 4,
    "lower half": lambda row, column: row >= 4,
    "left half": lambda row, column: column < 4,
    "right half": lambda row, column: column >= 4,
    "middle rows": lambda row, column: 2 <= row < 6,
    "middle columns": lambda row, column: 2 <= column < 6,
}


def digits():
    data = (ROOT / "examples/digits/digits.bin").read_bytes()
    x = np.frombuffer(data[: 1797 * 64], "uint8").reshape(-1, 64)
    y = np.frombuffer(data[1797 * 64 :], "uint8")
    shuffled = np.random.default_rng(0).permutation(1797)
    return x[shuffled], y[shuffled]


X, Y = digits()


def trained(x, y, dtype, seed, epochs):
    model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(32, "relu"), odt.Dense(10)])
    model.compile(odt.Adam(0.01), dtype=dtype, seed=seed)
    model.fit(x, y, epochs=epochs, verbose=0)
    return model


def accuracy(model):
    return 100 * model.evaluate(X[POOL:], Y[POOL:])[1]


def asked(by, dtype, seed):
    """Accuracy after each round of questions."""
    rest = list(np.random.default_rng(100 + seed).permutation(POOL))
    have, rest = rest[:FIRST], rest[FIRST:]
    found = []
    for left in range(ROUNDS, -1, -1):
        model = trained(X[have], Y[have], dtype, seed, 60)
        found.append(accuracy(model))
        if left:
            chosen = range(MORE) if by == "chance" else labels.query(model, X[rest], MORE, by)
            have, rest = have + [rest[i] for i in chosen], [v for i, v in enumerate(rest) if i not in set(chosen)]
    return found


def rules(seed):
    rng = np.random.default_rng(seed)
    found = []
    for inside in PARTS.values():
        part = [8 * row + column for row in range(8) for column in range(8) if inside(row, column)]
        chosen = np.concatenate([rng.choice(np.flatnonzero(Y[:POOL] == c), 2, False) for c in range(10)])
        examples, classes = X[chosen][:, part].astype(int), Y[chosen]

        def rule(sample, examples=examples, classes=classes, part=part):
            distances = ((examples - sample[part].astype(int)) ** 2).sum(1)
            best = distances.argmin()
            other = distances[classes != classes[best]].min()
            return int(classes[best]) if distances[best] < 0.8 * other else None

        found.append(rule)
    return found


def weak(dtype, seed):
    """{labels: (share of the pool in %, right in %, accuracy)}"""
    vote = labels.Votes(rules(seed), 10)
    pool, found = X[:POOL], {"majority": vote.labels(X[:POOL])}
    vote.fit(pool)
    found["weighted by fit()"] = vote.labels(pool)
    found["weighted, at least 0.99"] = vote.labels(pool, 0.99)
    found["true"] = Y[:POOL]
    result = {}
    for name, kept in found.items():
        kept = np.array(kept, "int64")
        there = kept >= 0
        model = trained(pool[there], kept[there].astype("uint8"), dtype, seed, 30)
        right = (kept[there] == Y[:POOL][there]).mean()
        result[name] = 100 * there.mean(), 100 * right, accuracy(model)
    return result


def own(dtype, seed, each):
    """Accuracy before and after each of four rounds."""
    rng = np.random.default_rng(seed)
    have = np.concatenate([rng.choice(np.flatnonzero(Y[:POOL] == c), 5, False) for c in range(10)])
    rest = np.setdiff1d(np.arange(POOL), have)
    model = trained(X[have], Y[have], dtype, seed, 80)
    found = [accuracy(model)]
    for _ in range(4):
        index, label = labels.pseudo(model, X[rest], 0.9, each)
        x = np.concatenate([X[have], X[rest[index]]])
        model = trained(x, np.concatenate([Y[have], np.array(label, "uint8")]), dtype, seed, 30)
        found.append(accuracy(model))
    return found


def cell(values):
    values = np.array(values)
    return "%.1f +- %.1f" % (values.mean(), values.std() / max(len(values) - 1, 1) ** 0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    print("%d seeds\n" % len(seeds))
    shown = (0, 1, 2, 4, 6, ROUNDS)
    counts = "".join(["%14d" % (FIRST + MORE * r) for r in shown])
    print("active learning, labels    %s" % counts)
    for dtype in ("int8", "float32"):
        for by in ("chance", "margin", "entropy", "least_confidence", "coreset"):
            found = np.array([asked(by, dtype, seed) for seed in seeds])
            print("%-8s %-17s %s" % (dtype, by, "".join(["%14s" % cell(found[:, r]) for r in shown])), flush=True)
    print("\nrules                              labelled %       right %      accuracy")
    for dtype in ("int8", "float32"):
        found = [weak(dtype, seed) for seed in seeds]
        for name in found[0]:
            columns = "".join(["%14s" % cell([each[name][k] for each in found]) for k in range(3)])
            print("%-8s %-24s %s" % (dtype, name, columns), flush=True)
    print("\npseudo-labels, rounds      %s" % "".join(["%14d" % r for r in range(5)]))
    for dtype in ("int8", "float32"):
        for each in (None, 40):
            found = np.array([own(dtype, seed, each) for seed in seeds])
            name = "all that are sure" if each is None else "%d of a class" % each
            print("%-8s %-17s %s" % (dtype, name, "".join(["%14s" % cell(found[:, r]) for r in range(5)])), flush=True)


if __name__ == "__main__":
    written.recorded("labels.txt", main)
