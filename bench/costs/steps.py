"""What a whole training step costs, and where: model.train_step(), int8, Adam with int16 state.

    python bench/costs/steps.py                       those of MACHINES; writes bench/results/steps.txt
    python bench/costs/steps.py rp2040 MLP            machines, and words that the models' names must hold
    python bench/costs/steps.py rp2040js MLP          cycles by the emulator's own core: tests_device/rp2040js/README.md
    python bench/costs/steps.py pc                    this PC, in ns

The same step is run four times: by train_step(), which is its total; by one call of _odt.run(), the rest being
Python's; an instruction at a time, each less what a run of no instruction takes, the rest being the executor's; and
within fit(), from one step to the next, where the data is known but shuffled. Of the digits example the whole fit() is
run, on one core of an RP2040 and on both.
MACs: of the whole batch, taps on the padding with them.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
from counting import ROOT, UNITS

from odt.plan.graph import backward_macs

MACHINES = (
    "rp2040",
    "rp2040_both",
    "rp2040_cached",
    "stock_rp2040",
    "stock_rp2040_fast",
    "qemu_m3",
    "qemu_m4",
    "qemu_m7",
    "qemu_m33",
    "qemu_rv32",
)

DIGITS = """
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, padding="same", activation="relu"), odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(),
    odt.Flatten(), odt.Dense(10),
"""
MLP = """
    odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(32, activation="relu"), odt.Dense(10),
"""
BLOCK = 'odt.DepthwiseConv2D(3, padding="same", activation="relu"), odt.Conv2D(24, 1, activation="relu"),\n'
KEYWORDS = """
    odt.Input((49, 10, 1), dtype="int8", scale=1 / 32),
    odt.Conv2D(24, (10, 4), strides=2, padding="same", activation="relu"),
    %s    odt.GlobalAvgPool(), odt.Dense(12),
""" % (4 * BLOCK)
AUTOENCODER = """
    odt.Input((128,), dtype="int8", scale=1 / 32), odt.Dense(64, activation="relu"), odt.Dense(8),
    odt.Dense(64, activation="relu"), odt.Dense(128),
"""
PIXELS = "x, y = bytearray([i * 7 % 17 for i in range(64 * 16)]), bytearray([i % 10 for i in range(16)])"
# A name: layers, a loss, the batch size, a batch.
MODELS = {
    "digits CNN, batch 16": (DIGITS, "sparse_categorical_crossentropy", 16, PIXELS),
    "DS-CNN 49x10, 24 channels, batch 2": (
        KEYWORDS, "sparse_categorical_crossentropy", 2,
        "x, y = bytearray([i * i * 7 + i & 127 for i in range(490 * 2)]), bytearray([3, 8])",
    ),
    "MLP 64-32-10, batch 16": (MLP, "sparse_categorical_crossentropy", 16, PIXELS),
    "autoencoder 128-64-8-64-128, MSE, batch 16": (
        AUTOENCODER, "mse", 16, "x = y = bytearray([i * (i >> 7) & 127 for i in range(128 * 16)])"
    ),
}  # fmt: skip
TWINS = ("digits CNN, batch 16", "MLP 64-32-10, batch 16")  # that are measured in float32 and on stock firmware, too
COMPILE = """
import odt
model = odt.Sequential([%s])
model.compile(odt.Adam(0.002), loss="%s", dtype="%s", batch_size=%d, seed=7)
"""
ON_BOARD = """
import gc
def whole():
    begin()
    model.train_step(x, y)
    end()
def run(start, stop):
    model.session.control[14] = 1
    regions[3], regions[4] = x, y  # which a step has released
    begin()
    engine_run(loaded, regions, start, stop)
    end()
def part(places):
    run(places[0], places[0])
    run(places[0], places[-1])
def each(places):
    start = places[0]
    for stop in places:
        run(start, start)
        run(start, stop)
        start = stop
