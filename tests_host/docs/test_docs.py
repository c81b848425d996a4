"""The documents tell the truth: their Python runs, their transcripts and tables are what commands print.

    build/venv/bin/python tests_host/docs/test_docs.py       writes transcripts and tables anew

A ```python block runs as a script, in a folder of its own with examples/digits/digits.bin; those of
docs/tutorials/gestures.md are one. Its first line says where it runs (PLACES);
tests_device/checks/training/test_docs_boards.py runs it on boards. A ```console block begins with its command. A table
of figures stands between `<!-- name -->` and `<!-- end -->`. An indented block holds commands: those of this PC run, of
the others what they name exists. What only a board can run, and a ```text, says which test runs or writes it.
"""

import contextlib
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import checkout  # noqa: E402, F401
from documents import DOCUMENTS, LARGE, README, ROOT, blocks

import odt  # noqa: E402
from odt.base import opcodes  # noqa: E402
from odt.host import commands, idioms, language, traits  # noqa: E402
from odt.host.boards.capabilities import CAPABILITIES

BOARDS = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "boards").glob("*.mk"))
ACCURACY = ROOT / "bench" / "results" / "accuracy.txt"
STEPS = ROOT / "bench" / "results" / "steps.txt"
SERIES = ROOT / "bench" / "results" / "series.txt"
HOST = ROOT / "bench" / "results" / "host.txt"
VIPER = ROOT / "bench" / "results" / "viper.txt"
OPTIONS = ROOT / "bench" / "results" / "options.txt"
MENDS = "run `build/venv/bin/python tests_host/docs/test_docs.py`"

PLACES = (
    "# on a PC",
    "# on a PC, and on a board",
    "# on a PC, " + LARGE,
    "# on a board",
)  # a Python block's first line


FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
OWNED = re.compile(r"<!-- (?:run|written) by (\S+) -->\n+$")


def indented(document):
    """``[(line, text, owner)]`` of blocks by four spaces; the owner is the test that a comment before it names,
    or "".
    """
    text = FENCE.sub(lambda match: "\n" * match[0].count("\n"), document.read_text())
    found = re.finditer(r"(?<=\n\n)((?: {4}.*\n|\n(?= {4}))+)", text)
    owners = [(match, OWNED.search(text[: match.start()])) for match in found]
    return [(text[: match.start()].count("\n") + 1, match[1], owner[1] if owner else "") for match, owner in owners]


def named_blocks(language):
    return [
        pytest.param(document, line, text, id="%s:%d" % (document.relative_to(ROOT), line + 1))
        for document in DOCUMENTS
        for line, text in blocks(document, language)
    ]


def steady(text):
    """A transcript without what differs between runs: times, and where the checkout is."""
    text = re.sub(r"[\d.]+ ms/step  \d+:\d\d left", "- ms/step", text.replace(str(ROOT), "."))
    text = re.sub(r"switched \d+ times", "switched - times", text)
    text = re.sub(r" down, [\d.]+ s$", " down", text, flags=re.M)
    # Of a profile: layer, three times, four figures.
    return re.sub(r"^(\w+) +(?:\d+ +){3}(\d+) +(\d+) +(\d+) +(\d+)$", r"\1 - \2 \3 \4 \5", text, flags=re.M)


def python_blocks():
    """Those of a document whose blocks go on from one another, with what is between them left out, are one."""
    for document in DOCUMENTS:
        found = blocks(document, "python")
        if document.name == "gestures.md":
            text = ""
            for line, block in found:
                text += "\n" * (line - text.count("\n")) + block
            found = [(0, text)]
        for line, text in found:
            yield pytest.param(document, line, text, id="%s:%d" % (document.relative_to(ROOT), line + 1))


# --- what the commands print ------------------------------------------------------------------


def run(command, folder):
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    out = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, check=True)
    return out.stdout.decode()


def script(folder, name="train.py"):
    return run([sys.executable, name], ROOT / "examples" / folder)


