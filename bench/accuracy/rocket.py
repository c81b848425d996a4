"""MiniRocket's features against a network that learns its own, of few samples: MNIST-1D, test accuracy.

    python bench/accuracy/rocket.py           about ten minutes; writes bench/results/rocket.txt

``samples``: the number of samples per class, of ten classes; each seed draws others. A sample is 40 numbers, times
2048, as int16. "MiniRocket": 420 or 1,680 features, whose biases are of the same samples, and a Dense layer in int8.
"convolutions": bench/accuracy/accuracy.py's network of three, in int8, from scratch. Both with Adam, cosine to 0, until
they have seen 120,000 samples.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import written
from accuracy import mnist1d, mnist1d_cnn

import odt
from odt.sensors import MiniRocket

SEEDS = 10
SAMPLES = (5, 20, 100)


def few(seed, count):
    """count samples of each class, in int16, and 4,000 to test with."""
    (x, y), (xt, yt) = mnist1d()
    rng = np.random.default_rng(seed)
    kept = np.concatenate([rng.permutation(np.flatnonzero(y == label))[:count] for label in range(10)])
    kept = rng.permutation(kept)
    x, xt = (np.rint(2048 * each.reshape(len(each), 40)).clip(-32768, 32767).astype("int16") for each in (x, xt))
    return (x[kept], y[kept]), (xt[:4000], yt[:4000])


def accuracy(model, train, test, rate, seed):
    epochs = 120000 // len(train[0])
    steps = epochs * -(-len(train[0]) // 16)
    model.compile(odt.Adam(odt.CosineDecay(rate, steps)), batch_size=16, seed=seed)
    model.fit(*train, epochs=epochs, verbose=0)
    return 100 * model.evaluate(*test)[1]


def rocket(features):
    def run(seed, train, test):
        front = MiniRocket(40, 1, features, seed=seed).fit(train[0])
        sets = [(np.array([front(row) for row in x], "int16"), y) for x, y in (train, test)]
        layers = [odt.Input((features,), dtype="int16", scale=1 / 16384), odt.Normalization(), odt.Dense(10)]
        return accuracy(odt.Sequential(layers), *sets, 0.001, seed)

    return run


def convolutions(seed, train, test):
    layers = [odt.Input((40, 1), dtype="int16", scale=1 / 2048), *mnist1d_cnn()[1:]]
    return accuracy(odt.Sequential(layers), train, test, 0.002, seed)


KINDS = {"MiniRocket, 420": rocket(420), "MiniRocket, 1680": rocket(1680), "convolutions": convolutions}


def main():
    seeds = int(sys.argv[1]) if sys.argv[1:] else SEEDS
    print("MNIST-1D, test accuracy in %%, mean over %d seeds +- standard error, and the worst" % seeds)
    print("%-18s%s" % ("samples of a class", "".join("%26d" % count for count in SAMPLES)))
    for name, run in KINDS.items():
        cells = []
        for count in SAMPLES:
            found = [run(seed, *few(seed, count)) for seed in range(seeds)]
            cells.append(
                "%12.1f +- %3.1f  %6.1f" % (np.mean(found), np.std(found) / max(seeds - 1, 1) ** 0.5, min(found))
            )
        print("%-18s%s" % (name, "".join("%26s" % cell for cell in cells)), flush=True)


if __name__ == "__main__":
    written.recorded("rocket.txt", main)
