"""Exercises by an accelerometer on the wrist: what bench/examples/stories.py measures of examples/gesture, and its
files.

emlearn-micropython's har_record_exercises_1 (build/emlearn-micropython): recordings of 10 s of three exercises and of
what is none ("other"), from three sessions, A to C. A recording's label is the one that its authors gave it later;
where they gave none, it is the one chosen on the recorder, and the first and the last recording of a run of an
exercise, in which it begins and ends, are left out, as are "mixed" ones and those that are cut off. Windows of 2.56 s,
each 0.64 s.

Each session is held out in turn, and with each another exercise, NEW, of which two recordings, one of each other
session, teach: nine splits. What else is in the two other sessions trains a network in float32 (PyTorch, 30 epochs,
Adam 0.004 with cosine decay, classes weighted equally), whose weights odt takes in int8 and float32;
odt.continual.teach keeps 48 windows of each known class. PyTorch: float32, all layers, from the same weights, with all
data: all that the network was trained on, and the taught windows repeated to a third of these; 10 epochs, of the rates
0.001 and 0.003 the one with the best sum over both (which favours it). "motion": odt.sensors.Motion, standardised, and
dense layers of 48 and 32; "raw": four convolutions over the samples. Accuracy in %: the mean of the classes'; mean +-
standard error over the nine splits. The stream: the held out session's recordings, exercises and others by turns; see
examples/gesture/motions.py.
"""

import csv
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

GESTURE = ROOT / "examples" / "gesture"
sys.path.insert(0, str(GESTURE))

import counting  # noqa: E402
import motions  # noqa: E402
import numpy as np  # noqa: E402
import story_parts  # noqa: E402
import torch  # noqa: E402
from motions import NAMES  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402
from odt.continual import teach  # noqa: E402
from odt.sensors import (  # noqa: E402
    Events,
    Motion,  # noqa: E402
    Stream,
    Window,
)

SOURCE = ROOT / "build" / "emlearn-micropython" / "examples" / "har_trees" / "data" / "raw" / "har_record_exercises_1"
MOTION = Motion(rate=motions.RATE, window=motions.LENGTH, axes=3, bands=(1, 2, 3, 5, 8, 13, 20))
KEPT, WIDTH = 48, 32  # windows of a class that a board keeps, numbers of the front's output
SETTINGS = (1, 0.7), (3, 0.7), (5, 0.7), (5, 0.9)  # of Events: mean and threshold, the example's last
SPLITS = [(session, new) for session in "ABC" for new in NAMES[1:]]


def session(name):
    """Of three, by the recorder's clock, which had not been set in the first."""
    return "A" if name < "2001" else "B" if name < "2024-12-01T1615" else "C"


def read():
    """(session, label, samples int16 of (1000, 3)) of each recording, as this module's head says."""
    labels = {}
    for path in (SOURCE / "labels").glob("*.csv"):
        for row in csv.DictReader(path.open()):
            labels[re.search(r"-(\d{4}-.*\.npy)\.csv$", row["timeseriesUrl"]).group(1)] = row["trend_forecast"]
    runs = {}
    for path in sorted((SOURCE / "data").glob("*.npy")):
        runs.setdefault((session(path.name), path.stem.partition("_")[2]), []).append(path)
    found = []
    for (part, chosen), paths in sorted(runs.items()):
        for path in paths:
            whole = chosen == "other" or path not in (paths[0], paths[-1])
            label = labels.get(path.name, chosen if whole else "mixed")
            data = path.read_bytes()[80:]
            if label != "mixed" and len(data) == motions.RECORDING:
                found.append((part, NAMES.index(label), np.frombuffer(data, "<i2").reshape(-1, 3)))
    if len(found) != 109:
        raise SystemExit(
            "%s: %d recordings of use, expected 109: see bench/examples/stories.py --help" % (SOURCE, len(found))
        )
    return found


class Data:
    """``raw`` windows and ``motion``, their features, of ``y`` and ``clip``; of each clip its session, label and
    samples.
    """

    def __init__(self):
        self.clips = read()
        raw, y, clip = [], [], []
        for number, (_, label, samples) in enumerate(self.clips):
            for x in motions.windows(np.ascontiguousarray(samples).tobytes()):
                raw.append(np.array(x, "int16"))
                y.append(label)
                clip.append(number)
        self.raw, self.y, self.clip = np.array(raw), np.array(y), np.array(clip)
        self.motion = np.array([MOTION(x) for x in raw], "int16")


