"""Spoken digits: what bench/examples/stories.py measures of examples/keyword, and its files.

free-spoken-digit-dataset (build/fsdd): six speakers, ten digits, fifty utterances of each. Each speaker is held out in
turn, and with each another word, NEW; the five others' nine words train a network in float32 (PyTorch, 25 epochs, Adam
0.004 with cosine decay, moved by up to four rows and two channels), whose weights odt takes in int8 and float32. Three
utterances of each of the ten words by the one held out teach: odt.continual.teach keeps them and three by others of
each known word. The test is all that is left of this speaker. PyTorch: float32, all layers, from the same weights, with
all data: all of the five speakers', and the taught ones repeated to a third of these; 8 epochs, of the rates 0.001 and
0.003 the one with the best sum over both (which favours it). Accuracy in %, mean +- standard error over the six
speakers.
"""

import sys
import wave
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

KEYWORD = ROOT / "examples" / "keyword"
sys.path.insert(0, str(KEYWORD))

import counting  # noqa: E402
import numpy as np  # noqa: E402
import story_parts  # noqa: E402
import torch  # noqa: E402
import words  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402
from odt.continual import teach  # noqa: E402

SOURCE = ROOT / "build" / "fsdd" / "recordings"
NEW = {"george": 3, "jackson": 0, "lucas": 7, "nicolas": 4, "theo": 1, "yweweler": 8}
EACH = 3
SHAPE = (words.ROWS, words.CHANNELS, 1)


