"""What odt.host.cost knows of a machine: random networks are run on an emulated board, and what they take is fitted to
their instructions.

    python bench/costs/cost.py            measures and fits; writes odt/host/cost/rp2040.py
    python bench/costs/cost.py --again    fits again what it measured, which is in build/cost_rp2040.json
    python bench/costs/cost.py --add      measures networks of layers that the others lack, adds what has no factors
    python bench/costs/cost.py --windows  measures networks of depthwise windows of 5 and 7, adds what has no factors
                                          and fits apply_f32 again
    python bench/costs/cost.py --sequences    measures networks of recurrence and attention, fits these alone again
    python bench/costs/cost.py --check    measures other networks against those factors; writes bench/results/cost.txt
    python bench/costs/cost.py --check --sequences    other networks of recurrence and attention, on all machines;
                                                      writes bench/results/cost_sequences.txt
    python bench/costs/cost.py --machine cortex-m4f [--again | --check]    the same by QEMU: odt/host/cost/m4f.py,
                                                                           bench/results/cost_m4f.txt; rv32 likewise

Each network is drawn from a seed, planned on the PC, opened on the board as a model file, and makes three steps. Then
some steps are measured whole, of which the shortest counts, and one an instruction at a time, as bench/costs/steps.py
does. For each instruction the cycles are fitted by sums of products of its sizes (odt/host/cost/__init__.py says which)
with factors of at least 0, by least squares of relative errors. Networks of other seeds, which no factor has seen, and
those of bench/costs/steps.py say what it is worth.
"""

import argparse
import json
import random
import statistics
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
import further
import numpy as np
import steps
import written
from counting import ROOT
from scipy.optimize import nnls

import odt
from odt.host import cost

# The emulator, the file's part of the name, what is counted.
MACHINES = {
    "rp2040": ("rp2040", "rp2040", "cycles"),
    "cortex-m4f": ("qemu_m4hf", "m4f", "instructions"),
    "rv32": ("qemu_rv32", "rv32", "instructions"),
}
ALIKE = {"cortex-m4f": ("qemu_m33", "qemu_m7")}  # emulators of cores that run these instructions, to be compared
FIT, CHECK = {"int8": 240, "float32": 110}, {"int8": 80, "float32": 30}
FIRST = 100000  # seed of those that check
# Seeds of networks for --add, and how many.
ADDED = ((further.FIRST, {"int8": 70, "float32": 50}), (further.FROZEN, {"int8": 14, "float32": 10}))
OF_WINDOWS = ((further.WINDOWS, {"int8": 14, "float32": 6}),)
SEQUENCES = "recur_", "attend_", "mix_", "offset_", "embed_", "settle_"  # groups that --sequences fits begin so
OF_SEQUENCES = (further.SEQUENCES, {"int8": 40, "float32": 20}), (further.TOKENS, {"int8": 14, "float32": 6})
CHECK_SEQUENCES = {"int8": 12, "float32": 4}, {"int8": 6, "float32": 2}  # of other seeds
NEAR = 0.1
LATE = 5  # times that a network is measured again
LEAST = 200  # cycles: of less the error is taken as of these
MOST_MACS = {"int8": 4000000, "float32": 200000}  # of a step
MOST_BYTES = 90000
STEPS = 4  # that are measured whole, of which the shortest counts: in one now and then USB interrupts, or a range moves
ON_BOARD = (
    """
import gc
import odt
from array import array
model = odt.load_model(ODT_ARGS.get("folder", "") + "net.odt")
with open(ODT_ARGS.get("folder", "") + "data", "rb") as file:
    x = array(ODT_ARGS["formats"][0], file.read(ODT_ARGS["x"]))
    y = array(ODT_ARGS["formats"][1], file.read())
for _ in range(2):
    model.train_step(x, y)
session = model.session
engine_run, loaded, regions = session.engine.run, session.loaded, session.regions
def run(start, stop):
    regions[3], regions[4] = x, y  # which a step has released
    begin()
    engine_run(loaded, regions, start, stop)
    end()
gc.collect()
gc.disable()
model.train_step(x, y)  # the first allocation after a collection looks through the whole heap
begin()
end()
for _ in range(%d):
    begin()
    model.train_step(x, y)
    end()
session.control[14] = 1
for start, stop in ODT_ARGS["places"]:
    run(start, start)
    run(start, stop)
gc.enable()
"""
    % STEPS
)


