"""Checkpoints: a resumed run is the uninterrupted one, and no power failure loses both states."""

import errno
import struct
import subprocess
import sys

import numpy as np
import pytest
from filesystem import KINDS, Disk, PowerFailure

import odt
from odt.callbacks import Callback, ModelCheckpoint
from odt.files import checkpoint
from odt.host import files
from odt.slots import Blocks, Bytes

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


class Failing(Memory):
    """Blocks that cannot be read until they are written: what flash does whose power failed.

    ``code``: or returns that.
    """

    def __init__(self, *size, code=None):
        super().__init__(*size)
        self.unreadable, self.dead, self.code = set(), set(), code

    def _fail(self):
        if self.code is None:
            raise OSError(errno.EIO, "I/O error")
        return self.code

    def readblocks(self, number, buffer):
        if number in self.unreadable | self.dead:
            return self._fail()
        return super().readblocks(number, buffer)

    def writeblocks(self, number, buffer):
        if number in self.dead:
            return self._fail()
        super().writeblocks(number, buffer)
        self.unreadable.discard(number)


@pytest.mark.parametrize("code", (None, -errno.EIO, errno.EIO))
def test_a_block_that_cannot_be_read_costs_its_slot_alone_and_is_healed_by_a_save(code):
    model, other = network(), network(seed=2)
    digests, images = [], []
    memory = Failing(20, code=code)
    for _ in range(3):
        model.save(Blocks(memory))
        digests.append(model.digest())
        images.append(bytes(memory.data))
        model.fit(X, Y, verbose=0)
    used = (64 + len(model.session.state) + 127) // 128
    for image, newest, (old, new) in ((images[1], 1, digests[:2]), (images[2], 0, digests[1:])):
        for block in [slot * 10 + block for slot in (0, 1) for block in range(used)]:
            memory.data[:] = image
            memory.unreadable = {block}
            place = Blocks(memory)
            other.load(place)
            assert other.digest() == (old if block // 10 == newest else new)
            model.save(place if block % 2 else Blocks(memory))
            assert not memory.unreadable
            other.load(Blocks(memory))
            assert other.digest() == model.digest()
            memory.data[:] = image  # a block that goes bad while its place is in use
            place = Blocks(memory)
            other.load(place)
            memory.unreadable = {block}
            model.save(place)
            other.load(Blocks(memory))
            assert other.digest() == model.digest()
            model.save(place)
            assert not memory.unreadable


@pytest.mark.parametrize("code", (None, errno.EIO))
def test_a_block_that_is_dead_leaves_the_other_slot(code):
    """Nothing is written over the only whole checkpoint; where there is none, any slot that works will do."""
    model, other = network(), network(seed=2)
    for block in (0, 2, 10, 12):
        memory = Failing(20, code=code)
        memory.dead = {block}
        model.save(Blocks(memory))
        other.load(Blocks(memory))
        assert other.digest() == model.digest()
        with pytest.raises(
            OSError, match="Blocks.*slot %d could not be written, or not so read back: " % (block // 10)
        ):
            model.save(Blocks(memory))
        other.load(Blocks(memory))
        assert other.digest() == model.digest()
    memory.dead = {0, 10}
    for call in (model.save, other.load):
        with pytest.raises((OSError, ValueError)):
            call(Blocks(memory))


# Power failures


class Cached(Memory):
    """Writes come to last with a sync; before it any of them may be lost, in any order. ``left``: calls till then."""

    def __init__(self, *size):
        super().__init__(*size)
        self.cache = []

    def _call(self):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise PowerFailure

    def writeblocks(self, number, buffer):
        self._call()
        self.cache.append((number, bytes(self.data[number * self.size :][: self.size]), bytes(buffer)))
        left, self.left = self.left, None
        super().writeblocks(number, buffer)
        self.left = left

    def ioctl(self, operation, argument):
        if operation == 3:
            self._call()
            self.cache = []
        return super().ioctl(operation, argument)

    def outcomes(self):
        """What is found when the power fails now: with none, all, each alone, and all but each, of what is cached."""
        count = len(self.cache)
        kept = (
            [set(), set(range(count))] + [{k} for k in range(count)] + [set(range(count)) - {k} for k in range(count)]
        )
        stored = bytearray(self.data)
        for number, before, _ in reversed(self.cache):
            stored = stored[: number * self.size] + before + stored[(number + 1) * self.size :]
        for some in kept:
            image = bytearray(stored)
            for k, (number, _, data) in enumerate(self.cache):
                if k in some:
                    image[number * self.size : (number + 1) * self.size] = data
            yield bytes(image)


def test_power_failing_before_blocks_are_synced_leaves_the_old_or_the_new_state():
    """And what save() returned from lasts, whatever the next save was doing."""
    memory = Cached(20)
    model, other = network(), network(seed=2)
    place = Blocks(memory)
    model.save(place)
    digests = [model.digest()]
    for turn in range(3):
        model.fit(X, Y, verbose=0)
        digests.append(model.digest())
        image, seen, at = bytes(memory.data), set(), 0
        while True:
            memory.data[:], memory.cache, memory.left = image, [], at
            try:
                model.save(Blocks(memory))
                ended = True
            except PowerFailure:
                ended = False
            memory.left = None
            for found in list(memory.outcomes()):
                other.load(Blocks(_with(found)))
                seen.add(other.digest())
                assert other.digest() in (digests[-1:] if ended else digests[-2:])
            if ended:
                break
            at += 1
        assert at > 3 and seen == set(digests[-2:])


def _with(image):
    memory = Memory(20)
    memory.data[:] = image
    return memory


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
    size = 64 + len(model.session.state)
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


@pytest.fixture(params=KINDS)
def disk(request, monkeypatch):
    disk = Disk(request.param)
    disk.install(monkeypatch, checkpoint, files)
    return disk


def saved(disk, model):
    """Save to "m"; whether it ended before the power failed."""
    try:
        model.save("m")
    except PowerFailure:
        disk.left = None
        return False
    disk.left = None
    return True


def tidy(disk):
    """No file but the checkpoint; on a PC, where nobody knows whose they are, also those that no save ended."""
    names = [name for name in disk.names if disk.kind != "pc" or not (name[:3] == ".m." and name[-4:] == ".new")]
    return names == ["m"]


def test_power_failing_at_any_call_of_the_file_system_leaves_the_old_or_the_new_state(disk):
    """And so it does in the save after that; whatever of names and bytes that no sync had written was lost."""
    model, other = network(), network(seed=2)
    model.save("m")
    old = model.digest()
    model.fit(X, Y, verbose=0)
    new = model.digest()
    before = dict(disk.files)
    seen = []

    def digests():
        """Of what may be found when the power fails now."""
        for found in disk.outcomes():
            disk.set(found)
            other.load("m")
            yield other.digest(), found

    for at in range(100):
        disk.set(before)
        disk.left = at
        ended = saved(disk, model)
        for digest, found in list(digests()):
            seen.append(digest)
            if ended and disk.kind != "unix":  # whose renames nothing waits for
                assert digest == new
            for again in range(100):
                disk.set(found)
                disk.left = again
                over = saved(disk, model)
                if over:
                    assert tidy(disk)
                for later, _ in list(digests()):
                    assert later == new or (later == digest and not (over and disk.kind != "unix"))
                if over:
                    break
        if ended:
            break
    assert set(seen) == {old, new} and at >= 5


@pytest.mark.parametrize("first", (False, True))
def test_another_process_may_save_to_the_same_file_at_any_time(monkeypatch, first):
    """Or end within its own save; processes share the disk, and know nothing of one another."""
    disk = Disk("pc")
    disk.install(monkeypatch, checkpoint, files)
    model, rival, other = network(), network(seed=2), network(seed=3)
    before = {}
    if not first:
        rival.fit(X, Y, verbose=0)
        rival.save("m")
        before = dict(disk.files)
        rival.fit(X, Y, verbose=0)
    known = {each.digest() for each in (model, rival)}
    for at in range(1, 30):
        for left in (None, 0, 1, 2, 3, 4, 5, 6):
            disk.set(before)
            disk.calls = 0

            def interfere(left=left):
                disk.left = left
                saved(disk, rival)

            disk.at = {at: interfere}
            model.save("m")
            assert left is not None or tidy(disk)
            other.load("m")
            assert other.digest() in known
        if disk.at:
            break
    assert at > 7


@pytest.mark.parametrize("kind", ("unix", "littlefs"))
def test_a_new_file_that_vanishes_takes_the_old_one_not_with_it(monkeypatch, kind):
    """Where names are not unique: another process, or a person, renames or removes it."""
    disk = Disk(kind)
    disk.install(monkeypatch, checkpoint)
    model, other = network(), network(seed=2)
    model.save("m")
    before, digests = disk.files, {model.digest()}
    model.fit(X, Y, verbose=0)
    digests.add(model.digest())
    refused = 0
    for at in range(1, 30):
        disk.set(before)
        disk.calls, disk.at = 0, {at: lambda: disk.names.pop("m.new", None)}
        try:
            model.save("m")
        except FileNotFoundError:
            refused += 1
        other.load("m")
        assert other.digest() in digests
        if disk.at:
            break
    assert refused > 2


@pytest.mark.slow
@pytest.mark.parametrize("code", (errno.EIO, errno.ENOSPC, errno.ENOENT, errno.EACCES, errno.EEXIST))
@pytest.mark.parametrize("call", ("open", "write", "flush", "fsync", "close", "rename", "remove"))
def test_an_error_of_the_file_system_leaves_the_old_file(disk, call, code):
    """Of any call, whenever it happens; and what is there is whole after the power has failed, too."""
    model, other = network(), network(seed=2)
    model.save("m")
    disk.set(disk.files)
    old = model.digest()
    model.fit(X, Y, verbose=0)
    disk.fail = {call: OSError(code, "injected")}
    try:
        model.save("m")
        expected = {model.digest()}  # without that call, or without a need for it
    except OSError as error:
        assert error.errno == code
        expected = {old, model.digest()}
    disk.fail = {}
    for found in disk.outcomes():
        disk.set(found)
        other.load("m")
        assert other.digest() in (expected if disk.kind != "unix" else {old, model.digest()})
    assert call not in ("open", "write") or expected > {model.digest()}
    model.save("m")
    assert tidy(disk)


def test_a_full_file_system_leaves_the_old_file_and_the_model(disk):
    model = network()
    model.save("m")
    before = dict(disk.files)
    model.fit(X, Y, verbose=0)
    digest = model.digest()
    for room in range(0, 64 + len(model.session.state), 37):
        disk.room = room
        with pytest.raises(OSError, match="No space") as error:
            model.save("m")
        assert error.value.errno == errno.ENOSPC
        assert disk.files == before and model.digest() == digest


_SAVING = """
import sys, odt
model = odt.Sequential([odt.Input((5,)), odt.Dense(40, "relu"), odt.Dense(3)])
model.compile(odt.Adam(0.01), batch_size=4, seed=int(sys.argv[2]))
for _ in range(60):
    if sys.argv[2] == "0":
        model.load(sys.argv[1])
    else:
        model.save(sys.argv[1])
"""


def test_real_processes_share_a_file(tmp_path):
    """Two that save and one that loads."""
    path = tmp_path / "m"
    model = network(units=40)
    model.save(path)
    running = [
        subprocess.Popen([sys.executable, "-c", _SAVING, str(path), str(seed)], stderr=subprocess.PIPE)
        for seed in range(3)
    ]
    for process in running:
        assert process.communicate(timeout=120)[1] == b"" and process.returncode == 0
    assert [each.name for each in tmp_path.iterdir()] == ["m"]


def test_a_drive_that_scripts_may_not_write_is_named_with_what_to_do(monkeypatch):
    def read_only(path, mode):
        raise OSError(errno.EROFS, "Read-only file system")

    model = network()
    disk = Disk("fat")
    disk.open = read_only
    disk.install(monkeypatch, checkpoint)
    with pytest.raises(
        OSError, match="m: scripts may not write this drive: storage.remount.. in boot.py, or odt.slots"
    ) as error:
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
    for at in range(0, 64 + len(model.session.state)):
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

    assert words[:6] == (b"ODTM", 2, zlib.crc32(model.session.plan.code), len(model.session.state), 2, 2)
    assert words[6:15] == (0,) * 9
    assert words[15] == zlib.crc32(data[:60] + data[64:]) and data[64:] == bytes(model.session.state)
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