def apart(folder, *words):
    """What Python prints in a copy of an example's folder, for it writes files: without checkpoints that are there."""
    with tempfile.TemporaryDirectory() as place:
        ignored = shutil.ignore_patterns("*.ckpt")
        shutil.copytree(ROOT / "examples" / folder, place, dirs_exist_ok=True, ignore=ignored)
        return run([sys.executable, *words], place)


def watched(folder):
    return apart(folder, "-m", "odt", "monitor", "watch.py", "--on", "host")


def compare():
    """The end of `make run`; the row of MicroPython is its own where it is built, else CPython's."""
    command = [sys.executable, "examples/digits/compare.py"]
    micropython = ROOT / "build" / "unix" / "micropython"
    built = micropython.exists() and __name__ == "__main__"
    text = run(command + ([str(micropython)] if built else []), ROOT)
    end = text[text.index("loss by epoch") :]
    if not built:
        end = end[: end.index("\nMicroPython was not built")]
        row = re.search(r"^CPython    (.*\n)", end, re.M)
        end = end[: row.end()] + "MicroPython" + row.group(1) + end[row.end() :]
        end += "\nThe same bits on both.\n"
    return "...\n" + end


def look():
    """The first script of docs/howto/inspect.md."""
    document = ROOT / "docs" / "howto" / "inspect.md"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "examples" / "digits" / "digits.bin", folder)
        (Path(folder) / "look.py").write_text(blocks(document, "python")[0][1])
        return run([sys.executable, "look.py"], folder)


COMMANDS = {
    "python look.py": look,
    "make run": compare,
    "cd examples/digits && python first.py": lambda: script("digits", "first.py"),
    "cd examples/digits && python train.py": lambda: script("digits"),
    "cd examples/xor && python train.py": lambda: script("xor"),
    "cd examples/vibration && python train.py": lambda: script("vibration"),
    "cd examples/vibration && python -m odt monitor watch.py --on host": lambda: watched("vibration"),
    "cd examples/room && python -m odt monitor watch.py --on host": lambda: watched("room"),
    "cd examples/series && python train.py": lambda: script("series"),
    "cd examples/keyword && python teach.py": lambda: script("keyword", "teach.py"),
    "cd examples/command && python teach.py": lambda: script("command", "teach.py"),
    "cd examples/gesture && python teach.py": lambda: script("gesture", "teach.py"),
    "cd examples/fleet && python train.py": lambda: script("fleet"),
    "cd examples/fleet && python -m odt fleet train.py --twins 3 --rounds 10": lambda: apart(
        "fleet", "-m", "odt", "fleet", "train.py", "--twins", "3", "--rounds", "10"
    ),
    "cd examples/backbones && python start.py": lambda: script("backbones", "start.py"),
    "cd examples/camera && python adapt.py": lambda: script("camera", "adapt.py"),
    "cd examples/room && python learn.py": lambda: script("room", "learn.py"),
    "cd examples/personalise && python adapt.py": lambda: script("personalise", "adapt.py"),
    "cd examples/personalise && python teach.py": lambda: script("personalise", "teach.py"),
    "cd examples/personalise && python life.py": lambda: apart("personalise", "life.py"),
}


# --- tables -----------------------------------------------------------------------------------


def accuracy_table():
    """Adam's rows of what bench/accuracy/accuracy.py printed."""
    if not ACCURACY.exists():
        return "Not measured yet: `make bench-accuracy` writes `bench/results/accuracy.txt`.\n"
    row = re.compile(r"^(\S+) +adam +(.*?) +([\d.]+) \+- +([\d.]+) +([-+][\d.]+) \+- +([\d.]+) +\d+$", re.M)
    lines = ["| task | PyTorch float32 | odt float32 | odt int8 | int8 less PyTorch |"]
    lines.append("|---|--:|--:|--:|--:|")
    tasks = {}
    for task, label, mean, error, difference, spread in row.findall(ACCURACY.read_text()):
        tasks.setdefault(task, {})[label] = (mean, error, difference, spread)
    for task, results in tasks.items():
        cells = [
            "%s ± %s" % results[label][:2] for label in ("PyTorch float32", "odt float32", "odt int8, int16 state")
        ]
        cells.append("%s ± %s" % results["odt int8, int16 state"][2:])
        lines.append("| %s | %s |" % (task, " | ".join(cells)))
    return "\n".join(lines) + "\n"