def draw(seed, dtype):
    """(model, words that describe it): a network of that seed, compiled."""
    if seed >= further.FIRST:
        return further.draw(seed, dtype)
    rng = random.Random("%s %s" % (seed, dtype))
    while True:
        try:
            layers, text = draw_layers(rng)
            model = odt.Sequential(layers)
        except ValueError:  # a window that does not fit
            continue
        classes = rng.randint(2, 12)
        if rng.random() < 0.15 and len(model.nodes[-1].shape) == 1:
            loss, last = "mse", odt.Dense(rng.choice((1, 2, 8, 16, 64)))
        else:
            loss, last = "sparse_categorical_crossentropy", odt.Dense(classes)
        if len(model.nodes[-1].shape) > 1:
            model = odt.Sequential(model_layers(model) + [odt.Flatten() if rng.random() < 0.6 else odt.GlobalAvgPool()])
        if rng.random() < 0.3:
            model = odt.Sequential(model_layers(model) + [odt.Dense(rng.randint(4, 64), "relu")])
        model = odt.Sequential(model_layers(model) + [last])
        name = rng.choice(("adam", "adam", "adam", "momentum", "sgd"))
        optimizer = {"adam": odt.Adam(0.002), "momentum": odt.SGD(0.01, 0.9), "sgd": odt.SGD(0.01)}[name]
        batch = rng.choice((1, 2, 3, 4, 8, 8, 16, 16, 16, 32))
        policy = rng.choice(("whole", "whole", "whole", "whole", "bias", "last"))
        getattr(odt.adapt.update, policy)(model)
        options = {"checkpoint": "sqrt"} if rng.random() < 0.1 else {}
        if batch % 2 == 0 and rng.random() < 0.15:
            options["micro_batch"] = batch // (4 if batch % 4 == 0 and seed % 2 else 2)
        macs = sum([node.layer.macs for node in model.nodes]) * batch
        if not 500 < macs < MOST_MACS[dtype]:
            continue
        try:
            model.compile(optimizer, loss, dtype, batch, seed=rng.randrange(1000), **options)
        except ValueError:  # a BatchNorm of one number per channel
            continue
        if model.session.plan.arena + model.session.plan.state > MOST_BYTES:
            continue
        extra = "".join([", %s %s" % pair for pair in options.items()])
        return model, "%s; %s, batch %d, %s%s" % (text, name, batch, policy, extra)


def model_layers(model):
    """The Input and the layers of a Sequential, to make a longer one of."""
    source = model.nodes[0].layer
    return [odt.Input(source.shape, dtype=source.dtype, scale=source.scale), *[node.layer for node in model.nodes[1:]]]


def draw_layers(rng):
    """The layers between Input and head, the Input with them."""
    form = rng.choice(("uint8", "int8", "float32"))
    source = {"dtype": form, "scale": 1 / 32} if form != "float32" else {}
    kind = rng.choice(("mlp", "image", "image", "image", "series"))
    widths = (4, 5, 6, 8, 8, 10, 12, 16, 16, 20, 24, 32, 40, 48)
    if kind == "mlp":
        size = rng.choice((3, 6, 10, 24, 40, 64, 100, 128, 200, 256))
        layers = [odt.Input((size,), **source)]
        for _ in range(rng.randint(1, 3)):
            layers.append(odt.Dense(rng.choice((4, 8, 12, 16, 24, 32, 50, 64, 100, 128)), "relu"))
        return layers, "MLP of %d" % size
    if kind == "series":
        shape = (rng.choice((16, 32, 50, 64, 100, 128)), rng.choice((1, 2, 3, 6, 9)))
        layers = [odt.Input(shape, **source)]
        for _ in range(rng.randint(1, 3)):
            layers.append(
                odt.Conv1D(rng.choice(widths), rng.choice((3, 3, 5, 7)), rng.choice((1, 1, 2)), "same", "relu")
            )
            if rng.random() < 0.5:
                layers.append(rng.choice((odt.MaxPool1D, odt.MaxPool1D, odt.AvgPool1D))())
        return layers, "series %s" % (shape,)
    side = rng.choice((8, 8, 10, 12, 14, 16, 20, 28, 32))
    shape = (side, rng.choice((side, side, 10)), rng.choice((1, 1, 2, 3, 3, 4, 8)))
    layers = [odt.Input(shape, **source)]
    for block in range(rng.randint(1, 4)):
        activation = rng.choice(("relu", "relu", "relu", "relu6"))
        stride = rng.choice((1, 1, 2))
        if block and rng.random() < 0.4:
            layers.append(odt.DepthwiseConv2D(3, stride, "same", activation))
            layers.append(odt.Conv2D(rng.choice(widths), 1, activation=activation))
        elif rng.random() < 0.15:
            layers.append(odt.Conv2D(rng.choice(widths), 3, stride, "same", use_bias=False))
            layers += [odt.BatchNorm(), odt.ReLU()]
        else:
            size = rng.choice((3, 3, 3, 3, 5, 1))
            layers.append(
                odt.Conv2D(rng.choice(widths), size, stride, rng.choice(("same", "same", "valid")), activation)
            )
        if stride == 1 and rng.random() < 0.5:
            layers.append(rng.choice((odt.MaxPool2D, odt.MaxPool2D, odt.AvgPool2D))(padding="same"))
        if rng.random() < 0.1:
            layers.append(odt.Dropout(0.2))
    return layers, "image %s" % (shape,)


