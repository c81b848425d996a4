"""Saves checkpoints into a littlefs whose power is cut at every write in turn, and into one that is full.

Runs on MicroPython's unix port. The device is a flash chip: erasing makes ones, programming only zeros.
ODT_ARGS: ``saves`` that precede the one that is cut.
"""

import gc
import os

import odt

try:
    ARGS = ODT_ARGS
except NameError:
    ARGS = {}

BLOCK, BLOCKS = 256, 32
FOLDER = "/flash"
PATH = FOLDER + "/model.odt"
X = [[((i * 37 + k * 11) % 17 - 8) / 8 for k in range(5)] for i in range(12)]
Y = [i % 3 for i in range(12)]


class PowerFailure(BaseException):
    pass


class Flash:
    """Erases and programs are counted; number ``cut`` is done in part, and after it nothing changes."""

    def __init__(self, image=None, cut=None, part=0):
        self.data = bytearray(image or b"\xff" * (BLOCK * BLOCKS))
        self.view = memoryview(self.data)
        self.writes, self.cut, self.part, self.dead = 0, cut, part, False

    def readblocks(self, block, buffer, offset=0):
        at = block * BLOCK + offset
        buffer[:] = self.view[at : at + len(buffer)]

    def writeblocks(self, block, buffer, offset=0):
        at = block * BLOCK + offset
        for index in range(self._powered(len(buffer))):
            self.data[at + index] &= buffer[index]
        self._fail()

    def ioctl(self, operation, argument):
        if operation == 6:
            at = argument * BLOCK
            count = self._powered(BLOCK)
            self.data[at : at + count] = b"\xff" * count
            self._fail()
        return {4: BLOCKS, 5: BLOCK}.get(operation, 0)

    def _powered(self, count):
        """Bytes of this write that are still done."""
        if self.dead:
            return 0
        if self.writes == self.cut:
            self.dead = True
            return int(count * self.part)
        self.writes += 1
        return count

    def _fail(self):
        if self.dead and self.cut is not None:
            self.cut = None  # once: what closes files afterwards is not to raise again
            raise PowerFailure


class Mounted:
    """A with block in which the flash is mounted; what it raises is not hidden."""

    def __init__(self, flash):
        self.flash = flash

    def __enter__(self):
        os.mount(os.VfsLfs2(self.flash), FOLDER)

    def __exit__(self, *unused):
        os.umount(FOLDER)


def network():
    model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), batch_size=4, seed=1)
    return model


def interrupted(image, model, cut, part):
    """The flash's content after a save that is cut, or None if it ended."""
    flash = Flash(image, cut, part)
    try:
        with Mounted(flash):
            model.save(PATH)
    except (PowerFailure, OSError):
        if not flash.dead:
            raise
        return flash.data  # an OSError is of a file that was closed without power


def digest_of(image, other):
    """The digest of the checkpoint in a flash after power has come back."""
    with Mounted(Flash(image)):
        other.load(PATH)
    return other.digest()


def power():
    """Cut the save after each of so many saves at each of its writes: none, half, or nearly all of it done."""
    model, other = network(), network()
    flash = Flash()
    os.VfsLfs2.mkfs(flash)
    with Mounted(flash):
        model.fit(X, Y, verbose=0)
        model.save(PATH)
    cuts, kept = 0, [0, 0]
    for _ in range(ARGS.get("saves", 8)):
        image = bytes(flash.data)
        old = model.digest()
        model.fit(X, Y, verbose=0)
        new = model.digest()
        assert digest_of(image, other) == old != new
        for part in (0, 0.5, 0.99):
            cut = 0
            while True:
                left = interrupted(image, model, cut, part)
                if left is None:
                    break
                after = digest_of(left, other)
                assert after in (old, new), "lost at write %d" % cut
                kept[after == new] += 1
                # Power fails again in the next save, and the one after that ends.
                again = interrupted(left, model, cut * 7 % 23, 0.5)
                if again is not None:
                    assert digest_of(again, other) in (after, new), "lost at write %d and then again" % cut
                    left = again
                flash = Flash(left)
                with Mounted(flash):
                    model.save(PATH)
                    assert os.listdir(FOLDER) == ["model.odt"]
                assert digest_of(flash.data, other) == new
                cut += 1
            cuts += cut
            gc.collect()
    print("%d power cuts: the old one %d times, the new one %d times, none 0 times" % (cuts, kept[0], kept[1]))


def full():
    """Save where ever less is free: the old checkpoint stays, and ENOSPC reaches the caller."""
    model, other = network(), network()
    refused, written = 0, 0
    for filled in range(BLOCKS):
        flash = Flash()
        os.VfsLfs2.mkfs(flash)
        with Mounted(flash):
            model.save(PATH)
            old = model.digest()
            try:
                with open(FOLDER + "/filler", "wb") as file:
                    file.write(bytes(filled * BLOCK))
            except OSError as error:
                assert error.errno == 28
                break
            model.fit(X, Y, verbose=0)
            new = model.digest()
            try:
                model.save(PATH)
                written += 1
                expected = new
            except OSError as error:
                assert error.errno == 28, error
                refused += 1
                expected = old
            assert model.digest() == new
            assert sorted(os.listdir(FOLDER)) == ["filler", "model.odt"]
            other.load(PATH)
            assert other.digest() == expected
            os.remove(FOLDER + "/filler")
            model.save(PATH)  # and goes on when there is room
            other.load(PATH)
            assert other.digest() == new
    print("%d saves into what was free, %d refused" % (written, refused))


power()
full()