def measured_steps():
    """(a network, {machine: what a step takes}) of what bench/costs/steps.py printed, in int8."""
    table = re.compile(r"^(\S.*?): \d+ MACs forward.*\n\n(.*)\n  a step +(.*)", re.M)
    for name, machines, counts in table.findall(STEPS.read_text()):
        yield name, dict(zip(machines.split()[::2], [int(count) for count in counts.split()[::2]]))


def stock_table():
    """Steps on a Pico: odt's firmware, odt in files without and with the capability fast."""
    lines = ["| M cycles of an RP2040 | odt's firmware | stock firmware | with `fast` |", "|---|--:|--:|--:|"]
    for name, steps in measured_steps():
        if "stock_rp2040" not in steps:
            continue
        cells = [steps[machine] / 1e6 for machine in ("rp2040", "stock_rp2040", "stock_rp2040_fast")]
        lines.append("| %s | %.2f | %.2f | %.2f |" % (name, *cells))
    return "\n".join(lines) + "\n"


def steps_table():
    """Of what bench/costs/steps.py printed, whole int8 steps."""
    lines = ["| int8, Adam | RP2040 | at 125 MHz | Cortex-M4 | RISC-V, rv32imac |", "|---|--:|--:|--:|--:|"]
    for name, steps in measured_steps():
        others = steps["qemu_m4"] / 1e6, steps["qemu_rv32"] / 1e6
        cells = (name, steps["rp2040"] / 1e6, steps["rp2040"] / 125e3, *others)
        lines.append("| %s | %.2f M cycles | %.1f ms | %.2f M instructions | %.2f M instructions |" % cells)
    return "\n".join(lines) + "\n"


def host_table():
    """Of what bench/costs/host.py printed: training on a PC beside PyTorch, prediction beside LiteRT."""
    epochs, predictions = [part.split("\n\n")[0] for part in HOST.read_text().partition("\nnetwork ")[2].split("\n50 ")]
    ratios = {}
    for network, *_, ratio in map(str.split, epochs.splitlines()[1:-1]):
        ratios.setdefault(network, []).append(ratio)
    lines = ["| | odt's time in that of PyTorch or LiteRT |", "|---|--:|"]
    lines += ["| an epoch, %s | %s to %s |" % (network, min(each), max(each)) for network, each in ratios.items()]
    rows = re.findall(r"^(\w+) +\S+ +\S+ +([\d.]+)$", predictions, re.M)
    return "\n".join(lines + ["| a prediction, %s.tflite | %s |" % row for row in rows]) + "\n"


def series_table():
    """Of what bench/costs/series.py printed."""
    rows = re.findall(r"^(\S.*?)  +([\d.]+) +(\d+) +(\d+)" + " +(\\d+|-)" * 4 + "$", SERIES.read_text(), re.M)
    lines = ["| MNIST-1D, int8 | accuracy | RAM, 8 samples | RP2040: a step, a prediction | M4: the same |"]
    lines.append("|---|--:|--:|--:|--:|")
    for name, accuracy, arena, state, *counts in rows:
        counts = ["-" if count == "-" else "%.2f M" % (int(count) / 1e6) for count in counts]
        cells = (name, accuracy, format(int(arena) + int(state), ","), *counts)
        lines.append("| %s | %s %% | %s bytes | %s, %s | %s, %s |" % cells)
    return "\n".join(lines) + "\n"


def viper_table():
    """Of what bench/costs/viper.py printed: loops and C on each core, in times of bytecode."""
    row = re.compile(
        r"^  (\S.*?) +(\w+_i8) +bytecode +\d+ +viper +\d+, +(\S+) times faster +C +\d+, +(\S+) times$", re.M
    )
    lines = ["| layer | instruction | %s |", "|---|---|"]
    machines, cells = [], {}
    for text in VIPER.read_text().split("\nstock_qemu_")[1:]:
        core, loops = re.match(r"(\w+): instructions; loops for (\w+),", text).groups()
        machines += ["%s: loops for %s" % (core, loops), "%s: C" % core]
        lines[1] += "--:|--:|"
        for layer, operation, viper, c in row.findall(text):
            cells.setdefault((layer, operation), []).extend((viper, c))
    lines[0] %= " | ".join(machines)
    lines += ["| %s | `%s` | %s |" % (*names, " | ".join(times)) for names, times in cells.items()]
    return "\n".join(lines) + "\n"


