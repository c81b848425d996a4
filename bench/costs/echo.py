"""odt.online's EchoState beside OSELM on windows of the past: errors on three streams, RAM, and cycles per sample.

    python bench/costs/echo.py            writes bench/results/echo.txt (some ten minutes)
    python bench/costs/echo.py tasks      errors only, prints only
    python bench/costs/echo.py costs      costs only, prints only

NARMA-10 (Atiya and Parlos, 2000): y[t+1] from u[0..t], u in 0 .. 0.5, given as 4 u - 1. Mackey-Glass (tau 17, Euler's
steps of 0.1): six samples ahead. Both: 2000 samples learned one by one, the first 50 only heard, 1000 predicted without
learning; the root of the mean squared error over the targets' deviation, mean and deviation over 5 seeds, each of data
and model. Room: whether somebody is in the office (examples/room) by temperature, humidity and CO2 alone, not light: of
11-18 February, each minute predicted before it is learned, after 2-10 February; percent right; the seeds are the
models'. Costs: 1 input, 1 output, learn_one() after predict_one() of the same sample, and predict_one() of a new one; a
float32 array.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import numpy as np  # noqa: E402
import written  # noqa: E402
from counting import ROOT  # noqa: E402

from odt.online import OSELM, EchoState  # noqa: E402

SEEDS = 5
LEARNED, HEARD, PREDICTED = 2000, 50, 1000
MACHINES = "rp2040", "qemu_m4"
ON_BOARD = """
import gc
from array import array
from odt.online import OSELM, EchoState
gc.collect()
before = gc.mem_alloc()
begin()
end()
begin()
model = {model}
end()
gc.collect()
print("heap", gc.mem_alloc() - before)
x, y = array("f", [0.5] * model.inputs), array("f", [0.25])
for i in range(5):
    x[0] = -x[0]
    model.learn_one(x, y)
for i in range(4):
    x[0] = -x[0]
    begin()
    model.predict_one(x)
    end()
    begin()
    model.learn_one(x, y)
    end()
