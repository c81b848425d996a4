"""Checkpoints: a resumed run is the uninterrupted one, and no power failure loses both states."""

import errno
import gc
import io
import struct

import numpy as np
import pytest

import odt
from odt import checkpoint
from odt.callbacks import Callback, ModelCheckpoint
from odt.slots import Blocks, Bytes

gc.freeze()

DTYPES = ("int8", "float32")
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(23, 5)).astype("float32")
Y = RANDOM.integers(0, 3, 23).astype("uint8")


def network(dtype="int8", seed=1, units=6):
    model = odt.Sequential([odt.Input((5,)), odt.Dense(units, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(odt.CosineDecay(0.02, 40)), dtype=dtype, batch_size=4, seed=seed)
    return model


class Memory:
    """A block device; ``left`` bytes can be written before the power fails."""

    def __init__(self, blocks=10, size=128):
        self.size, self.data, self.left, self.writes = size, bytearray(b"\xff" * blocks * size), None, 0

    def ioctl(self, operation, argument):
        return {3: 0, 4: len(self.data) // self.size, 5: self.size}[operation]

    def readblocks(self, number, buffer):
        buffer[:] = self.data[number * self.size : (number + 1) * self.size]

    def writeblocks(self, number, buffer):
        assert len(buffer) == self.size
        self[number * self.size : (number + 1) * self.size] = buffer

    # as a region of bytes

    def __len__(self):
        return len(self.data)

    def __getitem__(self, part):
        return self.data[part]

    def __setitem__(self, part, value):
        assert part.stop - part.start == len(value)
        self.writes += 1
        count = len(value) if self.left is None else min(self.left, len(value))
        self.data[part.start : part.start + count] = bytes(value)[:count]
        if self.left is not None:
            self.left -= count
            if count < len(value):
                raise PowerFailure


class PowerFailure(BaseException):
    pass


def places(tmp_path):
    return {"file": str(tmp_path / "model"), "blocks": Blocks(Memory(20)), "bytes": Bytes(Memory(20))}


# Resuming


@pytest.mark.parametrize("where", ("file", "blocks", "bytes"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_run_stopped_at_any_step_and_resumed_is_the_uninterrupted_one(dtype, where, tmp_path):
    """In another process, as it were: a model compiled anew, with another seed."""
    whole = network(dtype)
    history = whole.fit(X, Y, epochs=3, validation_data=(X, Y), verbose=0).history
    for at in range(1, 18, 2 if where == "file" else 5):

        class Stop(Callback):
            def on_batch_end(self, step):
                if step == at:
                    raise KeyboardInterrupt

        place = places(tmp_path)[where]
        model = network(dtype)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y, epochs=3, verbose=0, callbacks=[ModelCheckpoint(place, steps=1), Stop()])
        other = network(dtype, seed=9)
        other.load(place)
        assert other.epoch == (at - 1) // 6
        rest = other.fit(X, Y, epochs=3, initial_epoch=other.epoch, validation_data=(X, Y), verbose=0)
        assert other.digest() == whole.digest()
        for name, values in rest.history.items():
            assert values == history[name][other.epoch - len(values) :]


def test_resuming_after_the_last_epoch_does_nothing(tmp_path):
    model = network()
    model.fit(X, Y, epochs=2, verbose=0)
    model.save(str(tmp_path / "m"))
    other = network()
    other.load(str(tmp_path / "m"))
    assert other.epoch == 2
    assert other.fit(X, Y, epochs=2, initial_epoch=other.epoch, verbose=0).history == {}
    assert other.digest() == model.digest()
    with pytest.raises(ValueError, match="initial_epoch.* 2, got 3"):
        other.fit(X, Y, epochs=2, initial_epoch=3)


def test_an_epoch_underway_needs_its_data(tmp_path):
    model = network()

    class Stop(Callback):
        def on_batch_end(self, step):
            self.model.stop_training = step == 5

    model.fit(X, Y, verbose=0, callbacks=[Stop()])
    model.save(str(tmp_path / "m"))
    with pytest.raises(ValueError, match="19 samples.*sample 20"):
        model.fit(X[:19], Y[:19], initial_epoch=0)
    model.load(str(tmp_path / "m"))
    losses = model.fit(X[:19], Y[:19], verbose=0).history["loss"]  # without it, an epoch of its own
    assert len(losses) == 1 and model.epoch == 1


# Slots


@pytest.mark.parametrize("kind", (Blocks, Bytes))
def test_the_newest_of_two_slots_is_read_also_by_a_new_place(kind):
    memory = Memory(20)
    place = kind(memory)
    model = network()
    with pytest.raises(ValueError, match="no whole checkpoint.*slot 0.*slot 1"):
        model.load(place)
    for turn in range(5):
        model.fit(X, Y, verbose=0)
        model.save(place if turn % 2 else kind(memory))
        for reader in (place, kind(memory)):
            other = network(seed=2)
            other.load(reader)
            assert other.digest() == model.digest()


def test_sequence_numbers_may_wrap():
    for newest, older in ((0, 0xFFFFFFFF), (5, 4), (0x80000000, 0x7FFFFFFF)):
        for slots in ((newest, older), (older, newest)):
            memory = Memory(20)
            model = network()
            digests = {}
            for slot, sequence in enumerate(slots):
                model.fit(X, Y, verbose=0)
                digests[sequence] = model.digest()
                place = Blocks(memory)
                place._sequence, place._newest = (sequence - 1) & 0xFFFFFFFF, 1 - slot
                model.save(place)
            other = network()
            other.load(Blocks(memory))
            assert other.digest() == digests[newest]


def test_places_that_are_too_small_or_none_are_refused():
    model = network()
    with pytest.raises(ValueError, match="checkpoint of [0-9]+ bytes, a slot has 128"):
        model.save(Blocks(Memory(2)))
    with pytest.raises(ValueError, match="1 blocks"):
        Blocks(Memory(1))
    with pytest.raises(TypeError, match="readblocks"):
        Blocks(bytearray(100))
    with pytest.raises(ValueError, match="128"):
        Bytes(bytearray(128))
    with pytest.raises(TypeError, match="region"):
        Bytes(3)


def test_a_block_that_does_not_keep_what_is_written_is_noticed():
    memory = Memory(20)
    model = network()
    model.save(Blocks(memory))
    write = memory.writeblocks
    memory.writeblocks = lambda number, buffer: write(number, bytes(buffer[:-1]) + b"!")
    place = Blocks(memory)
    with pytest.raises(OSError, match="read back"):
        model.save(place)
    memory.writeblocks = write
    other = network(seed=2)
    other.load(place)
    assert other.digest() == model.digest()


# Power failures


@pytest.mark.parametrize("kind", (Blocks, Bytes))
def test_power_failing_at_any_byte_of_a_save_leaves_the_old_or_the_new_state(kind):
    memory = Memory(20)
    model, other = network(), network(seed=2)
    place = kind(memory)
    model.save(place)
    model.fit(X, Y, verbose=0)
    model.save(place)
    old = model.digest()
    model.fit(X, Y, verbose=0)
    new = model.digest()
    image = bytes(memory.data)
    memory.writes = 0
    model.save(kind(memory))
    assert memory.writes > 2
    size = 64 + len(model._state)
    size = (size + 127) // 128 * 128 if kind is Blocks else size
    seen = set()
    for left in range(size):
        memory.data[:] = image
        memory.left = left
        with pytest.raises(PowerFailure):
            model.save(kind(memory))
        memory.left = None
        other.load(kind(memory))
        assert other.digest() in (old, new), left
        seen.add(other.digest())
        if left % 50 == 0:  # and the next save goes on from there
            model.save(kind(memory))
            other.load(kind(memory))
            assert other.digest() == new
    assert old in seen


class Disk:
    """A file system: files are bytes; the power fails at call ``left``; ``room`` bytes are free."""

    O_RDONLY = 0

    def __init__(self, replaces):
        self.files, self.replaces, self.left, self.room = {}, replaces, None, None

    def call(self):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise PowerFailure

    def open(self, path, mode):
        self.call()
        if mode == "rb":
            if path not in self.files:
                raise FileNotFoundError(errno.ENOENT, path)
            return io.BytesIO(self.files[path])
        self.files[path] = b""
        return Writer(self, path)

    def stat(self, path):
        if path not in self.files:
            raise OSError(errno.ENOENT, path)

    def rename(self, old, new):
        self.call()
        if new in self.files and not self.replaces:
            raise OSError(errno.EEXIST, new)
        if old not in self.files:
            raise OSError(errno.ENOENT, old)
        self.files[new] = self.files.pop(old)

    def remove(self, path):
        self.call()
        del self.files[path]


class Writer:
    def __init__(self, disk, path):
        self.disk, self.path = disk, path

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if unused[0] is None:
            self.disk.call()

    def write(self, data):
        data = bytes(data)
        files = self.disk.files
        try:
            self.disk.call()
        except PowerFailure:
            files[self.path] += data[: len(data) // 2]
            raise
        if self.disk.room is not None:
            self.disk.room -= len(data)
            if self.disk.room < 0:
                files[self.path] += data[: self.disk.room]
                raise OSError(errno.ENOSPC, "No space left on device")
        files[self.path] += data

    def flush(self):
        self.disk.call()


@pytest.fixture(params=(True, False), ids=("replaces", "FAT"))
def disk(request, monkeypatch):
    disk = Disk(request.param)
    monkeypatch.setattr(checkpoint, "os", disk)
    monkeypatch.setattr(checkpoint, "open", disk.open, raising=False)
    return disk


def test_power_failing_at_any_call_of_the_file_system_leaves_the_old_or_the_new_state(disk):
    model, other = network(), network(seed=2)
    model.save("m")
    old = model.digest()
    model.fit(X, Y, verbose=0)
    new = model.digest()
    before = dict(disk.files)
    seen = []
    for at in range(100):
        disk.files = dict(before)
        disk.left = at
        try:
            model.save("m")
        except PowerFailure:
            pass
        ended = disk.left >= 0
        disk.left = None
        other.load("m")
        seen.append(other.digest())
        after = dict(disk.files)
        for again in range(100):  # and so does the save after that
            disk.files = dict(after)
            disk.left = again
            try:
                model.save("m")
            except PowerFailure:
                pass
            over = disk.left >= 0
            disk.left = None
            other.load("m")
            assert other.digest() in (seen[-1], new)
            if over:
                assert other.digest() == new and list(disk.files) == ["m"]
                break
        if ended:
            break
    assert set(seen) == {old, new} and seen == sorted(seen, key=[old, new].index) and len(seen) > 5


def test_a_full_file_system_leaves_the_old_file_and_the_model(disk):
    model = network()
    model.save("m")
    before = dict(disk.files)
    model.fit(X, Y, verbose=0)
    digest = model.digest()
    for room in range(0, 64 + len(model._state), 37):
        disk.room = room
        with pytest.raises(OSError, match="No space") as error:
            model.save("m")
        assert error.value.errno == errno.ENOSPC
        assert disk.files == before and model.digest() == digest


def test_a_drive_that_scripts_may_not_write_is_named_with_what_to_do(monkeypatch):
    def read_only(path, mode):
        raise OSError(errno.EROFS, "Read-only file system")

    model = network()
    monkeypatch.setattr("odt.checkpoint.open", read_only, raising=False)
    with pytest.raises(OSError, match="m: scripts may not write this drive: storage.remount.. in boot.py, or odt.slots") as error:
        model.save("m")
    assert error.value.errno == errno.EROFS


# Damage


@pytest.mark.parametrize("kind", (Blocks, Bytes))
def test_a_flipped_byte_in_a_slot_is_refused_and_the_older_slot_is_taken(kind):
    memory = Memory(20)
    place = kind(memory)
    model = network()
    model.save(place)
    old = model.digest()
    model.fit(X, Y, verbose=0)
    model.save(place)
    start = place._newest * place.size
    other = network(seed=3)
    for at in range(0, 64 + len(model._state)):
        memory.data[start + at] ^= 0x40
        other.load(kind(memory))
        assert other.digest() == old, at
        memory.data[start + at] ^= 0x40
    other.load(kind(memory))
    assert other.digest() == model.digest()


def test_the_file_is_what_the_document_says(tmp_path):
    model = network()
    model.fit(X, Y, epochs=2, verbose=0)
    model.save(str(tmp_path / "m"))
    data = (tmp_path / "m").read_bytes()
    words = struct.unpack("<4s15I", data[:64])
    import zlib

    assert words[:6] == (b"ODTM", 2, zlib.crc32(model._plan.code), len(model._state), 2, 2)
    assert words[6:15] == (0,) * 9
    assert words[15] == zlib.crc32(data[:60] + data[64:]) and data[64:] == bytes(model._state)
    assert struct.unpack("<II", data[64:72]) == (12, 1)  # steps, seed


def test_a_checkpoint_of_another_network_in_a_slot_is_refused_and_kept():
    memory = Memory(40)
    model, other = network(), network(units=7)
    model.save(Blocks(memory))
    before = other.digest()
    with pytest.raises(ValueError, match="another network"):
        other.load(Blocks(memory))
    assert other.digest() == before
    other.save(Blocks(memory))  # over the slot that is free
    other.load(Blocks(memory))
