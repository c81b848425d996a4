"""What odt.continual.replay remembers: tasks that are learned one after the other, by bytes of replay.

    python bench/accuracy/replay.py              without arguments it writes bench/results/replay.txt
    python bench/accuracy/replay.py --seeds 2 --part classes
    python bench/accuracy/replay.py --series     MNIST-1D, and what it costs on a board: bench/results/replay_series.txt
    python bench/accuracy/replay.py --speakers   spoken digits, in build/fsdd as bench/examples/stories.py says:
                                        bench/results/replay_speakers.txt

Digits by examples/digits' network: the file's first 1,000 images train, the 797 others, by other writers, are the test.
Each task is trained for EPOCHS epochs in batches of 16 with Adam; the rate is that of RATES with which three further
seeds are best, for each row. Seeds 0.. choose the order of the classes, the first weights and what is kept. One network
of ten outputs, which is not told the task.

classes: five tasks of two digits. turns: four tasks of all digits, turned by 0, 90, 180 and 270 degrees. accuracy: mean
over all tasks after the last; forgetting: how far the tasks but the last have fallen below their best, on average
(Chaudhry et al., 2018). In % and points, mean +- standard error. bytes: of Replay's state. with logits:
odt.continual.dark. fine-tuning: the tasks without replay. joint: all tasks at once, for as many steps as replay takes.

latents: four digits are learned at first, with all layers; the layers up to the named one are then the front and do not
change, the others go on with three tasks of two digits and as many samples kept. float: the front's outputs as float32;
8 bits: odt.continual.latents; both in a float32 network, of the same front. int8: network, front and latents. less: 8
bits less float of the same seed. all layers: the same tasks with replay of images in the whole network, float32.

series: MNIST-1D by bench/accuracy/accuracy.py's network, two classes at a time; all 4,000 series train, 2,000 others
are the test. cost, of the digits' network in int8, 16 samples a batch, 8 classes kept and 8 in x: making a batch of 8
new and 8 kept samples; a training step on it; add() of a sample of a new class where all places are taken.

speakers: spoken digits by examples/keyword's network and features, six speakers one after the other in the seed's
order; the first ten utterances of each digit and speaker are the test, the forty others train.
"""

import argparse
import functools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
import counting  # noqa: E402
import numpy as np  # noqa: E402
import written  # noqa: E402
from accuracy import digits_cnn, mnist1d, mnist1d_cnn  # noqa: E402

import odt  # noqa: E402
from odt.continual import (
    DarkExperience,  # noqa: E402
    Latents,  # noqa: E402
    Replay,  # noqa: E402
)

BATCH, EPOCHS = 16, 10
RATES = 0.001, 0.002, 0.004
BUDGETS = 1024, 4096, 16384, 32768
SERIES_BUDGETS = 4096, 16384, 65536
SPEAKERS_BUDGETS = 16384, 65536
KEPT = 50, 100, 300
LAYERS = {"first pooling": 3, "second pooling": 5}  # layers of digits_cnn in the front, the Input with them
DTYPES = "int8", "float32"
HELD_OUT = 100, 101, 102  # the seeds that choose rates
ALPHA = 0.1  # of odt.continual.dark

DATA = (ROOT / "examples/digits/digits.bin").read_bytes()
X = np.frombuffer(DATA[: 1797 * 64], "uint8").reshape(-1, 8, 8, 1)
Y = np.frombuffer(DATA[1797 * 64 :], "uint8")


DIGITS = (X[:1000], Y[:1000]), (X[1000:], Y[1000:])


def of_classes(chosen, data=DIGITS):
    """((x, y) to train, (x, y) to test)."""
    return [(x[np.isin(y, chosen)], y[np.isin(y, chosen)]) for x, y in data]


def classes(seed, data=DIGITS):
    order = np.random.default_rng(seed).permutation(10)
    return [of_classes(order[first : first + 2], data) for first in range(0, 10, 2)]