def network(kind, dtype, seed, x):
    """Compiled, and its Normalization adapted to ``x``."""
    if kind == "motion":
        norm = odt.Normalization()
        norm.adapt(x)
        layers = [odt.Input((MOTION.outputs,), dtype="int16", scale=1 / 1024), norm, odt.Dense(48, activation="relu")]
        layers += [odt.Dense(WIDTH, activation="relu")]
    else:
        layers = [odt.Input((motions.LENGTH, 3), dtype="int16", scale=1 / 16384)]
        for filters, size, strides in ((12, 7, 4), (16, 5, 2), (24, 5, 2), (WIDTH, 3, 2)):
            layers.append(odt.Conv1D(filters, size, strides=strides, padding="same", activation="relu"))
        layers.append(odt.GlobalAvgPool())
    model = odt.Sequential(layers + [odt.Dense(len(NAMES))])
    model.compile(odt.Adam(0.003), dtype=dtype, batch_size=16, seed=seed)
    return model


def train(model, x, y, epochs, rate, seed):
    """The twin of ``model`` after training from its weights, all classes with the same weight."""
    twin, rng = Twin(model, torch.float32), np.random.default_rng(seed)
    steer = torch.optim.Adam([p for p in twin.flat_parameters() if p.requires_grad], lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steer, epochs * -(-len(x) // 16))
    counts = np.bincount(y, minlength=len(NAMES))
    weight = torch.tensor(np.where(counts, len(y) / np.maximum(counts, 1), 0), dtype=torch.float32)
    x, y = torch.tensor(x * scale(model), dtype=torch.float32), torch.tensor(y)
    for _ in range(epochs):
        for rows in torch.tensor(rng.permutation(len(x))).split(16):
            steer.zero_grad()
            torch.nn.functional.cross_entropy(twin.forward(x[rows]), y[rows], weight=weight).backward()
            steer.step()
            schedule.step()
    return twin


def scale(model):
    return 1 / 1024 if len(model.nodes[0].shape) == 1 else 1 / 16384


class Held:
    """A session held out, and an exercise that the network never saw."""

    def __init__(self, data, kind, part, new):
        self.data, self.kind, self.new = data, kind, NAMES.index(new)
        self.x = getattr(data, kind)
        self.seed = seed = SPLITS.index((part, new))
        rng = np.random.default_rng(seed)
        parts = np.array([clip[0] for clip in data.clips])
        labels = np.array([clip[1] for clip in data.clips])
        mine = parts[data.clip] == part
        self.known, self.test = np.flatnonzero(~mine & (data.y != self.new)), np.flatnonzero(mine)
        self.taught = [  # a recording of each other session
            rng.choice(np.flatnonzero((parts == other) & (labels == self.new))) for other in "ABC" if other != part
        ]
        self.shots = np.flatnonzero(np.isin(data.clip, self.taught))
        classes = [self.known[data.y[self.known] == label] for label in range(len(NAMES)) if label != self.new]
        self.kept = np.stack([rng.permutation(rows)[:KEPT] for rows in classes], 1).reshape(-1)
        self.day = self.by_turns(rng.permutation(np.flatnonzero(parts == part)), labels)
        self.models = {dtype: network(kind, dtype, seed, self.x[self.known]) for dtype in ("float32", "int8")}
        twin = train(self.models["float32"], self.x[self.known], data.y[self.known], 30, 0.004, seed)
        self.ranges = self.x[rng.permutation(self.known)[:300]]
        for model in self.models.values():
            model.set_weights([p.detach().numpy().reshape(-1) for p in twin.flat_parameters()])
        self.models["int8"].calibrate(self.ranges)

    def by_turns(self, clips, labels):
        """An order of recordings: an exercise, then none, while there are any; no exercise twice in a row."""
        rest, day = list(clips), []
        while rest:
            last = labels[day[-1]] if day else -1
            others = [clip for clip in rest if labels[clip] == 0]
            moves = sorted(
                [clip for clip in rest if labels[clip] and labels[clip] != last],
                key=lambda clip: -sum(labels[rest] == labels[clip]),  # of which most are left
            )
            choice = (moves or others) if last <= 0 else (others or moves)
            if not choice:
                break  # of what is left each would follow its like
            day.append(choice[0])
            rest.remove(choice[0])
        return day

    def score(self, found):
        """Of the classes known, of the new one, of all: means of the classes'."""
        y = self.data.y[self.test]
        right = [100 * (np.asarray(found)[y == label] == label).mean() for label in range(len(NAMES))]
        return np.mean(np.delete(right, self.new)), right[self.new], np.mean(right)

    def before(self, dtype):
        found = np.array(self.models[dtype].predict(self.x[self.test])).reshape(-1, len(NAMES))
        return self.score(found.argmax(1))

    def teacher(self, dtype, taught=True):
        front = teach.front(self.models[dtype], x=self.ranges)
        teacher = teach.Teacher(front, classes=len(NAMES), budget=len(NAMES) * KEPT * WIDTH)
        for i in np.concatenate([self.kept, self.shots if taught else self.shots[:0]]):
            teacher.learn(self.x[i], NAMES[self.data.y[i]])
        return teacher

    def taught_score(self, dtype):
        teacher = self.teacher(dtype)
        return self.score([NAMES.index(teacher.predict(self.x[i])[0]) for i in self.test])

    def torch(self):
        index = np.concatenate([self.known, np.resize(self.shots, len(self.known) // 3)])
        best = None
        for rate in (0.001, 0.003):
            model = self.models["float32"]
            twin = train(model, self.x[index], self.data.y[index], 10, rate, self.seed)
            with torch.no_grad():
                out = twin.forward(self.x[self.test] * scale(model))
            found = self.score(out.numpy().argmax(1))
            if best is None or sum(found[:2]) > sum(best[:2]):
                best = found
        return best

    def recordings(self, clips):
        for clip in clips:
            yield NAMES[self.data.clips[clip][1]], self.data.clips[clip][2].tobytes()

    def stream(self, taught=True, settings=SETTINGS[-1:]):
        """(hits, misses, false alarms, seconds) of each (mean, threshold)."""
        teacher, said = self.teacher("int8", taught), {}

        def predict(row):
            key = bytes(row)
            if key not in said:
                said[key] = teacher.predict(row)
            return said[key]

        found = []
        for mean, threshold in settings:
            events = Events(teacher.labels, mean=mean, threshold=threshold, hold_off=3, unknown="other")
            found.append(motions.watch(predict, events, MOTION, self.recordings(self.day)))
        return found

    def write(self):
        teacher = self.teacher("int8", False)
        teacher.front.export(str(GESTURE / "front.bin"), features=MOTION)
        teacher.save(str(GESTURE / "known.bin"))
        for name, clips in (("teach.bin", self.taught), ("day.bin", self.day)):
            data = b"".join([bytes([NAMES.index(label)]) + samples for label, samples in self.recordings(clips)])
            (GESTURE / name).write_bytes(data)


COST = """
import gc
import odt
from odt.continual import teach
from odt.sensors import Motion
from odt.sensors import Window
front = odt.load_model("front.bin")
motion = front.features
teacher = teach.Teacher(front, classes=4, budget=4 * 48 * 32)
teacher.load("known.bin")
window = Window(256, 3, 64)
piece = bytes([i * 7919 % 251 for i in range(384)])
for _ in range(8):
    window.push(piece)
    x = window.next()
row = motion(x)
for _ in range(12):
    teacher.learn(row, "squat")
gc.collect()
print("heap free", gc.mem_free())
begin()
end()
begin()
window.push(piece)
window.next()
end()
begin()
motion(x, row)
end()
begin()
front.predict(row)
end()
begin()
teacher.learn(row, "squat")
end()
begin()
teacher.fit()
end()
begin()
teacher.predict(row)
end()
"""


def costs(names):
    """What a board's parts of the example take."""
    print(
        "%-10s%14s" % ("", "") + "%12s" * 7 % ("a hop", "Motion", "the front", "learn", "fit", "predict", "heap free")
    )
    for name in names:
        found = story_parts.counted(name, COST, [GESTURE / "front.bin", GESTURE / "known.bin"])
        print("%-10s%14s" % (name, counting.UNITS[name]) + "%12d" * 7 % tuple(found), flush=True)
    print()


def measured():
    data = Data()
    rows, streams = {}, {}
    for kind in ("motion", "raw"):
        print("%-10s%-22s%16s%24s%24s%24s" % (
            kind, "held out, new", "before", "odt.continual.teach int8", "odt.continual.teach float32",
            "PyTorch, all layers"))  # fmt: skip
        for split in SPLITS:
            held = Held(data, kind, *split)
            found = [held.before("int8"), held.taught_score("int8"), held.taught_score("float32"), held.torch()]
            cells = "".join(["%10.1f%6.1f%8.1f" % values for values in found[1:]])
            print("          %-22s%16.1f%s" % (", ".join(split), found[0][0], cells), flush=True)
            rows[(kind, *split)] = found
            if kind == "motion":
                streams[split] = held.stream(False) + held.stream(True, SETTINGS)
        columns = np.array([found[:4] for key, found in rows.items() if key[0] == kind]).transpose(1, 2, 0)
        print("\nover the nine           known ones         the new             all")
        names = "before, int8", "odt.continual.teach, int8", "odt.continual.teach, float32", "PyTorch, all layers"
        for name, column in zip(names, columns):
            print("  %-20s%s" % (name, "".join(["%16s" % story_parts.cell(values) for values in column])))
        print()
    print("stream of             before: found, false    after: found, false")
    for split, found in streams.items():
        cells = ["%12d of %2d%8d" % (hits, hits + misses, false) for hits, misses, false, _ in (found[0], found[-1])]
        print("  %-16s%s%s" % (", ".join(split), *cells))
    print("over the nine                 found    false     hours an hour")
    names = ["before"] + ["mean %d, threshold %.1f" % setting for setting in SETTINGS]
    for name, (hits, misses, false, seconds) in zip(names, np.sum(list(streams.values()), 0)):
        print("  %-24s%4d of %d%10d%10.2f%8.1f" % (
            name, hits, hits + misses, false, seconds / 3600, false / seconds * 3600))  # fmt: skip
    return data, rows


def heard(held, taught):
    """The seconds and labels of the events of a held out session."""
    teacher = held.teacher("int8", taught)
    events = Events(teacher.labels, *SETTINGS[-1], hold_off=3, unknown="other")
    stream = Stream(Window(motions.LENGTH, 3, motions.HOP), teacher.predict, events, MOTION)
    found = []
    for _, samples in held.recordings(held.day):
        for piece in motions.pieces(samples):
            for label, _ in stream.feed(piece):
                found.append((stream.window.position / motions.RATE, label))
    return found


def picture(found):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "odt"
    from matplotlib import pyplot

    data, rows = found
    figure, (bars, before, after) = pyplot.subplots(3, figsize=(7, 5), height_ratios=(3, 1.2, 1.2))
    names = "before (two of three exercises known)", "taught on the board, int8", "PyTorch, all layers, all data"
    for k, (name, part, colour) in enumerate(zip(names, (0, 1, 3), ("0.75", "tab:blue", "tab:orange"))):
        values = [rows[("motion", *split)][part][2] for split in SPLITS]
        bars.bar(np.arange(len(SPLITS)) + 0.27 * (k - 1), values, 0.25, label=name, color=colour)
    bars.set_xticks(range(len(SPLITS)), ["%s,\n%s" % split for split in SPLITS], fontsize=6)
    bars.set_ylim(40, 100)
    bars.set_ylabel("% of the four")
    bars.legend(loc="lower center", fontsize=6, ncol=3)
    held = Held(data, "motion", "C", "squat")
    colours = dict(zip(NAMES, ("white", "tab:green", "tab:purple", "tab:red")))
    for axes, taught in ((before, False), (after, True)):
        for number, (label, _) in enumerate(held.recordings(held.day)):
            axes.axvspan(10 * number, 10 * number + 10, color=colours[label], alpha=0.3, linewidth=0)
        for at, label in heard(held, taught):
            axes.plot(at, 0.5, "v", color=colours[label], markersize=8, markeredgecolor="black")
        axes.set_xlim(0, 10 * len(held.day))
        axes.set_yticks([])
        axes.set_ylabel("taught" if taught else "before", fontsize=8)
    for label in NAMES[1:]:
        after.plot([], [], "s", color=colours[label], label=label)
    after.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.35),
        fontsize=7,
        ncol=3,
        title="events over what is done, by second: C, squat",
        title_fontsize=7,
    )
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "pictures" / "gesture.svg", metadata={"Date": None})


def files():
    Held(Data(), "motion", "C", "squat").write()
