"""Forward-forward (Hinton, 2022) beside backpropagation: accuracy, and memory and operations by formula.

It is not in odt.

    python bench/studies/forward_forward.py              all: some ten minutes; writes bench/results/forward_forward.txt
    python bench/studies/forward_forward.py --task digits-mlp --trials 20 --seeds 5

Data, batches of 16, epochs and cosines to 0 are those of bench/accuracy/zeroth.py; the network has one hidden layer
more: two of the same width, all in float32 on the PC; inputs have mean 0 and deviation 1. "all layers", "last layer":
odt's backpropagation by Adam(0.002). Forward-forward is in NumPy: each layer learns by itself, by Adam, so that its
goodness (the mean of the squares of its ReLUs) is high for a sample with its label (ten inputs more) and low for one
with a wrong label; between layers activities are divided by their length. "labels": predicted is the label whose
goodness, summed over the layers, is the highest: ten passes. "readout": a softmax layer learns beside it, by its own
gradient alone, from the activities of the hidden layers with no label (0.1 of each): one pass. Of each of the two,
settings drawn at random of RATES and so on are tried on a quarter of the training data, held out; the best then trains
on all of it. "hard": the wrong label is not drawn, but that of the highest goodness. Accuracy on the test data in %,
mean over seeds +- standard error.

Memory, float32, in bytes: weights and moments (12 for a weight that trains, else 4), activities that are kept for a
batch, the errors beside them, and the largest gradient. Operations: multiply-accumulates for a sample, of a training
step and of a prediction. All without biases.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import zeroth
from accuracy import BATCH, digits, mnist1d

import odt

CLASSES = 10
RATES = (0.0005, 0.001, 0.002, 0.005, 0.01)
THRESHOLDS = (0.25, 0.5, 1, 2, 4)  # of Hinton's loss
ALPHAS = (1, 2, 4, 8)  # of that of two goodnesses' difference (Lee and Song, 2023): no threshold
SCALES = (0.5, 1, 2, 4)  # what a label's input is, beside inputs of deviation 1
TASKS = {"digits-mlp": (digits, 200, 32), "mnist1d-mlp": (mnist1d, 40, 64)}


def flat(part, mean, deviation):
    x, y = part
    return ((x.reshape(len(x), -1) - mean) / deviation).astype("float32"), y.astype("int32")


class Layer:
    """Dense, ReLU; trained by Adam."""

    def __init__(self, rng, inputs, units):
        bound = (6 / (inputs + units)) ** 0.5
        self.weights = [rng.uniform(-bound, bound, (inputs, units)).astype("float32"), np.zeros(units, "float32")]
        self.moments = [[np.zeros_like(w), np.zeros_like(w)] for w in self.weights]
        self.steps = 0

    def __call__(self, x):
        return x @ self.weights[0] + self.weights[1]

    def apply(self, gradients, rate):
        self.steps += 1
        for w, (m, v), g in zip(self.weights, self.moments, gradients):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            w -= rate * (m / (1 - 0.9**self.steps)) / (np.sqrt(v / (1 - 0.999**self.steps)) + 1e-7)


def sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))


def unit(h):
    """Of length 1 times the root of its width, as inputs of deviation 1 are."""
    return h / np.sqrt((h * h).mean(1, keepdims=True) + 1e-6)


class ForwardForward:
    def __init__(self, seed, inputs, widths, setting):
        self.rng, self.setting = np.random.default_rng(seed), setting
        sizes = [inputs + CLASSES, *widths]
        self.layers = [Layer(self.rng, a, b) for a, b in zip(sizes, sizes[1:])]
        self.readout = Layer(self.rng, sum(widths), CLASSES) if setting["readout"] else None

    def labelled(self, x, labels):
        return np.hstack([x, self.setting["scale"] * np.eye(CLASSES, dtype="float32")[labels]])

    def activities(self, x):
        found = []
        for layer in self.layers:
            found.append(np.maximum(layer(x), 0))
            x = unit(found[-1])
        return found

    def goodness(self, x):
        """(samples, labels), summed over layers."""
        rows = self.labelled(np.repeat(x, CLASSES, 0), np.tile(np.arange(CLASSES), len(x)))
        return sum((h * h).mean(1) for h in self.activities(rows)).reshape(len(x), CLASSES)

    def neutral(self, x):
        label = np.full((len(x), CLASSES), self.setting["scale"] / CLASSES, "float32")
        return np.hstack([unit(h) for h in self.activities(np.hstack([x, label]))])

    def step(self, x, y, rate):
        if self.setting["hard"]:
            goodness = self.goodness(x)
            goodness[np.arange(len(y)), y] = -np.inf
            wrong = goodness.argmax(1)
        else:
            wrong = (y + self.rng.integers(1, CLASSES, len(y))) % CLASSES
        good, bad = self.labelled(x, y), self.labelled(x, wrong)
        for layer in self.layers:
            h, other = np.maximum(layer(good), 0), np.maximum(layer(bad), 0)
            up, down = (h * h).mean(1), (other * other).mean(1)
            if self.setting["alpha"]:
                push = pull = self.setting["alpha"] * sigmoid(self.setting["alpha"] * (down - up))
            else:
                push, pull = sigmoid(self.setting["threshold"] - up), sigmoid(down - self.setting["threshold"])
            share = 2 / h.shape[1] / len(x)
            d, e = -share * push[:, None] * h, share * pull[:, None] * other
            layer.apply((good.T @ d + bad.T @ e, d.sum(0) + e.sum(0)), rate)
            good, bad = unit(h), unit(other)
        if self.readout:
            h = self.neutral(x)
            logits = self.readout(h)
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            p[np.arange(len(y)), y] -= 1
            self.readout.apply((h.T @ p / len(x), p.mean(0)), rate)

    def accuracy(self, x, y):
        said = self.readout(self.neutral(x)) if self.readout else self.goodness(x)
        return 100 * (said.argmax(1) == y).mean()


def trained(train, test, epochs, widths, setting, seed):
    (x, y), order = train, np.random.default_rng(seed)
    model = ForwardForward(seed, x.shape[1], widths, setting)
    steps, step = epochs * -(-len(x) // BATCH), 0
    for _ in range(epochs):
        places = order.permutation(len(x))
        for at in range(0, len(x), BATCH):
            batch = places[at : at + BATCH]
            model.step(x[batch], y[batch], setting["rate"] * 0.5 * (1 + np.cos(np.pi * step / steps)))
            step += 1
    return model.accuracy(*test)


def settings(trials, readout):
    """Drawn at random, all different."""
    rng, found = np.random.default_rng(7), []
    while len(found) < trials:
        alpha = float(rng.choice(ALPHAS)) if rng.integers(2) else 0
        setting = {
            "rate": float(rng.choice(RATES)), "alpha": alpha,
            "threshold": 0 if alpha else float(rng.choice(THRESHOLDS)),
            "scale": float(rng.choice(SCALES)), "hard": bool(rng.integers(2)), "readout": readout,
        }  # fmt: skip
        if setting not in found:
            found.append(setting)
    return found


def searched(train, epochs, widths, trials, readout):
    """(the best setting, its accuracy on what is held out)."""
    (x, y), cut = train, len(train[0]) * 3 // 4
    best = None, -1
    for setting in settings(trials, readout):
        with np.errstate(all="ignore"):  # of one that diverges
            found = trained((x[:cut], y[:cut]), (x[cut:], y[cut:]), epochs, widths, setting, 1000)
        if found > best[1]:
            best = setting, found
    return best


# --- memory and operations --------------------------------------------------------------------------


def formulas(inputs, width):
    """{row: (bytes, operations of a step, of a prediction)}, and what "hard" adds to a step."""
    first, middle, last = inputs * width, width * width, width * CLASSES
    every = first + middle + last
    kept = inputs + 2 * width + CLASSES  # activities of a sample
    found = {
        "all layers": (
            12 * every + 4 * (BATCH * (kept + 2 * width) + max(first, middle)),
            2 * first + 3 * (middle + last),
            every,
        ),
        "last layer": (
            4 * (first + middle) + 12 * last + 4 * (BATCH * (max(inputs + width, 2 * width) + CLASSES) + last),
            first + middle + 2 * last,
            every,
        ),
    }
    macs = [(inputs + CLASSES) * width, middle]
    activities = max(inputs + CLASSES + 2 * width, 3 * width)  # what goes into a layer, what comes out, its error
    own = 12 * sum(macs) + 4 * (BATCH * activities + max(macs))
    found["labels"] = own, 4 * sum(macs), CLASSES * sum(macs)
    readout = CLASSES * 2 * width
    more = 12 * readout + 4 * BATCH * (2 * width + CLASSES)
    found["readout"] = own + more, 5 * sum(macs) + 2 * readout, sum(macs) + readout
    return found, CLASSES * sum(macs)


def network(inputs, width):
    hidden = [odt.Dense(width, activation="relu") for _ in range(2)]
    return [odt.Input((inputs,)), *hidden, odt.Dense(CLASSES)]


def row(task, name, found, formula, note=""):
    cell = "%6.2f +- %4.2f" % (found.mean(), found.std() / max(len(found) - 1, 1) ** 0.5)
    print("%-12s %-10s %s%9d%9d%9d  %s" % (task, name, cell, *formula, note), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=sorted(TASKS), action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=6)
    arguments = parser.parse_args()
    print("%d seeds, %d settings" % (arguments.seeds, arguments.trials))
    print("%-12s %-10s %14s%9s%9s%9s" % ("task", "", "accuracy %", "bytes", "step", "predict"))
    for task in arguments.task or TASKS:
        data, epochs, width = TASKS[task]
        train, test = data()
        train, test = [flat(part, train[0].mean(), train[0].std()) for part in (train, test)]
        inputs = train[0].shape[1]
        costs, hard = formulas(inputs, width)
        steps = epochs * -(-len(train[0]) // BATCH)
        for name, stays, optimizer in zeroth.ways((), steps):
            if name not in costs:
                continue
            found = [
                zeroth.trained(
                    lambda: network(inputs, width), stays, optimizer(), "float32", train, test, epochs, seed
                )[1]
                for seed in range(arguments.seeds)
            ]
            row(task, name, np.array(found), costs[name])
        for name in ("labels", "readout"):
            setting, held = searched(train, epochs, [width, width], arguments.trials, name == "readout")
            found = [trained(train, test, epochs, [width, width], setting, seed) for seed in range(arguments.seeds)]
            own, step, predict = costs[name]
            words = ["%s %g" % (key, setting[key]) for key in ("rate", "alpha", "threshold", "scale", "hard")]
            note = "held out %.1f by %s" % (held, " ".join(words))
            row(task, name, np.array(found), (own, step + hard * setting["hard"], predict), note)


if __name__ == "__main__":
    import written

    written.recorded("forward_forward.txt", main)