def data(session, seed):
    """(x, y) of one batch, as arrays; parts of a batch are the same."""
    rng = np.random.default_rng(seed)
    batch, row, form = session.rows, session.row, session.input.dtype
    x = rng.normal(0, 1, (batch, row)).astype("float32")
    if getattr(session.input, "check", None):
        x = rng.integers(0, session.input.check.vocabulary, (batch, row)).astype("uint8")
    elif form == "uint8":
        x = np.clip(16 * x + 16, 0, 255).astype("uint8")
    elif form == "int8":
        x = np.clip(32 * x, -127, 127).astype("int8")
    if session.loss.labels:
        y = rng.integers(0, session.classes, batch).astype("uint8")
    else:
        y = rng.normal(0, 1, (batch, session.width)).astype("float32")
        y = (y > 0).astype("float32") if session.loss.binary else y
    parts = session.batch_size // session.rows
    return np.concatenate([x] * parts).reshape(-1), np.concatenate([y] * parts)


def measure(machine, model, seed, each=True):
    """(cycles of the step, [(instruction, sizes, cycles, how often)]); ``each`` False: without these."""
    session = model.session
    x, y = data(session, seed)
    model.export(str(machine.files / "net.odt"))
    (machine.files / "data").write_bytes(x.tobytes() + y.tobytes())
    formats = [{"float32": "f", "int8": "b"}.get(str(given.dtype), "B") for given in (x, y)]
    for _ in range(
        3 + STEPS
    ):  # as the board does: so the errors of the step that is measured by instructions are the same
        model.train_step(x, y)
    found = cost.instructions(model, x, y)
    first, rest = [
        sum([len(list(model.program.walk(*piece[:2]))) for piece in part]) for part in (session.parts, session.update)
    ]
    found = found[:first] + found[len(found) - rest :]
    if not each:
        return min(machine.run(ON_BOARD, {"x": x.nbytes, "formats": formats, "places": ()})[:STEPS]), []
    places = [(at, at + code.words) for start, stop, _ in [*session.parts, *session.update]
              for at, code, *_ in model.program.walk(start, stop)]  # fmt: skip
    counts = machine.run(ON_BOARD, {"x": x.nbytes, "formats": formats, "places": places})
    rows = [full - empty for empty, full in zip(counts[STEPS::2], counts[STEPS + 1 :: 2])]
    assert len(rows) == len(found)
    parts = session.batch_size // session.rows
    again = {at for start, stop, _ in session.others or () for at, *_ in model.program.walk(start, stop)}
    times = [parts if at in again and number < first else 1 for number, (at, _) in enumerate(places)]
    return min(counts[:STEPS]), [
        (name, sizes, cycles, count) for (name, sizes), cycles, count in zip(found, rows, times)
    ]


def collect(name, dtype, seeds):
    """[(words, dtype, cycles of a step, parts of its batch, what measure() gives of instructions)] of networks, and how
    many the board could not run.
    """
    found, failed, machine = [], 0, counting.open(name)
    seeds, late = list(seeds), 0
    try:
        while seeds:
            seed = seeds.pop(0)
            model, text = draw(seed, dtype)
            try:
                total, rows = measure(machine, model, seed)
            except counting.machines.MachineError as error:
                if "timeout waiting for remote" in str(error) and late < LATE:  # this machine had no time for it
                    late += 1
                    seeds.append(seed)
                elif "MemoryError" in str(error):
                    failed += 1
                else:
                    raise
                machine.close()  # it was switched off, and its marks begin again
                machine = counting.open(name)
                continue
            parts = model.batch_size // model.session.rows
            found.append(("%s (seed %d)" % (text, seed), dtype, total, parts, rows))
    finally:
        machine.close()
    return found, failed


def sequences(first, count, dtype):
    """Seeds from ``first`` on of ``count`` networks that have recurrence or attention."""
    found = []
    while len(found) < count:
        if " steps; " in further.draw(first, dtype)[1]:
            found.append(first)
        first += 1
    return found


