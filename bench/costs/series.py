"""MNIST-1D by a convolutional network, a GRU and attention: RAM and time on boards, beside their accuracy.

    python bench/costs/series.py            writes bench/results/series.txt

Networks of bench/accuracy/{accuracy,recurrent,attention}.py in int8, trained by Adam with moments in int16, 8 samples
at a time. RAM is arena and state of training. A step is the fourth, a prediction that of one sample. The digest after
these steps is the PC's. Where the RAM of an emulated Pico is too small for the network, there is no figure. Accuracy is
what bench/results/{accuracy,recurrent,attention}.txt say.
"""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import accuracy  # noqa: E402
import attention  # noqa: E402
import counting  # noqa: E402
import numpy as np  # noqa: E402
import recurrent  # noqa: E402
import written  # noqa: E402
from counting import ROOT  # noqa: E402

import odt  # noqa: E402

MACHINES, BATCH = ("rp2040", "qemu_m4"), 8
PICO = 170000  # bytes of arena and state for which an emulated Pico's heap has room


def said(name, pattern):
    """A percentage in a file of results."""
    return float(re.search(pattern, (ROOT / "bench/results" / (name + ".txt")).read_text(), re.M)[1])


NETWORKS = {
    "CNN": (accuracy.mnist1d_cnn, "accuracy", r"^mnist1d-cnn(?:.*\n)*?.*odt int8, int16 state +(\S+)"),
    "GRU of 32": (lambda: recurrent.network("GRU"), "recurrent", r"^GRU +int8, moments int16 +(\S+)"),
    "attention, 1 block": (lambda: attention.network(1), "attention", r"^1 +int8 +(\S+)"),
    "attention, 2 blocks": (lambda: attention.network(2), "attention", r"^2 +int8 +(\S+)"),
}
STEPS = """
import gc
from array import array
x, y = array("f", bytes.fromhex(ODT_ARGS["x"])), bytes(ODT_ARGS["y"])
one = x[: len(x) // len(y)]
for _ in range(3):
    model.train_step(x, y)
gc.collect()
begin()
end()
begin()
model.train_step(x, y)
end()
model.predict(one)
gc.collect()
begin()
model.predict(one)
end()
print("digest %08x" % model.digest())
"""


def line(name, make, path):
    model = make()
    model = odt.Sequential(model) if isinstance(model, list) else model
    model.compile(odt.Adam(0.002), batch_size=BATCH, seed=1)
    (x, y), _ = accuracy.mnist1d()
    shape = (BATCH, *model.session.input.shape)
    x, y = np.asarray(x[:BATCH], "float32").reshape(shape), np.asarray(y[:BATCH], "uint8")
    model.train_step(x, y)
    model.export(str(path))
    plan = model.session.plan
    cells = ["%7d %7d" % (plan.arena, plan.state)]
    expected = odt.load_model(str(path))
    for _ in range(4):
        expected.train_step(x, y)
    expected = "%08x" % expected.digest()
    for machine in MACHINES:
        if machine == "rp2040" and plan.arena + plan.state > PICO:
            cells.append("%10s %10s" % ("-", "-"))
            continue
        board = counting.open(machine)
        try:
            args = {"x": x.tobytes().hex(), "y": y.tolist()}
            step, prediction = board.run(counting.opening(board, path) + STEPS, args)
            assert board.said.rpartition("digest ")[2].split()[0] == expected, (name, machine, board.said)
        finally:
            board.close()
        cells.append("%10d %10d" % (step, prediction))
    return "  ".join(cells)


def main():
    print("\n".join(counting.heading(name) for name in MACHINES), "\n")
    print("%-20s %8s  %7s %7s" % ("", "%", "arena", "state"), *["%10s %10s" % ("step", "predict")] * 2, sep="  ")
    for name, (make, results, pattern) in NETWORKS.items():
        with tempfile.TemporaryDirectory() as folder:
            found = line(name, make, Path(folder) / "model.odt")
        print("%-20s %8.2f  %s" % (name, said(results, pattern), found), flush=True)


if __name__ == "__main__":
    written.recorded("series.txt", main)
