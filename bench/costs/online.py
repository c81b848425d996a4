"""odt.online's OSELM: RAM and cost per learned and predicted sample, 10^7 steps, accuracy on a stream of digits.

    python bench/costs/online.py                  writes bench/results/online.txt (ten minutes)
    python bench/costs/online.py --steps 100000   prints only

Costs: 16 inputs, tanh, a classifier of 4 labels, or an autoencoder; the mean of 4 calls of learn_one() and
predict_one() with a float32 array, Python's part with it. Steps: of each kind of stream, with and without forgetting,
float32 in C; the least D and the largest trace of P (over its first) at any of 100 looks, and whether all is finite.
Digits: scikit-learn's 1797 in their order, each predicted before it is learned; the stream turns by 90 degrees half
way.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import numpy as np  # noqa: E402
from counting import ROOT  # noqa: E402

import odt  # noqa: E402
from odt.online import OSELM, Autoencoder  # noqa: E402

RESULTS = ROOT / "bench" / "results" / "online.txt"
MACHINES = "rp2040", "qemu_m4", "qemu_m4hf"
HIDDEN = 16, 32, 64
MODELS = {
    "classifier, 4 labels": "OSELM(16, classes=4, hidden=%d, forgetting=0.999)",
    "the same, nothing forgotten": "OSELM(16, classes=4, hidden=%d)",
    "autoencoder": "Autoencoder(16, hidden=%d)",
}
ON_BOARD = """
from array import array
from odt.online import OSELM, Autoencoder
model = {model}
x = array("f", [(7 * i % 16 - 8) / 8 for i in range(16)])
labels = {labels}
def learn(i):
    x[i % 16] = -x[i % 16]
    if labels:
        begin()
        model.learn_one(x, 2)
        end()
    else:
        begin()
        model.learn_one(x)
        end()
def predict(i):
    if labels:
        begin()
        model.predict_one(x)
        end()
    else:
        begin()
        model.score_one(x)
        end()
for i in range(40):
    x[i % 16] = -x[i % 16]
    model.learn_one(x, 2) if labels else model.learn_one(x)
begin()
end()
for i in range(4):
    learn(i)
for i in range(4):
    predict(i)
"""
STREAMS = {
    "excited": lambda rng, n: rng.normal(size=(n, 4)),
    "constant": lambda rng, n: np.ones((n, 4)),
    "zero": lambda rng, n: np.zeros((n, 4)),
    "one input of 4": lambda rng, n: rng.normal(size=(n, 4)) * [1, 0, 0, 0],
    "collinear": lambda rng, n: rng.normal(size=(n, 1)) * [1, -1, 3, 1e-3],
    "1e5 times larger": lambda rng, n: 1e5 * rng.normal(size=(n, 4)),
    "1 % bursts": lambda rng, n: rng.normal(size=(n, 4)) * (np.arange(n) % 1000 < 10)[:, None],
}


def costs(names):
    yield "%-30s%7s%8s%s" % (
        "16 inputs",
        "hidden",
        "bytes",
        "".join("%12s learn %12s" % (name, "predict") for name in names),
    )
    for label, text in MODELS.items():
        for hidden in HIDDEN:
            cells = []
            for name in names:
                machine = counting.open(name)
                found = machine.run(ON_BOARD.format(model=text % hidden, labels=int(label != "autoencoder")))
                machine.close()
                cells += [sum(found[:4]) // 4, sum(found[4:]) // 4]
            model = eval(text % hidden)
            size = len(model.state) + 4 * (
                2 * model.outputs + 1 + model.hidden + max(model.hidden, 17) + 16 + model.outputs
            )
            yield "%-30s%7d%8d%s" % (
                label,
                hidden,
                size,
                "".join("%18d %12d" % tuple(cells[i : i + 2]) for i in range(0, len(cells), 2)),
            )


def look(model):
    """(least D, trace of P, all finite)."""
    n = model.hidden
    floats = np.frombuffer(bytes(model.state[64:]), "<f4").astype(float)
    least, trace, at = np.inf, 0.0, 0
    for j in range(n):
        least = min(least, floats[at + j])
        trace += floats[at + j] * (1 + (floats[at : at + j] ** 2).sum())
        at += j + 1
    return least, trace, np.isfinite(floats).all()


def years(steps):
    yield "%-18s%8s%12s%10s%12s%12s%8s" % ("stream", "hidden", "forgetting", "steps", "least D", "trace", "finite")
    for name, draw in STREAMS.items():
        for hidden, forgetting in ((None, 0.99), (8, 0.99), (8, 1.0))[: 3 if name in ("excited", "1 % bursts") else 2]:
            rng = np.random.default_rng(0)
            x = draw(rng, 10000).astype("float32")
            y = (np.sin(x[:, 0]) + 0.1 * rng.normal(size=len(x))).astype("float32")[:, None]
            model = OSELM(4, 1, hidden, forgetting=forgetting)
            _, first, _ = look(model)
            least, largest, finite = np.inf, 0.0, True
            learn, state, work = odt.executor.engine.rls, model.state, bytearray(4096)
            for i in range(steps):
                if learn(state, work, x[i % 10000], y[i % 10000], True):
                    raise SystemExit("refused")
                if i % max(1, steps // 100) == 0:
                    d, trace, good = look(model)
                    least, largest, finite = min(least, d), max(largest, trace), finite and good
            finite = finite and np.isfinite(model.predict_one(x[0]))
            yield "%-18s%8s%12s%10d%12.1e%12.3f%8s" % (
                name, hidden or "none", forgetting, model.seen, least, largest / first,
                "yes" if finite else "NO")  # fmt: skip


def digits():
    from sklearn.datasets import load_digits

    data = load_digits()
    x, y = (data.images / 8 - 1).astype("float32"), data.target
    x[900:] = np.rot90(x[900:], axes=(1, 2))
    x = x.reshape(-1, 64)
    yield "digits, right of each before it is learned    1..900  901..1100 (turned)  1101..1797"
    for hidden in (16, 32, 64, 128):
        for forgetting in (1.0, 0.999, 0.995):
            model, right = OSELM(64, classes=10, hidden=hidden, forgetting=forgetting, regularization=1.0, seed=1), []
            for row, label in zip(x, y):
                right.append(model.predict_one(row) == label)
                model.learn_one(row, int(label))
            right = np.array(right)
            parts = [100 * right[a:b].mean() for a, b in ((0, 900), (900, 1100), (1100, 1797))]
            yield "%3d hidden, forgetting %-6s %6d bytes %15.1f%20.1f%12.1f" % (
                hidden,
                forgetting,
                len(model.state),
                *parts,
            )
    per = [Autoencoder(64, hidden=16, seed=2) for _ in range(10)]
    right = []
    for i, (row, label) in enumerate(zip(x[:900], y)):
        if i >= 450:
            right.append(np.argmin([each.score_one(row) for each in per]) == label)
        per[label].learn_one(row)
    yield "ten autoencoders of 16, the least score, samples 451..900: %.1f" % (100 * np.mean(right))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int)
    parser.add_argument("machines", nargs="*", default=[])
    args = parser.parse_args()
    lines = counting.head("odt.online.OSELM. Written by: python bench/costs/online.py")
    names = args.machines or MACHINES
    lines += [counting.heading(name) for name in names] + [""]
    for part in (costs(names), years(args.steps or 10**7), digits()):
        for line in part:
            print(line, flush=True)
            lines.append(line)
        lines.append("")
    if not args.steps and not args.machines:
        RESULTS.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
