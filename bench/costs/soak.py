"""The heap of an emulated Pico while a model trains, predicts, is taught and saved in turn, for 500 epochs.

    python bench/costs/soak.py              writes bench/results/soak.txt and soak.png

With odt's firmware, and with stock firmware and odt in files, where the heap has no room for a Teacher. Each round:
50 epochs with validation, a step, evaluate, predict of a batch and of a sample, save, and learn and predict of a
Teacher (tests_device/scripts/soak.py). At the end a module is imported that was not yet.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import soaking  # noqa: E402
from counting import ROOT  # noqa: E402

ROUNDS, EPOCHS = 10, 50
FILE = ROOT / "bench/results/soak.txt"


def run(name):
    return soaking.soak(name, ROUNDS, EPOCHS, 7200)


def table(found):
    lines = ["epochs   " + "".join("%32s" % name for name in found)]
    lines.append("         " + "free, largest piece (part of free)".rjust(32) * len(found))
    for row in zip(*found.values()):
        cells = [
            "%14s %9s (%3d %%)" % (format(free, ","), format(piece, ","), 100 * piece / free) for _, free, piece in row
        ]
        lines.append("%6d   " % row[0][0] + "".join(cell.rjust(32) for cell in cells))
    return lines


def picture(found, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    _, axes = pyplot.subplots(1, len(found), figsize=(9, 3.2), sharey=True, layout="constrained")
    for axis, (name, rows) in zip(axes, found.items()):
        epochs, free, piece = zip(*rows)
        axis.plot(epochs, [size / 1000 for size in free], "o-", color="#56b4e9", label="free")
        axis.plot(epochs, [size / 1000 for size in piece], "o-", color="#d55e00", label="largest piece")
        axis.set(title=name, xlabel="epochs", ylim=(0, None))
    axes[0].set_ylabel("KB of heap")
    axes[0].legend(loc="lower left")
    pyplot.savefig(path, metadata={"Software": None})


def main():
    with ThreadPoolExecutor() as pool:
        found = dict(zip(soaking.MACHINES, pool.map(run, soaking.MACHINES)))
    out = counting.head("The heap of an emulated Pico over 500 epochs. Written by: python bench/costs/soak.py")
    out += ["bytes, after a collection; the module imported at the end: odt.online.drift", ""]
    out += table(found)
    print("\n".join(out))
    FILE.write_text("\n".join(out) + "\n")
    picture(found, FILE.with_suffix(".png"))


if __name__ == "__main__":
    main()