def options_table():
    """Of what bench/costs/options.py printed: RP2040's cycles and an M4's instructions, then bytes."""
    steps, samples = OPTIONS.read_text().split("\ntrain_step")[1:], OPTIONS.read_text().split("\na sample ")[1:]
    lines = ["| | RP2040, cycles | M4, instructions | RAM |", "|---|--:|--:|---|"]
    for parts, what in ((steps, "%s"), (samples, "%s kept, %s left to the collector by a call")):
        rows = [re.findall(r"^(\S.*?)  +(\d+) +(\d+)(?: +(\d+))?$", part, re.M) for part in parts]
        for (name, cycles, *ram), (_, instructions, *_) in zip(*rows):
            lines.append(
                "| `%s` | %s | %s | %s |" % (name, cycles, instructions, what % tuple(each for each in ram if each))
            )
    return "\n".join(lines) + "\n"


def figures_table():
    """README's: of two networks what training takes, and how it ends."""
    accuracy = dict(row.split(" | ", 1) for row in accuracy_table().splitlines()[2:])
    rows = (
        ("digits CNN, batch 16",) * 2 + ("| digits-cnn",),
        ("digits MLP 64-32-10, batch 16", "MLP 64-32-10, batch 16", "| digits-mlp"),
    )
    lines = [
        "| | RAM to train | one step on a Pico | on a Cortex-M4, on a RISC-V | accuracy |",
        "|---|--:|--:|--:|--:|",
    ]
    for network, step, task in rows:
        ram = [row.split(" | ")[2] for row in ram_table().splitlines() if network in row]
        (times,) = [row.strip("| ").split(" | ") for row in steps_table().splitlines() if row.startswith("| " + step)]
        torch, _, int8, _ = [cell.partition(" ±")[0] for cell in accuracy[task].split(" | ")]
        cells = (network.partition(",")[0], ram[0], *times[1:3], times[3].partition(" M")[0], times[4], int8, torch)
        lines.append("| %s | %s bytes | %s, %s | %s, %s | %s %% (%s %%) |" % cells)
    return "\n".join(lines) + "\n"


def digits_input():
    return odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)


def cnn(**options):
    return [
        digits_input(),
        odt.Conv2D(8, 3, padding="same", activation="relu", **options),
        odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu", **options),
        odt.MaxPool2D(),
        odt.Flatten(),
        odt.Dense(10),
    ]


def mlp():
    return [digits_input(), odt.Flatten(), odt.Dense(32, activation="relu"), odt.Dense(10)]


NETWORKS = (
    ("digits CNN, batch 16", cnn, 16),
    ("digits CNN, batch 1", cnn, 1),
    ("digits CNN, batch 16, only Dense trains", lambda: cnn(trainable=False), 16),
    ("digits MLP 64-32-10, batch 16", mlp, 16),
)


def ram_table():
    """Bytes of arena and state, by optimizer."""
    ways = (
        ("int8, SGD", lambda: odt.SGD(0.01), "int8"),
        ("int8, Adam", lambda: odt.Adam(), "int8"),
        ("float32, Adam", lambda: odt.Adam(), "float32"),
    )
    lines = ["| bytes | " + " | ".join(name for name, _, _ in ways) + " |", "|---|" + "--:|" * len(ways)]
    for name, layers, batch in NETWORKS:
        cells = []
        for _, optimizer, dtype in ways:
            model = odt.Sequential(layers())
            model.compile(optimizer(), dtype=dtype, batch_size=batch)
            cells.append(f"{model.program.arena + model.program.state:,}")
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    return "\n".join(lines) + "\n"


def float32_words():
    """How much more RAM float32 takes, in ram_table()'s networks with Adam."""
    ratios = []
    for row in ram_table().splitlines()[2:]:
        int8, float32 = [int(cell.replace(",", "")) for cell in row.split("|")[3:5]]
        ratios.append(float32 / int8)
    return "%.1f to %.1f times" % (min(ratios), max(ratios))