def within_fit():
    from odt.run import fit as loop
    train = loop.train
    def marked(session):
        end()
        begin()
        train(session)
    loop.train = marked
    two = bytes(x) * 2
    begin()
    model.fit(two, two if y is x else bytes(y) * 2, verbose=0)
    end()
    loop.train = train
for _ in range(3):
    model.train_step(x, y)
engine_run, loaded, regions = model.session.engine.run, model.session.loaded, model.session.regions
gc.collect()
gc.disable()
for _ in range(3):  # the first allocations after a collection look through the whole heap
    model.train_step(x, y)
begin()
end()
for _ in range(ODT_ARGS["repeats"]):
    %s
gc.enable()
"""
# Before the digits example.
WHOLE = """
import odt
fit = odt.Sequential.fit
def counted(model, *given, **options):
    begin()
    end()
    begin()
    history = fit(model, *given, verbose=0, **options)
    end()
    return history
odt.Sequential.fit = counted
"""
KINDS = ("forward", "input gradient", "weight gradient", "update", "other")
LINEAR = ("dense", "conv2d", "depthwise2d", "bias")
# (model, machine): what it may cost.
BOUNDS = {("MLP 64-32-10, batch 16", "rp2040"): 0.8e6, ("MLP 64-32-10, batch 16", "qemu_m4"): 0.35e6}
TWIN = 15  # times fewer cycles than in float32
RAM = 20 * 1024  # of the MLP
INSIDE, PYTHON = 85, 3  # percent of the digits CNN's step on the RP2040
CLOCK = 125e6  # Hz
FITS = {"rp2040": 15, "rp2040_both": 9}  # seconds of the digits example


def kind(name):
    """Of the instruction of that name, one of KINDS."""
    base, _, gradient = name.rpartition("_")[0].partition("_d")
    if base in LINEAR and name != "bias_i8":
        return {"": "forward", "x": "input gradient", "w": "weight gradient"}[gradient]
    return "update" if base in ("adam", "apply") else "other"


def source(model, dtype="int8"):
    layers, loss, batch, data = MODELS[model]
    return COMPILE % (layers, loss, dtype, batch) + data + "\n"


def compiled(model, dtype="int8"):
    scope = {}
    exec(source(model, dtype), scope)
    return scope["model"]


class Cost:
    """Of a step: total, of it inside an instruction's kernel, the executor's and Python's; by kind; by opcode."""

    def __init__(self, machine, model, dtype="int8"):
        twin = compiled(model, dtype)
        walk = list(twin.program.walk(*twin.session.sections["train"]))
        places = [at for at, *_ in walk] + [twin.session.sections["train"][1]]
        found = []
        for call in ("whole()", "part(%s)" % places, "each(%s)" % places, "within_fit()"):
            counts = machine.run(source(model, dtype) + ON_BOARD % call, {"repeats": machine.repeats})
            period = len(counts) // machine.repeats
            found.append([min(counts[at::period]) for at in range(period)])
        (self.total,), (empty, whole), each, fitted = found
        self.fitted = min(fitted[1:-1])
        whole -= empty
        self.kinds, self.opcodes = dict.fromkeys(KINDS, 0), {}
        for (_, code, _, _), empty, full in zip(walk, each[2::2], each[3::2]):
            self.kinds[kind(code.name)] += full - empty
            self.opcodes[code.name] = self.opcodes.get(code.name, 0) + full - empty
        self.kernels = sum(self.kinds.values())
        self.executor = whole - self.kernels
        self.python = self.total - whole

    def share(self, part):
        return 100 * part / self.total


def example(machine):
    """Seconds of the digits example's fit(), which prints nothing, at 125 MHz."""
    folder = ROOT / "examples" / "digits"
    (machine.files / "digits.bin").write_bytes((folder / "digits.bin").read_bytes())
    return machine.run(WHOLE + (folder / "train.py").read_text())[0] / CLOCK


