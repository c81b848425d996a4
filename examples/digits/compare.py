"""Run train.py under CPython and, if given, under a MicroPython, and show what both did.

PYTHONPATH=. python examples/digits/compare.py [--picture FILE.png] [micropython]
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run(label, command, env):
    """Run train.py, pass its output on, return what it measured."""
    print("\n--- %s ---" % label, flush=True)
    process = subprocess.Popen(command, cwd=HERE, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    for raw in process.stdout:
        line = raw.decode().rstrip("\r\n").rpartition("\r")[2] + "\n"  # as a terminal would show it
        lines.append(line)
        if not line.startswith(("losses", "val_losses")):
            print(line, end="", flush=True)
    if process.wait():
        sys.exit("%s failed" % label)
    text = "".join(lines)

    def find(pattern):
        return re.search(pattern, text).group(1)

    return {
        "label": label,
        "accuracy": find(r"test accuracy ([\d.]+)"),
        "digest": find(r"digest ([0-9a-f]{8})"),
        "ram": find(r"total RAM +(\d+)"),
        "executor": find(r"with the (\w+) executor"),
        "loss": [float(word) for word in find(r"\nlosses (.*)").split()],
        "val_loss": [float(word) for word in find(r"val_losses (.*)").split()],
    }


def sketch(result, height=10):
    """The learning curve as text."""
    curves = (("o", result["loss"]), ("x", result["val_loss"]))
    top = max(max(curve) for _, curve in curves)
    grid = [[" "] * (4 * len(result["loss"])) for _ in range(height)]
    for mark, curve in curves:
        for epoch, loss in enumerate(curve):
            grid[height - 1 - min(int(loss / top * height), height - 1)][4 * epoch + 1] = mark
    print("\nloss by epoch: o training, x test")
    for row, cells in enumerate(grid):
        print("%6.2f |%s" % (top * (height - row) / height, "".join(cells).rstrip()))
    print("       +" + "-" * (4 * len(result["loss"])))


def picture(results, path):
    """The learning curves as a PNG; False without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    # The second one's lines are thin, upon the first one's: where they coincide both are seen.
    for result, line in zip(results, ({"linewidth": 6, "alpha": 0.35}, {"linewidth": 1.2, "linestyle": "--"})):
        epochs = range(1, len(result["loss"]) + 1)
        line = {"linewidth": 2} if len(results) == 1 else line
        axes.plot(epochs, result["loss"], color="C0", label=result["label"] + ", training", **line)
        axes.plot(epochs, result["val_loss"], color="C1", label=result["label"] + ", test", **line)
    axes.set(xlabel="epoch", ylabel="cross-entropy", ylim=(0, None))
    axes.xaxis.get_major_locator().set_params(integer=True)
    title = "8x8 digits, int8 from scratch: digest %s" % results[0]["digest"]
    if (
        len(results) > 1
        and len({str((result["loss"], result["val_loss"], result["digest"])) for result in results}) == 1
    ):
        title += "\n%s: the same bits, so their lines coincide" % " and ".join([result["label"] for result in results])
    axes.set_title(title, fontsize=11)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("micropython", nargs="?", help="a MicroPython with odt inside")
    parser.add_argument("--picture", help="write the learning curves to this PNG")
    arguments = parser.parse_args()
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    results = [run("CPython", [sys.executable, "train.py"], env)]
    if arguments.micropython:
        command = [str(Path(arguments.micropython).resolve()), "-X", "heapsize=2M", "train.py"]
        results.append(run("MicroPython", command, dict(os.environ, MICROPYPATH=".:.frozen")))
    sketch(results[0])
    print("\n%-12s %-10s %14s %10s %12s" % ("", "executor", "test accuracy", "digest", "odt's RAM"))
    for r in results:
        row = (r["label"], r["executor"], r["accuracy"] + " %", r["digest"], r["ram"] + " bytes")
        print("%-12s %-10s %14s %10s %12s" % row)
    if arguments.picture:
        if picture(results, arguments.picture):
            print("\nlearning curves: %s" % arguments.picture)
        else:
            print("\nno picture: matplotlib is not installed")
    if len(results) == 1:
        print(
            "\nMicroPython was not built here (see the message above): on Debian run this as root,"
            "\nelsewhere give a checkout with MPY_DIR=/path/to/micropython and a C compiler."
        )
    elif results[0]["digest"] != results[1]["digest"]:
        sys.exit("the digests differ")
    else:
        print("\nThe same bits on both.")


if __name__ == "__main__":
    main()
