"""What training takes: arena, its lower bound, state, and the least that recomputation brings it to.

    python bench/costs/memory.py            prints the table, writes bench/results/memory.txt

Bytes are compile()'s, on any machine the same. bound: no placement of the same instructions can take
less. half: with memory_budget = state + half of the arena; least: the smallest budget that compile()
offers; beside each the multiply-accumulates that are computed again, in percent of a forward pass.

Then the networks of bench/costs/published.py, SGD, one sample to a step, frozen weights in flash: arena, state and
program without a budget; with the smallest one, by rows and with split kernels, where KB are of arena and state; and
what is computed again within the KB that the network is to train in.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import published  # noqa: E402
import written  # noqa: E402
from architectures import activity, keywords, separable  # noqa: E402

import odt  # noqa: E402
from odt.base.opcodes import ARENA  # noqa: E402
from odt.files.frozen import pack  # noqa: E402
from odt.plan.compiler import compile_graph  # noqa: E402
from odt.plan.values import home  # noqa: E402


def digits():
    return odt.Sequential([
        odt.Input((8, 8, 1)), odt.Conv2D(8, 3, padding="same", activation="relu"), odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
    ])  # fmt: skip


def mlp():
    return odt.Sequential([odt.Input((64,)), odt.Dense(32, "relu"), odt.Dense(10)])


def autoencoder():
    layers = [odt.Dense(64, "relu"), odt.Dense(8), odt.Dense(64, "relu"), odt.Dense(128)]
    return odt.Sequential([odt.Input((128,))] + layers)


def mobilenet():
    blocks = [(32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 1)]
    return separable((32, 32, 3), (16, 3), blocks, 10)


def residual():
    x = odt.Input((16, 16, 3))
    y = odt.Conv2D(16, 3, padding="same", activation="relu")(x)
    for channels in (16, 32, 32):
        z = odt.Conv2D(channels, 3, strides=2, padding="same", activation="relu")(y)
        z = odt.Conv2D(channels, 3, padding="same")(z)
        y = odt.Add(activation="relu")([z, odt.Conv2D(channels, 1, strides=2)(y)])
    return odt.Model(x, odt.Dense(10)(odt.GlobalAvgPool()(y)))


def deep():
    """Twelve blocks at one resolution: what recomputation is for."""
    layers = [odt.Input((12, 12, 2)), odt.Conv2D(8, 3, padding="same", activation="relu")]
    for _ in range(12):
        layers += [odt.DepthwiseConv2D(3, padding="same", activation="relu"), odt.Conv2D(8, 1), odt.ReLU()]
    return odt.Sequential(layers + [odt.GlobalAvgPool(), odt.Dense(5)])


NETWORKS = (
    ("digits CNN", digits), ("MLP 64-32-10", mlp), ("autoencoder 128-64-8-64-128", autoencoder),
    ("HAR", activity), ("keywords DS-CNN", keywords), ("residual 16x16", residual), ("MobileNet-like 32x32", mobilenet),
    ("26 layers 12x12x8", deep),
)  # fmt: skip


def compiled(network, dtype, batch, **options):
    model = network()
    loss = "mse" if network is autoencoder else "sparse_categorical_crossentropy"
    model.compile(odt.SGD(0.01, 0.9), loss, dtype=dtype, batch_size=batch, **options)
    return model


def budget(network, dtype, batch, plan, bytes_):
    """(arena, MACs again in percent) under a budget, (None, None) where there is no such plan."""
    try:
        model = compiled(network, dtype, batch, memory_budget=bytes_)
    except MemoryError as error:
        return None, int(str(error).split("at least ")[1].split()[0])
    forward = sum([node.layer.macs for node in model.nodes])
    return model.session.plan.arena, 100 * model.session.plan.again / forward


def largest(model, dtype, batch):
    """Bytes of the arena that the most demanding instruction names."""
    plan = compile_graph(model.nodes, model.session.loss, model.session.optimizer, dtype, batch, noted=[])
    most = 0
    for instruction in plan.instructions:
        owners = {home(operand)[0] for operand in instruction.operands}
        most = max(most, sum([(owner.size + 3) & ~3 for owner in owners if owner.region == ARENA]))
    return most


def rows():
    for name, network in NETWORKS:
        for dtype in ("int8", "float32"):
            for batch in (1, 16):
                model = compiled(network, dtype, batch)
                plan = model.session.plan
                one = 100 * largest(model, dtype, batch) / plan.arena
                _, least = budget(network, dtype, batch, plan, 1)
                arena, again = budget(network, dtype, batch, plan, plan.state + plan.arena // 2)
                half = "%8d %4.0f %%" % (arena, again) if arena else "       -      -"
                arena, again = budget(network, dtype, batch, plan, least)
                yield "%-27s  %-7s %5d  %8d %8d %6.1f %% %3.0f %%  %8d  %s  %8d %4.0f %%" % (
                    name, dtype, batch, plan.arena, plan.lower_bound, 100 * (plan.arena / plan.lower_bound - 1),
                    one, plan.state, half, arena, again)  # fmt: skip


def by_rows():
    for name, updates in published.UPDATES.items():
        for trains in updates:
            model = published.network(name, trains)
            model.compile(published.optimizer(trains), batch_size=1)
            frozen = pack(model)
            before = plan_of(name, trains, frozen)
            begin = time.process_time()
            try:
                plan_of(name, trains, frozen, 1)
            except MemoryError as error:
                least = int(str(error).split("at least ")[1].split()[0])
            took = time.process_time() - begin
            after = plan_of(name, trains, frozen, least)
            forward = sum([node.layer.macs for node in model.nodes])
            goal, asked = published.GOALS[name].get(trains), "%5s %5s" % ("-", "-")
            if goal and least <= 1024 * goal:
                asked = plan_of(name, trains, frozen, 1024 * goal)
                asked = "%5d %3.0f %%" % (goal, 100 * asked.again / forward)
            elif goal:
                asked = "%5d %5s" % (goal, "above")
            yield "%-18s  %-14s  %8d %8d %8d  %8d %8d %7.1f %3.0f %% %8d  %s  %6.1f" % (
                name, trains, before.arena, before.state, len(before.code), after.arena, after.state,
                (after.arena + after.state) / 1024, 100 * after.again / forward, len(after.code), asked, took
            )  # fmt: skip


def plan_of(name, trains, frozen, budget=None):
    model = published.network(name, trains)
    model.compile(published.optimizer(trains), batch_size=1, frozen=frozen, memory_budget=budget)
    return model.session.plan


def main():
    lines = ["Bytes that training takes, SGD with momentum. Written by: python bench/costs/memory.py", ""]
    lines.append("%-27s  %-7s %5s  %8s %8s %8s %5s  %8s  %15s  %15s" % (
        "network", "dtype", "batch", "arena", "bound", "above", "one", "state", "half, again",
        "least, again"))  # fmt: skip
    print("\n".join(lines))
    for line in rows():
        print(line, flush=True)
        lines.append(line)
    head = "%-18s  %-14s  %8s %8s %8s  %8s %8s %7s %5s %8s  %5s %5s  %6s" % (
        "128x128x3, int8", "trains", "arena", "state", "program", "smallest", "state", "KB", "again", "program",
        "KB in", "again", "CPU s")  # fmt: skip
    print("\n" + head)
    lines += ["", head]
    for line in by_rows():
        print(line, flush=True)
        lines.append(line)
    written.write("memory.txt", lines)


if __name__ == "__main__":
    main()
