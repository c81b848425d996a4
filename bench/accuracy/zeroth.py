"""odt.ZerothOrder beside backpropagation: test accuracy, RAM, and the cost of a step.

    python bench/accuracy/zeroth.py                     all: twenty minutes; writes bench/results/zeroth.txt
    python bench/accuracy/zeroth.py --task digits-mlp --seeds 1

Data and networks are those of bench/accuracy/accuracy.py, mnist1d-mlp is 40-64-10. Every row trains from the same first
weights on the same batches of 16 for the same number of epochs, all schedules a cosine to 0. "all layers", "last
layer": backpropagation by Adam(0.002); before the last layer weights stay at their first values, and have no residual.
"zeroth order": ZerothOrder(0.003), "by value" with sign=False; "tail=n": the last n layers by Adam(0.002). Accuracy in
%, mean over seeds +- standard error, and the difference to all layers, paired. RAM in bytes: arena, and state with
weights. Costs: of train_step() on a batch of 16, int8.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
import numpy as np
from accuracy import BATCH, digits, digits_cnn, digits_mlp, mnist1d, mnist1d_cnn
from steps import DIGITS, MLP, PIXELS

import odt

RATE, STEP = 0.002, 0.003


def mnist1d_mlp():
    return [odt.Input((40, 1)), odt.Flatten(), odt.Dense(64, activation="relu"), odt.Dense(10)]


# name: data, network, epochs, dtypes, tails
TASKS = {
    "digits-mlp": (digits, digits_mlp, 200, ("int8", "float32"), (1,)),
    "digits-cnn": (digits, digits_cnn, 150, ("int8", "float32"), (1, 2)),
    "mnist1d-mlp": (mnist1d, mnist1d_mlp, 40, ("int8",), (1,)),
    "mnist1d-cnn": (mnist1d, mnist1d_cnn, 40, ("int8",), (1, 2, 3)),
}


def ways(tails, steps):
    """(name, whether the layers before the last stay, what makes the optimizer)."""

    def adam():
        return odt.Adam(odt.CosineDecay(RATE, steps))

    yield "all layers", False, adam
    yield "last layer", True, adam
    yield "zeroth order", False, lambda: odt.ZerothOrder(odt.CosineDecay(STEP, steps))
    yield "by value", False, lambda: odt.ZerothOrder(odt.CosineDecay(STEP, steps), sign=False)
    for tail in tails:
        yield "tail=%d" % tail, False, lambda tail=tail: odt.ZerothOrder(STEP, tail=tail, optimizer=adam())
    yield "tail=1, by value", False, lambda: odt.ZerothOrder(STEP, tail=1, optimizer=adam(), sign=False)


def trained(network, stays, optimizer, dtype, train, test, epochs, seed):
    layers = network()
    for layer in layers[1:-1] if stays else ():
        layer.trainable = False
    model = odt.Sequential(layers)
    model.compile(optimizer, dtype=dtype, batch_size=BATCH, seed=seed)
    try:
        model.fit(*train, epochs=epochs, verbose=0)
    except ArithmeticError:  # diverged: as good as chance
        return model.session.plan, 100 / 10
    return model.session.plan, 100 * model.evaluate(*test)[1]


def accuracies(names, seeds):
    print("%-12s %-8s %-17s %14s %16s %7s %7s %5s" % (
        "task", "dtype", "", "accuracy %", "difference", "arena", "state", "s"))  # fmt: skip
    for name in names:
        data, network, epochs, dtypes, tails = TASKS[name]
        train, test = data()
        steps = epochs * -(-len(train[0]) // BATCH)
        for dtype in dtypes:
            base = None
            for label, stays, optimizer in ways(tails, steps):
                begin, found = time.time(), []
                for seed in range(seeds):
                    plan, accuracy = trained(network, stays, optimizer(), dtype, train, test, epochs, seed)
                    found.append(accuracy)
                found = np.array(found)
                base = found if base is None else base
                cells = (name, dtype, label)
                for each in (found, found - base):
                    cells += (each.mean(), each.std() / max(seeds - 1, 1) ** 0.5)
                print(
                    "%-12s %-8s %-17s %6.2f +- %4.2f  %+6.2f +- %4.2f %7d %7d %5.0f"
                    % (*cells, plan.arena, plan.state, time.time() - begin),
                    flush=True,
                )


ON_BOARD = """
import odt
layers = [%s]
%s
model = odt.Sequential(layers)
model.compile(%s, batch_size=16, seed=7)
%s
for _ in range(3):
    model.train_step(x, y)
begin()
end()
begin()
model.train_step(x, y)
end()
"""
STAYS = "for layer in layers[1:-1]:\n    layer.trainable = False"
COSTS = (
    ("all layers", "", "odt.Adam()"),
    ("last layer", STAYS, "odt.Adam()"),
    ("zeroth order", "", "odt.ZerothOrder()"),
    ("tail=1", "", "odt.ZerothOrder(tail=1)"),
)


def costs(names):
    for name in names:
        print(counting.heading(name))
    print("%-12s %-17s%s" % ("", "", "".join("%12s" % name for name in names)))
    for task, layers in (("digits-mlp", MLP), ("digits-cnn", DIGITS)):
        for label, stays, optimizer in COSTS:
            cells = []
            for name in names:
                machine = counting.open(name)
                cells.append(machine.run(ON_BOARD % (layers, stays, optimizer, PIXELS))[-1])
                machine.close()
            print("%-12s %-17s%s" % (task, label, "".join("%12d" % cell for cell in cells)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=sorted(TASKS), action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--machines", default="qemu_m4,rp2040")
    arguments = parser.parse_args()
    costs([name for name in arguments.machines.split(",") if name])
    print()
    accuracies(arguments.task or TASKS, arguments.seeds)


if __name__ == "__main__":
    import written

    written.recorded("zeroth.txt", main)
