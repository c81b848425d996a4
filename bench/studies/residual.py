"""Narrower residuals: what training loses where a weight's low bits are 4 or none, in place of 8.

    python bench/studies/residual.py            prints the table, writes bench/results/residual.txt
    python bench/studies/residual.py --seeds 1

An int8 weight w has a residual byte r: (256 w + r) / 256 steps of its row's scale. After each step of odt's own
training, a function rewrites the state: 256 w + r becomes a multiple of 2 ** (8 - bits), "to nearest" or "stochastic":
a random number below that step is added, and the rest is cut off; integers alone, as a kernel would do it. Last, of
SGD's rows, what odt has of it: odt.adapt.RoundedSGD. Seeds pair the rows. Digits and MNIST-1D from scratch as
bench/accuracy/accuracy.py trains them, Adam and plain SGD; "adapted": the separable network and the sparse update of
bench/accuracy/shift.py, digits turned and inverted, and the 15 layers there. Test accuracy in %, mean +- standard
error, and the difference to 8 bits.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import accuracy  # noqa: E402
import numpy as np  # noqa: E402
import shift  # noqa: E402
import written  # noqa: E402

import odt  # noqa: E402
from odt.adapt import RoundedSGD  # noqa: E402
from odt.run.weights import residual_spans  # noqa: E402

ROWS = ((8, None), (4, "to nearest"), (4, "stochastic"), (0, "stochastic"), (0, "RoundedSGD"))
# Of what adapts: of 0.02, 0.01 and 0.005 the best with residuals, of seeds 100 and 101.
RATES = {shift.SEPARABLE: 0.01, shift.DEEP: 0.02}


class Narrow:
    """A callback that leaves ``bits`` of each residual."""

    def __init__(self, model, bits, how, seed):
        self.model, self.unit = model, 1 << (8 - bits)
        self.rng = np.random.default_rng(seed) if how == "stochastic" else None
        self.spans = [
            (weights.kernel.offset + begin, end - begin, at + begin)
            for _, weights in model.session.plan.weights
            for begin, end, at in residual_spans(weights)
        ]

    def on_batch_end(self, _):
        """After each step."""
        state = np.frombuffer(self.model.session.state, "int8")
        for kernel, count, residual in self.spans:
            w, r = state[kernel : kernel + count], state[residual : residual + count]
            fine = 256 * w.astype("int32") + r
            added = self.unit // 2 if self.rng is None else self.rng.integers(0, self.unit, count)
            fine = np.minimum((fine + added) // self.unit * self.unit, 127 * 256 + 127 // self.unit * self.unit)
            w[:] = fine + 128 >> 8
            r[:] = fine - 256 * w.astype("int32")


def fitted(model, x, y, epochs, bits, how, seed):
    narrow = [] if how in (None, "RoundedSGD") else [Narrow(model, bits, how, seed)]
    model.fit(x, y, epochs=epochs, verbose=0, callbacks=narrow)
    return model


def from_scratch(task, kind):
    data, layers, epochs, _, *rates = accuracy.TASKS[task]
    train, test = data()
    steps = epochs * -(-len(train[0]) // accuracy.BATCH)

    def run(bits, how, seed):
        model = odt.Sequential(layers())
        optimizer = accuracy.optimizer(kind, rates, steps, None)
        if how == "RoundedSGD":
            optimizer = RoundedSGD(optimizer.learning_rate)
        model.compile(optimizer, dtype="int8", batch_size=accuracy.BATCH, seed=seed)
        return 100 * fitted(model, *train, epochs, bits, how, seed).evaluate(*test)[1]

    return run


def adapted(network, change, learned):
    def run(bits, how, seed):
        first, few, rest = shift.world(change, seed)
        if (change, seed) not in learned:
            model = shift.BUILDERS[network]()
            model.compile(odt.Adam(odt.CosineDecay(0.004, 15 * 57)), dtype="int8", batch_size=16, seed=seed)
            model.fit(*first, epochs=15, verbose=0)
            learned[change, seed] = model.get_weights()
        steps = shift.EPOCHS * -(-len(few[0]) // shift.BATCH)
        optimizer = (RoundedSGD if how == "RoundedSGD" else odt.SGD)(
            odt.CosineDecay(RATES[network], steps), momentum=0.9
        )
        model = shift.POLICIES["sparse"](network, learned[change, seed], optimizer, few)
        return 100 * fitted(model, *few, shift.EPOCHS, bits, how, seed).evaluate(*rest)[1]

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    tasks = [("%s, %s" % (task, kind), from_scratch(task, kind)) for task, kind in (
        ("digits-cnn", "adam"), ("digits-cnn", "sgd"), ("mnist1d-cnn", "adam"),
    )]  # fmt: skip
    for network in (shift.SEPARABLE, shift.DEEP):
        learned = {}
        tasks += [("%s, %s" % (network, change), adapted(network, change, learned)) for change in shift.SHIFTS[:2]]
    print("%-26s %5s %-12s %16s %16s" % ("", "bits", "", "accuracy", "less 8 bits"))
    for name, run in tasks:
        base = None
        for bits, how in ROWS[: 4 if name.endswith("adam") else 5]:
            found = np.array([run(bits, how, seed) for seed in seeds])
            base = found if base is None else base
            error = len(found) ** -0.5
            less = found - base
            print("%-26s %5d %-12s %7.2f +- %5.2f %7.2f +- %5.2f" % (
                name, bits, how or "", found.mean(), found.std() * error, less.mean(), less.std() * error
            ), flush=True)  # fmt: skip


if __name__ == "__main__":
    written.recorded("residual.txt", main)
