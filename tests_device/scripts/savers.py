"""Cuts the power at each write of whatever odt keeps in a file, on a littlefs and on a FAT.

Runs on MicroPython's unix port.

After each cut the file that is read is the old one or the new one, the change can be made again, and nothing is left
beside it. ODT_ARGS: what deploy runs on a board: ``settle`` before it copies a file, ``take`` afterwards.
"""

import gc
import os
from array import array

import odt
from odt.continual import Replay, teach
from odt.online import KNN
from odt.sensors import Count, Recorder, Rules, Window

try:
    ARGS = ODT_ARGS
except NameError:
    ARGS = {}

FOLDER = "/flash"
PATH = FOLDER + "/it"
X = [[((i * 37 + k * 11) % 17 - 8) / 8 for k in range(3)] for i in range(8)]
Y = [i % 3 for i in range(8)]


class PowerFailure(BaseException):
    pass


class Device:
    """Blocks in RAM; write ``cut`` is done in part, and after it nothing changes.

    A flash of littlefs, or an SD card's sectors.
    """

    def __init__(self, kind, image=None, cut=None, part=0):
        self.kind, self.size, self.blocks = (kind, 256, 48) if kind is os.VfsLfs2 else (kind, 512, 96)
        self.data = bytearray(image or b"\xff" * (self.size * self.blocks))
        self.writes, self.cut, self.part, self.dead = 0, cut, part, False

    def readblocks(self, block, buffer, offset=0):
        if self.dead:  # a file that is let go of is closed where nothing can be allocated
            return
        at = block * self.size + offset
        buffer[:] = self.data[at : at + len(buffer)]

    def writeblocks(self, block, buffer, offset=0):
        if self.dead:
            return
        step = self.size if self.kind is os.VfsFat else len(buffer)
        for first in range(0, len(buffer), step):
            self._write(block * self.size + offset + first, buffer[first : first + step])

    def ioctl(self, operation, argument):
        if operation == 6 and not self.dead:
            self._write(argument * self.size, b"\xff" * self.size)
        return self.blocks if operation == 4 else self.size if operation == 5 else 0

    def _write(self, at, data):
        count = len(data)
        if self.writes == self.cut:
            self.dead = True
            count = int(count * self.part)
        self.writes += 1
        self.data[at : at + count] = data[:count]
        if self.dead:
            raise PowerFailure


def mounted(device, call):
    os.mount(device.kind(device), FOLDER)
    try:
        return call()
    finally:
        try:
            os.umount(FOLDER)
        except PowerFailure:
            pass


def cuts(name, prepare, act, look):
    """Cut ``act()`` at each write; ``prepare()`` makes what was there, ``look()`` says what is."""
    for kind in (os.VfsLfs2, os.VfsFat):
        empty = Device(kind)
        kind.mkfs(empty)
        mounted(empty, prepare)
        image = bytes(empty.data)
        old = mounted(Device(kind, image), look)
        done = Device(kind, image)
        mounted(done, act)
        new = mounted(done, look)
        assert old != new, name
        found = [0, 0]
        for part in (0, 0.5) if kind is os.VfsLfs2 else (0,):
            for cut in range(10000):
                device = Device(kind, image, cut, part)
                try:
                    mounted(device, act)
                except (PowerFailure, OSError):
                    if not device.dead:
                        raise
                if not device.dead:
                    break
                left = bytes(device.data)
                now = mounted(Device(kind, left), look)
                assert now in (old, new), "%s: cut %d: %r" % (name, cut, now)
                found[now == new] += 1
                after = Device(kind, left)
                mounted(after, act)  # from there on
                mounted(after, look)
                assert mounted(after, lambda: os.listdir(FOLDER)) == ["it"], (name, cut)
                gc.collect()
        print("%s, %s: %d cuts, the old one %d times, the new one %d times" % (
            name, kind.__name__, sum(found), found[0], found[1]))  # fmt: skip


def network(seed, x=X, y=Y):
    model = odt.Sequential([odt.Input((3,)), odt.Dense(5, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.05), batch_size=4, seed=seed)
    model.fit(x, y, verbose=0)
    return model


first, second, third = network(1), network(2), network(3)
front = teach.front(first)


def saves(name, one, two, reader):
    def look():
        reader.load(PATH)
        return reader.digest()

    cuts(name, lambda: one.save(PATH), lambda: two.save(PATH), look)


def windows():
    return Recorder(PATH, Window(4, 1), rate=50, classes=3)


def recorded():
    found = windows()
    return found.labels, [found.count(label) for label in found.labels], [(list(x), label) for x, label in found]


def record():
    recorder = windows()
    for k in range(24):
        recorder.add(array("h", [k] * 4), ("one", "two")[k % 2])
    recorder.close()


def teacher():
    return teach.Teacher(front, classes=3, budget=60, steps=4, place=PATH)


def taught():
    it = teacher()
    it.load(PATH)
    return it


def known(*rows):
    found = KNN(3, budget=8)
    for row in rows:
        found.learn_one(X[row], row)
    return found


def fired(*times):
    rules = Rules(["a"])
    rules.add("two", Count("a", 2, 100))
    for now in times:
        rules.event("a", now)
    return rules


def kept(*rows):
    replay = Replay(third, budget=120)
    for row in rows:
        replay.add([X[row]], [Y[row]])
    return replay


saves("checkpoint", first, second, network(4))
cuts("model file", lambda: first.export(PATH), lambda: second.export(PATH), lambda: odt.load_model(PATH).digest())


def bytes_of_second():
    second.export(PATH)
    with open(PATH, "rb") as file:
        return file.read()


def deployed():
    exec(ARGS["settle"] % PATH, {})
    with open(PATH + ".new", "wb") as file:
        file.write(brought)
    exec(ARGS["take"] % ((PATH + ".new", PATH),), {})


if ARGS:
    scratch = Device(os.VfsFat)
    os.VfsFat.mkfs(scratch)
    brought = mounted(scratch, bytes_of_second)
    cuts("deploy", lambda: first.export(PATH), deployed, lambda: odt.load_model(PATH).digest())
saves("online", known(1, 2), known(3, 4, 5), known())
saves("rules", fired(1, 2), fired(5), fired())
saves("replay", kept(1, 2), kept(3, 4, 5), kept())
cuts("teacher", lambda: teacher().learn(X[0], "a"), lambda: taught().learn(X[1], "b"), lambda: taught().labels)
cuts("recording, first", lambda: None, lambda: windows().add(array("h", [7] * 4), "one"), recorded)
for label in ("one", "three"):
    cuts("recording, add " + label, record, lambda: windows().add(array("h", [70] * 4), label), recorded)
cuts("recording, remove", record, lambda: windows().remove(0), recorded)
cuts("recording, forget", record, lambda: windows().forget("one") if "one" in windows().labels else None, recorded)


def header():
    with open(PATH, "rb") as file:
        return recorded(), file.read(192)


def one_more():
    record()
    windows().add(array("h", [7] * 4), "one")


cuts("recording, close", one_more, lambda: windows().close(), header)
