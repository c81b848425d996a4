"""Domain shift: what each update policy regains, and what it costs, on real digits.

    python bench/accuracy/shift.py                         all, writes bench/results/shift.txt and shift.png
    python bench/accuracy/shift.py accuracy                or: cost
    python bench/accuracy/shift.py accuracy --seeds 2
    python bench/accuracy/shift.py accuracy --separable    the accuracy of the separable network, too (not in
                                                           shift.txt: half an hour)
    python bench/accuracy/shift.py --deep                  the network of 15 layers alone, its cost without
                                                           instructions: bench/results/shift_deep.txt

A network learns 900 of scikit-learn's digits on the PC. Then 40 labelled samples of a shifted world come (turned by a
quarter, inverted, noisy; or: it knew 0 to 4 and 5 to 9 come), and each policy trains on these in int8: 30 epochs,
batches of 8, Adam with a cosine decay, its rate the best of RATES (of 15 layers: but the first) with another seed, the
same for all shifts. Accuracy is of the rest of the shifted digits, mean +- standard deviation over 5 seeds (first
weights, choice of samples). The Fisher choice gets the bytes and MACs of the static sparse one; "head first": the last
layer trains alone for 10 epochs before.

Costs: bytes of compile(); MACs of a sample, forward and backward; instructions of a step of 8 samples as
QEMU's emulated Cortex-M4 executes them, model.train_step() as a whole. The dynamic policy's are those of its largest
share of channels, as in the first steps, and of its smallest ("at least"); the large network is of first weights and
noise, of 1 sample a step.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
import machines  # noqa: E402
import written  # noqa: E402

import odt  # noqa: E402
from odt.adapt import (
    task_adaptive,  # noqa: E402
    update,  # noqa: E402
)
from odt.adapt.lite import lite_residual, take_weights  # noqa: E402
from odt.plan.graph import backward_macs  # noqa: E402

BATCH, EPOCHS, SEEDS = 8, 30, 5
RATES = (0.001, 0.003, 0.01)
LEVEL = 2  # standard errors within which two policies are level
PLAIN, SEPARABLE, LARGE, DEEP = "CNN", "separable CNN", "MobileNet-like", "15 layers"

# Networks run on the emulated board, too.
NETWORKS = """
import odt
def cnn():
    return odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(8, 3, padding="same", activation="relu", name="a"),
        odt.Conv2D(16, 3, padding="same", activation="relu", name="b"), odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu", name="c"),
        odt.Conv2D(24, 3, padding="same", activation="relu", name="d"), odt.MaxPool2D(),
        odt.Flatten(), odt.Dense(10, name="e")])
def separable():
    layers = [odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(16, 3, padding="same", activation="relu", name="a")]
    for number, (channels, strides) in enumerate(((24, 1), (32, 2), (32, 1))):
        layers.append(odt.DepthwiseConv2D(3, strides=strides, padding="same", activation="relu", name="b%d" % number))
        layers.append(odt.Conv2D(channels, 1, activation="relu", name="c%d" % number))
    return odt.Sequential(layers + [odt.GlobalAvgPool(), odt.Dense(10, name="e")])
def large():
    layers = [odt.Input((32, 32, 3), dtype="uint8", scale=1 / 128, zero_point=128),
        odt.Conv2D(16, 3, strides=2, padding="same", activation="relu", name="a")]
    blocks = ((32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (256, 1), (384, 1))
    for number, (channels, strides) in enumerate(blocks):
        layers.append(odt.DepthwiseConv2D(3, strides=strides, padding="same", activation="relu", name="b%d" % number))
        layers.append(odt.Conv2D(channels, 1, activation="relu", name="c%d" % number))
    return odt.Sequential(layers + [odt.GlobalAvgPool(), odt.Dense(10, name="e")])
def deep():
    layers = [odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)]
    for number, (channels, strides) in enumerate(((12, 1), (12, 1), (24, 2), (24, 1), (24, 1), (32, 2), (32, 1))):
        layers.append(odt.Conv2D(channels, 3, strides=strides, padding="same", name="c%d" % number))
        layers += [odt.GroupNorm(4, name="n%d" % number), odt.ReLU(name="r%d" % number)]
    return odt.Sequential(layers + [odt.GlobalAvgPool(), odt.Dense(10, name="e")])