"""


def narma(rng, count):
    u = rng.uniform(0, 0.5, count + 1)
    y = np.zeros(count + 1)
    for t in range(9, count):
        y[t + 1] = 0.3 * y[t] + 0.05 * y[t] * y[t - 9 : t + 1].sum() + 1.5 * u[t - 9] * u[t] + 0.1
    return 4 * u[:-1] - 1, y[1:]


def mackey_glass(rng, count):
    x = list(1.2 + 0.2 * rng.uniform(-1, 1, 171))
    for _ in range(10 * (count + 306)):
        x.append(x[-1] + 0.1 * (0.2 * x[-171] / (1 + x[-171] ** 10) - 0.1 * x[-1]))
    x = np.array(x[171::10])[300:] - 1
    return x[:count], x[6 : count + 6]


def windows(x, width):
    """Of (samples, inputs): each with those before it, 0 before the first."""
    found = np.zeros((len(x), width, x.shape[1]), "float32")
    for k in range(width):
        found[k:, k] = x[: len(x) - k]
    return found.reshape(len(x), -1)


def room():
    sys.path.insert(0, str(ROOT / "examples" / "room"))
    from office import MINUTES, minutes

    here = os.getcwd()
    os.chdir(ROOT / "examples" / "room")
    try:
        rows = [(list(x), label) for part in range(3) for x, label in minutes(part, MINUTES[part])]
    finally:
        os.chdir(here)
    x = np.array([row[0] for row in rows], "float32")[:, [0, 1, 3]]
    return x, [row[1] for row in rows], sum(MINUTES[:2])


def error(model, x, t):
    found = []
    for i in range(LEARNED + PREDICTED):
        if i >= LEARNED:
            found.append(model.predict_one(x[i]))
        if HEARD <= i < LEARNED:
            model.learn_one(x[i], t[i])
        elif isinstance(model, EchoState):
            model.step_one(x[i])
    t = t[LEARNED : LEARNED + PREDICTED]
    return np.sqrt(np.mean((np.array(found) - t) ** 2)) / t.std()


def right(model, x, labels, begin):
    count = 0
    for i in range(len(x)):
        if i >= begin:
            count += model.predict_one(x[i]) == labels[i]
        model.learn_one(x[i], labels[i])
    return 100 * count / (len(x) - begin)


def tasks():
    small = 1e-6
    kinds = [("EchoState, %d units, input_scale %g" % (units, scale), 1, lambda k, seed, more, units=units, scale=scale:
              EchoState(k, units=units, input_scale=scale, seed=seed, regularization=small, **more))
             for units in (32, 64) for scale in (0.1, 0.5)]  # fmt: skip
    for width in (1, 10, 20):
        kinds += [("OSELM, %d hidden, window %d" % (hidden, width), width, lambda k, seed, more, hidden=hidden:
                   OSELM(k, hidden=hidden, seed=seed, regularization=small, **more)) for hidden in (32,
                   64)]  # fmt: skip
        kinds.append(("linear, window %d" % width, width, lambda k, seed, more:
                      OSELM(k, hidden=None, regularization=small, **more)))  # fmt: skip
    streams = {}
    for name, make in (("NARMA-10", narma), ("Mackey-Glass", mackey_glass)):
        streams[name] = [make(np.random.default_rng(seed), LEARNED + PREDICTED) for seed in range(SEEDS)]
    office, labels, begin = room()
    yield "%-38s%16s%8s%16s%22s%8s" % ("", "NARMA-10", "bytes", "Mackey-Glass", "room, % right", "bytes")
    for name, width, make in kinds:
        cells, size = [], 0
        for made in streams.values():
            found = []
            for seed, (x, t) in enumerate(made):
                model = make(width, seed, {})
                found.append(error(model, windows(x[:, None].astype("float32"), width), t.astype("float32")))
                size = len(model.state)
            cells.append("%.3f +- %.3f" % (np.mean(found), np.std(found, ddof=1)))
        rows, found = windows(office, width), []
        for seed in range(SEEDS if "linear" not in name else 1):
            model = make(3 * width, seed, dict(classes=2, forgetting=0.9998))
            found.append(right(model, rows, labels, begin))
        cells.append("%.1f +- %.1f" % (np.mean(found), np.std(found, ddof=1) if len(found) > 1 else 0))
        yield "%-38s%16s%8d%16s%22s%8d" % (name, cells[0], size, cells[1], cells[2], len(model.state))


def costs():
    yield "%-42s%8s%8s%s" % ("", "bytes", "heap", "".join("%12s make   predict     learn" % name for name in MACHINES))
    texts = ["EchoState(1, units=%d)" % units for units in (16, 32, 64)] + ["EchoState(1, units=32, activation='clip')"]
    texts += ["OSELM(20, hidden=32)", "OSELM(20, hidden=64)", "OSELM(20, hidden=None)"]
    for text in texts:
        cells, heap = "", "?"
        for name in MACHINES:
            machine = counting.open(name)
            found = machine.run(ON_BOARD.format(model=text))
            heap = heap if heap != "?" else machine.said.partition("heap ")[2].split()[0]
            machine.close()
            cells += "%17d%10d%10d" % (found[0], sum(found[1::2]) // 4, sum(found[2::2]) // 4)
        yield "%-42s%8d%8s%s" % (text, len(eval(text).state), heap, cells)


def main():
    chosen = sys.argv[1:]
    lines = ["odt.online.EchoState. Written by: python bench/costs/echo.py", ""]
    lines += [counting.heading(name) for name in MACHINES] + [""]
    for part in (costs, tasks):
        if not chosen or part.__name__ in chosen:
            for line in part():
                print(line, flush=True)
                lines.append(line)
            lines.append("")
    if not chosen:
        written.write("echo.txt", lines)


if __name__ == "__main__":
    main()
