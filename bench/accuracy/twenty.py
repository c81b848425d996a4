"""Twenty tasks that no choice in odt was made with: int8 beside float32.

    python bench/accuracy/twenty.py                          all; writes bench/results/twenty.txt
    python bench/accuracy/twenty.py --task moons --seeds 2

The list was committed before any of it was run, with its networks, rates and epochs, and nothing was tuned afterwards.
Ten tables, five series, five images, of scikit-learn or drawn here by SEED. Features that have units go through
odt.Normalization(), targets through odt.data.ScaledTargets, as docs advise; everything else is compile's default. The
figure is accuracy, or R2 in hundredths, on samples that were not trained on. A task counts as level where the mean
over the seeds of int8 less float32, paired, is at most 0.5 points below 0.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import numpy as np
import written
from few_bits import variance_explained
from sklearn import datasets

import odt
from odt.data import ScaledTargets

SEED, SEEDS, BATCH, LEVEL = 9100, 10, 16, 0.5


class Task:
    """``data(rng)`` -> x, y; the first ``train`` of a permutation train. ``layers()``: those after the Input."""

    def __init__(self, data, layers, train, epochs, rate=0.003, normalized=False, regression=False, pixels=False):
        self.data, self.layers, self.train, self.epochs, self.rate = data, layers, train, epochs, rate
        self.normalized, self.regression, self.pixels = normalized, regression, pixels

    def parts(self):
        rng = np.random.default_rng(SEED)
        x, y = self.data(rng)
        chosen = rng.permutation(len(x))[: self.train + 1500]
        x = np.ascontiguousarray(x[chosen]).astype("uint8" if self.pixels else "float32")
        y = np.ascontiguousarray(y[chosen]).astype("float32" if self.regression else "uint8")
        return (x[: self.train], y[: self.train]), (x[self.train :], y[self.train :])

    def run(self, dtype, seed):
        train, test = self.parts()
        if self.pixels:
            stack = [odt.Input(train[0].shape[1:], dtype="uint8", scale=1 / int(train[0].max()))]
        else:
            stack = [odt.Input(train[0].shape[1:])]
        if self.normalized:
            layer = odt.Normalization()
            layer.adapt(train[0])
            stack.append(layer)
        model = odt.Sequential(stack + self.layers())
        rate = odt.CosineDecay(self.rate, self.epochs * -(-len(train[0]) // BATCH))
        loss = "mse" if self.regression else "sparse_categorical_crossentropy"
        model.compile(odt.Adam(rate), loss, dtype=dtype, batch_size=BATCH, seed=1 + seed)
        if self.regression:
            scaled = ScaledTargets(model)
            scaled.fit(*train, epochs=self.epochs, verbose=0)
            return variance_explained(scaled, *test)
        model.fit(*train, epochs=self.epochs, verbose=0)
        return 100 * model.evaluate(*test)[1]


# Networks


def mlp(outputs, hidden=(32, 16)):
    return lambda: [odt.Dense(units, activation="relu") for units in hidden] + [odt.Dense(outputs)]


def series_cnn(outputs):
    return lambda: [
        odt.Conv1D(12, 5, strides=2, padding="same", activation="relu"),
        odt.Conv1D(16, 3, strides=2, padding="same", activation="relu"),
        odt.Flatten(),
        odt.Dense(outputs),
    ]


def image_cnn(outputs):
    return lambda: [
        odt.Conv2D(8, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Flatten(),
        odt.Dense(outputs),
    ]


# Tables


def loaded(load):
    return lambda rng: load(return_X_y=True)


def made(make, **options):
    return lambda rng: make(random_state=int(rng.integers(1 << 30)), **options)


def signs(rng):
    """Hastie's: whether the squares of ten numbers add up to more than their median."""
    x, y = datasets.make_hastie_10_2(3000, random_state=int(rng.integers(1 << 30)))
    return x, y > 0


def sums(rng):
    """Two outputs of different size: a product, and a distance of hundredths."""
    x = rng.normal(size=(2500, 5))
    return x, np.stack([30 * x[:, 0] * x[:, 1], 0.05 * np.sqrt((x**2).sum(1))], 1)


