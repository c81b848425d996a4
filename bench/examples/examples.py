"""How well the examples work over seeds, and what a training step of theirs costs on emulated boards.

    build/venv/bin/python bench/examples/examples.py                writes bench/results/examples.txt
    build/venv/bin/python bench/examples/examples.py host           one part: host, one of its four, rp2040 or qemu_m4

rp2040: cycles by odt's own interpreter (tests_device/rp2040js/README.md); qemu_m4: instructions executed by QEMU; both
of model.train_step() as a whole.
"""

import contextlib
import io
import os
import re
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

EXAMPLES = ROOT / "examples"

import counting  # noqa: E402
import numpy as np  # noqa: E402
import written  # noqa: E402

SEEDS = {"vibration": 10, "series": 5, "personalise": 10, "life": 10}


def run(script, args):
    """What an example's script prints in the current folder."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(script), {"ODT_ARGS": args})
    return out.getvalue()


def summary(values):
    return "mean %.1f, from %.1f to %.1f" % (statistics.mean(values), min(values), max(values))


def vibration():
    os.chdir(EXAMPLES / "vibration")
    found = []
    for seed in range(SEEDS["vibration"]):
        text = run("train.py", {"seed": seed})
        found.append([float(v) for v in re.findall(r"(?:alarms|AUC) ([\d.]+)", text)])
    false, mild, mild_auc, severe, severe_auc = zip(*found)
    yield "false alarms of 128:          " + summary(false)
    yield "mild faults found of 64:      " + summary(mild)
    yield "severe faults found of 64:    " + summary(severe)
    yield "AUC, mild, x 100:             " + summary([100 * v for v in mild_auc])
    yield "AUC, severe, x 100:           " + summary([100 * v for v in severe_auc])
    data = np.fromfile("bearing.bin", "int8").reshape(-1, 256).astype(float)[384:]
    centred = data - data.mean(1, keepdims=True)
    loudness = (data**2).mean(1)
    kurtosis = (centred**4).mean(1) / (centred**2).mean(1) ** 2
    for name, value in (("loudness", loudness), ("kurtosis", kurtosis)):
        areas = [100 * (value[part][:, None] > value[:128]).mean() for part in (slice(128, 192), slice(192, 256))]
        yield "for comparison, no network: AUC x 100 of the %s alone: mild %.1f, severe %.1f" % (name, *areas)


def series():
    os.chdir(EXAMPLES / "series")
    found = []
    for seed in range(SEEDS["series"]):
        text = run("train.py", {"seed": seed})
        found.append(100 * float(re.search(r"\naccuracy ([\d.]+)", text).group(1)))
    yield "test accuracy in %:           " + summary(found)


PRETRAINED = "(seeds of the first training, of what is remembered, and of who teaches: pretrain.py FOLDER SEED)"


def pretrained(seeds):
    """In a folder with the files of each seed in turn."""
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            command = [sys.executable, EXAMPLES / "personalise" / "pretrain.py", folder, str(seed)]
            environment = dict(os.environ, PYTHONPATH=str(ROOT))
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
            yield seed
            os.chdir(ROOT)


def personalise():
    found = []
    for _ in pretrained(SEEDS["personalise"]):
        text = run(EXAMPLES / "personalise" / "adapt.py", {})
        found.append([float(v) for v in re.findall(r"(?:eight|7) ([\d.]+) %", text)])
    eight, _, eight_after, two = zip(*found)
    yield "the eight before, %:          " + summary(eight)
    yield "the eight after, %:           " + summary(eight_after)
    yield "points lost by the eight:     " + summary([b - a for b, a in zip(eight, eight_after)])
    yield "3 and 7 after, %:             " + summary(two)
    yield PRETRAINED


class PowerCut(BaseException):
    """Not an error, which a script may handle."""


def without_power(at):
    """
    What life.py leaves in the current folder when the power fails before its checkpoint number ``at`` is in place.
    """
    left, replace = [at], os.replace

    def failing(*names):
        left[0] -= 1
        if not left[0]:
            raise PowerCut
        replace(*names)

    os.replace = failing
    try:
        run(EXAMPLES / "personalise" / "life.py", {})
    except PowerCut:
        return
    finally:
        os.replace = replace
    raise SystemExit("life.py wrote fewer than %d checkpoints" % at)


def life():
    """Its stages, and what is left of them where the power fails in the middle of the second digit's epochs."""
    script, found, kept, same = EXAMPLES / "personalise" / "life.py", {}, [], 0
    for _ in pretrained(SEEDS["life"]):
        text = run(script, {})
        for checkpoint in ("life.ckpt", "replay.ckpt"):
            os.remove(checkpoint)
        without_power(18)  # of the model, of the images kept, of ten epochs, of three images, of five epochs
        resumed = run(script, {})
        assert "goes on from" in resumed and "three images of a 3" not in resumed
        same += re.search("digest .*", text).group() == re.search("digest .*", resumed).group()
        last = re.search("^in the end: .*", resumed, re.M).group().replace("in the end", "after a power cut")
        for stage, *values in re.findall(r"^(.*): +the eight ([\d.]+) %, 3 and 7 ([\d.]+) %$", text + last, re.M):
            found.setdefault(stage, []).append([float(value) for value in values])
        kept.append(int(re.search(r"^(\d+) of 100 images kept", text, re.M).group(1)))
    for stage, values in found.items():
        eight, two = zip(*values)
        yield "%-22s the eight %%: %s; 3 and 7 %%: %s" % (stage + ",", summary(eight), summary(two))
    yield "images kept of 100:           " + summary(kept)
    yield "seeds that end with the same digest after a power cut: %d" % same
    yield PRETRAINED


