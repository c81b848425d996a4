"""The search over networks against a network made by hand: examples/digits, ten minutes, two processes.

    python bench/accuracy/search.py                 writes bench/results/search.txt, search.png
    python bench/accuracy/search.py --minutes 2     prints

The search trains on the example's 1000 images, for as many epochs, and chooses by the 297 images that the example
leaves, of other writers. Its limits are the RAM and the cycles of the example's network. Which points beat that, in
accuracy on those images, RAM to train and to predict, the file's bytes and cycles, is what the search knows. What it
does not: accuracy on the example's 500 test images, of first weights and orders of five seeds; what the emulated RP2040
reserves and counts.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import cost as measuring
import counting
import numpy as np
import optuna
import written
from counting import ROOT

import odt
from odt.host.search import command as searching
from odt.host.search.family import Family
from odt.host.search.networks import NetworkSearch

SEEDS, SHOWN, RUN = 5, 5, 9.5  # minutes of the ten for trials
EPOCHS = 8
TOLD = """
print("reserved", len(session.arena) + len(session.state))
"""


def by_hand(seed=7):
    """The network of examples/digits/train.py."""
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(8, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Flatten(),
        odt.Dense(10),
    ])  # fmt: skip
    model.compile(odt.Adam(0.004), dtype="int8", batch_size=16, seed=seed)
    return model


def line(name, figures):
    return "  %-12s %8.2f %% %10d %10d %8d %11d" % (
        name, 100 * figures["accuracy"], *[figures[each] for each in ("ram", "predict_ram", "flash",
        "cycles")])  # fmt: skip


def on_board(model, batch):
    """(bytes of arena and state, cycles of a step) on the emulated RP2040:
    the model's file, and steps of this batch.
    """
    machine = counting.open("rp2040")
    try:
        model.export(str(machine.files / "net.odt"))
        x, y = batch[0], batch[1].astype("uint8")
        (machine.files / "data").write_bytes(x.tobytes() + y.tobytes())
        counts = machine.run(
            measuring.ON_BOARD + TOLD, {"x": x.nbytes, "formats": ["B", "B"], "places": ()}
        )  # fmt: skip
        return int(machine.said.rpartition("reserved")[2].split()[0]), min(counts)
    finally:
        machine.close()


def tested(make, train, test):
    """Mean accuracy on the test images, of seeds; ``make(seed)`` gives a trained model."""
    return statistics.mean([make(seed, train).evaluate(*test)[1] for seed in range(SEEDS)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=RUN)
    minutes = parser.parse_args().minutes
    data = (ROOT / "examples/digits/digits.bin").read_bytes()
    x = np.frombuffer(data[: 64 * 1797], "uint8").reshape(-1, 8, 8, 1)
    y = np.frombuffer(data[64 * 1797 :], "uint8").astype("int32")
    path = ROOT / "build" / "search.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez(path, x=x[:1000], y=y[:1000], x_test=x[1500:], y_test=y[1500:])
    train, choose, _ = searching.pairs(path)
    test = x[1000:1500], y[1000:1500]
    hand = by_hand()
    hand.fit(*train, epochs=EPOCHS, verbose=0)
    figures = dict(NetworkSearch(Family(train), train, choose).figures(hand), accuracy=hand.evaluate(*choose)[1])
    limits = {name: figures[name] for name in ("ram", "cycles")}
    began = time.monotonic()
    search = NetworkSearch(Family(train, 1 / 16), train, choose, epochs=EPOCHS, limits=limits)
    search.run(minutes=minutes, workers=2)
    point = search.best()
    search.model(point)
    took = (time.monotonic() - began) / 60
    front = search.front()
    better = sorted(
        [each for each in search.points() if each.beats(figures)], key=lambda each: -each.figures["accuracy"]
    )
    print("the search and its best point trained again: %.1f minutes, two processes" % took)
    print(
        "networks tried: %d; trained: %d; the front: %d" % (len(search.study.trials), len(search.points()), len(front))
    )
    print()
    print("               accuracy      RAM  to predict     file      cycles")
    print(line("by hand", figures) + "  examples/digits")
    kept = [each for each in better if any(each.number == other.number for other in front)]
    print(
        "points that are at least as good in all five and better in one: %d, of them on the front %d"
        % (len(better), len(kept))
    )
    for each in kept[:SHOWN]:
        print(line("trial %d" % each.number, each.figures) + "  " + choices(each))
    print("the best that the search takes by itself")
    print(line("trial %d" % point.number, point.figures) + "  " + choices(point))
    print()
    print("accuracy on the 500 test images that nothing was chosen by, mean of %d seeds" % SEEDS)

    def made(choice):
        def make(seed, given):
            family = Family(given, 1 / 16, seed=seed)
            trial = optuna.trial.FixedTrial(choice)
            model = family(trial)
            family.fit(model, trial, given, EPOCHS)
            return model

        return make

    def hand_made(seed, given):
        model = by_hand(seed=seed)
        model.fit(*given, epochs=EPOCHS, verbose=0)
        return model

    print("  %-12s %8.2f %%" % ("by hand", 100 * tested(hand_made, train, test)))
    shown = {each.number: each for each in [*kept[:SHOWN], point]}
    for number, each in shown.items():
        print("  %-12s %8.2f %%" % ("trial %d" % number, 100 * tested(made(each.params), train, test)))
    print()
    print("on the emulated RP2040: bytes of arena and state, said and reserved; cycles of a step, foretold and counted")
    errors = []
    spread = [front[index] for index in sorted({round(i * (len(front) - 1) / 9) for i in range(10)})]
    for each in {each.number: each for each in [*shown.values(), *spread]}.values():
        model = search.model(each)
        count = model.batch_size
        try:
            reserved, cycles = on_board(model, (train[0][:count], train[1][:count]))
        except counting.machines.MachineError as error:
            if "MemoryError" not in str(error):
                raise
            print("  trial %-6d %9d: more than the board has" % (each.number, each.figures["ram"]))
            continue
        error = each.figures["cycles"] / cycles - 1
        errors.append(abs(error))
        print("  trial %-6d %9d %9d %s %12d %12d %+6.1f %%" % (
            each.number, each.figures["ram"], reserved, "equal" if reserved == each.figures["ram"] else "OTHER",
            each.figures["cycles"], cycles, 100 * error))  # fmt: skip
    print("  error of cycles: median %.1f %%, worst %.1f %%; within 10 %%: %d of %d" % (
        100 * statistics.median(errors), 100 * max(errors), sum([error <= 0.1 for error in errors]),
        len(errors)))  # fmt: skip
    print()
    print("the front, accuracy first; at most 40")
    for row in list(search.table())[:41]:
        print("  " + row)
    folder = ROOT / "bench" / "results" if minutes == RUN else ROOT / "build"
    search.picture(folder / "search.png", [("by hand", figures)])


def choices(point):
    return " ".join(["%s=%s" % pair for pair in point.params.items()])


if __name__ == "__main__":
    written.recorded("search.txt", main)
