"""Windows over samples as they come from a driver, an interrupt or DMA: one writer, one reader, nothing allocated.

The writer fills slots of ``hop`` samples, a queue; the reader moves the window on by a slot and copies one in. So the
writer never touches what is being read, each index is written by one side alone, and a slot counts when it is whole.
Samples that do not fit are lost and counted. They are a gap before the next slot, and the window starts again after it.
"""

from array import array

from ...base import executor
from ...base.primitives import size_of

if 1 - 1:  # for type checkers alone
    from typing import Any, Literal

    from ...run.network import Numbers

_MOST = 0x3FFFFFFF  # the largest integer for which no machine allocates


class _Slice:
    def __getitem__(self, index):
        return index


_ALL = _Slice()[:]  # made once: a slice is an object


def _as_bytes(data):
    """The same memory as bytes; MicroPython's memoryview has no cast."""
    if hasattr(memoryview, "cast"):
        return memoryview(data).cast("B")
    import uctypes

    return memoryview(uctypes.bytearray_at(uctypes.addressof(data), executor.engine.nbytes(data)))


class Window:
    """The last ``length`` samples of ``channels`` numbers each, every ``hop`` samples (None: ``length``).

    ``typecode``: of array, one of "bBhHiIf". ``slots``: hops that wait at most, the one that is being written among
    them; RAM is (length + slots * hop) samples, and a hop more where length is no multiple of hop. ``data`` is the
    window, an array of length * channels numbers, the oldest sample first. ``overruns`` counts samples that were lost;
    ``gap`` those lost between the window before and this one; ``position`` is the number of samples up to the window's
    end, lost ones with them.
    """

    length: "int"
    channels: "int"
    hop: "int"
    slots: "int"
    typecode: "str"
    data: "array[Any]"
    overruns: "int"
    gap: "int"
    position: "int"

    def __init__(
        self,
        length: "int",
        channels: "int" = 1,
        hop: "int | None" = None,
        typecode: "Literal['b', 'B', 'h', 'H', 'i', 'I', 'f']" = "h",
        slots: "int" = 2,
    ) -> None:
        self.length, self.channels = size_of("Window", "length", length), size_of("Window", "channels", channels)
        self.hop = hop = size_of("Window", "hop", self.length if hop is None else hop, self.length)
        self.slots, self.typecode = size_of("Window", "slots", slots, 1024), typecode
        if not isinstance(typecode, str) or len(typecode) != 1 or typecode not in "bBhHiIf":
            raise ValueError("Window: typecode is one of bBhHiIf, got %r" % (typecode,))
        self._item = item = 1 if typecode in "bB" else 2 if typecode in "hH" else 4
        step, count = hop * self.channels, self.length * self.channels
        self._size, self._turns = step * item, 2 * self.slots
        self.data = array(typecode, bytes(count * item))
        self._ring = array(typecode, bytes(self._size * self.slots))
        self._raw = _as_bytes(self._ring)
        whole, view = memoryview(self._ring), memoryview(self.data)
        self._views = [whole[at : at + step] for at in range(0, step * self.slots, step)]
        self._parts = [self._raw[at : at + self._size] for at in range(0, self._size * self.slots, self._size)]
        self._kept, self._old, self._new = view[: count - step], view[step:], view[count - step :]
        # Windows are to end at length, length + hop, ..: the first slot begins with what no window has.
        skipped = -self.length % hop
        self._first, self._full = skipped * self.channels * item, (self.length + skipped) // hop
        # Where slots begin within a push of ``hop`` samples, this is copied whole and from there in two parts.
        self._pushed, self._halves = None, ()
        if skipped:
            self._pushed, cut = memoryview(array(typecode, bytes(self._size))), step - skipped * self.channels
            ends = [view[step - cut :] for view in self._views]
            begins = [view[: step - cut] for view in self._views]
            self._halves = (self._pushed[:cut], ends), (self._pushed[cut:], begins)
        self._lost = array("i", bytes(4 * self.slots))  # samples, before each slot
        self.overruns = self.gap = self.position = 0
        self._head = self._tail = 0  # slots written by the writer, read by the reader, modulo twice the slots
        self._slot = 0  # that _at, _begin and _dropped are of: another than _head where a commit() was interrupted
        self._at = self._begin = self._first
        self._dropped, self._left, self._given = 0, self._full, False
        self._torn, self._following, self._then = False, 0, 0  # see next()
        self._samples = None  # see sample()

    # The writer's

    def push(self, samples: "Numbers") -> "int":
        """Take in whole samples: numbers as an array, memoryview or list; bytes are raw ones.

        Returns how many of them were not lost.

        ``hop`` samples at once, of the window's typecode, are copied in one go or two, others number by number; neither
        allocates. ValueError where they are no whole samples.
        """
        samples = self.flat(samples)
        count, done = len(samples), self.put(samples)
        unit = self.channels * self._item if self._is_raw(samples) else self.channels
        if done < count:
            self._drop((count - done) // unit)
        return done // unit

    def put(self, samples: "Numbers", start: "int" = 0) -> "int":
        """As ``push``, but from index ``start``; returns the index of what did not fit, and loses nothing."""
        if start == 0:
            self.flat(samples)
        count, raw, item = len(samples), self._is_raw(samples), self._item
        self._room()
        views, ring = self._views, self._ring
        if raw:
            views, ring, item = self._parts, self._raw, 1
        sample = self.channels * self._item
        if count * item % sample:
            raise ValueError("push: %d elements are not whole samples of %d" % (count, sample // item))
        if self._at % sample:
            raise ValueError("push: the slot holds a part of a sample, commit() the rest of it")
        if start == 0 and self._halves and self._at == self._first and not raw:
            if count * item == self._size and self._alike(samples, raw):
                return self._put_halves(samples)
        while start < count:
            size = min(self._room() // item, count - start)
            if not size:
                break
            slot = self._head % self.slots
            if size == count and size * item == self._size and self._alike(samples, raw):
                views[slot][_ALL] = samples
            else:
                to = (slot * self._size + self._at) // item
                for k in range(size):
                    ring[to + k] = samples[start + k]
            start += size
            self.commit(size * item)
        return start

    def _put_halves(self, samples):
        self._pushed[_ALL] = samples
        done = 0
        for part, slots in self._halves:
            if not self._room():
                break
            slots[self._head % self.slots][_ALL] = part
            self.commit(len(part) * self._item)
            done += len(part)
        return done

    def flat(self, samples: "Numbers") -> "Numbers":
        """Samples one after the other, of an array (samples, channels), too. ValueError for one of other axes."""
        if len(getattr(samples, "shape", ())) < 2:
            return samples
        from ...run.arrays import rows

        return rows("push: samples", samples, self.channels)

    def slot(self) -> "memoryview | None":
        """What of the slot is to be written, as bytes: for ``readinto``, DMA; None where the reader is late.

        ``commit`` when it is.
        """
        room = self._room()
        slot = self._head % self.slots
        if room == self._size:
            return self._parts[slot]
        end = (slot + 1) * self._size
        return self._raw[end - room : end] if room else None

    def commit(self, count: "int | None" = None) -> None:
        """The next ``count`` bytes of ``slot()`` are written; all of them, where it is None."""
        room = self._room()
        count = room if count is None else count
        if not 0 <= count <= room:
            raise ValueError("commit: %d bytes, the slot has %d" % (count, room))
        if self._at + count < self._size:
            self._at += count
        else:
            self._lost[self._head % self.slots] = self._dropped
            self._head = (self._head + 1) % self._turns  # now it is the reader's
            self._turn()

    def sample(self) -> "memoryview | None":
        """The next sample, as numbers that are to be written; then ``commit`` its bytes. None where the reader is late.

        The first call makes a view of each, 32 bytes a sample of the slots.
        """
        size = self.channels * self._item
        if not self._samples:
            whole, step = memoryview(self._ring), self.channels
            self._samples = [whole[at : at + step] for at in range(0, len(whole), step)]
        room = self._room()
        if self._at % size:
            raise ValueError("sample: the slot holds a part of a sample, commit() the rest of it")
        return self._samples[self._head % self.slots * self.hop + self._at // size] if room else None

    @property
    def begun(self) -> "bool":
        """Whether the slot that is being written holds samples."""
        return self._room() > 0 and self._at != self._begin

    def skip(self, count: "int" = 1) -> None:
        """``count`` samples were lost before they came, as a sensor's FIFO may say: a gap; those of a slot that is not
        whole go with them.
        """
        count = size_of("skip", "count", count, _MOST)
        self._room()
        self._drop(count + (self._at - self._begin) // (self.channels * self._item))

    def _is_raw(self, samples):
        """Whether they are bytes, of numbers of ``typecode``."""
        kind = samples.__class__
        if kind is list or kind is tuple:
            return False
        if self._item == 1:
            return kind is bytes or kind is bytearray
        return executor.engine.nbytes(samples) == len(samples)

    def _alike(self, samples, raw):
        """Whether they can be copied as they are."""
        kind = samples.__class__
        if kind is list or kind is tuple:
            return False
        return executor.engine.typecode(samples) == ("B" if raw else self.typecode)

    def _room(self):
        """Bytes of the slot that is being written; 0 where the reader has not read what it holds."""
        if self._slot != self._head:
            self._turn()
        return 0 if (self._head - self._tail) % self._turns == self.slots else self._size - self._at

    def _turn(self):
        """Begin the slot at the head."""
        self._dropped = self._at = self._begin = 0
        self._slot = self._head

    def _drop(self, count):
        self._dropped = min(self._dropped + count, _MOST)
        self.overruns = min(self.overruns + count, _MOST)
        self._at = self._begin = self._first

    # The reader's

    def next(self) -> "array[Any] | None":
        """``data`` with the next window in it, until ``next`` is called again; None where none is whole yet."""
        if self._torn:  # what has moved on was interrupted: the window starts again
            if self._tail == self._following:
                self.position = self._then
            self._left = self._full
            self._torn = False
        if self._given:
            self.gap = 0
            self._given = False
        for _ in range((self._head - self._tail) % self._turns):  # not those that come meanwhile: it is to end
            slot = self._tail % self.slots
            lost = self._lost[slot]
            left = self._full if lost else self._left
            self._then = self.position + lost + self.hop
            if left == self._full:
                self._then -= self._first // (self.channels * self._item)
            self._following = (self._tail + 1) % self._turns
            self._torn = True
            if self.hop < self.length:
                self._kept[_ALL] = self._old
            self._new[_ALL] = self._views[slot]
            self._tail = self._following
            self.position = self._then
            self.gap += lost
            self._left = left - 1 or 1
            self._given = left == 1
            self._torn = False
            if left == 1:
                return self.data
        return None

    def __repr__(self):
        slots = self.slots + (self._pushed is not None)
        return "Window(%d, %d, %d, %r): %d bytes, %d samples lost" % (
            self.length, self.channels, self.hop, self.typecode,
            self.length * self.channels * self._item + self._size * slots, self.overruns)  # fmt: skip