# Series of 64 readings


def tones(rng):
    """Which of four frequencies, in noise."""
    y = rng.integers(0, 4, 2500)
    t = np.arange(64)
    phase = rng.uniform(0, 2 * np.pi, size=(2500, 1))
    x = np.sin(2 * np.pi * (2 + 2 * y[:, None]) * t / 64 + phase) + 0.7 * rng.normal(size=(2500, 64))
    return x[:, :, None], y


def autoregressive(rng):
    """Which of three autoregressive processes of order 2."""
    y = rng.integers(0, 3, 2500)
    first, second = np.array([1.2, 0.3, -0.8])[y], np.array([-0.7, 0.2, -0.3])[y]
    x = np.zeros((2500, 84))
    for t in range(2, 84):
        x[:, t] = first * x[:, t - 1] + second * x[:, t - 2] + rng.normal(size=2500)
    return x[:, 20:, None], y


def beats(rng):
    """Pulses like an electrocardiogram's; of the abnormal ones the second wave is late, inverted or absent."""
    y = rng.integers(0, 4, 2500)
    t = np.arange(64)[None]
    at = rng.uniform(15, 25, size=(2500, 1))
    late, size = np.array([18, 26, 18, 18])[y][:, None], np.array([0.4, 0.4, -0.4, 0])[y][:, None]
    x = np.exp(-(((t - at) / 1.5) ** 2)) + size * np.exp(-(((t - at - late) / 4) ** 2))
    return (x + 0.1 * rng.normal(size=x.shape))[:, :, None], y


def chirps(rng):
    """Whether a tone rises, falls or stays."""
    y = rng.integers(0, 3, 2500)
    t = np.arange(64) / 64
    begin = rng.uniform(4, 9, size=(2500, 1))
    x = np.sin(2 * np.pi * (begin * t + 3 * (y[:, None] - 1) * t * t) + rng.uniform(0, 6.28, size=(2500, 1)))
    return (x + 0.5 * rng.normal(size=x.shape))[:, :, None], y


def mackey_glass(rng):
    """The value eight steps after sixty-four of a chaotic series."""
    x = list(1.2 + 0.1 * rng.normal(size=18))
    for _ in range(6000):
        x.append(x[-1] + 0.2 * x[-18] / (1 + x[-18] ** 10) - 0.1 * x[-1])
    x = np.array(x[500:])
    starts = np.arange(0, len(x) - 80, 2)
    return np.stack([x[s : s + 64] for s in starts])[:, :, None], x[starts + 71][:, None]


# Images


def small_digits(rng):
    x, y = datasets.load_digits(return_X_y=True)
    return x.reshape(-1, 8, 8, 1), y


def even_digits(rng):
    x, y = datasets.load_digits(return_X_y=True)
    return x.reshape(-1, 8, 8, 1), y % 2


def shapes(rng):
    """A filled square, a disc, a cross or a frame of any size and place in 12x12 pixels, in noise."""
    y = rng.integers(0, 4, 2500)
    rows, columns = np.mgrid[:12, :12]
    images = []
    for label in y:
        r, c, size = rng.uniform(4, 7), rng.uniform(4, 7), rng.uniform(2.5, 4)
        dr, dc = np.abs(rows - r), np.abs(columns - c)
        inside = [
            np.maximum(dr, dc) < size,
            dr**2 + dc**2 < (size * 1.1) ** 2,
            (np.minimum(dr, dc) < 1) & (np.maximum(dr, dc) < size),
            (np.maximum(dr, dc) < size) & (np.maximum(dr, dc) > size - 1.2),
        ][label]
        images.append(160 * inside + rng.normal(scale=45, size=(12, 12)) + 40)
    return np.clip(np.rint(images), 0, 255)[..., None], y


def stripes(rng):
    """In which of four directions stripes run, 12x12 pixels, in noise."""
    y = rng.integers(0, 4, 2500)
    rows, columns = np.mgrid[:12, :12]
    angle = (y * np.pi / 4)[:, None, None]
    wave = np.sin(
        (rows * np.cos(angle) + columns * np.sin(angle)) * rng.uniform(1, 1.8, size=(2500, 1, 1))
        + rng.uniform(0, 6.28, size=(2500, 1, 1))
    )
    return np.clip(np.rint(128 + 60 * wave + 50 * rng.normal(size=wave.shape)), 0, 255)[..., None], y