def fit(networks, board):
    """{group: {term: factor}} of what was measured: groups that one instruction has together are solved together."""
    equations, leader = [], {}

    def find(group):
        while leader.setdefault(group, group) != group:
            group = leader[group]
        return group

    for *_, rows in networks:
        for name, sizes, cycles, _ in rows:
            features = cost.features(name, sizes, board)
            if cycles >= 0:  # else something else ran while nothing was measured
                equations.append((features, cycles))
            for group, _ in features:
                leader[find(group)] = find(features[0][0])
    parts = defaultdict(list)
    for features, cycles in equations:
        if features:
            parts[find(features[0][0])].append((features, cycles))
    factors = {}
    for part in parts.values():
        places = sorted({(group, term) for features, _ in part for group, values in features for term in values})
        index = {place: i for i, place in enumerate(places)}
        matrix, right = np.zeros((len(part), len(places))), np.zeros(len(part))
        for row, (features, cycles) in enumerate(part):
            weight = 1 / max(cycles, LEAST)
            right[row] = cycles * weight
            for group, values in features:
                for term, value in values.items():
                    matrix[row, index[group, term]] += value * weight
        scale = matrix.max(0)
        scale[scale == 0] = 1
        solution = nnls(matrix / scale, right, maxiter=10000)[0] / scale
        for (group, term), i in index.items():
            factors.setdefault(group, {})
            if solution[i] > 0:
                factors[group][term] = float("%.4g" % solution[i])
    rest = defaultdict(list)
    for _, dtype, total, parts, rows in networks:
        rest[dtype, parts].append(total - sum([row[2] * row[3] for row in rows]))
    medians = {key: statistics.median(each) for key, each in rest.items()}
    if ("int8", 4) not in medians:
        return factors  # of further networks, none of which has parts
    python = {dtype: int(medians[dtype, 1]) for dtype in FIT}
    python["part"] = int((medians["int8", 4] - medians["int8", 2]) / 2)
    python["parts"] = int(medians["int8", 2] - medians["int8", 1]) - python["part"]
    factors["python"] = python
    return factors


def errors(networks, board):
    """[(relative error, words)] of whole steps, and {instruction: [(its error's cycles, its cycles)]}."""
    steps_, instructions = [], defaultdict(list)
    for text, dtype, total, parts, rows in networks:
        foretold = cost.python(dtype, parts, board)
        for name, sizes, cycles, times in rows:
            each = cost.cost(name, sizes, board)
            foretold += times * each
            instructions[name].append((each - cycles, cycles))
        steps_.append((foretold / total - 1, text))
    return steps_, instructions


def table(factors, board):
    """The text of the module that has them."""
    lines = [
        '"""Factors of odt.host.cost for the machine %s, %s. Written by bench/costs/cost.py."""'
        % (board, MACHINES[board][2]),
        "",
        "# fmt: off",
        "FACTORS = {",
    ]
    for group in sorted(factors):
        text = ", ".join([("%r: %r" % pair).replace(" ", "\0") for pair in sorted(factors[group].items())])
        row = textwrap.wrap(
            "%s: {%s}," % (repr(group).replace(" ", "\0"), text), 110, initial_indent="    ",
            subsequent_indent="        ", break_on_hyphens=False
        )  # fmt: skip
        lines += [line.replace("\0", " ") for line in row]  # a name is not broken
    return "\n".join([*lines, "}", ""])