"""
exec(NETWORKS)
BUILDERS = {PLAIN: cnn, SEPARABLE: separable, LARGE: large, DEEP: deep}  # noqa: F821
# Of each network: the static sparse policy, and the blocks beside which lite branches stand.
SPARSE = {
    PLAIN: ({"d": 0.5, "e": 1}, 3), SEPARABLE: ({"b2": 1, "c2": 0.5, "e": 1}, 4),
    LARGE: ({"b8": 1, "c8": 0.125, "e": 1}, 8),
    DEEP: ({"c5": 0.25, "c6": 0.5, "e": 1}, 6),
}  # fmt: skip
LITE = {PLAIN: [("maxpool2d", "d")], SEPARABLE: [("c1", "c2")], LARGE: [("c7", "c8")], DEEP: [("r4", "r6")]}


# Data


def digits():
    data = (ROOT / "examples/digits/digits.bin").read_bytes()
    return np.frombuffer(data[: 1797 * 64], "uint8").reshape(-1, 8, 8, 1), np.frombuffer(data[1797 * 64 :], "uint8")


def shifted(name, x, seed):
    if name == "turned":
        return np.rot90(x, axes=(1, 2)).copy()
    if name == "inverted":
        return 16 - x
    if name == "noisy":
        noise = np.random.default_rng(1000 + seed).normal(scale=5, size=x.shape)
        return np.clip(np.rint(x + noise), 0, 16).astype("uint8")
    return x


SHIFTS = ("turned", "inverted", "noisy", "other classes")


def world(shift, seed):
    """(to learn first, the few of the shifted world, its rest)."""
    x, y = digits()
    order = np.random.default_rng(seed).permutation(len(x))
    first, few = order[:900], order[900:]
    if shift == "other classes":
        first, few = first[y[first] < 5], few[y[few] >= 5]
    moved = shifted(shift, x, seed)
    chosen = np.concatenate([few[y[few] == label][: 40 // len(set(y[few]))] for label in sorted(set(y[few]))])
    rest = np.setdiff1d(few, chosen)
    return (x[first], y[first]), (moved[chosen], y[chosen]), (moved[rest], y[rest])


# Policies: (network's name, weights, optimizer, few) -> a compiled model


def fixed(apply):
    def make(network, weights, optimizer, few):
        model = BUILDERS[network]()
        apply(model, network)
        model.compile(optimizer, batch_size=BATCH, seed=1)
        model.set_weights(weights)
        return model

    return make


def sparse(model, network):
    update.sparse(model, *SPARSE[network])


def adaptive(network, weights, optimizer, few):
    """Within what the static choice takes."""
    static = fixed(sparse)(network, weights, optimizer, few)
    memory, macs = len(static.session.arena) + len(static.session.state), sum(backward_macs(static.nodes))
    model = fixed(lambda model, _: update.last(model))(network, weights, optimizer, few)
    model.choice = task_adaptive(model, *few, memory_budget=memory, macs_budget=macs)
    return model


def head_first(network, weights, optimizer, few):
    """The same, measured when the last layer has learnt for a third of the epochs: before, the errors are those of a
    head that knows nothing of the new world.
    """
    static = fixed(sparse)(network, weights, optimizer, few)
    memory, macs = len(static.session.arena) + len(static.session.state), sum(backward_macs(static.nodes))
    model = fixed(lambda model, _: update.last(model))(network, weights, optimizer, few)
    model.fit(*few, epochs=EPOCHS // 3, verbose=0)
    model.choice = task_adaptive(model, *few, memory_budget=memory, macs_budget=macs)
    return model


def sparse_head_first(network, weights, optimizer, few):
    """The static choice with the same start, to tell what the start is worth."""
    model = fixed(lambda model, _: update.last(model))(network, weights, optimizer, few)
    model.fit(*few, epochs=EPOCHS // 3, verbose=0)
    return fixed(sparse)(network, model.get_weights(), optimizer, few)


def lite(network, weights, optimizer, few):
    source = BUILDERS[network]()
    source.compile(optimizer, batch_size=BATCH, seed=1)
    source.set_weights(weights)
    model = lite_residual(source, LITE[network])
    model.compile(optimizer, batch_size=BATCH, seed=1)
    take_weights(model, source)
    return model


POLICIES = {
    "none": None,
    "last layer": fixed(lambda model, _: update.last(model)),
    "norm, last layer": fixed(lambda model, _: update.norm_and_last(model)),
    "bias, last layer": fixed(lambda model, _: update.bias(model)),
    "sparse": fixed(sparse),
    "sparse, head first": sparse_head_first,
    "task-adaptive": adaptive,
    "adaptive, head first": head_first,
    "lite branches": lite,
    "dynamic 0.1": fixed(lambda model, _: update.dynamic(model, 0.1)),
    "whole": fixed(lambda model, _: update.whole(model)),
}


# Accuracy


def pretrain(network, data, seed):
    model = BUILDERS[network]()
    steps = 20 * -(-len(data[0]) // 16)
    model.compile(odt.Adam(odt.CosineDecay(0.004, steps)), dtype="float32", batch_size=16, seed=seed)
    model.fit(*data, epochs=20, verbose=0)
    return model.get_weights()


def adapted(network, policy, weights, few, rest, rate):
    """(accuracy in percent, the model)."""
    steps = EPOCHS * -(-len(few[0]) // BATCH)
    optimizer = odt.Adam(odt.CosineDecay(rate, steps))
    model = (POLICIES[policy] or POLICIES["last layer"])(network, weights, optimizer, few)
    if POLICIES[policy]:
        model.fit(*few, epochs=EPOCHS, verbose=0)
    return 100 * model.evaluate(*rest)[1], model


def accuracy(network, seeds):
    """{policy: {shift: accuracies}}, {policy: rate}, {shift: choice of the first seed}."""
    worlds = {}
    for shift in SHIFTS:
        for seed in list(range(seeds)) + [100]:
            first, few, rest = world(shift, seed)
            if (None, seed) not in worlds or shift == "other classes":
                worlds[None, seed] = pretrain(network, first, seed)
            worlds[shift, seed] = worlds[None, seed], few, rest
    found, rates, choices = {}, {}, {}
    for policy, make in policies(network):
        scores = {}
        for rate in (RATES[1:] if network == DEEP else RATES) if make else RATES[:1]:
            scores[rate] = np.mean([adapted(network, policy, *worlds[shift, 100], rate)[0] for shift in SHIFTS])
        rates[policy] = max(scores, key=scores.get)
        found[policy] = {}
        for shift in SHIFTS:
            results = []
            for seed in range(seeds):
                result, model = adapted(network, policy, *worlds[shift, seed], rates[policy])
                results.append(result)
                if policy == "task-adaptive" and seed == 0:
                    choices[shift] = model.choice
            found[policy][shift] = np.array(results)
        print(network, policy, rates[policy], {s: round(v.mean(), 1) for s, v in found[policy].items()}, flush=True)
    return found, rates, choices


def policies(network):
    """Those that a network tells apart: [(name, make)]."""
    norms = any(node.layer.normalises for node in BUILDERS[network]().nodes)
    return [(policy, make) for policy, make in POLICIES.items() if norms or policy != "norm, last layer"]


def verdict(difference, error):
    if abs(difference) <= LEVEL * error:
        return "level"
    return "ahead" if difference > 0 else "behind"


def accuracy_lines(network, found, rates, choices):
    yield "%s: accuracy in %%, mean +- standard deviation over seeds" % network
    yield "%-22s %6s" % ("policy", "rate") + "".join(["%16s" % shift for shift in SHIFTS]) + "%10s" % "mean"
    for policy, row in found.items():
        cells = "".join(
            [
                "%9.1f +-%4.1f" % (row[shift].mean(), row[shift].std(ddof=min(1, len(row[shift]) - 1)))
                for shift in SHIFTS
            ]
        )
        mean = np.mean([values.mean() for values in row.values()])
        yield "%-22s %6s" % (policy, rates[policy] if POLICIES[policy] else "") + cells + "%10.1f" % mean
    yield ""
    yield "less the same seed of another policy, mean +- standard error; level: within %g errors of 0:" % LEVEL
    for policy, others in (
        ("task-adaptive", ("last layer", "sparse")), ("adaptive, head first", ("last layer", "sparse, head first")),
    ):  # fmt: skip
        for other in others:
            differences = [found[policy][shift] - found[other][shift] for shift in SHIFTS]
            pairs = [(each.mean(), each.std(ddof=min(1, len(each) - 1)) / len(each) ** 0.5) for each in differences]
            yield "%-40s" % (policy + " - " + other) + "".join(["%+9.1f +-%4.1f" % pair for pair in pairs])
            yield " " * 40 + "".join(["%16s" % verdict(*pair) for pair in pairs])
    yield ""
    for shift, choice in choices.items():
        parts = ["%s %d" % (name, sum([count for _, count in rows])) for name, rows in choice.items()]
        yield "channels chosen, first seed, %s: %s" % (shift, ", ".join(parts))
    yield ""


# Cost

ON_BOARD = """
import gc
from odt.adapt import update
model = {builder}()
{policy}
model.compile(odt.Adam(0.003), batch_size={batch}, seed=1)
F = 1
for extent in model.nodes[0].shape:
    F *= extent