def blobs(rng):
    """How many of one to four spots, 12x12 pixels."""
    y = rng.integers(0, 4, 2500)
    rows, columns = np.mgrid[:12, :12]
    images = []
    for label in y:
        image = np.zeros((12, 12))
        for place in rng.permutation(9)[: label + 1]:
            r, c = divmod(place, 3)
            image += 180 * np.exp(-((rows - 1.5 - 4 * r) ** 2 + (columns - 1.5 - 4 * c) ** 2) / 3)
        images.append(image + rng.normal(scale=25, size=(12, 12)) + 30)
    return np.clip(np.rint(images), 0, 255)[..., None], y


TASKS = {
    "iris": Task(loaded(datasets.load_iris), mlp(3), 100, 60, normalized=True),
    "breast cancer": Task(loaded(datasets.load_breast_cancer), mlp(2), 380, 30, normalized=True),
    "diabetes": Task(loaded(datasets.load_diabetes), mlp(1), 300, 30, 0.001, normalized=True, regression=True),
    "moons": Task(made(datasets.make_moons, n_samples=2500, noise=0.2), mlp(2), 1000, 20),
    "circles": Task(made(datasets.make_circles, n_samples=2500, noise=0.1, factor=0.6), mlp(2), 1000, 20),
    "quantiles": Task(
        made(datasets.make_gaussian_quantiles, n_samples=2500, n_features=6, n_classes=3), mlp(3), 1000, 20
    ),
    "hypercube": Task(
        made(datasets.make_classification, n_samples=2500, n_features=16, n_informative=8, n_classes=4),
        mlp(4),
        1000,
        20,
        normalized=True,
    ),  # fmt: skip
    "signs": Task(signs, mlp(2), 1500, 20),
    "Friedman 1": Task(
        made(datasets.make_friedman1, n_samples=2500, noise=1), mlp(1), 1000, 30, normalized=True, regression=True
    ),
    "sums": Task(sums, mlp(2), 1000, 30, 0.005, regression=True),
    "tones": Task(tones, series_cnn(4), 1000, 10),
    "autoregressive": Task(autoregressive, series_cnn(3), 1000, 10),
    "beats": Task(beats, series_cnn(4), 1000, 10),
    "chirps": Task(chirps, series_cnn(3), 1000, 10),
    "Mackey-Glass": Task(mackey_glass, series_cnn(1), 1000, 15, regression=True),
    "small digits": Task(small_digits, image_cnn(10), 1000, 10, pixels=True),
    "even digits": Task(even_digits, image_cnn(2), 1000, 10, pixels=True),
    "shapes": Task(shapes, image_cnn(4), 1000, 10, pixels=True),
    "stripes": Task(stripes, image_cnn(4), 1000, 10, pixels=True),
    "blobs": Task(blobs, image_cnn(4), 1000, 10, pixels=True),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, action="append")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    arguments = parser.parse_args()
    print("accuracy or R2 in hundredths, mean of %d seeds; int8 less float32, paired" % arguments.seeds)
    print("%-15s %9s %8s %18s %6s" % ("", "float32", "int8", "difference", "worst"))
    level = 0
    for name in arguments.task or TASKS:
        found = [np.array([TASKS[name].run(dtype, seed) for seed in range(arguments.seeds)])
                 for dtype in ("float32", "int8")]  # fmt: skip
        difference = found[1] - found[0]
        mean, spread = difference.mean(), difference.std() / max(arguments.seeds - 1, 1) ** 0.5
        level += mean >= -LEVEL
        print(
            "%-15s %9.2f %8.2f   %+6.2f +- %4.2f %+9.1f"
            % (name, found[0].mean(), found[1].mean(), mean, spread, difference.min()),
            flush=True,
        )
    print("at most %.1f below float32: %d of %d" % (LEVEL, level, len(arguments.task or TASKS)))


if __name__ == "__main__":
    written.recorded("twenty.txt", main)