def program_words():
    """Bytes of these networks' programs."""
    sizes = []
    for _, layers, batch in NETWORKS:
        for dtype in ("int8", "float32"):
            model = odt.Sequential(layers())
            model.compile(odt.Adam(), dtype=dtype, batch_size=batch)
            sizes.append(len(bytes(model.program.code)))
    return "%.1f to %.1f KB" % (min(sizes) / 1000, max(sizes) / 1000)


def vibration_words():
    """Of examples/vibration, by its transcript."""
    text = (ROOT / "examples" / "vibration" / "README.md").read_text()
    return "%d KB" % -(-int(re.search(r"^total RAM +(\d+) bytes", text, re.M)[1]) // 1000)


COSTS = ROOT / "docs" / "reference" / "costs.md"
# Figures within sentences: (document, what stands before, behind, their measurement).
SENTENCES = (
    (COSTS, "float32 needs ", " the RAM of int8", float32_words),
    (COSTS, "The program, ", ", and your data come on top", program_words),
    (README, "an autoencoder in ", " of RAM learns", vibration_words),
)

API = {
    "layers": (
        "Input Dense Conv2D Conv1D DepthwiseConv2D Conv2DTranspose Conv1DTranspose MaxPool2D MaxPool1D AvgPool2D "
        "AvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool1D GlobalAvgPool UpSampling2D UpSampling1D Flatten Reshape ReLU "
        "ReLU6 LeakyReLU ELU SELU GELU Sigmoid Tanh Softmax Activation Normalization BatchNorm LayerNorm GroupNorm "
        "Dropout Sampling Add Multiply Concatenate GRU LSTM SimpleRNN "
        "MultiHeadAttention PositionEmbedding Embedding"
    ),
    "losses": "SparseCategoricalCrossentropy CategoricalCrossentropy BinaryCrossentropy MeanSquaredError "
    "MeanAbsoluteError Huber",
    "optimizers": "SGD Adam AdamW RMSprop ZerothOrder StepDecay CosineDecay ExponentialDecay WarmUp",
    "model": (
        "Sequential.add Sequential.pop Model.compile Model.fit Model.fit_async Model.train_step Model.evaluate "
        "Model.predict Model.predict_proba Model.predict_classes Model.calibrate Model.summary "
        "Model.save Model.load Model.export Model.load_weights Model.digest Model.get_weights Model.set_weights "
        "Model.disassemble Model.draw"
    ),
    "callbacks": "callbacks.EarlyStopping callbacks.ModelCheckpoint callbacks.ReduceLROnPlateau "
    "callbacks.LearningRateScheduler",
}


def api_table(names):
    """Signatures, and the first paragraph of each docstring."""
    lines = ["| | |", "|---|---|"]
    for name in names.split():
        found = odt
        for part in name.split("."):
            found = getattr(found, part)
        signature = inspect.signature(found)
        plain = [each.replace(annotation=each.empty) for each in signature.parameters.values() if each.name != "self"]
        call = name.replace("Model.", "") + str(inspect.Signature(plain))
        what = " ".join(inspect.getdoc(found).partition("\n\n")[0].replace("``", "`").split())
        lines.append("| `%s` | %s |" % (call, what.replace("|", "\\|")))
    return "\n".join(lines) + "\n"


def api(names):
    return lambda: api_table(names)


def operators_table():
    from odt.host.convert import operators

    return operators.table()


def capabilities_table():
    rows = ["| capability | brings | needs |", "|---|---|---|"]
    for name, row in CAPABILITIES.items():
        rows.append("| `%s` | %s | %s |" % (name, row.about, ", ".join(["`%s`" % need for need in row.needs])))
    return "\n".join(rows) + "\n"


TABLES = {
    "figures": figures_table,
    "accuracy": accuracy_table,
    "steps": steps_table,
    "series": series_table,
    "stock": stock_table,
    "host": host_table,
    "viper": viper_table,
    "options": options_table,
    "ram": ram_table,
    "capabilities": capabilities_table,
    "language": language.table,
    "operators": operators_table,
    "keras": idioms.table,
    "keywords": idioms.keyword_table,
    **{name: api(names) for name, names in API.items()},
}
TABLE = re.compile(r"(<!-- (\w+) -->\n)(.*?)(<!-- end -->)", re.S)


# --- tests ------------------------------------------------------------------------------------


@pytest.mark.parametrize("document, line, text", named_blocks("python"))
def test_each_block_says_where_it_runs(document, line, text):
    """There tests run it: here, and on boards in tests_device/checks/training/test_docs_boards.py."""
    first = text.split("\n")[0]
    assert first.partition(":")[0] in PLACES, "%r: one of %s is expected" % (first, ", ".join(PLACES))
    assert '"digits.bin"' not in text or "examples/digits/digits.bin" in first
    if first == PLACES[-1]:  # the others run here by themselves
        assert document.name == "gestures.md"


@pytest.mark.parametrize("document, line, text", list(python_blocks()))
def test_the_python_of_the_documents_runs(document, line, text, tmp_path, monkeypatch):
    shutil.copy(ROOT / "examples" / "digits" / "digits.bin", tmp_path)
    monkeypatch.chdir(tmp_path)
    code = compile("\n" * line + text, str(document), "exec")
    try:
        exec(code, {"__name__": "__main__"})
    finally:
        odt.executor.use(odt.backend)
        odt.set_num_threads(1)


COMMAND_LINES = [
    pytest.param(document, line.strip(), id="%s:%d" % (document.relative_to(ROOT), number + at))
    for document in DOCUMENTS
    for number, text, owner in indented(document)
    if not owner
    for at, line in enumerate(text.splitlines())
    if line.strip()
]


@pytest.mark.parametrize("document, line", COMMAND_LINES)
def test_the_commands_of_the_documents_run_or_name_what_there_is(document, line, tmp_path, monkeypatch, capsys):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for part in re.split(r"   +", line)[0].split(" | "):
        words = shlex.split(part)
        if words[0].endswith("/"):  # of the list of folders
            assert (ROOT / words[0]).is_dir()
        elif words[0] == "make":
            if words[1] != "-C":
                assert words[1] in targets()
        elif words[:3] == ["python3", "-m", "odt"] or words[:3] == ["python", "-m", "odt"]:
            odt_command(words[3:])
        elif words[0] in ("python", "micropython") and words[1].endswith(".py"):
            assert (document.parent / words[1]).is_file()  # tests_device/checks/training/test_examples.py runs it
        elif words[0] == "mpremote":
            mpremote_commands(words[1:], document.parent)
        else:
            assert words[:3] in (
                ["git", "clone", "-b"], ["python3", "-m", "http.server"], [VENV, "-m", "pytest"],
                ["flower-supernode", "--superlink", "HOST:9092"],
            ), part  # fmt: skip


VENV = "build/venv/bin/python"


def odt_command(words):
    """Run `python -m odt` with these words where this PC can, in the board's place if need be; else look at its
    options.
    """
    if words[0] in ("monitor", "run") and words[1] != "-" and "--on" not in words:
        check_options(words)
        assert commands.main([*[word for word in words if word != "--compare"], "--on", "host"]) == 0
    elif words[0] == "chart":
        assert commands.main(words) == 0
    else:
        check_options(words)


def check_options(words):
    """That `python -m odt` has this command with these options."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as ended:
        commands.main([words[0], "--help"])
    assert ended.value.code == 0
    assert all(re.search(r"%s\b" % word.partition("=")[0], out.getvalue()) for word in words if word[0] == "-" != word)


def mpremote_commands(words, folder):
    """That mpremote has these commands, and that the files that they name are there."""
    from mpremote import main

    while words:
        stop = words.index("+") if "+" in words else len(words)
        assert words[0] in main._COMMANDS or words[0] in main._BUILTIN_COMMAND_EXPANSIONS, words[0]
        for word in words[1:stop]:
            if re.search(r"\.(py|bin)$|^examples", word):
                assert (ROOT / word).exists() or (folder / word).exists(), word
        words = words[stop + 1 :]


def test_every_block_is_run_or_written_by_a_test():
    for document in DOCUMENTS:
        text = document.read_text()
        for match in FENCE.finditer(text):
            owner = OWNED.search(text[: match.start()])
            title = re.fullmatch(r'\w+ title="[^"]+"', match[1])  # tests_host/host/test_pages.py
            assert match[1] in ("python", "console") or owner or (title and document.name.startswith("add_")), match[0]
        for owner in re.findall(OWNED.pattern.rstrip("$"), text):
            lists = {
                "tests_device/checks/install/test_readme.py": "tests_device/machines/figures.py"
            }  # whose list of documents lies there
            assert '"%s"' % document.name in (ROOT / lists.get(owner, owner)).read_text(), owner
    assert len(COMMAND_LINES) > 40


@pytest.mark.parametrize("document, line, text", named_blocks("console"))
def test_the_transcripts_are_what_the_commands_print(document, line, text):
    command, _, printed = text.partition("\n")
    assert command[2:] in COMMANDS, "no transcript is made of %r" % command
    assert steady(printed) == steady(COMMANDS[command[2:]]()), MENDS


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_what_is_measured_and_declared(name):
    found = [
        table for document in DOCUMENTS for _, called, table, _ in TABLE.findall(document.read_text()) if called == name
    ]
    assert found == [TABLES[name]()], MENDS


@pytest.mark.parametrize("document, before, behind, measure", SENTENCES, ids=[row[3].__name__ for row in SENTENCES])
def test_the_figures_within_sentences_are_measured(document, before, behind, measure):
    assert before + measure() + behind in document.read_text(), MENDS


def test_every_public_layer_loss_and_optimizer_is_in_a_table():
    listed = " ".join(API.values()).split()
    public = [
        name
        for name in dir(odt)
        if name[0].isupper() and name not in ("Model", "Sequential", "HOMES", "KERAS", *odt.KERAS)
    ]
    assert not set(public) - set(listed)


def modules(kind):
    return {name for name, home in odt.HOMES.items() if home == kind}


def test_every_module_that_is_imported_when_used_is_on_the_page_of_modules():
    """Those that odt offers by name, except the layers, losses and optimizers of the tables."""
    text = (ROOT / "docs" / "reference" / "modules.md").read_text()
    tables = {"layers", "losses", "model", "norms", "optimizers", "open", "normalization"}
    for name in (modules("modules") | modules("capabilities")) - tables:
        assert "`odt.%s`" % name in text, name


def test_every_module_can_be_imported_from_the_package():
    """As `from odt.base import fixed`, on MicroPython too, whose import asks the package for it."""
    known = modules("modules") | modules("capabilities") | modules("inner")
    there = {path.stem for path in (ROOT / "odt").glob("*.py")} | {"plan", "reference", "run"}
    packages = {path.parent.name for path in (ROOT / "odt").glob("*/__init__.py")}
    assert known == (there | packages) - {"__init__", "__main__", "executor", "host"}


def test_the_first_script_ends_with_the_digest_beside_it(tmp_path, monkeypatch, capsys):
    page = ROOT / "docs" / "tutorials" / "pc.md"
    shutil.copy(ROOT / "examples" / "digits" / "digits.bin", tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(blocks(page, "python")[0][1], {"__name__": "__main__"})
    digest = capsys.readouterr().out.split()[-1]
    assert re.search(r"^CPython .* %s " % digest, blocks(page, "console")[0][1], re.M)


def test_the_readme_is_short_and_its_example_is_a_file():
    """What it is, how to install it, one example, one table; all else is a page of docs/."""
    assert len(README.read_text().splitlines()) <= 150
    ((_, example),) = blocks(README, "python")
    assert example.partition("\n")[2] == (ROOT / "examples" / "digits" / "first.py").read_text()
    assert [name for _, name, _, _ in TABLE.findall(README.read_text())] == ["figures"]


def test_numerics_md_has_each_family_s_section_and_there_the_family_s_instructions():
    sections = re.findall(
        r"^## (\w+)\n(.*?)(?=^## |\Z)", (ROOT / "docs" / "reference" / "numerics.md").read_text(), re.M | re.S
    )
    families = {name: set(names) for name, (_, names) in traits.FAMILIES.items()}
    known, found = set().union(*families.values()), {}
    for name, text in sections:
        named = {word.strip(" *:") for bold in re.findall(r"\*\*(.*?)\*\*", text, re.S) for word in bold.split(",")}
        found[name] = named & known
    assert {name: found[name] for name in found if found[name]} == families
    assert [name for name in found if name in families] == list(families)


def test_the_control_words_of_program_md_are_those_of_the_table():
    text = (ROOT / "docs" / "reference" / "program.md").read_text().partition("**The control block**")[2]
    rows = re.findall(r"^\| ([\d, ]+) \| ([A-Z_, ]+) \|", text, re.M)
    listed = [pair for row in rows for pair in zip(row[1].split(", "), map(int, row[0].split(", ")))]
    assert [number for _, number in listed] == list(range(opcodes.CONTROL_WORDS))
    for name, number in listed:
        assert getattr(opcodes, name) == number


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_the_files_that_a_document_names_exist(document):
    text = document.read_text()
    for target in re.findall(r"\]\((?!#|\w+:)([^)#]+)", re.sub(r"`[^`\n]*`", "", text)):
        assert (document.parent / target).exists(), target
    # What is built or measured later is not looked for.
    for path in re.findall(r"`((?:odt|native|boards|tests_\w+|examples|bench|docs)/[\w./-]*)`", text):
        assert path.startswith("bench/results/") or (ROOT / path).exists(), path


def targets():
    makefiles = "".join((ROOT / name).read_text() for name in ("Makefile", *BOARDS))
    found = set(re.findall(r"^([\w-]+)(?: [\w -]*)?:(?!=)", makefiles, re.M))
    for line in re.findall(r"^([\w -]+):(?!=)", makefiles, re.M):
        found.update(line.split())
    return found


def test_the_targets_and_commands_that_the_documents_name_exist():
    known = targets()
    for document in DOCUMENTS:
        text = document.read_text()
        for target in re.findall(r"(?<!`)`make ([a-z][\w-]*)[^`]*`", text):
            assert target in known, "%s: make %s" % (document.name, target)
        for words in re.findall(r"`python3? -m odt ([a-z][^`]*)`", text):
            check_options(words.split())


@pytest.mark.parametrize("name", [".github/workflows/test.yml", ".ci/pre-commit.yaml", ".ci/run"])
def test_the_workflow_and_the_hooks_call_what_there_is(name):
    known, found = targets(), 0
    for words in re.findall(r"(?:run:|entry:|-c \"|^)\s*((?:make|bash) [\w ./&-]+)", (ROOT / name).read_text(), re.M):
        for command in words.split("&&"):
            program, *rest = command.split() or [""]
            assert program not in ("make", "bash") or rest
            if program == "make":
                assert set(rest) <= known, command
            if program == "bash":
                assert (ROOT / rest[0]).is_file(), command
            found += program in ("make", "bash")
    assert found >= {".ci/run": 1, ".ci/pre-commit.yaml": 2}.get(name, 3)


def write():
    """Transcripts and tables anew, where more than times has changed."""

    def transcript(match):
        printed = COMMANDS[match[1][2:]]().replace(str(ROOT), ".")
        old = steady(printed) == steady(match[2])
        return match[0] if old else "```console\n%s\n%s```" % (match[1], printed)

    for document in DOCUMENTS:
        old = document.read_text()
        text = re.sub(r"^```console\n(.*)\n((?s:.*?))^```$", transcript, old, flags=re.M)
        text = TABLE.sub(lambda match: match[1] + TABLES[match[2]]() + match[4], text)
        for before, behind, measure in [row[1:] for row in SENTENCES if row[0] == document]:
            text = re.sub(
                "(%s).*?(%s)" % (re.escape(before), re.escape(behind)),
                lambda match: match[1] + measure() + match[2],
                text,
            )
        if text != old:
            document.write_text(text)
            print("wrote", document.relative_to(ROOT))


if __name__ == "__main__":
    write()
