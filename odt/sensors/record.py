"""Recordings of a sensor with their labels, in a file that ``fit`` and NumPy read.

    from odt.sensors import Recorder
    from odt.sensors import Window

    recorder = Recorder("gestures.npy", Window(50, 3, hop=25), rate=50, budget=60000, classes=4)
    recorder.capture("wave", 5, sensor)      # from the REPL: the next five windows
    recorder.add(x, "rest")                  # or a window that is at hand
    model.fit(recorder.reader(batch_size=8), epochs=20)
    for x, label in recorder:
        teacher.learn(x, label)

An .npy file of records: y, the label's number in the order in which they came, label, its name, and x. Records are
appended; np.load() sees those that were there at the last close(), which writes their number into the header.
"""

import os
import struct
import time
from array import array

from ..base import executor
from ..base.primitives import size_of
from ..files.checkpoint import path_of, settle, write_file

if 1 - 1:  # for type checkers alone
    from collections.abc import Iterator
    from os import PathLike
    from typing import Any

    from ..data.readers import RawReader
    from .stream.window import Window

_HEAD = 192  # bytes before the first record
_NAME = 19  # bytes of a label at most
_BEFORE = 1 + _NAME  # y and label
_PIECE = 512  # bytes that are copied at a time
_DESCR = {"b": "|i1", "B": "|u1", "h": "<i2", "H": "<u2", "i": "<i4", "I": "<u4", "f": "<f4"}
_FIRST = 55  # bytes that the headers of all files have in common
_DTYPES = {"b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "f": "float32"}  # fit's


class Recorder:
    """Windows as of ``window`` (odt.sensors.Window) and their labels, appended to the file ``path``, which goes on if
    it is there.

    ``rate``: samples a second, kept in the file, or None. ``budget``: the file's bytes at most. ``classes``: None, or
    the number of labels, each of which has an equal part of it. ``labels``: the names, in the order of their numbers.
    ValueError for a file of other windows, of another rate, or a damaged one. A record takes 20 bytes and the
    window's.
    """

    path: "str"
    window: "Window"
    rate: "int | None"
    classes: "int | None"
    record: "int"
    each: "int"

    def __init__(
        self,
        path: "str | PathLike[str]",
        window: "Window",
        rate: "int | None" = None,
        budget: "int" = 65536,
        classes: "int | None" = None,
    ) -> None:
        self.path, self.window = path_of(path), window
        if not isinstance(self.path, str):
            raise TypeError("Recorder: a file's name is expected, got %r" % (path,))
        self.rate = None if rate is None else size_of("Recorder", "rate", rate, 1000000)
        self.classes = None if classes is None else size_of("Recorder", "classes", classes, 255)
        size = executor.engine.nbytes(window.data)
        self.record = _BEFORE + size
        self.each = (size_of("Recorder", "budget", budget) - _HEAD) // self.record // (self.classes or 1)
        if self.each < 1:
            raise ValueError("Recorder: budget %d: a header of %d bytes and %d records of %d take %d" % (
                budget, _HEAD, self.classes or 1, self.record, _HEAD + (self.classes or 1) * self.record))  # fmt: skip
        settle(self.path, self._is_whole)
        try:
            found = self._scan(self.path)
        except OSError as error:
            if error.errno != 2:  # ENOENT
                raise
            found = None
        if found is None:
            write_file(self.path, [self._head(0)], self._is_whole)
            found = self.rate, [], [], 0
        else:
            try:
                self._scan(self.path + ".new")  # left by an interrupted remove(): it must not replace this file later
                os.remove(self.path + ".new")
            except (OSError, ValueError):
                pass
        self.rate = found[0]
        self._known = found[1:3]  # labels, and how many records each has: they change together

    @property
    def labels(self) -> "list[str]":
        """The names, in the order of their numbers."""
        return self._known[0]

    def __len__(self) -> "int":
        return sum(self._known[1])

    def count(self, label: "str") -> "int":
        """The records of a label."""
        labels, counts = self._known
        return counts[labels.index(label)] if label in labels else 0

    def add(self, x: "array[Any] | memoryview", label: "str") -> "bool":
        """Append a window's numbers, as ``window.next()`` gives them.

        False, and nothing is written, where the label's part is full.

        On the flash when it returns. ValueError for another length or typecode, NaN, a label too long or too many;
        OSError for a file that cannot be written. Then the file holds what it held. Where it is interrupted, the record
        is there or not.
        """
        name = _name(label)
        self._check(x)
        new = label not in self.labels
        if new and len(self.labels) == (self.classes or 255):
            raise ValueError("add: %r is a label more than %d: %r" % (label, len(self.labels), self.labels))
        number = len(self.labels) if new else self.labels.index(label)
        if (self.count(label) if self.classes else len(self)) >= self.each:
            return False
        labels, counts = self._known
        if new:
            labels, counts = labels + [label], counts + [0]
        counts = [count + (k == number) for k, count in enumerate(counts)]
        try:
            with open(self.path, "r+b") as file:
                at = _HEAD + len(self) * self.record  # where an interrupted one may have begun
                file.seek(at)
                file.write(struct.pack("BB18s", number, 0, name[1:]))
                file.write(x)
                _sync(file)
                file.seek(at + 1)  # last, a single byte: a record without a label is none
                file.write(name[:1])
                _sync(file)
            self._known = labels, counts
        except BaseException:
            self._look()
            raise
        return True

    def capture(
        self, label: "str", count: "int" = 1, source: "Any" = None, pause: "float" = 0.01, patience: "int" = 500
    ) -> "int":
        """Wait for the next ``count`` windows and add them: how many were, fewer where the label's part is full or the
        source has ended.

        ``source``: what has ``readinto``, as ``Stream.listen`` takes, or None where an interrupt feeds the window; then
        what began before this call is left out. OSError where nothing comes ``patience`` times in a row, ``pause``
        seconds apart.
        """
        _name(label)
        window = self.window
        rate = getattr(source, "rate", None)
        if self.rate and rate and rate != self.rate:
            raise ValueError("capture: the source has %r samples a second, the file %d" % (rate, self.rate))
        while window.next() is not None:
            pass
        begun = not source or window.begun  # a hop that has samples of before
        first = window.position + (window.hop if begun else 0) + window.length
        done = empty = 0
        while done < size_of("capture", "count", count):
            x = window.next()
            if x is not None:
                if window.position >= first:
                    if not self.add(x, label):
                        break
                    done += 1
                empty = 0
                continue
            got = source.readinto(window.slot()) if source else None
            if got:
                window.commit(got)
                empty = 0
                continue
            if getattr(source, "ended", False):
                break
            empty += 1
            if empty == patience:
                raise OSError(
                    "capture: nothing came %d times in a row; %d of %d windows were added" % (empty, done, count)
                )
            time.sleep(pause)
        return done

    def remove(self, number: "int" = -1) -> None:
        """Take away a record by its number, from the end if negative: a take that went wrong.

        The file is rewritten.
        """
        count = len(self)
        if not -count <= number < count:
            raise IndexError("remove: record %r of %d" % (number, count))
        self._rewrite(lambda k, y: k != number % count)

    def forget(self, label: "str") -> None:
        """Take away all records of a label, and its name. The file is rewritten, beside the old one."""
        if label not in self.labels:
            raise KeyError("forget: no label %r, there are %r" % (label, self.labels))
        labels = self.labels
        self._rewrite(lambda k, y: labels[y] != label)

    def close(self) -> None:
        """Write the number of records into the header, which np.load() goes by. add() may follow."""
        with open(self.path, "r+b") as file:
            file.write(self._head(len(self)))

    def reader(self, batch_size: "int", block: "int" = 1) -> "RawReader":
        """The records as they are now for ``fit``, ``evaluate`` and ``metrics``: an odt.data.RawReader of x and the
        labels' numbers.
        """
        from ..data.readers import Column, RawReader

        window = self.window
        code = window.typecode
        if code not in _DTYPES:
            raise ValueError("reader: fit takes no numbers of typecode %r" % code)
        if not len(self):
            raise ValueError("reader: %s has no record" % self.path)
        row = window.length * window.channels
        x = Column(self.path, _DTYPES[code], row, _HEAD + _BEFORE, self.record, len(self))
        x.shape = window.length, window.channels
        return RawReader(x, Column(self.path, "uint8", 1, _HEAD, self.record, len(self)), batch_size, block)

    def __iter__(self) -> "Iterator[tuple[array[Any], str]]":
        """(x, label) of each record in their order, as a Teacher of odt.continual.teach learns them; x is an array that
        the next one overwrites.
        """
        x = array(self.window.typecode, bytes(self.record - _BEFORE))
        with open(self.path, "rb") as file:
            for k in range(len(self)):
                file.seek(_HEAD + k * self.record)
                number = file.read(_BEFORE)[0]
                if file.readinto(x) != self.record - _BEFORE:
                    raise OSError(5, "%s ends within record %d" % (self.path, k))
                yield x, self.labels[number]

    def __repr__(self):
        counts = ["%s %d" % (label, self.count(label)) for label in self.labels]
        return "Recorder(%r: %s; %s %d)" % (
            self.path, ", ".join(counts) or "no record", "each label at most" if self.classes else "at most",
            self.each)  # fmt: skip

    def _head(self, count):
        """The header of ``count`` records (format: numpy.lib.format)."""
        text = self._kind(self.rate) + "'shape': (%d,), }" % count
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", _HEAD - 10) + ("%-181s\n" % text).encode()

    def _kind(self, rate):
        name = "'x'" if rate is None else "('%d Hz', 'x')" % rate  # NumPy's title of a field
        return "{'descr': [('y', '|u1'), ('label', '|S%d'), (%s, '%s', (%d, %d))], 'fortran_order': False, " % (
            _NAME, name, _DESCR[self.window.typecode], self.window.length, self.window.channels)  # fmt: skip

    def _is_whole(self, name):
        """Whether a file was rewritten completely: its header says how many records it has."""
        try:
            found = self._scan(name)
            return found is not None and found[3] == sum(found[2])
        except (OSError, ValueError):
            return False

    def _look(self):
        """Take over what the file holds, where what has changed it was interrupted."""
        try:
            found = self._scan(self.path)
            self._known = found[1:3] if found else ([], [])
        except (OSError, ValueError):
            pass

    def _scan(self, name):
        """(rate, labels, their counts, the header's number of records) of a file; None where it ends within its first
        header.
        """
        with open(name, "rb") as file:
            return self._read(file)

    def _read(self, file):
        head = file.read(_HEAD)
        if not head.strip(b"\0") and not file.read(1):
            return None
        if len(head) < _HEAD and head[:_FIRST] == self._head(0)[: min(len(head), _FIRST)]:
            return None
        try:
            kind = head[10:].decode().partition("'shape'")[0]
        except ValueError:
            kind = ""
        rate = self.rate
        if rate is None and "(('" in kind:
            rate = kind.partition("(('")[2].partition(" ")[0]
            rate = int(rate) if rate.isdigit() else None
        if head[:6] != b"\x93NUMPY" or len(head) < _HEAD or not kind:
            raise ValueError("%s is no file of recordings" % self.path)
        if kind != self._kind(rate):
            raise ValueError(
                "%s holds other recordings: %s, expected %s" % (self.path, _what(kind), _what(self._kind(rate)))
            )
        labels, counts = [], []
        count = (file.seek(0, 2) - _HEAD) // self.record
        for k in range(count):
            file.seek(_HEAD + k * self.record)
            y, label = struct.unpack("B19s", file.read(_BEFORE))
            if k == count - 1 and not label[0]:
                break  # its bytes were lost with the power
            try:
                label = label.rstrip(b"\0").decode()
            except ValueError:
                label = ""
            if label and y == len(labels) and label not in labels:
                labels.append(label)
                counts.append(0)
            if not label or y >= len(labels) or labels[y] != label:
                raise ValueError("%s: record %d is damaged: number %d, label %r" % (self.path, k, y, label))
            counts[y] += 1
        if self.classes and len(labels) > self.classes:
            raise ValueError("%s has %d labels, expected at most %d" % (self.path, len(labels), self.classes))
        number = head.rpartition(b"(")[2].partition(b",")[0]
        return rate, labels, counts, int(number) if number.isdigit() else -1

    def _check(self, x):
        engine, window = executor.engine, self.window
        if len(getattr(x, "shape", ())) > 1:
            from ..run.arrays import one_sample

            one_sample("add: x", x, (window.length, window.channels))
        try:
            code, size = engine.typecode(x), engine.nbytes(x)
        except Exception as error:
            if type(error).__name__ not in ("TypeError", "ValueError", "BufferError"):  # boards have no BufferError
                raise
            code, size = type(x).__name__, 0
        if code != window.typecode or size != self.record - _BEFORE:
            raise ValueError("add: a window is %d x %d numbers of typecode %r, got %d bytes of %r" % (
                window.length, window.channels, window.typecode, size, code))  # fmt: skip
        if code == "f":
            at = engine.find_nonfinite(x)
            if at >= 0:
                raise ValueError("add: number %d of the window is not finite" % at)

    def _rewrite(self, keep):
        """Rewrite the file with the records for which keep(number, y) is true."""
        labels, counts, kept = [], [], []
        with open(self.path, "rb") as file:
            for k in range(len(self)):
                file.seek(_HEAD + k * self.record)
                y = file.read(1)[0]
                if keep(k, y):
                    label = self.labels[y]
                    if label not in labels:
                        labels.append(label)
                        counts.append(0)
                    y = labels.index(label)
                    counts[y] += 1
                    kept.append((k, y))
        try:
            write_file(self.path, self._parts(kept), self._is_whole)
            self._known = labels, counts
        except BaseException:
            self._look()
            raise

    def _parts(self, kept):
        """The bytes of a file of these records, (number, y) each. The old one is closed before the last are taken."""
        yield self._head(len(kept))
        with open(self.path, "rb") as file:
            for k, y in kept:
                file.seek(_HEAD + k * self.record + 1)
                yield bytes([y])
                left = self.record - 1
                while left:
                    piece = file.read(min(left, _PIECE))
                    if not piece:
                        raise OSError(5, "%s ends within record %d" % (self.path, k))
                    left -= len(piece)
                    yield piece


def _sync(file):
    """To the disk of a PC; a board's file systems write in order, and what closes there is written."""
    if hasattr(os, "fsync"):
        file.flush()
        os.fsync(file.fileno())


def _name(label):
    """The bytes of a label."""
    if not isinstance(label, str):
        raise TypeError("label: a text is expected, got %r" % (label,))
    name = label.encode()
    if not 0 < len(name) <= _NAME or "\0" in label:
        raise ValueError("label: a text of 1 to %d bytes is expected, got %r" % (_NAME, label))
    return name


def _what(kind):
    """What a header says of x."""
    return kind.partition("('label'")[2].partition("), (")[2].partition(")]")[0]
