"""Dynamic sparse updates: the backward pass they save, and the accuracy they cost.

    python bench/accuracy/dynamic.py              writes bench/results/dynamic.txt
    python bench/accuracy/dynamic.py --seeds 2    prints only

As bench/accuracy/shift.py: 40 samples of each shifted world, 30 epochs in batches of 8, Adam with a cosine decay, its
rate the best of RATES with another seed; accuracy of the rest, mean of 5 seeds. Instructions: those that QEMU's
emulated Cortex-M4 executes in the backward passes and updates of all 150 steps on the turned digits, rate 0.01, a
step's mean.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import shift  # noqa: E402
import written  # noqa: E402
from shift import BATCH, EPOCHS, SHIFTS, machines, update  # noqa: E402

NETWORKS = """
import odt
def network(channels):
    layers = [odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)]
    for number, count in enumerate(channels):
        layers.append(odt.Conv2D(count, 3, padding="same", activation="relu", name="abcd"[number]))
        if number % 2:
            layers.append(odt.MaxPool2D())
    return odt.Sequential(layers + [odt.Flatten(), odt.Dense(10, name="e")])
"""
exec(NETWORKS)
CHANNELS = (8, 16, 16, 24), (16, 32, 32, 48)
POLICIES = {
    "whole": "update.whole(model)",
    "dynamic 0.1 to 0.5": "update.dynamic(model, 0.1, 0.5)",
    "dynamic 0.1 to 0.3": "update.dynamic(model, 0.1, 0.3)",
    "dynamic 0.1 to 0.2": "update.dynamic(model, 0.1, 0.2)",
}
ON_BOARD = """
from array import array
from odt.adapt import update
model = network({channels})
{policy}
model.compile(odt.Adam(odt.CosineDecay(0.01, {steps})), batch_size={batch}, seed=1)
weights = []
with open("weights.bin", "rb") as file:
    for size in {sizes}:
        weights.append(array("f", bytes(4 * size)))
        file.readinto(weights[-1])
model.set_weights(weights)
with open("few.bin", "rb") as file:
    x, y = file.read(64 * 40), file.read(40)
class Count:
    total = 0
    def on_forward_end(self):
        start()
    def on_update_end(self):
        self.total += executed()
        start()
count = Count()
model.fit(x, y, epochs={epochs}, verbose=0, callbacks=[count])
print("instructions", count.total // {steps})
"""


def applied(text):
    def apply(model, _):
        exec(text, {"model": model, "update": update})

    return shift.fixed(apply)


def instructions(machine, channels, policy):
    """Of backward and update, a step's mean."""
    (first, few, _), name = shift.world("turned", 0), str(channels)
    weights = shift.pretrain(name, first, 0)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "weights.bin").write_bytes(
            b"".join([np.asarray(values, "float32").tobytes() for values in weights])
        )
        (Path(folder) / "few.bin").write_bytes(few[0].tobytes() + few[1].tobytes())
        machine.put(folder)
    text = machine.exec(NETWORKS + machines.COUNTER + ON_BOARD.format(
        channels=channels, policy=POLICIES[policy], steps=EPOCHS * 40 // BATCH, batch=BATCH, epochs=EPOCHS,
        sizes=[np.size(values) for values in weights]), timeout=580)  # fmt: skip
    return int(text.split("instructions")[1].split()[0])


def rows(channels, seeds):
    name = str(channels)
    shift.BUILDERS[name] = lambda: network(channels)  # noqa: F821
    found, rates, _ = shift.accuracy(name, seeds)
    yield (
        "channels %-22s %6s" % (name, "rate")
        + "".join(["%15s" % each for each in SHIFTS])
        + "%8s %17s" % ("mean", "M4 backward")
    )
    whole = None
    with machines.open("qemu_m4") as machine:
        for policy, row in found.items():
            executed = instructions(machine, channels, policy)
            whole = whole or executed
            cells = "".join(
                ["%8.1f +-%4.1f" % (row[each].mean(), row[each].std(ddof=min(1, seeds - 1))) for each in SHIFTS]
            )
            mean = np.mean([values.mean() for values in row.values()])
            yield (
                "%-31s %6s" % (policy, rates[policy])
                + cells
                + "%8.1f %11s /%4.2f" % (mean, format(executed, ","), whole / executed)
            )
    yield ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=shift.SEEDS)
    seeds = parser.parse_args().seeds
    shift.POLICIES = {policy: applied(text) for policy, text in POLICIES.items()}
    lines = [
        "Dynamic sparse updates, int8: accuracy in %, instructions of a step. "
        "Written by: python bench/accuracy/dynamic.py",
        "",
    ]
    for channels in CHANNELS:
        lines += rows(channels, seeds)
    print("\n".join(lines))
    if seeds == shift.SEEDS:
        written.write("dynamic.txt", lines)


if __name__ == "__main__":
    main()