def loudest(samples):
    """LENGTH samples as int8: the part with most energy, or all with silence around, its peak 127."""
    samples = samples.astype("int64")
    short = max(0, words.LENGTH - len(samples))
    samples = np.pad(samples, (short // 2, short - short // 2))
    energy = np.concatenate([[0], np.cumsum(samples**2)])
    at = int(np.argmax(energy[words.LENGTH :] - energy[: -words.LENGTH]))
    samples = samples[at : at + words.LENGTH]
    return np.rint(samples * 127 / max(1, np.abs(samples).max())).astype("int8")


class Recordings:
    """All utterances, sorted by file name: ``sound`` int8, ``x`` features, ``y`` digits, ``who`` speakers."""

    def __init__(self):
        found = []
        for path in sorted(SOURCE.glob("*.wav")):
            digit, who, _ = path.stem.split("_")
            with wave.open(str(path)) as file:
                assert file.getframerate() == words.RATE and file.getsampwidth() == 2 and file.getnchannels() == 1
                sound = loudest(np.frombuffer(file.readframes(file.getnframes()), "<i2"))
            row = words.features(sound.astype("int16") * 256)
            found.append((sound, np.frombuffer(bytes(row), "uint8"), int(digit), who))
        if len(found) != 3000:
            raise SystemExit("%s: %d WAV files, expected the 3,000 of the data set: see --help" % (SOURCE, len(found)))
        self.sound, x, self.y, self.who = [np.array(column) for column in zip(*found)]
        self.x = x.reshape(-1, *SHAPE)


def layers():
    return [
        odt.Input(SHAPE, dtype="uint8", scale=1 / 64),
        odt.Conv2D(8, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(24, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Flatten(),
        odt.Dense(10),
    ]


def network(dtype, seed=0):
    model = odt.Sequential(layers())
    model.compile(odt.Adam(0.003), dtype=dtype, batch_size=16, seed=seed)
    return model


def train(model, x, y, epochs, rate, seed):
    """The twin of ``model`` after training from its weights."""
    twin, rng = Twin(model, torch.float32), np.random.default_rng(seed)
    steer = torch.optim.Adam(twin.flat_parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steer, epochs * -(-len(x) // 32))
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for rows in np.split(order, range(32, len(x), 32)):
            moved = [np.roll(x[i], (rng.integers(-4, 5), rng.integers(-2, 3)), (0, 1)) for i in rows]
            steer.zero_grad()
            out = twin.forward(np.array(moved, "float32") / 64)
            torch.nn.functional.cross_entropy(out, torch.tensor(y[rows].astype("int64"))).backward()
            steer.step()
            schedule.step()
    return twin


class Held:
    """A speaker held out, and a word."""

    def __init__(self, data, who):
        self.data, self.new = data, NEW[who]
        self.seed = seed = sorted(NEW).index(who)
        rng = np.random.default_rng(seed)
        mine = np.flatnonzero(data.who == who)
        self.known = np.flatnonzero((data.who != who) & (data.y != self.new))
        self.shots = np.concatenate([rng.permutation(mine[data.y[mine] == digit])[:EACH] for digit in range(10)])
        self.shots = self.shots.reshape(10, EACH).T.reshape(-1)  # all words once, and again
        self.kept = np.concatenate(
            [rng.permutation(self.known[data.y[self.known] == digit])[:EACH] for digit in range(10)]
        )
        self.test = rng.permutation(np.setdiff1d(mine, self.shots))
        self.models = {dtype: network(dtype, seed) for dtype in ("float32", "int8")}
        twin = train(self.models["float32"], data.x[self.known], data.y[self.known], 25, 0.004, seed)
        self.ranges = data.x[rng.permutation(self.known)[:300]]
        for model in self.models.values():
            shapes = [np.shape(values) for values in model.get_weights()]
            model.set_weights([p.detach().numpy().reshape(s) for p, s in zip(twin.flat_parameters(), shapes)])
        self.models["int8"].calibrate(self.ranges)

    def score(self, found):
        """Of the nine words, of the new one, of all."""
        y = self.data.y[self.test]
        right = np.asarray(found) == y
        return 100 * right[y != self.new].mean(), 100 * right[y == self.new].mean(), 100 * right.mean()

    def before(self, dtype):
        return self.score(np.array(self.models[dtype].predict(self.data.x[self.test])).reshape(-1, 10).argmax(1))

    def teacher(self, dtype):
        front = teach.front(self.models[dtype], x=self.ranges)
        width = int(np.prod(front.nodes[-1].shape))
        teacher = teach.Teacher(front, classes=10, budget=10 * 2 * EACH * width)
        for i in np.concatenate([self.kept, self.shots]):
            teacher.learn(self.data.x[i], int(self.data.y[i]))
        return teacher

    def taught(self, dtype):
        teacher = self.teacher(dtype)
        return self.score([teacher.predict(self.data.x[i])[0] for i in self.test])

    def torch(self):
        index = np.concatenate([self.known, np.resize(self.shots, len(self.known) // 3)])
        best = None
        for rate in (0.001, 0.003):
            twin = train(self.models["float32"], self.data.x[index], self.data.y[index], 8, rate, self.seed)
            with torch.no_grad():
                out = twin.forward(self.data.x[self.test].astype("float32") / 64)
            found = self.score(out.numpy().argmax(1))
            if best is None or sum(found[:2]) > sum(best[:2]):
                best = found
        return best

    def others(self):
        """An utterance of each word that is in none of the example's other files."""
        rest = self.test[100:]
        return [rest[self.data.y[rest] == digit][0] for digit in range(10)]

    def streamed(self, teacher, noise):
        """(found, of them right, said, seconds): all of the test's words, 2 s each with the pause after it, by a peak
        of 16256.
        """
        rng, listener, found, right = np.random.default_rng(self.seed), words.Listener(), 0, 0
        for i in self.test:
            x = rng.uniform(-noise, noise, 2 * words.RATE + words.WINDOW - words.HOP)
            x[: words.LENGTH] += 128.0 * self.data.sound[i]
            x = np.rint(x).astype("int16")
            for at in range(0, 2 * words.RATE, words.HOP):
                if listener.push(x[at : at + words.WINDOW]):
                    found += 1
                    right += teacher.predict(listener.word())[0] == self.data.y[i]
        return found, right, len(self.test), 2 * len(self.test)

    def write(self):
        data, teacher = self.data, self.teacher("int8")
        teacher.front.export(str(KEYWORD / "front.bin"))
        for name, rows, what in (
            ("known.bin", self.kept, data.x),
            ("test.bin", self.test[:100], data.x),
            ("teach.bin", self.shots, data.sound),
            ("stream.bin", self.others(), data.sound),
        ):
            (KEYWORD / name).write_bytes(b"".join([what[i].tobytes() + bytes([data.y[i]]) for i in rows]))


COST = """
import gc
import odt
from array import array
from odt.continual import teach
from words import CHANNELS, LENGTH, ROWS, features
import words
front = odt.load_model("front.bin")
gc.collect()
teacher = teach.Teacher(front, classes=10, budget=10 * 6 * 192, steps=400)
sound = array("h", bytes(2 * LENGTH))
def say(digit):
    for i in range(LENGTH):
        sound[i] = i * (7919 + digit) % 30011 - 15000
for digit in range(10):
    say(digit)
    x = features(sound)
    teacher.learn(x, digit)
gc.collect()
print("heap free", gc.mem_free())
frame, row = memoryview(sound)[:240], array("h", bytes(40))
begin()
end()
begin()
words.mel(frame, row)
end()
begin()
features(sound)
end()
listener = words.Listener()
listener.push(frame)
begin()
for _ in range(50):
    listener.push(frame)
end()
begin()
front.predict(x)
end()
begin()
teacher.learn(x, 4)
end()
begin()
teacher.fit()
end()
begin()
teacher.predict(x)
end()
"""


def costs(names):
    """What a board's parts of keyword take; fit of 400 steps, of which the example takes 1,000."""
    source = COST.replace("from words import CHANNELS, LENGTH, ROWS, features\nimport words\n", MODULE)
    print(
        "%-10s%14s%12s%12s%14s%12s%12s%14s%12s%12s"
        % ("", "", "a frame", "a word's", "a second's", "the front", "learn", "fit, 400", "predict", "heap free")
    )
    for name in names:
        found = story_parts.counted(name, source, [KEYWORD / "front.bin"])
        print("%-10s%14s%12d%12d%14d%12d%12d%14d%12d%12d" % (name, counting.UNITS[name], *found), flush=True)
    print()


MODULE = (KEYWORD / "words.py").read_text() + "class words:\n    mel = mel\n    Listener = Listener\n"


def measured():
    data = Recordings()
    rows, heard = {}, {64: [], 256: [], 512: []}
    print(
        "keyword   %-12s%5s%16s%24s%24s%24s"
        % ("speaker", "new", "before", "odt.continual.teach int8", "odt.continual.teach float32", "PyTorch, all layers")
    )
    for who in sorted(NEW):
        held = Held(data, who)
        found = [held.before("int8"), held.taught("int8"), held.taught("float32"), held.torch()]
        rows[who] = found
        teacher = held.teacher("int8")
        for noise in heard:
            heard[noise].append(held.streamed(teacher, noise))
        cells = "".join(["%10.1f%6.1f%8.1f" % values for values in found[1:]])
        print("          %-12s%5d%16.1f%s" % (who, held.new, found[0][0], cells), flush=True)
    columns = np.array(list(rows.values())).transpose(1, 2, 0)
    print("\nover the six            nine words       the tenth             all")
    for name, column in zip(
        ("before, int8", "odt.continual.teach, int8", "odt.continual.teach, float32", "PyTorch, all layers"), columns
    ):
        print("  %-20s%s" % (name, "".join(["%16s" % story_parts.cell(values) for values in column])))
    print("\nstream of words, noise      found   right    said   hours")
    for noise, each in heard.items():
        found, right, said, seconds = np.sum(each, 0)
        print(
            "  %4.0f dB below their peaks%8d%8d%8d%8.2f"
            % (20 * np.log10(16256 * 3**0.5 / noise), found, right, said, seconds / 3600)
        )
    return rows


def picture(rows):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "odt"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3))
    names = "before (nine of ten words known)", "taught on the board, int8", "PyTorch, all layers, all data"
    for k, (name, part, colour) in enumerate(zip(names, (0, 1, 3), ("0.75", "tab:blue", "tab:orange"))):
        values = [found[part][2] for found in rows.values()]
        axes.bar(np.arange(6) + 0.27 * (k - 1), values, 0.25, label=name, color=colour)
    axes.set_xticks(range(6), ["%s, %d" % (who, NEW[who]) for who in sorted(NEW)])
    axes.set_ylim(40, 100)
    axes.set_ylabel("% of the ten words")
    axes.legend(loc="lower center", fontsize=7, ncol=3)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "pictures" / "keyword.svg", metadata={"Date": None})


def files():
    Held(Recordings(), "george").write()
