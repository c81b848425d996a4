"""An office, occupied or not: what bench/examples/stories.py measures of examples/room, and its file.

UCI's Occupancy Detection (build/Occupancy-detection-data): each minute temperature, humidity, light and CO2, and
whether somebody is there, in the order of time: datatest (2 to 4 February 2015), datatraining (4 to 10), datatest2 (11
to 18). Every model predicts a minute before it learns it (prequential). Learned from every minute: of each minute the
label, one minute later. Learned from the answers: only where labels.uncertainty (margin) is above 0.5, not twice in
half an hour, but once in six. The last of one each 200: the label of one minute in 200, which are as many, repeated.
Frozen: it learned each minute of 4 to 10 February. No model knows anything before. Without hidden features (linear)
there is no seed; else ten seeds, mean +- standard error. All in %, of the minutes.
"""

import csv
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

ROOM = ROOT / "examples" / "room"
sys.path.insert(0, str(ROOM))

import counting  # noqa: E402
import numpy as np  # noqa: E402
import office  # noqa: E402
import story_parts  # noqa: E402

from odt.online import OSELM  # noqa: E402

SOURCE = ROOT / "build" / "Occupancy-detection-data"
SEEDS = 10


def files():
    """Six bytes a minute: 1/40 degree above 19 C, 1/10 % above 16 %, lux and from bit 15 the label, ppm."""
    rows = []
    for name, count in zip(("datatest", "datatraining", "datatest2"), office.MINUTES):
        with open(SOURCE / (name + ".txt")) as file:
            found = [
                [float(value) for value in row[2:6]] + [int(row[7])]
                for row in csv.reader(file)
                if row[1:2] != ["Temperature"]
            ]
        assert len(found) == count, (name, len(found))
        rows += found
    data = bytearray()
    for celsius, humidity, lux, ppm, label in rows:
        small = round(40 * (celsius - 19)), round(10 * (humidity - 16))
        assert min(small) >= 0 and max(small) < 256 and lux < 32768
        data += bytes(small) + (round(lux) | label << 15).to_bytes(2, "little") + round(ppm).to_bytes(2, "little")
    (ROOM / "room.bin").write_bytes(data)


def part(number, dark):
    """Minutes of a file, without light where it is dark."""
    for x, label in office.minutes(number, office.MINUTES[number]):
        if dark:
            x[2] = 0
        yield x, label


def lived(hidden, seed, dark):
    """(shares of NAMES in %, questions) of each file."""
    frozen, every, asks = [OSELM(4, classes=2, hidden=hidden, seed=seed) for _ in range(3)]
    for x, label in part(1, dark):
        frozen.learn_one(x, label)
    house, found = office.Office(every, asks, frozen), []
    for number, count in enumerate(office.MINUTES):
        right, questions = house.live(part(number, dark))
        found.append([100 * value / count for value in right] + [questions])
    return found


COST = """
import gc
from array import array
from odt.continual import labels
from odt.online import OSELM
model = OSELM(4, classes=2, hidden=None)
x = array("f", [0.5, -0.25, 1.5, 0.125])
for i in range(40):
    x[i % 4] = -x[i % 4]
    model.learn_one(x, i & 1)
labels.uncertainty(model, x)
gc.collect()
print("heap free", gc.mem_free())
begin()
end()
begin()
model.predict_one(x)
end()
begin()
labels.uncertainty(model, x)
end()
begin()
model.learn_one(x, 1)
end()
"""


def costs(names):
    """What a board's parts of the example take; the state's bytes."""
    print("%-10s%14s" % ("", "") + "%14s" * 4 % ("predict_one", "uncertainty", "learn_one", "heap free"))
    for name in names:
        found = story_parts.counted(name, COST, [])
        print("%-10s%14s" % (name, counting.UNITS[name]) + "%14d" * 4 % tuple(found), flush=True)
    print("state of OSELM: %d bytes\n" % len(OSELM(4, classes=2, hidden=None).state))


def evenly(number):
    """Shares in % that the last of one label each EVEN is right, from each first minute on."""
    y = np.array([label for _, label in part(number, False)])
    shares = []
    for first in range(office.EVEN):
        at = (np.arange(-1, len(y) - 1) - first) // office.EVEN * office.EVEN + first  # of the last label
        shares.append(100 * (np.where(at < 0, 0, y[np.maximum(at, 0)]) == y).mean())
    return shares


def measured():
    os.chdir(ROOM)
    rows = {}
    print("the last of one each %d minutes, from any first one on: mean, least and most" % office.EVEN)
    for number in range(3):
        shares = evenly(number)
        print("  part %d%12.1f%8.1f%8.1f" % (number + 1, np.mean(shares), min(shares), max(shares)))
    print()
    for dark in (False, True):
        for hidden in (None, 16, 32):
            seeds = range(SEEDS) if hidden else (0,)
            found = np.array([lived(hidden, seed, dark) for seed in seeds])  # seed, file, name
            rows[dark, hidden] = found
            title = "%s, %s" % (
                "three sensors, no light" if dark else "four sensors",
                "%d hidden" % hidden if hidden else "linear",
            )
            print("%-34s%16s%16s%16s" % (title, "2-4 February", "4-10", "11-18"))
            for k, name in enumerate((*office.NAMES, "questions")):
                cells = [story_parts.cell(column) if hidden else "%5.1f" % column[0] for column in found[:, :, k].T]
                print("  %-32s%16s%16s%16s" % (name, *cells), flush=True)
            print()
    return rows


def picture(rows):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "odt"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3))
    found = rows[False, None][0]
    held = [np.mean(evenly(number)) for number in range(3)]
    shown = (
        ("frozen, learned from 8,143 minutes of 4-10", found[:, 4], "tab:orange"),
        ("learned from %d answers" % sum(found[:, 5]), found[:, 2], "tab:blue"),
        ("the last of as many answers", held, "0.75"),
    )
    for k, (name, shares, colour) in enumerate(shown):
        axes.bar(np.arange(3) + 0.27 * (k - 1), shares, 0.25, label=name, color=colour)
    axes.set_xticks(range(3), ["2-4 February", "4-10", "11-18"])
    axes.set_ylim(50, 100)
    axes.set_ylabel("% of the minutes")
    axes.legend(loc="lower center", fontsize=6, ncol=3)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "pictures" / "room.svg", metadata={"Date": None})
