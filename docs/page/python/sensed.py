"""Samples of sensors: recordings of the examples, or of a person's own device, cut as the examples cut them.

A kind is "motion", windows of an accelerometer (examples/gesture), or "sound", words (examples/keyword).
"""

from array import array

import motions
import words
from samples import Table, epochs

from odt.data import Normalizer
from odt.sensors import Motion, Window

MOTION = """model = odt.Sequential([
    odt.Input((36,)),
    odt.Dense(48, activation="relu"),
    odt.Dense(32, activation="relu"),
    odt.Dense(%d),
])"""
WORDS = """model = odt.Sequential([
    odt.Input((32, 20, 1), dtype="uint8", scale=1 / 64),
    odt.Conv2D(8, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Conv2D(24, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
    odt.Dense(%d),
])"""
MOVED = (0, 0), (-3, 0), (3, 0), (-1, 1), (2, -1), (1, 1)  # rows and channels: a word also trains when it is shifted
SPOKEN = words.ROWS * words.CHANNELS + 1  # bytes of a word in examples/keyword/test.bin, and its digit
LEAST = 4  # samples of a class: three train, one is held back


class Moves:
    """Windows of 2.56 s of x, y and z, 100 a second, 16384 to 1 g; each becomes 36 numbers, which are standardised by
    those that train.
    """

    shape, code, source, name = (36,), "f", MOTION, "windows"
    steps = 300

    def __init__(self):
        self.motion = Motion(rate=motions.RATE, window=motions.LENGTH, axes=3, bands=(1, 2, 3, 5, 8, 13, 20))
        self.window = Window(motions.LENGTH, 3, motions.HOP)

    def cut(self, data):
        """Yield the features of each window that ends in these bytes; what comes next continues them."""
        step = 6 * motions.HOP
        for at in range(0, len(data), step):
            self.window.push(data[at : at + step])
            x = self.window.next()
            if x is not None:
                yield array("f", self.motion(x))

    @staticmethod
    def varied(x):
        """What trains of a sample."""
        return (x,)


class Words:
    """Words of 0.65 s, of sound at 8 kHz; each becomes 32 rows of 20 channels."""

    shape, code, source, name = (words.ROWS, words.CHANNELS, 1), "B", WORDS, "words"
    steps = 180

    def __init__(self):
        self.listener, self.window = words.Listener(), Window(words.WINDOW, 1, words.HOP)

    def cut(self, data):
        """Yield the features of each word that ends in these bytes."""
        step = 2 * words.HOP
        for at in range(0, len(data), step):
            self.window.push(data[at : at + step])
            frame = self.window.next()
            if frame is not None and self.listener.push(frame):
                yield self.listener.word()

    @staticmethod
    def varied(x):
        """Of a word also what it is a little earlier or later, higher or lower."""
        for rows, channels in MOVED:
            yield bytes([
                x[row * words.CHANNELS + column] if 0 <= row < words.ROWS and 0 <= column < words.CHANNELS else 0
                for row in range(-rows, words.ROWS - rows)
                for column in range(-channels, words.CHANNELS - channels)
            ])  # fmt: skip


KINDS = {"motion": Moves, "sound": Words}


def table(kind, samples):
    """The Table of {class: [sample, ..]}; of each class the last quarter is held back.

    ValueError for one class, and for a class of fewer than four samples.
    """
    kind = KINDS[kind]
    if len(samples) < 2:
        raise ValueError("classes that were recorded: %d, expected 2 or more" % len(samples))
    for name in samples:
        if len(samples[name]) < LEAST:
            raise ValueError("%r has %d %s, expected %d or more: record it again" % (
                name, len(samples[name]), kind.name, LEAST))  # fmt: skip
    names = sorted(samples)
    made = Table(kind.shape, names, kind.source % len(names), kind.code)
    for turn in range(max([len(rows) for rows in samples.values()])):  # a sample of each class in turn
        for label, name in enumerate(names):
            rows = samples[name]
            if turn >= len(rows):
                continue
            if 4 * turn >= 3 * len(rows):
                made.add(rows[turn], label, True)
                continue
            for x in kind.varied(rows[turn]):
                made.add(x, label, False)
    if made.code == "f":
        made.statistics = Normalizer(made.size)
        made.statistics.update(made.train[0])
        for x, _ in (made.train, made.test):
            made.statistics.apply(x)
    made.epochs = epochs(len(made.train[1]), 16, kind.steps)
    return made


def gestures(path="/day.bin"):
    """The recordings of examples/gesture."""
    found = {}
    for label, samples in motions.recordings(path):
        found.setdefault(label, []).extend(Moves().cut(samples))
    return table("motion", found)


def spoken(path="/test.bin"):
    """The words of examples/keyword: features and digits."""
    found = {str(digit): [] for digit in range(10)}
    with open(path, "rb") as file:
        while True:
            data = file.read(SPOKEN)
            if len(data) < SPOKEN:
                break
            found[str(data[-1])].append(data[:-1])
    return table("sound", found)


def cut(kind, data):
    """The samples in a recording, as a list."""
    return [bytes(x) if kind == "sound" else x for x in KINDS[kind]().cut(data)]
