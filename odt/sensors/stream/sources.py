"""Files that play a sensor: sources for ``Stream.listen``, with ``readinto``, ``channels``, ``typecode``, and ``ended``
after the last sample.
"""

from struct import pack_into, unpack_from

from ...base.fixed import is_int, is_number, own

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from typing import Any


class WavSource:
    """The samples of a WAV file: PCM of 8, 16 or 32 bits, float of 32.

    ``rate`` in Hz; where it is given, the file is to have it.

    ValueError for what is no such file.
    """

    channels: "int"
    typecode: "str"
    rate: "int"

    ended: "bool" = False

    def __init__(self, path: "str", rate: "int | None" = None) -> None:
        self.file, self.path = open(path, "rb"), path
        try:
            self._open(rate)
        except ValueError:
            self.file.close()
            raise

    def _open(self, rate):
        head = self._read(12)
        if head[:4] != b"RIFF" or head[8:] != b"WAVE":
            raise ValueError("%s is no WAV file" % self.path)
        self.typecode, whole = None, unpack_from("<I", head, 4)[0]
        while True:
            kind, size = unpack_from("<4sI", self._read(8))
            if kind == b"data":
                break
            body = self._read(min(size, 40))
            if kind == b"fmt ":
                if len(body) < 16:
                    raise ValueError("%s: its format has %d bytes" % (self.path, len(body)))
                code, self.channels, self.rate, _, _, bits = unpack_from("<HHIIHH", body)
                if code == 0xFFFE and len(body) > 25:  # the extensible format, which says it further on
                    code = unpack_from("<H", body, 24)[0]
                self.typecode = {(1, 8): "B", (1, 16): "h", (1, 32): "i", (3, 32): "f"}.get((code, bits))
                if not self.typecode or not self.channels:
                    raise ValueError("%s: format %d of %d bits, expected PCM of 8, 16 or 32, or float of 32" % (
                        self.path, code, bits))  # fmt: skip
            self.file.seek(size - len(body) + size % 2, 1)
        if not self.typecode:
            raise ValueError("%s: data before its format" % self.path)
        if rate not in (None, self.rate):
            raise ValueError("%s: %d samples a second, expected %r" % (self.path, self.rate, rate))
        begin = self.file.seek(0, 1)
        end = self.file.seek(0, 2)
        self.file.seek(begin)
        if (
            size == 0xFFFFFFFF or size == 0 and whole != end - 8
        ):  # of a writer that could not go back to say it: up to the end
            size = end - begin
        self.left = size

    def _read(self, count):
        found = self.file.read(count)
        if len(found) < count:
            raise ValueError("%s: it ends within its header" % self.path)
        return found

    def readinto(self, buffer: "Any") -> "int":
        """As a file's: the number of bytes, 0 at the end."""
        if len(buffer) > self.left:
            buffer = memoryview(buffer)[: self.left]
        count = self.file.readinto(buffer) if self.left else 0
        self.left -= count
        self.ended = not count
        return count

    def close(self) -> None:
        self.file.close()


class CsvSource:
    """The lines of a text file, a sample each.

    ``typecode``: of array; what does not fit it is a ValueError, that names the line. ``columns``: which of a line, in
    this order, from the end if negative; None: all. ``scale``: each number times that, rounded where ``typecode`` is of
    ints; None: they are whole numbers. ``separator``, ``decimal`` and the heading: as of odt.data.CsvReader; columns in
    use are ``columns``.
    """

    channels: "int"
    typecode: "str"

    ended: "bool" = False

    def __init__(
        self,
        path: "str",
        typecode: "str" = "h",
        columns: "Sequence[int] | None" = None,
        separator: "str | None" = ",",
        scale: "float | None" = None,
        decimal: "str" = ".",
    ) -> None:
        from ...data.csv import Lines, number

        if not isinstance(typecode, str) or len(typecode) != 1 or typecode not in "bBhHiIf":
            raise ValueError("%s: typecode is one of bBhHiIf, got %r" % (path, typecode))
        scale = own(scale)
        if scale is not None and not is_number(scale):
            raise TypeError("%s: scale is a number, got %r" % (path, scale))
        for column in columns or ():
            if not is_int(column):
                raise TypeError("%s: columns are ints, from 0, got %r" % (path, column))
        self.typecode, self.columns, self.path, self.channels = typecode, columns, path, 0
        self._scale = None if scale is None else number(repr(scale))
        self._error, self._lines = None, Lines(path, separator, decimal)
        try:
            words = self._lines.first(self._used)
            self._next = self._sample(words) if words else None
            if not self._next:
                raise ValueError("%s: no line of numbers" % path)
            self.channels = len(self._next)
        except ValueError:
            self.close()
            raise

    def _used(self, columns):
        """The columns of a line that belong to a sample, given their number."""
        return [c for c in (range(columns) if self.columns is None else self.columns) if -columns <= c < columns]

    def _sample(self, words):
        """The bits of a line's numbers."""
        lines, found = self._lines, []
        for column in range(len(words)) if self.columns is None else self.columns:
            if not -len(words) <= column < len(words):
                raise ValueError("%s: line %d, column %d: it has %d columns" % (
                    self.path, lines.count(), column, len(words)))  # fmt: skip
            hint = ""
            try:
                value = self._number(words[column])
                if value is None:
                    hint = ': give scale=, as 1000, or typecode="f"'
            except ValueError:
                value = None
            if value is None:
                lines.refuse(column, words[column], "number of typecode %r" % self.typecode, hint)
            found.append(value)
        return found

    def _number(self, word):
        """The number's bits; None for a fraction that no scale makes whole."""
        from ...data.csv import float32, whole

        code, scale = self.typecode, self._scale
        sign, value, exponent = self._lines.number_of(word)
        if scale:
            sign, value, exponent = sign ^ scale[0], value * scale[1], exponent + scale[2]
        if code == "f":
            return float32(sign, value, exponent)
        value, exact = whole(sign, value, exponent)
        bits = 8 if code in "bB" else 16 if code in "hH" else 32
        least = -(1 << bits - 1) if code in "bhi" else 0
        if not 0 <= value - least < 1 << bits:
            raise ValueError
        return value if exact or scale else None

    def readinto(self, buffer: "Any") -> "int":
        """Whole samples into a buffer: the number of bytes, 0 at the end.

        After a bad line the next call goes on with the one after it.
        """
        code = "<I" if self.typecode == "f" else "<" + self.typecode
        size = 1 if self.typecode in "bB" else 2 if self.typecode in "hH" else 4
        at = 0
        try:
            error, self._error = self._error, None
            if error:
                raise error
            while at + size * self.channels <= len(buffer):
                found, self._next = self._next, None
                if found is None:
                    words = self._lines.words()
                    if words is None:
                        break
                    found = self._sample(words)
                for value in found:
                    pack_into(code, buffer, at, value)
                    at += size
        except ValueError as error:
            if not at:
                raise
            self._error = error  # of the next call: what came before it is good
        self.ended = not at
        return at

    def close(self) -> None:
        self._lines.close()