def report(name, networks, failed, board):
    """Lines: how near the steps of these networks are."""
    found, instructions = errors(networks, board)
    order = sorted([abs(error) for error, _ in found])
    near = sum([error <= NEAR for error in order])
    yield "%s: %d networks (%d more did not fit the board's RAM)" % (name, len(found), failed)
    yield "  error of a step's %s: median %.1f %%, 90th percentile %.1f %%, worst %.1f %%; %d of %d within %d %%" % (
        MACHINES[board][2], 100 * statistics.median(order), 100 * order[-(-9 * len(order) // 10) - 1], 100 * order[-1],
        near, len(order), 100 * NEAR,
    )  # fmt: skip
    for error, text in sorted(found, key=lambda pair: -abs(pair[0]))[:5]:
        yield "    %+6.1f %%  %s" % (100 * error, text)
    whole = sum([cycles for rows in instructions.values() for _, cycles in rows])
    yield "  by instruction, the largest: their part, error of their sum, median error of one"
    largest = sorted(instructions, key=lambda each: -sum([cycles for _, cycles in instructions[each]]))[:14]
    for each in largest:
        rows = instructions[each]
        total = sum([cycles for _, cycles in rows])
        median = statistics.median([abs(error) / max(cycles, LEAST) for error, cycles in rows])
        yield "    %-20s %5.1f %% %+7.1f %% %7.1f %%" % (
            each, 100 * total / whole, 100 * sum([error for error, _ in rows]) / total, 100 * median)  # fmt: skip
    yield ""


def check_sequences():
    """Lines of all machines."""
    for board, (emulator, _, _) in MACHINES.items():
        yield counting.heading(emulator)
        for (first, _), counts in zip(OF_SEQUENCES, CHECK_SEQUENCES):
            for dtype, count in counts.items():
                found, failed = collect(emulator, dtype, sequences(first + 5000, count, dtype))
                kind = "tokens" if first == further.TOKENS else "sequences"
                yield from report("%s, %s in %s" % (emulator, kind, dtype), found, failed, board)


def known(board, emulator):
    """Lines: the networks of bench/costs/steps.py, and what the random ones have not: parts of a batch."""
    yield "%s, networks of bench/costs/steps.py, int8: %s of a step, foretold, error" % (emulator, MACHINES[board][2])
    machine = counting.open(emulator)
    try:
        for name in steps.MODELS:
            model = steps.compiled(name)
            yield row(machine, name, model, board)
        for parts in (2, 4):
            scope = {}
            text = steps.source(next(iter(steps.MODELS))).replace("seed=7", "seed=7, micro_batch=%d" % (16 // parts))
            exec(text, scope)
            yield row(machine, "digits CNN, batch 16 in %d parts" % parts, scope["model"], board)
    finally:
        machine.close()


def row(machine, name, model, board):
    total = measure(machine, model, 1, False)[0]
    x, y = data(model.session, 1)
    foretold = sum([cost.cost(each, sizes, board) for each, sizes in cost.instructions(model, x, y)])
    foretold += cost.python(model.dtype, -(-model.batch_size // model.session.rows), board)
    return "  %-46s %11d %11d %+6.1f %%" % (name, total, foretold, 100 * (foretold / total - 1))


def measured(board, kept, sets):
    """What the networks to fit have cost; kept, for --again."""
    networks = []
    for first, counts in sets:
        for dtype, count in counts.items():
            alone = first in (further.SEQUENCES, further.TOKENS)
            seeds = sequences(first, count, dtype) if alone else range(first, first + count)
            found, failed = collect(MACHINES[board][0], dtype, seeds)
            networks += found
            print("%s: %d networks, %d did not fit" % (dtype, len(found), failed), flush=True)
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(networks))
    return networks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--sequences", action="store_true")
    parser.add_argument("--windows", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--machine", choices=MACHINES, default="rp2040")
    options = parser.parse_args()
    board = options.machine
    emulator, name, _ = MACHINES[board]
    kept = ROOT / ("build/cost_%s%s%s.json" % (name, "_more" * options.add, "_sequences" * options.sequences)).replace(
        ".json", "_windows" * options.windows + ".json"
    )
    if not options.check:
        sets = ADDED if options.add else ((0, FIT),)
        sets = OF_SEQUENCES if options.sequences else OF_WINDOWS if options.windows else sets
        networks = json.loads(kept.read_text()) if options.again else measured(board, kept, sets)
        factors = fit(networks, board)
        before = cost.MACHINES[board][0]
        if options.sequences:
            factors = {group: each for group, each in factors.items() if group.startswith(SEQUENCES)}
        if options.windows:
            before = {**before, "apply_f32": factors["apply_f32"]}
        # What networks lack stays; those that add change nothing that is there.
        factors = {**factors, **before} if options.add or options.windows else {**before, **factors}
        (ROOT / ("odt/host/cost/%s.py" % name)).write_text(table(factors, board))
        return
    if options.sequences:
        out = []
        for line in check_sequences():
            print(line, flush=True)
            out.append(line)
        command = "python bench/costs/cost.py --check --sequences"
        written.write("cost_sequences.txt", ["Cost of sequences foretold. Written by: " + command, *out])
        return
    out = [counting.heading(emulator), ""]
    for dtype, count in CHECK.items():
        found, failed = collect(emulator, dtype, range(FIRST, FIRST + count))
        out += report(dtype, found, failed, board)
    for each in (emulator, *ALIKE.get(board, ())):
        out += [*known(board, each), ""]
    out = out[:-1]
    print("\n".join(out))
    file, words = ("cost.txt", "") if name == "rp2040" else ("cost_%s.txt" % name, " --machine %s" % board)
    written.write(file, ["Cost foretold. Written by: python bench/costs/cost.py --check%s" % words, *out])


if __name__ == "__main__":
    main()