x, y = bytes([i * 7 % 17 for i in range(F * {batch})]), bytes([i % 10 for i in range({batch})])
model.train_step(x, y)
gc.collect()
gc.disable()
for _ in range(2):
    start()
    model.train_step(x, y)
    count = executed()
print("instructions", count)
gc.enable()
"""


def on_board(network, batch, model):
    """What applies the model's policy on the board."""
    if any(node.layer.name.endswith("_lite") for node in model.nodes):
        lines = ["from odt.adapt.lite import lite_residual", "model = lite_residual(model, %r)" % LITE[network]]
    else:
        lines = ["for node in model.nodes:", "    layer = node.layer"]
        for node in model.nodes:
            layer = node.layer
            flags = layer.trainable, layer.update_rows, layer.update_bias, layer.dynamic
            lines.append("    if layer.name == %r:" % layer.name)
            lines.append("        layer.trainable, layer.update_rows, layer.update_bias, layer.dynamic = %r" % (flags,))
    builder = BUILDERS[network].__name__
    return NETWORKS + machines.COUNTER + ON_BOARD.format(builder=builder, policy="\n".join(lines), batch=batch)


def cost_lines(network, machine, batch=BATCH):
    first = "%s, batch %d" % (network, batch)
    yield "%-28s %8s %8s %8s %9s %9s %10s %14s" % (
        first, "arena", "weights", "optim.", "RAM", "MACs fwd", "MACs bwd", "M4 instr.")  # fmt: skip
    source = BUILDERS[network]()
    source.compile(odt.Adam(0.003), batch_size=batch, seed=1)
    if network == LARGE:  # not trained here: what Fisher information says of first weights and noise
        x = np.random.default_rng(1).integers(0, 256, (batch, 32, 32, 3)).astype("uint8")
        weights, few = source.get_weights(), (x, (np.arange(batch) % 10).astype("uint8"))
    else:
        first, few, _ = world("turned", 0)
        weights = pretrain(network, first, 0)
    least = fixed(lambda model, _: update.dynamic(model, 0.1, 0.1))
    for policy, make in [*policies(network), ("dynamic 0.1, at least", least)]:
        if make in (None, head_first, sparse_head_first):
            continue
        global BATCH
        before, BATCH = BATCH, batch
        model = make(network, weights, odt.Adam(0.003), few)
        BATCH = before
        plan = model.session.plan
        executed = "-"
        if machine:
            try:
                text = machine.exec(on_board(network, batch, model), timeout=580)
                executed = "{:,}".format(int(text.split("instructions")[1].split()[0]))
            except machines.MachineError as error:
                if "MemoryError" not in error.output:
                    raise
                executed = "no room"  # in its heap of 1 MB
        row = "%-28s %8d %8d %8d %9d %9d %10d %14s" % (
            policy, plan.arena, plan.totals["weights"], plan.totals["optimizer state"], plan.arena + plan.state,
            sum([node.layer.macs for node in model.nodes]), sum(backward_macs(model.nodes)), executed)  # fmt: skip
        print(row, flush=True)
        yield row
    yield ""


