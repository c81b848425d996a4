"""Quantization-aware scaling: SGD with momentum in int8 with it, as odt does, and without.

    python bench/studies/qas.py               prints the table, writes bench/results/qas.txt
    python bench/studies/qas.py --seeds 2

With a weight W = s_W * W_q a gradient of W_q is s_W times that of W, and a step along it moves W by s_W once
more: Lin et al. (2022) multiply the gradient by s_W^-2 (a bias's by (s_W s_x)^-2) to get the step of W back. odt's
apply is that step: it divides a direction in real units by s_W. "Without" multiplies the direction by s_W^2 (by
(s_W s_x)^2) before, in the program itself. With it the rate is bench/accuracy/accuracy.py's; without, several are
tried.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import written  # noqa: E402
from accuracy import BATCH, TASKS  # noqa: E402

import odt  # noqa: E402
from odt.base.fixed import (  # noqa: E402
    ONE,
    bits_to_float,
    get,  # noqa: E402
)


class Unscaled(odt.SGD):
    """SGD that takes the gradient of what is stored for the gradient of what it means."""

    def direct(self, s, name, gradient, scale, part, factor):
        scales = super().direct(s, name, gradient, scale, part, factor)
        layer, kind = name.rsplit(" ", 1)
        node, weights = next(pair for pair in s.buffers.weights.items() if pair[1].name == layer)
        assert weights.common  # a scale a layer: no depthwise convolution
        parts = [weights.scale]
        if kind == "bias":
            parts.append(s.values[node.inputs[0]].scale)
        square = parts + parts
        made = s.scratch(name + " unscaled", 4 * part.rows)
        for row in range(part.rows):
            value = s.arena.part(scales, 4 * row, 4)
            for number, one in enumerate(square):
                last = number == len(square) - 1
                product = s.arena.part(made, 4 * row, 4) if last else s.scratch("product", 4)
                s.emit("product", (product, value, one), (ONE,))
                value = product
        return made


EPOCHS = {"digits-cnn": 20, "mnist1d-cnn": 8}  # of MNIST-1D a quarter of accuracy.py's
# The optimizer, the dtype and the rates to try.
WAYS = {
    "float32": (odt.SGD, "float32", (0.05,)),
    "int8, scaled (odt)": (odt.SGD, "int8", (0.05,)),
    "int8, unscaled": (Unscaled, "int8", (0.05, 31.25, 62.5, 125.0, 250.0, 500.0, 1000.0, 2000.0)),
}


def trained(task, way, rate, seed):
    """Test accuracy in percent, 10 of what diverged, and the layers' weight scales at the end."""
    data, layers, *_ = TASKS[task]
    epochs = EPOCHS[task]
    train, test = DATA.setdefault(task, data())
    make, dtype, _ = WAYS[way]
    model = odt.Sequential(layers())
    steps = epochs * -(-len(train[0]) // BATCH)
    model.compile(make(odt.CosineDecay(rate, steps), 0.9), dtype=dtype, batch_size=BATCH, seed=seed)
    try:
        model.fit(*train, epochs=epochs, verbose=0)
    except ArithmeticError:  # it has diverged: no better than chance
        return 10.0, []
    scales = (
        [bits_to_float(get(model.session.state, w.scale.offset)) for _, w in model.session.plan.weights]
        if dtype == "int8"
        else []
    )
    return 100 * model.evaluate(*test)[1], scales


DATA = {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    lines = [__doc__.splitlines()[0], "Written by: python bench/studies/qas.py --seeds %d" % seeds, ""]
    lines.append("%s; batch %d, rates fall to 0 by a cosine." % (
        ", ".join(["%s: %d epochs" % pair for pair in EPOCHS.items()]), BATCH))  # fmt: skip
    lines.append("")
    lines.append("%-12s %-20s %10s %16s %6s" % ("task", "SGD, momentum 0.9", "rate", "accuracy %", "s"))
    print("\n".join(lines))

    def say(line):
        print(line, flush=True)
        lines.append(line)

    for task in EPOCHS:
        for way, (_, _, rates) in WAYS.items():
            rows = []
            for rate in rates:
                begin = time.time()
                runs = [trained(task, way, rate, seed) for seed in range(seeds)]
                found = np.array([accuracy for accuracy, _ in runs])
                rows.append(
                    (found.mean(), rate, found.std() / max(seeds - 1, 1) ** 0.5, time.time() - begin, runs[0][1])
                )
                say("%-12s %-20s %10g %7.2f +- %5.2f %6.0f" % ((task, way, rate) + (rows[-1][0],) + rows[-1][2:4]))
            best = max(rows)
            if best[4]:
                say(
                    "%12s weight scales of the best, seed 0: %s"
                    % ("", ", ".join(["%.2g" % scale for scale in best[4]]))
                )
    written.write("qas.txt", lines)


if __name__ == "__main__":
    main()
