"""Files that play a sensor: sources for ``Stream.listen``, with ``readinto``, ``channels``, ``typecode``, and ``ended`` after the last sample."""

from struct import pack_into, unpack_from


class WavSource:
    """The samples of a WAV file: PCM of 8, 16 or 32 bits, float of 32. ``rate`` in Hz; where it is given, the file is to have it.

    ValueError for what is no such file.
    """

    ended = False

    def __init__(self, path, rate=None):
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
        self.typecode = None
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
        self.left = size

    def _read(self, count):
        found = self.file.read(count)
        if len(found) < count:
            raise ValueError("%s: it ends within its header" % self.path)
        return found

    def readinto(self, buffer):
        """As a file's: the number of bytes, 0 at the end."""
        if len(buffer) > self.left:
            buffer = memoryview(buffer)[: self.left]
        count = self.file.readinto(buffer) if self.left else 0
        self.left -= count
        self.ended = not count
        return count

    def close(self):
        self.file.close()


class CsvSource:
    """The lines of a text file, a sample each; a first line that is not of numbers is the heading.

    ``typecode``: of array; ints that do not fit it are a ValueError, that names the line. ``columns``: which of a line, in this order, from
    the end if negative; None: all.
    """

    ended = False

    def __init__(self, path, typecode="h", columns=None, separator=","):
        self.typecode, self.columns, self.separator, self.path = typecode, columns, separator, path
        self.file, self.line, self.channels, self._next = open(path), 0, 0, None
        try:
            self._next = self._take()
            self.channels = len(self._next) if self._next else 0
            if not self.channels:
                raise ValueError("%s: no line of numbers" % path)
        except ValueError:
            self.file.close()
            raise

    def _take(self):
        """The next sample, None at the end."""
        while True:
            text = self.file.readline()
            self.line += 1
            if not text:
                return None
            if not text.strip():
                continue
            words = text.strip().split(self.separator)
            columns, found = range(len(words)) if self.columns is None else self.columns, []
            for column in columns:
                try:
                    found.append(self._number(words[column]))
                except (ValueError, IndexError):
                    if self.line == 1:
                        break
                    raise ValueError("%s: line %d, column %d is no number of typecode %r: %r" % (
                        self.path, self.line, column, self.typecode, text.strip()))  # fmt: skip
            if len(found) < len(columns):  # the heading
                continue
            if self.channels and len(found) != self.channels:
                raise ValueError(
                    "%s: line %d has %d columns, expected %d" % (self.path, self.line, len(found), self.channels)
                )
            return found

    def _number(self, word):
        """The number's bits."""
        code = self.typecode
        if code == "f":
            from ..readers import parse

            return parse(word)
        bits = 8 if code in "bB" else 16 if code in "hH" else 32
        least = -(1 << bits - 1) if code in "bhi" else 0
        value = int(word)
        if not 0 <= value - least < 1 << bits:
            raise ValueError
        return value

    def readinto(self, buffer):
        """Whole samples into a buffer: the number of bytes, 0 at the end."""
        code = "<I" if self.typecode == "f" else "<" + self.typecode
        size = 1 if self.typecode in "bB" else 2 if self.typecode in "hH" else 4
        at = 0
        while self._next and at + size * self.channels <= len(buffer):
            for value in self._next:
                pack_into(code, buffer, at, value)
                at += size
            self._next = None
            self._next = self._take()
        self.ended = not at
        return at

    def close(self):
        self.file.close()