def table(model, costs):
    """Lines: parts of the step across machines."""
    layers = compiled(model)
    forward = sum(node.layer.macs for node in layers.nodes) * layers.batch_size
    backward = sum(backward_macs(layers.nodes)) * layers.batch_size
    plan = layers.session.plan
    yield "%s: %d MACs forward, %d backward; RAM %d bytes (arena %d, state and weights %d)" % (
        model, forward, backward, plan.arena + plan.state, plan.arena, plan.state)  # fmt: skip
    yield ""
    yield " " * 24 + "".join(["%12s %%     " % name for name in costs])
    rows = [("a step", "total"), ("  inside kernels", "kernels"), ("  executor", "executor"), ("  Python", "python"),
            ("a step within fit", "fitted")]  # fmt: skip
    for label, part in rows:
        cells = [(getattr(cost, part), cost.share(getattr(cost, part))) for cost in costs.values()]
        yield "  %-22s" % label + "".join(["%12d %5.1f " % cell for cell in cells])
    for group in ("kinds", "opcodes"):
        found = getattr(next(iter(costs.values())), group)
        yield "  by %s" % {"kinds": "kind", "opcodes": "instruction"}[group]
        for name in found if group == "kinds" else sorted(found, key=found.get, reverse=True):
            cells = [(getattr(cost, group)[name], cost.share(getattr(cost, group)[name])) for cost in costs.values()]
            yield "    %-20s" % name + "".join(["%12d %5.1f " % cell for cell in cells])
    yield ""


def verdict(text, figure, bound, good):
    return "  %-66s %12s   bound %s: %s" % (text, figure, bound, "met" if good else "MISSED")


def bounds(costs, floats, fits):
    """Lines: the figures that have a bound."""
    for name, seconds in fits.items():
        label = "the digits example, %s at 125 MHz: seconds of fit()" % name
        yield verdict(label, "%.2f" % seconds, "%d" % FITS[name], seconds <= FITS[name])
    for (model, name), most in BOUNDS.items():
        if (model, name) in costs:
            total = costs[model, name].total
            yield verdict("%s, %s: %s" % (model, name, UNITS[name]), total, "%d" % most, total <= most)
    for model, name in costs:
        if model.startswith("MLP"):
            plan = compiled(model).session.plan
            used = plan.arena + plan.state
            yield verdict("%s: RAM in bytes" % model, used, RAM, used <= RAM)
            break
    digits = costs.get((next(iter(MODELS)), "rp2040"))
    if digits:
        inside, python = digits.share(digits.kernels), digits.share(digits.python)
        label = "%s, rp2040: %% " % next(iter(MODELS))
        yield verdict(label + "inside kernels", "%.1f" % inside, "%d" % INSIDE, inside >= INSIDE)
        yield verdict(label + "in Python", "%.1f" % python, "%d" % PYTHON, python < PYTHON)
    for model, cost in floats.items():
        ratio = cost.total / costs[model, "rp2040"].total
        label = "%s, rp2040: float32 %d cycles, in int8's" % (model, cost.total)
        yield verdict(label, "%.1f" % ratio, "%d" % TWIN, ratio >= TWIN)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*", help="machines, and words that models must hold")
    words = parser.parse_args().words
    names = [word for word in words if word in UNITS] or MACHINES
    words = [word for word in words if word not in UNITS]
    models = [model for model in MODELS if not words or any(word in model for word in words)]
    out = counting.head("Training steps. Written by: python bench/costs/steps.py")
    out += [counting.heading(name) for name in names] + [""]
    costs, floats, fits = {}, {}, {}
    for name in names:
        machine = counting.open(name)
        try:
            for model in models:
                if name in counting.STOCK and model not in TWINS:
                    continue  # its heap has no room for the others
                costs[model, name] = Cost(machine, model)
                if name == "rp2040" and model in TWINS:
                    floats[model] = Cost(machine, model, "float32")
            if name in FITS and not words:
                fits[name] = example(machine)
        finally:
            machine.close()
    for model in models:
        out += table(model, {name: costs[model, name] for name in names if (model, name) in costs})
    out += bounds(costs, floats, fits)
    print("\n".join(out))
    if len(models) == len(MODELS) and names is MACHINES:
        (ROOT / "bench/results/steps.txt").write_text("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    main()