def picture(found, path):
    """Bars: each policy's accuracy, shift by shift."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(found), 1, figsize=(10, 3.2 * len(found)), squeeze=False)
    for axis, (network, rows) in zip(axes[:, 0], found.items()):
        for number, (policy, row) in enumerate(rows.items()):
            places = np.arange(len(SHIFTS)) + (number - len(rows) / 2 + 0.5) * 0.8 / len(rows)
            values = [row[shift] for shift in SHIFTS]
            spread = [each.std(ddof=min(1, len(each) - 1)) for each in values]
            axis.bar(places, [each.mean() for each in values], 0.75 / len(rows), yerr=spread, label=policy)
        axis.set_xticks(range(len(SHIFTS)), SHIFTS)
        axis.set_ylabel("accuracy in %")
        axis.set_title(network)
    axes[-1, 0].legend(ncol=5, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="?", choices=("accuracy", "cost"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--separable", action="store_true")
    parser.add_argument("--deep", action="store_true")
    arguments = parser.parse_args()
    lines = ["Domain shift on digits, int8. Written by: python bench/accuracy/shift.py", ""]
    if arguments.deep:
        lines[0] += " --deep --seeds %d" % arguments.seeds
        lines[1:1] = ["Rates: %s. Costs: bytes; MACs of a sample." % ", ".join([str(rate) for rate in RATES[1:]])]
        found, rates, choices = accuracy(DEEP, arguments.seeds)
        lines += accuracy_lines(DEEP, found, rates, choices)
        lines += cost_lines(DEEP, None)
        written.write("shift_deep.txt", lines)
        return
    if arguments.part != "cost":
        found = {}
        for network in (PLAIN, SEPARABLE) if arguments.separable else (PLAIN,):
            found[network], rates, choices = accuracy(network, arguments.seeds)
            lines += accuracy_lines(network, found[network], rates, choices)
        picture(found, ROOT / "bench/results/shift.png")
    if arguments.part != "accuracy":
        lines.append("Cost of a training step (bytes; MACs of a sample)")
        lines.append("")
        with machines.open("qemu_m4") as machine:
            for network, batch in ((PLAIN, BATCH), (SEPARABLE, BATCH), (LARGE, 1)):
                lines += cost_lines(network, machine, batch)
    print("\n".join(lines))
    if arguments.part is None:
        written.write("shift.txt", lines)


if __name__ == "__main__":
    main()
