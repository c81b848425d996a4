"""Accuracy where eight bits are few: heavy tails, near ties, outputs of different size, deep networks, fast adaptation.

    python bench/accuracy/few_bits.py                  every row; writes bench/results/few_bits.txt
    python bench/accuracy/few_bits.py --row "near ties" --seeds 2

The data are drawn here, from generators and seeds that no choice in odt was made with. ``DATA`` is the seed of the
data, ``FIRST`` that of the first weights of the first of a row's seeds.
"""

import sys
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import hard
import shift
import written
from accuracy import digits, digits_cnn

import odt
from odt.data import Companding, ScaledTargets, Whitening

DATA, FIRST, SEEDS, BATCH = 7300, 500, 10, 16


# Data: ((x, y), (x, y)) to learn from and to test with


def _halves(x, y, train):
    return tuple((np.ascontiguousarray(x[part]), y[part]) for part in (slice(None, train), slice(train, None)))


def _teacher(rng, z, classes, hidden=8):
    """The classes that a random network of one hidden layer gives, about as many of each."""
    logits = np.tanh(z @ rng.normal(size=(z.shape[1], hidden)) / z.shape[1] ** 0.5 * 2) @ rng.normal(
        size=(hidden, classes)
    )
    return (logits - logits.mean(0)).argmax(1).astype("uint8")


def tails(draw, inverse):
    """12 standardised features of heavy tails; the class is a function of what they are made from."""
    rng = np.random.default_rng(DATA)
    x = draw(rng, (4000, 12))
    y = _teacher(rng, inverse(x), 4)
    return _halves(((x - x.mean(0)) / x.std(0)).astype("float32"), y, 1500)


@lru_cache(None)
def log_normal(deviation=1.2):
    return tails(lambda rng, size: np.exp(deviation * rng.normal(size=size)), lambda x: np.log(x) / deviation)


@lru_cache(None)
def transformed(data, kind):
    """By what odt.inspect.Rounding advises for tails and for near ties."""
    train, test = data()
    made = kind(train[0].shape[1])
    made.adapt(train[0])
    return tuple((made.transform(x), y) for x, y in (train, test))


@lru_cache(None)
def student(freedom):
    return tails(lambda rng, size: rng.standard_t(freedom, size=size), np.arcsinh)


@lru_cache(None)
def near_ties():
    """Pairs of numbers in -1 .. 1 that differ by 0.005 to 0.05, and two features of noise: which is larger?"""
    rng = np.random.default_rng(DATA + 1)
    x = rng.uniform(-1, 1, size=(4000, 4))
    gap = rng.choice((-1, 1), size=4000) * rng.uniform(0.005, 0.05, size=4000)
    x[:, 1] = x[:, 0] + gap
    return _halves(x.astype("float32"), (gap > 0).astype("uint8"), 2000)


@lru_cache(None)
def normal_ties():
    """The same of normal numbers, whose range is four times as large."""
    rng = np.random.default_rng(DATA + 4)
    x = rng.normal(size=(5000, 4))
    gap = rng.choice((-1, 1), size=5000) * rng.uniform(0.005, 0.05, size=5000)
    x[:, 1] = x[:, 0] + gap
    return _halves(x.astype("float32"), (gap > 0).astype("uint8"), 3000)


def _functions(rng, z, outputs):
    """Smooth functions of the features, each of mean 0 and deviation 1, with a little noise."""
    y = np.tanh(z @ rng.normal(size=(z.shape[1], 6)) / 1.5) @ rng.normal(size=(6, outputs))
    y = (y - y.mean(0)) / y.std(0)
    return y + 0.1 * rng.normal(size=y.shape)


@lru_cache(None)
def targets(sizes, offset=0):
    rng = np.random.default_rng(DATA + 2)
    x = rng.normal(size=(3000, 6))
    y = _functions(rng, x, len(sizes)) * sizes + offset
    return _halves(x.astype("float32"), y.astype("float32"), 1500)


@lru_cache(None)
def taught():
    """Five classes that a network of one hidden layer gives 8 normal features."""
    rng = np.random.default_rng(DATA + 3)
    z = rng.normal(size=(4000, 8))
    return _halves(z.astype("float32"), _teacher(rng, z, 5, 16), 1500)


# Networks


def mlp(features, classes, hidden=(32, 24), first=()):
    def network(train):
        stack = [odt.Input((features,)), *[make(train) for make in first]]
        return stack + [odt.Dense(units, activation="relu") for units in hidden] + [odt.Dense(classes)]

    return network


def normalization(train):
    layer = odt.Normalization()
    layer.adapt(train[0])
    return layer


def deep(layers, units):
    return lambda train: (
        [odt.Input((8,))] + [odt.Dense(units, activation="relu") for _ in range(layers)] + [odt.Dense(5)]
    )


def variance_explained(model, x, y):
    """R2 in hundredths, the mean of the outputs'."""
    missed = ((np.array(model.predict(x)).reshape(y.shape) - y) ** 2).mean(0) / y.var(0)
    return 100 * (1 - missed.mean())