BOARD = {  # script, data, arguments, one batch
    "vibration": ("train.py", ("bearing.bin",), {"parts": (16, 2, 1, 1, 1), "epochs": 1}, "x, y = next(iter(healthy))"),
    "series": ("train.py", ("series.bin",), {"train": 64, "test": 16, "epochs": 1}, "x, y = next(iter(train))"),
    "personalise": ("adapt.py", ("weights.bin", "memory.bin", "person.bin"), {"epochs": 1}, "x, y = x[:512], y[:8]"),
}
MARKED = """
from machine import mem32
for _ in range(2):
    mem32[0x4005800C] = 1
    model.train_step(x, y)
    mem32[0x4005800C] = 2
"""
COUNTED = """
for _ in range(2):
    start()
    model.train_step(x, y)
    print("instructions", executed())
"""


def board(name):
    """A line an example: cost of a step, heap in use at the end of the script."""
    import machines

    for example, (script, files, args, batch) in BOARD.items():
        source = (EXAMPLES / example / script).read_text() + "\n" + batch
        source += MARKED if name == "rp2040" else machines.COUNTER + COUNTED
        with machines.open(name) as machine:
            for file in files:
                shutil.copy(EXAMPLES / example / file, machine.files)
            text = machine.exec(source, args=args, timeout=900)
            heap = re.search(r"heap in use: .*", text).group(0)
            if name == "rp2040":
                marks = machine.marks()
                cost = "%d cycles" % (marks[-1][1] - marks[-2][1])
            else:
                cost = "%s instructions" % re.findall(r"instructions (\d+)", text)[-1]
            ram = re.search(r"total RAM +(\d+)", text).group(1)
            yield "%-12s a step: %s; total RAM %s; at the end %s" % (example, cost, ram, heap)


def main():
    words = sys.argv[1:]
    out = ["The examples. Written by: python bench/examples/examples.py", ""]

    def show(line):
        print(line, flush=True)
        out.append(line)

    for part in (vibration, series, personalise, life):
        if not words or "host" in words or part.__name__ in words:
            show("%s, %d seeds" % (part.__name__, SEEDS[part.__name__]))
            for line in part():
                show("  " + line)
        os.chdir(ROOT)
    for name in ("rp2040", "qemu_m4"):
        if not words or name in words:
            show("\n" + counting.heading(name))
            for line in board(name):
                show("  " + line)
    if not words:
        written.write("examples.txt", out)


if __name__ == "__main__":
    main()