@functools.cache
def all_series():
    train, (x, y) = mnist1d()
    return train, (x[:2000], y[:2000])


def series(seed):
    return classes(seed, all_series())


@functools.cache
def recordings():
    """{speaker: ((x, y) to train, (x, y) to test)}."""
    import story_keyword

    data = story_keyword.Recordings()
    number = np.zeros(len(data.y), int)  # of an utterance among those of its digit and speaker
    for who in np.unique(data.who):
        for digit in range(10):
            rows = np.flatnonzero((data.who == who) & (data.y == digit))
            number[rows] = np.arange(len(rows))
    x, y = data.x, data.y.astype("uint8")
    return {
        who: [(x[rows], y[rows]) for rows in ((data.who == who) & (number >= 10), (data.who == who) & (number < 10))]
        for who in np.unique(data.who)
    }


def speakers(seed):
    found = recordings()
    return [found[who] for who in np.random.default_rng(seed).permutation(sorted(found))]


def turns(seed):
    whole = of_classes(range(10))
    return [[(np.rot90(x, turn, (1, 2)).copy(), y) for x, y in whole] for turn in range(4)]


def made(layers, dtype, rate, seed, logits=False):
    model = odt.Sequential(layers)
    loss = DarkExperience(ALPHA) if logits else "sparse_categorical_crossentropy"
    model.compile(odt.Adam(rate), loss, dtype=dtype, batch_size=BATCH, seed=seed)
    return model


class Score:
    """Accuracy on each task after each task."""

    def __init__(self, tests):
        self.tests, self.rows = tests, []

    def add(self, model):
        self.rows.append([100 * model.evaluate(*test)[1] for test in self.tests])

    @property
    def result(self):
        """(accuracy, forgetting)."""
        rows = np.array(self.rows)
        fallen = rows[:-1, :-1].max(0) - rows[-1, :-1] if len(rows) > 1 else np.zeros(1)
        return rows[-1].mean(), fallen.mean()


def in_turn(tasks, layers, dtype, rate, seed, budget, logits=False):
    """Tasks one after the other, with replay where there is a budget: (accuracy, forgetting), steps."""
    model = made(layers(), dtype, rate, seed, logits)
    replay = Replay(model, budget, seed=seed) if budget else None
    score = Score([test for _, test in tasks])
    for train, _ in tasks:
        if replay is None:
            model.fit(*train, epochs=EPOCHS, verbose=0)
        else:
            model.fit(replay.mixed(*train), epochs=EPOCHS, verbose=0)
            replay.add(*train)
        score.add(model)
    return score.result, model.session.steps()


