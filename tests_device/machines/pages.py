"""Networks as text for the page, and what summary() says of a script on this interpreter."""

import contextlib
import io
import random
import re
import sys
import wave
from array import array
from pathlib import Path

import odt
from odt.host import cost

sys.path.append(str(Path(__file__).resolve().parents[2] / "docs" / "page" / "python"))
sys.path += [str(Path(__file__).resolve().parents[2] / "examples" / name) for name in ("gesture", "keyword")]
import arrays  # noqa: E402, F401
import planning  # noqa: E402
import sensed  # noqa: E402, F401
import tables  # noqa: E402, F401

NUMBERS = {
    "weights": r"^weights +(\d+)",
    "optimizer state": r"^optimizer state +(\d+)",
    "frozen weights in flash": r"^frozen weights +(\d+)",
    "arena": r"^arena +(\d+)",
    "lower bound of the arena": r"lower bound (\d+)",
    "most activations at a time": r"^  activations +(\d+)",
    "most errors at a time": r"^  errors +(\d+)",
    "most gradients at a time": r"^  gradients +(\d+)",
    "most scratch at a time": r"^  scratch +(\d+)",
    "total RAM": r"^total RAM +(\d+)",
    "program": r"plus (\d+) for the program",
    "MACs computed again": r"^recomputed +(\d+)",
}


# A frozen front whose first activations are larger than all that trains.
BY_ROWS = """model = odt.Sequential([
    odt.Input((24, 24, 1), dtype="uint8", scale=1 / 255),
    odt.Conv2D(8, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Conv2D(12, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.GlobalAvgPool(),
    odt.Dense(4),
])"""


def printed_summary(script):
    """What summary() prints of a script's model."""
    scope = {}
    exec(script, scope)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        scope["model"].summary()
    return out.getvalue()


def summary(script):
    """({figure: number}, rows of the table as text) of a script's model."""
    text = printed_summary(script)
    found = {name: re.search(pattern, text, re.M) for name, pattern in NUMBERS.items()}
    rows = list(text.split("\n\n")[0].splitlines()[1:-1])
    return {name: int(match[1]) if match else 0 for name, match in found.items()}, rows


# The page's boards: the machine of the cost model, and its clock in MHz.
CLOCKS = (("rp2040", 125), ("cortex-m4f", 150), ("rv32", 160), ("cortex-m4f", 168), ("cortex-m4f", 480))


def milliseconds(script):
    """Of a step on each board, by the cost model here; None where an instruction was not measured."""
    scope, found = {}, []
    exec(script, scope)
    for machine, clock in CLOCKS:
        try:
            total = cost.cycles(scope["model"], *planning.batch(scope["model"].session), machine)
            found.append(total / clock / 1e3)
        except cost.Unknown:
            found.append(None)
    return found


def network(rng):
    """A random network of images as Python, and the names of its layers with weights, as Model names them."""
    size = rng.choice((8, 10, 13))
    lines = ["odt.Input((%d, %d, %d), dtype=%s)" % (size, size, rng.choice((1, 3)), rng.choice((
        '"float32"', '"uint8", scale=1 / 16', '"int8", scale=1 / 32',
    )))]  # fmt: skip
    names, counts = [], {}

    def add(kind, arguments, weights):
        name = kind.lower()
        number = counts.get(name, 0)
        counts[name] = number + 1
        if weights:
            names.append("%s_%d" % (name, number) if number else name)
        lines.append("odt.%s(%s)" % (kind, arguments))

    for _ in range(rng.randint(1, 3)):
        activation = rng.choice(("", ', activation="relu"'))
        if rng.random() < 0.3:
            add("DepthwiseConv2D", '3, padding="same"' + activation, True)
        else:
            stride = rng.choice((1, 2))
            add("Conv2D", '%d, 3, strides=%d, padding="same"%s' % (rng.randint(3, 9), stride, activation), True)
        if rng.random() < 0.3:
            add("BatchNorm", "", True)
        if rng.random() < 0.3:
            add("ReLU", "", False)
    add(rng.choice(("Flatten", "GlobalAvgPool")), "", False)
    if rng.random() < 0.4:
        add("Dense", '%d, activation="relu"' % rng.randint(4, 20), True)
    add("Dense", str(rng.randint(2, 6)), True)
    return "model = odt.Sequential([\n    %s,\n])" % ",\n    ".join(lines), names


def least(source, choices, options):
    """The smallest budget that a network is planned within, by recomputation or by rows."""
    try:
        planning.plan(source, choices, dict(options, memory_budget=1))
    except MemoryError as error:
        return int(re.search(r"at least (\d+)", str(error))[1])


def wav(path, words):
    """A WAV file of examples/keyword's words, int8 at 8 kHz, with pauses and a little noise."""
    noise = random.Random(7)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        for word in words:
            values = [0] * 2400 + [200 * (byte - 256 if byte > 127 else byte) for byte in word] + [0] * 1600
            file.writeframes(array("h", [value + noise.randint(-20, 20) for value in values]).tobytes())


def requests(count, seed=54):
    """That many plans of random networks, as the page's links have them, and one within the smallest budget."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        source, names = network(rng)
        trains = [name for name in names[:-1] if rng.random() < 0.6]
        choices = {
            name: rng.choice(("frozen", "frozen", "0.5", "0.25", "bias") if "conv" in name else ("frozen", "1"))
            for name in trains
        }
        options = {
            "optimizer": rng.choice(("adam", "adamw", "sgd", "momentum")),
            "learning_rate": rng.choice((0.01, 0.004)),
            "batch_size": rng.choice((1, 4, 16)),
            "dtype": rng.choice(("int8", "int8", "float32")),
            "seed": rng.randint(0, 99),
        }
        if rng.random() < 0.3:
            options["checkpoint"] = "sqrt"
        elif options["batch_size"] > 1 and rng.random() < 0.3:
            options["micro_batch"] = 1
        options["flash"] = "frozen" in choices.values() and rng.random() < 0.5
        found.append({"source": source, "choices": choices, "options": options})
    choices = {"conv2d": "frozen", "conv2d_1": "frozen"}
    options = dict(optimizer="sgd", learning_rate=0.01, batch_size=1, dtype="int8", seed=1)
    options["memory_budget"] = least(BY_ROWS, choices, options)
    return [*found, {"source": BY_ROWS, "choices": choices, "options": options}]


def frozen(script):
    """Names of the layers of a script's model that do not train; rows that do, by name."""
    scope = {"odt": odt}
    exec(script, scope)
    layers = [layer for layer in scope["model"].layers if layer.weight_shapes()]
    return {layer.name for layer in layers if not layer.trainable}, {
        layer.name: layer.update_rows for layer in layers if layer.trainable and layer.update_rows is not None
    }