def accuracy(model, x, y):
    return 100 * model.evaluate(x, y)[1]


class Bits:
    """A row of bench/accuracy/hard.py; ``rates``: {optimizer, what else: rate}."""

    seeds = SEEDS

    def __init__(self, data, network, epochs, rates, loss="sparse_categorical_crossentropy", score=accuracy, wrap=None):
        self.wrap = wrap or (lambda model: model)
        self.data, self.network, self.epochs, self.rates = data, network, epochs, rates
        self.loss, self.score = loss, score

    def train(self, kind, dtype, seed):
        train, test = self.data()
        model = odt.Sequential(self.network(train))
        rate = odt.CosineDecay(self.rates[kind], self.epochs * -(-len(train[0]) // BATCH))
        model.compile(optimizer(kind, rate), self.loss, dtype=dtype, batch_size=BATCH, seed=FIRST + seed)
        model = self.wrap(model)
        model.fit(*train, epochs=self.epochs, verbose=0)
        return self.score(model, *test)


def optimizer(kind, rate):
    """Of "adam" or "momentum" with ", float32" for its state and ", clipped" for a global norm of 1."""
    kind, *more = kind.split(", ")
    options = {"state": "float32" if "float32" in more else None, "global_clipnorm": 1 if "clipped" in more else None}
    return odt.Adam(rate, **options) if kind == "adam" else odt.SGD(rate, momentum=0.9, **options)


class Adaptation:
    """shift.py's network, all of it, adapts to 40 samples of a shifted world: Adam at three rates, also with
    the gradients' norm limited. Some seeds of either dtype fail, so that the difference needs more of them.
    """

    seeds = 3 * SEEDS
    rates = {"adam, %s%s" % (rate, end): float(rate) for end in ("", ", clipped") for rate in ("0.003", "0.01", "0.03")}

    def __init__(self, name):
        self.name, self.known = name, {}

    def train(self, kind, dtype, seed):
        first, few, rest = shift.world(self.name, FIRST + seed)
        if seed not in self.known:
            model = shift.BUILDERS[shift.PLAIN]()
            rate = odt.CosineDecay(0.004, 20 * -(-len(first[0]) // 16))
            model.compile(odt.Adam(rate), dtype="float32", seed=FIRST + seed)
            model.fit(*first, epochs=20, verbose=0)
            self.known[seed] = model.get_weights()
        model = shift.BUILDERS[shift.PLAIN]()
        rate = odt.CosineDecay(self.rates[kind], shift.EPOCHS * -(-len(few[0]) // shift.BATCH))
        model.compile(optimizer(kind, rate), dtype=dtype, batch_size=shift.BATCH, seed=1)
        model.set_weights(self.known[seed])
        model.fit(*few, epochs=shift.EPOCHS, verbose=0)
        return 100 * model.evaluate(*rest)[1]


BOTH = {"adam": 0.003, "momentum": 0.02}
REGRESSION = {"adam": 0.005}
ROWS = {}
for _name, _data in (
    ("log-normal", log_normal),
    ("steep tails", partial(log_normal, 2)),
    *(("Student t %d" % k, partial(student, k)) for k in (2, 3, 4)),
):
    ROWS[_name] = Bits(_data, mlp(12, 4), 15, BOTH)
    ROWS[_name + ", companded"] = Bits(partial(transformed, _data, Companding), mlp(12, 4), 15, BOTH)
ROWS["log-normal, normalized"] = Bits(log_normal, mlp(12, 4, first=(normalization,)), 15, BOTH)
for _name, _data, _epochs in (("near ties", near_ties, 20), ("normal ties", normal_ties, 30)):
    ROWS[_name] = Bits(_data, mlp(4, 2), _epochs, BOTH)
    ROWS[_name + ", whitened"] = Bits(partial(transformed, _data, Whitening), mlp(4, 2), _epochs, BOTH)
for _name, _data, _outputs in (
    *(("outputs %d:1" % _ratio, lambda ratio=_ratio: targets((1, 1 / ratio)), 2) for _ratio in (1, 20, 100)),
    ("targets at 50", lambda: targets((0.8,), 50), 1),
):
    for _end, _wrap in (("", None), (", scaled", ScaledTargets)):
        ROWS[_name + _end] = Bits(_data, mlp(6, _outputs), 20, REGRESSION, "mse", variance_explained, _wrap)
ROWS["ten layers of 32"] = Bits(taught, deep(10, 32), 25, {"momentum": 0.01, "momentum, float32": 0.01, "adam": 0.002})
ROWS["clipped norm"] = Bits(digits, lambda train: digits_cnn(), 12, {"adam, clipped": 0.01, "adam": 0.01})
for _name in ("other classes", "inverted"):
    ROWS["adapted, %s" % _name] = Adaptation(_name)


if __name__ == "__main__":
    written.recorded("few_bits.txt", lambda: hard.table(__doc__, ROWS))