def joint(tasks, layers, dtype, rate, seed, steps):
    model = made(layers(), dtype, rate, seed)
    x, y = [np.concatenate([train[i] for train, _ in tasks]) for i in (0, 1)]
    model.fit(x, y, epochs=round(steps / -(-len(y) // BATCH)), verbose=0)
    score = Score([test for _, test in tasks])
    score.add(model)
    return score.result


def cell(values):
    return "%6.1f +- %3.1f" % (np.mean(values), np.std(values) / max(len(values) - 1, 1) ** 0.5)


def row(run, seeds):
    """(results of seeds, rate): of the rate that is best with the seeds held out."""
    rate = max(RATES, key=lambda rate: sum(run(rate, seed)[0] for seed in HELD_OUT))
    return np.array([run(rate, seed) for seed in range(seeds)]), rate


def protocol(make, seeds, layers=digits_cnn, budgets=BUDGETS):
    found = {seed: make(seed) for seed in [*range(seeds), *HELD_OUT]}
    steps = in_turn(found[0], layers, "int8", 0.002, 0, budgets[0])[1]
    rows = [("fine-tuning", lambda d: lambda r, s: in_turn(found[s], layers, d, r, s, 0)[0])]
    for budget in budgets:
        for logits in (False, True):
            replay = Replay(made(layers(), "int8", 0.1, 0, logits), budget)
            kind, sizes = "with logits" if logits else "replay", (replay.capacity, len(replay.state))
            name = kind + ", %d samples, %d bytes" % sizes
            rows.append((name, lambda d, b=budget, z=logits: lambda r, s: in_turn(found[s], layers, d, r, s, b, z)[0]))
    rows.append(("joint", lambda d: lambda r, s: joint(found[s], layers, d, r, s, steps)))
    print("%s, %d seeds; %d steps in all with replay" % (make.__name__, seeds, steps))
    print("%-38s" % "" + "".join(["%-8s%15s%15s%8s  " % (d, "accuracy", "forgetting", "rate") for d in DTYPES]))
    for name, of in rows:
        cells = ""
        for dtype in DTYPES:
            results, rate = row(of(dtype), seeds)
            cells += "%-8s%15s%15s%8g  " % ("", cell(results[:, 0]), cell(results[:, 1]), rate)
        print(("%-38s" % name + cells).rstrip(), flush=True)
    print()


def four_first(seed, data=DIGITS):
    """A task of the first four classes of a seed's order, then three of two."""
    order = np.random.default_rng(seed).permutation(10)
    return [of_classes(order[first:last], data) for first, last in ((0, 4), (4, 6), (6, 8), (8, 10))]


class Base:
    """A network that has learned the first of a seed's tasks, and all of them."""

    made = {}

    def __init__(self, dtype, seed, tasks, layers):
        self.tasks, self.layers = tasks(seed), layers
        self.model = made(layers(), dtype, 0.004, seed)
        self.model.fit(*self.tasks[0][0], epochs=15, verbose=0)

    @classmethod
    def of(cls, dtype, seed, tasks=four_first, layers=digits_cnn):
        key = dtype, seed, tasks
        if key not in cls.made:
            cls.made[key] = cls(dtype, seed, tasks, layers)
        return cls.made[key]


def with_latents(base, dtype, layers, kept, rate, seed, bits, memory=None):
    """(accuracy, forgetting) of the layers after a front; ``bits`` 8 or 32, None for images and all layers.

    ``memory``: what makes another than a Replay of the head and of latents of 8 bits.
    """
    x, y = base.tasks[0][0]
    parts, weights = base.layers(), base.model.get_weights()
    if bits is None:
        seen, start, layers = lambda x: x, [], 0
    else:
        front = odt.Sequential(parts[:layers])
        front.compile(None, "mse", dtype=dtype, batch_size=1, seed=seed)
        own = len(front.get_weights())
        front.set_weights(weights[:own])
        front.calibrate(x)
        weights = weights[own:]
        seen = latents = Latents(front, x)
        start = [latents.input()]
        if bits == 32:
            start = [odt.Input(latents.shape)]
            seen = lambda x: np.array(front.predict(x), "float32").reshape(len(x), -1)  # noqa: E731
    head = made(start + parts[layers:], dtype, rate, seed)
    head.set_weights(weights)
    size = head.session.row * (4 if bits == 32 else 1)
    if memory:
        replay = memory(latents)
    else:
        replay = Replay(head, 32 + 40 + kept * (size + 1), latents if bits == 8 else None, seed)
        assert replay.capacity == kept
    trains = [(seen(train[0]), train[1]) for train, _ in base.tasks]
    score = Score([(seen(test[0]), test[1]) for _, test in base.tasks])
    if dtype == "int8":
        head.calibrate(trains[0][0][: 64 * size] if bits else trains[0][0][:64])
    score.add(head)
    replay.add(*trains[0])
    for train in trains[1:]:
        head.fit(replay.mixed(*train), epochs=EPOCHS, verbose=0)
        replay.add(*train)
        score.add(head)
    return score.result


def latents(seeds):
    print("latents, %d seeds" % seeds)
    head = "%-16s%6s%15s%15s%15s%15s%15s" % ("front up to", "kept", "float", "8 bits", "less", "int8", "all layers")
    print(head + "%12s%12s" % ("bytes, 8", "float"))
    whole = {}
    for name, layers in LAYERS.items():
        for kept in KEPT:
            found, rate = ({"all": whole[kept]} if kept in whole else {}), None
            for key, dtype, bits in (
                ("float", "float32", 32), ("8 bits", "float32", 8), ("int8", "int8", 8), ("all", "float32", None),
            ):  # fmt: skip
                if key in found:
                    continue
                run = lambda r, s: with_latents(Base.of(dtype, s), dtype, layers, kept, r, s, bits)  # noqa: B023, E731
                if key == "8 bits":  # the rate of float, so that nothing but the bits differs
                    found[key] = np.array([run(rate, seed) for seed in range(seeds)])[:, 0]
                    continue
                results, rate = row(run, seeds)
                found[key] = results[:, 0]
            whole[kept] = found["all"]
            width = {3: 128, 5: 64}[layers]
            cells = [found["float"], found["8 bits"], found["8 bits"] - found["float"], found["int8"], found["all"]]
            line = "%-16s%6d" % (name, kept) + "".join(["%15s" % cell(values) for values in cells])
            print(line + "%12d%12d" % (72 + kept * (width + 1), 72 + kept * (4 * width + 1)), flush=True)
    print()


ON_BOARD = """
import odt
from odt.continual import DarkExperience
from odt.continual import Replay
model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(8, 3, padding="same", activation="relu"), odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
])
model.compile(odt.Adam(0.004), {loss}, batch_size=16, seed=1)
x, y = bytearray(64 * 64), bytearray(64)
for i in range(64 * 64):
    x[i] = i * 7 % 17
for i in range(64):
    y[i] = i % 8
few, labels, one = memoryview(x)[:1024], memoryview(y)[:16], memoryview(x)[:64]
model.train_step(few, labels)
begin()
end()
replay = Replay(model, budget=8192)
for _ in range(3):
    replay.add(x, y)
data = replay.mixed(x, y)
data.order = 12345
batches = iter(data)
model.train_step(*next(batches))
begin()
batch = next(batches)
end()
begin()
model.train_step(*batch)
end()
begin()
replay.add(one, 9)
end()
"""  # noqa: E501
LOSSES = {"replay": '"sparse_categorical_crossentropy"', "with logits": "DarkExperience(0.1)"}


def costs(names=("rp2040", "qemu_m4")):
    print("%-14s%-10s%14s%14s%14s%14s" % ("cost", "", "", "batch", "step", "add"))
    for title, loss in LOSSES.items():
        for name in names:
            machine = counting.open(name)
            found = machine.run(ON_BOARD.replace("{loss}", loss))
            machine.close()
            cells = "".join(["%14d" % count for count in found])
            print("%-14s%-10s%14s%s" % (title, name, counting.UNITS[name], cells), flush=True)


PARTS = {
    "classes": lambda seeds: protocol(classes, seeds),
    "turns": lambda seeds: protocol(turns, seeds),
    "latents": latents,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=None)
    parser.add_argument("--series", action="store_true")
    parser.add_argument("--speakers", action="store_true")
    parser.add_argument("--part", choices=sorted(PARTS), action="append")
    arguments = parser.parse_args()
    arguments.seeds = arguments.seeds or (5 if arguments.series or arguments.speakers else 10)
    print("%d epochs of each task, rates %s\n" % (EPOCHS, ", ".join([str(rate) for rate in RATES])))
    if arguments.series:
        protocol(series, arguments.seeds, mnist1d_cnn, SERIES_BUDGETS)
        return costs()
    if arguments.speakers:
        import story_keyword

        return protocol(speakers, arguments.seeds, story_keyword.layers, SPEAKERS_BUDGETS)
    for part in arguments.part or PARTS:
        PARTS[part](arguments.seeds)


if __name__ == "__main__":
    if sys.argv[1:] in (["--series"], ["--speakers"]):
        written.kept("replay_%s.txt" % sys.argv[1][2:], main)
    else:
        written.recorded("replay.txt", main)
