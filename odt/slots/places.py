"""Checkpoints where there is no file system that can be written: two slots, written in turn.

    from odt.slots import Blocks, Bytes

    place = Blocks(rp2.Flash(start=0x180000, len=0x20000))     # or any block device
    place = Bytes(microcontroller.nvm)                         # CircuitPython

    model.save(place)
    model.load(place)

Each half of the place is a slot. A checkpoint goes over the older one, its header last; the one with
the higher sequence number whose CRC holds is the newest. docs/reference/checkpoint.md says the rest.
"""

from ..base.primitives import count_of
from ..files.checkpoint import HEADER, check

if 1 - 1:  # for type checkers alone
    from typing import Any

_STEP = 256  # bytes that are written into a region at a time


class _Slots:
    """What both places share. A place has ``size``, the bytes of a slot, ``get(at, count)`` and ``put``."""

    _sequence = None  # of the newest slot, once it is known

    def write(self, engine, header, state):
        """Write header(sequence) and the state over the older slot, and read it back."""
        needed = HEADER + len(state)
        if needed > self.size:
            raise ValueError("%r: a checkpoint of %d bytes, a slot has %d" % (self, needed, self.size))
        slots = (0, 1)
        if self._sequence is not None or len(self._find(engine)) < 2:
            slots = (1 - self._newest,)  # never over the one that is whole
        sequence = (self._sequence + 1) & 0xFFFFFFFF
        self._sequence = None  # not known while it is written
        for slot in slots:
            try:
                self.put(slot * self.size, header(sequence), state)
                if check(_Slot(self, slot), repr(self), engine)[10] != sequence:
                    raise ValueError("the old one is there")
                self._sequence, self._newest = sequence, slot
                return
            except (ValueError, OSError) as error:
                failure = error
        raise OSError(5, "%r: slot %d could not be written, or not so read back: %s" % (self, slot, failure))

    def read(self, engine):
        """The newest whole checkpoint, as a file; ValueError if there is none."""
        errors = self._find(engine)
        if len(errors) == 2:
            raise ValueError("%r holds no whole checkpoint: %s; %s" % (self, errors[0], errors[1]))
        return _Slot(self, self._newest)

    def _find(self, engine):
        """Note the newest slot and its sequence number; returns what is wrong with slots."""
        errors = []
        self._sequence, self._newest = 0, 1
        for slot in (0, 1):
            try:
                sequence = check(_Slot(self, slot), "slot %d" % slot, engine)[10]
            except ValueError as error:
                errors.append(str(error))
                continue
            except OSError as error:  # of one block: the other slot may be whole
                errors.append("slot %d: %s" % (slot, error))
                continue
            if len(errors) == slot or 0 < (sequence - self._sequence) & 0xFFFFFFFF < 1 << 31:
                self._sequence, self._newest = sequence, slot
        return errors


class _Slot:
    """A slot read as a file."""

    def __init__(self, place, slot):
        self.place = place
        self.start = slot * place.size
        self.at = 0

    def read(self, count):
        data = self.place.get(self.start + self.at, min(count, self.place.size - self.at))
        self.at += len(data)
        return data

    def seek(self, at):
        self.at = at

    def close(self):
        pass


class Blocks(_Slots):
    """Slots on a block device: readblocks, writeblocks and ioctl as in MicroPython's ``vfs.AbstractBlockDev``.

    Takes one block of RAM while it reads or writes.
    """

    def __init__(self, device: "Any") -> None:
        for name in ("readblocks", "writeblocks", "ioctl"):
            if not hasattr(device, name):
                raise TypeError("Blocks: a block device is expected, %r has no %s" % (device, name))
        self.device = device
        self.block = device.ioctl(5, 0) or 512
        count = device.ioctl(4, 0)
        if count < 2 or self.block < HEADER:
            raise ValueError("Blocks: %d blocks of %d bytes, expected 2 of at least %d" % (count, self.block, HEADER))
        self.size = count // 2 * self.block

    def __repr__(self):
        return "Blocks(%r)" % (self.device,)

    def get(self, at, count):
        inside = at % self.block
        buffer = bytearray(self.block)
        _done(self.device.readblocks(at // self.block, buffer))
        return bytes(memoryview(buffer)[inside : min(inside + count, self.block)])

    def put(self, at, header, state):
        buffer = bytearray(self.block)
        first = at // self.block
        used = (len(header) + len(state) + self.block - 1) // self.block
        view = memoryview(state)
        for block in range(used - 1, -1, -1):
            if block == 0:
                part = view[: self.block - len(header)]
                buffer[: len(header)] = header
                buffer[len(header) : len(header) + len(part)] = part
            else:
                begin = block * self.block - len(header)
                part = view[begin : begin + self.block]
                buffer[: len(part)] = part
            _done(self.device.writeblocks(first + block, buffer))
        _done(self.device.ioctl(3, 0))  # before the older one, which this one follows, is written over


def _done(result):
    """OSError for what a device returns, and does not raise."""
    if result:
        raise OSError(5, "the device returned %r" % (result,))


class Bytes(_Slots):
    """Slots in a region of bytes that keeps what is written: CircuitPython's ``microcontroller.nvm``, FRAM, ..

    Power failures are survived where the halves do not share a page that is erased to be written.
    """

    def __init__(self, region: "Any") -> None:
        if isinstance(region, (bytes, str, list, tuple)) or count_of(region) is None:
            raise TypeError("Bytes: a region that can be written is expected, got %r" % (type(region),))
        self.region = region
        self.size = len(region) // 2
        if self.size <= HEADER:
            raise ValueError("Bytes: a region of %d bytes, expected more than %d" % (len(region), 2 * HEADER))

    def __repr__(self):
        return "Bytes(of %d)" % len(self.region)

    def get(self, at, count):
        return bytes(self.region[at : at + count])

    def put(self, at, header, state):
        view = memoryview(state)
        for begin in range(0, len(state), _STEP):
            part = bytes(view[begin : begin + _STEP])
            place = at + len(header) + begin
            self.region[place : place + len(part)] = part
        self.region[at : at + len(header)] = header
