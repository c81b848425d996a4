"""Data that does not fit into RAM, read a batch at a time into buffers that stay the same.

    from odt.data import NpyReader

    train = NpyReader("x.npy", "y.npy", batch_size=16)
    model.fit(train, epochs=10)

A reader can be iterated again and again, for pairs (x, y) that ``fit``, ``evaluate`` and ``metrics`` take.
``fit(shuffle=True)`` reads the samples in the order in which it would take them from arrays, and ends
with the same bits; ``block`` keeps that number of neighbours together, which saves seeking. A reader's RAM
depends on the batch, never on the file.
"""

from array import array
from struct import pack_into, unpack_from

from ..base.fixed import elements, is_int, own
from ..base.primitives import count_of, order
from .csv import Lines, float32, parse, text, whole  # noqa: F401 (parse is from here, too)

if 1 - 1:  # for type checkers alone
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from typing import Any

    from ..run.network import Data, Numbers

_CODES = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "float32": "f"}
SIZES = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "float32": 4}
_WIDE = {"int64": "int32", "float64": "float32"}  # what they become as they are read
_DESCR = {
    "i1": "int8", "u1": "uint8", "b1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "i8": "int64",
    "f4": "float32", "f8": "float64",
}  # fmt: skip


class Column:
    """Where in a binary file samples lie: sample i is ``row`` elements at ``offset + i * stride``.

    ``stride`` is the bytes of a sample unless given: records of a label and data are two columns of a file.
    ``samples``: their number, if it is not all up to the file's end.
    "float64" and "int64", what NumPy makes when it is not asked, are read as float32 (to nearest) and int32,
    number by number in Python: a board is faster with a file of ``astype("float32")``.
    """

    shape = ()  # of a sample, where the file says it

    def __init__(
        self,
        path: "str",
        dtype: "str",
        row: "int" = 1,
        offset: "int" = 0,
        stride: "int | None" = None,
        samples: "int | None" = None,
    ) -> None:
        self.wide = dtype if dtype in _WIDE else None
        dtype = _WIDE.get(dtype, dtype)
        if dtype not in _CODES:
            raise ValueError("%s: dtype is one of %s, got %r" % (path, _expected(), dtype))
        for name, value, least in (("row", row, 1), ("offset", offset, 0)):
            if not is_int(value) or value < least:
                raise ValueError("%s: %s is an int above %d, got %r" % (path, name, least - 1, value))
        self.bytes = row * (8 if self.wide else SIZES[dtype])
        self.stride = self.bytes if stride is None else stride
        if not is_int(self.stride) or self.stride < self.bytes:
            raise ValueError("%s: stride is an int of at least %d bytes, got %r" % (path, self.bytes, stride))
        self.path, self.dtype, self.row, self.offset = path, dtype, row, offset
        with open(path, "rb") as file:
            size = file.seek(0, 2) - offset
        self.samples = (size + self.stride - self.bytes) // self.stride if size > 0 else 0
        if self.samples < 1:
            raise ValueError("%s: %d bytes hold no sample of %d at offset %d" % (
                path, size + offset, self.bytes, offset))  # fmt: skip
        if samples is not None:
            if not is_int(samples) or not 1 <= samples <= self.samples:
                raise ValueError("%s: samples is in 1..%d, got %r" % (path, self.samples, samples))
            self.samples = samples


def _expected():
    return ", ".join(sorted(_CODES) + sorted(_WIDE))


def _npy(path):
    """The Column of an .npy file (format: numpy.lib.format)."""
    with open(path, "rb") as file:
        magic = file.read(8)
        if len(magic) < 8 or magic[:6] != b"\x93NUMPY":
            raise ValueError("%s is not an .npy file" % path)
        wide = 4 if magic[6] > 1 else 2
        size = 0
        for shift, byte in enumerate(file.read(wide)):
            size |= byte << 8 * shift
        if size > 4096:
            raise ValueError("%s: a header of %d bytes" % (path, size))
        header = file.read(size)
    try:
        header = header.decode()
    except ValueError:
        raise ValueError("%s: its header is no text" % path)
    if "'descr': [" in header:
        raise ValueError("%s: records of fields, from byte %d on: RawReader(Column(..), ..) reads one" % (
            path, 8 + wide + size))  # fmt: skip
    descr = _entry(path, header, "descr", "'", "'")
    if descr[:1] == ">" or descr[1:] not in _DESCR:
        raise ValueError("%s: dtype %s, expected little-endian %s: convert it with astype()" % (
            path, descr, _expected()))  # fmt: skip
    if "True" in header[header.rfind("'fortran_order'") :][:25]:
        raise ValueError("%s: in Fortran order, C order is expected" % path)
    shape = _entry(path, header, "shape", "(", ")")
    try:
        shape = [int(extent) for extent in shape.split(",") if extent.strip()]
    except ValueError:
        raise ValueError("%s: no shape: %r" % (path, shape))
    if not shape or min(shape) < 1:
        raise ValueError("%s: shape %s holds no sample" % (path, tuple(shape)))
    row = elements(shape[1:])
    column = Column(path, _DESCR[descr[1:]], row, 8 + wide + size)
    if column.samples < shape[0]:
        raise ValueError("%s: shape %s, but only %d samples follow" % (path, tuple(shape), column.samples))
    column.samples, column.shape = shape[0], shape[1:]
    return column


def _entry(path, header, name, opening, closing):
    """What the header gives for a name, between two characters."""
    text = header[header.rfind("'%s'" % name) :][len(name) + 2 :]
    text, closed, _ = text.partition(opening)[2].partition(closing)
    if "'%s'" % name not in header or not closed:
        raise ValueError("%s: its header gives no %s" % (path, name))
    return text


class _Reader:
    """The order of samples, for what is read by its number."""

    order = 0  # the key of the order in which they are read: set by fit, 0 is the file's

    def __init__(self, samples, batch_size, block):
        for name, value in (("batch_size", batch_size), ("block", block)):
            if not is_int(value) or value < 1:
                raise ValueError("%s is an int above 0, got %r" % (name, value))
        self.samples = samples
        self.batch_size = batch_size
        self.block = block

    def __len__(self) -> "int":
        """Batches of an epoch."""
        return (self.samples + self.batch_size - 1) // self.batch_size

    def runs(self) -> "Iterator[tuple[int, int]]":
        """Yield (first sample, samples) of what is read in one go, in this epoch's order."""
        blocks = (self.samples + self.block - 1) // self.block
        for b in range(blocks):
            b = order(b, blocks, self.order) if self.order else b
            yield b * self.block, min(self.block, self.samples - b * self.block)

    def __iter__(self) -> "Iterator[tuple[Any, Any]]":
        filled = 0
        for first, count in self.runs():
            while count:
                now = min(count, self.batch_size - filled)
                self.read(first, now, filled)
                first += now
                count -= now
                filled += now
                if filled == self.batch_size:
                    yield self.batch(filled)
                    filled = 0
        if filled:
            yield self.batch(filled)


class RawReader(_Reader):
    """Samples from binary files: ``RawReader(Column(..), Column(..), batch_size=16)``.

    ``y`` may be a buffer or list of labels in RAM instead. The Input's dtype is that of the x column.
    """

    def __init__(
        self,
        x: "Column",
        y: "Column | Numbers",
        batch_size: "int",
        block: "int" = 1,
        normalizer: "Normalizer | None" = None,
    ) -> None:
        for name, column in (("x", x), ("y", y)):
            if not isinstance(column, Column) and (name == "x" or count_of(column) is None):
                raise TypeError("%s is a Column, got %r" % (name, type(column)))
        count = y.samples if isinstance(y, Column) else len(y)
        if count != x.samples:
            raise ValueError("%s has %d samples, y has %d" % (x.path, x.samples, count))
        super().__init__(x.samples, batch_size, block)
        self._x = _Buffer(x, batch_size)
        self._y = _Buffer(y, batch_size) if isinstance(y, Column) else _Copy(y, batch_size)
        self._normalizer = _checked(normalizer, x)

    def check_model(self, session):
        """ValueError where a file says that its samples have other axes than the model's; those of an Input of one axis
        may have several.
        """
        from ..run.arrays import check_axes

        x = self._x.column
        check_axes(x.path + ": x", x.shape, session.input.shape)
        _check_row(x.path, x.row, session)
        if isinstance(self._y, _Buffer) and not session.loss.labels:
            check_axes(self._y.column.path + ": y", self._y.column.shape, session.shape)

    def read(self, first, count, at):
        self._x.read(first, count, at)
        self._y.read(first, count, at)

    def batch(self, count):
        x = self._x.part(count)
        if self._normalizer:
            self._normalizer.apply(x)
        return x, self._y.part(count)

    def close(self) -> None:
        """Close the files; iterating opens them again."""
        self._x.close()
        self._y.close()


class NpyReader(RawReader):
    """Samples from .npy files, whose first axis counts them.

    int8, uint8, bool, int16, int32, int64, float32 or float64, little-endian, in C order, as ``numpy.save``
    writes them. 64 bits become 32, as Column says.
    """

    def __init__(
        self,
        x: "str | PathLike[str]",
        y: "str | PathLike[str] | Column | Numbers",
        batch_size: "int",
        block: "int" = 1,
        normalizer: "Normalizer | None" = None,
    ) -> None:
        y = _npy(y) if isinstance(y, str) or hasattr(y, "__fspath__") else y
        super().__init__(_npy(x), y, batch_size, block, normalizer)


class _Buffer:
    """A column's samples of one batch."""

    def __init__(self, column, batch_size):
        self.column = column
        self.data = array(_CODES[column.dtype], bytes(SIZES[column.dtype] * column.row * batch_size))
        self.raw = bytearray(column.bytes) if column.wide else None  # a sample
        self.view = memoryview(self.data)
        self.file = None

    def read(self, first, count, at):
        column = self.column
        if self.file is None:
            self.file = open(column.path, "rb")
        step = count if column.stride == column.bytes and not column.wide else 1
        for k in range(0, count, step):
            self.file.seek(column.offset + (first + k) * column.stride)
            part = self.raw or self.view[(at + k) * column.row : (at + k + step) * column.row]
            if self.file.readinto(part) != step * column.bytes:
                raise ValueError("%s ends within sample %d of %d" % (column.path, first + k, column.samples))
            if self.raw:
                self._narrow(first + k, (at + k) * column.row)

    def _narrow(self, sample, at):
        """The sample in ``raw`` from 64 to 32 bits each, by integers alone."""
        column = self.column
        for k in range(column.row):
            low, high = unpack_from("<II", self.raw, 8 * k)
            if column.wide == "float64":
                low = _float32(low, high)
            elif high != (0xFFFFFFFF if low >> 31 else 0):
                raise ValueError("%s: sample %d, element %d does not fit into int32" % (column.path, sample, k))
            pack_into("<I", self.data, 4 * (at + k), low)

    def part(self, count):
        return self.view[: count * self.column.row]

    def close(self):
        if self.file is not None:
            self.file.close()
            self.file = None


def _float32(low, high):
    """The two words of a float64 as the bits of the nearest float32 (ties to even); subnormals are 0."""
    sign = high & 0x80000000
    field = (high >> 20 & 0x7FF) - 896
    if field < 1:
        return sign
    if field > 254:  # too large, infinite or NaN, which fit refuses by the sample's number
        return sign | 0x7F800000
    bits = field << 23 | (high & 0xFFFFF) << 3 | low >> 29
    rest = low & 0x1FFFFFFF
    return sign | bits + (1 if rest + (bits & 1) > 0x10000000 else 0)


class _Copy:
    """The same for labels in RAM."""

    def __init__(self, values, batch_size):
        self.values = values
        self.data = array("i", bytes(4 * batch_size))

    def read(self, first, count, at):
        for k in range(count):
            self.data[at + k] = int(self.values[first + k])

    def part(self, count):
        return memoryview(self.data)[:count]

    def close(self):
        pass


def _check_row(path, row, session, place=""):
    if row != session.row:
        shape = tuple(session.input.shape)
        raise ValueError(
            "%s: samples of %d numbers%s, the model's Input has %d: %r" % (path, row, place, session.row, shape)
        )


def _several(columns):
    return (columns,) if is_int(columns) or isinstance(columns, str) else columns


def _checked(normalizer, column):
    if normalizer is not None and (column.dtype != "float32" or column.row != normalizer.features):
        raise ValueError("normalizer: of %d float32 features, %s has %d of %s" % (
            normalizer.features, column.path, column.row, column.dtype))  # fmt: skip
    return normalizer


class CsvReader(_Reader):
    """Samples from a text file, a line each: float32 features and a label.

    ``label``: the column with the label (from the end if negative), a whole number or, with ``labels``, one of these
    names; or ``targets``: a list of columns that are float32 targets. ``skip``: columns to leave out. ``separator``:
    between columns; None: spaces and tabs, any number. ``decimal``: the mark in numbers, as ",". The first line is a
    heading if it holds text and, of the columns that are not skipped, none is a number. Numbers become the same bits on
    every machine, whatever its floats. ValueError names a bad line.

    Lines are found by an index of at most ``2 * index`` places, so that a block is at least samples / (2 * index)
    lines.
    """

    def __init__(
        self,
        path: "str",
        batch_size: "int",
        label: "int | str | None" = -1,
        targets: "int | str | Sequence[int | str] | None" = None,
        skip: "int | str | Sequence[int | str]" = (),
        separator: "str | None" = ",",
        index: "int" = 128,
        normalizer: "Normalizer | None" = None,
        decimal: "str" = ".",
        labels: "Sequence[str] | None" = None,
    ) -> None:
        skip, targets = _several(skip), _several(targets)
        self.path, self._skip = path, skip
        self._lines = Lines(path, separator, decimal)
        try:
            words = self._lines.first(self._used)
            samples = self._scan(index) if words else 0
        finally:
            self._lines.close()
        super().__init__(samples, batch_size, self._step if samples else 1)
        if samples < 1:
            raise ValueError("%s: no line of numbers" % path)
        self.columns = len(words)
        self._y_columns = [self._column("label", label)] if targets is None else [
            self._column("targets", column) for column in targets]  # fmt: skip
        out = [self._column("skip", column) for column in skip] + self._y_columns
        self._x_columns = [column for column in range(self.columns) if column not in out]
        if not self._x_columns or not self._y_columns:
            found = [mark for mark in ";\t| " if mark.encode() in words[0] and self.columns == 1]
            hint = ": is separator=%r meant?" % (None if found[0] == " " else found[0]) if found else ""
            raise ValueError("%s: %d columns leave no feature or no label%s" % (path, self.columns, hint))
        self._integer = targets is None
        self._names = None if labels is None else [str(name) for name in labels]
        self._x = array("f", bytes(4 * batch_size * len(self._x_columns)))
        self._y = array("i" if self._integer else "f", bytes(4 * batch_size * len(self._y_columns)))
        self._next = -1
        self._normalizer = normalizer
        if normalizer is not None and normalizer.features != len(self._x_columns):
            raise ValueError("normalizer: of %d features, %s has %d" % (
                normalizer.features, path, len(self._x_columns)))  # fmt: skip

    def _used(self, columns):
        """The columns that are not skipped, given their number."""
        out = [column % columns for column in self._skip if is_int(column)]
        return [column for column in range(columns) if column not in out]

    def _column(self, name, column):
        if not is_int(column) or not -self.columns <= column < self.columns:
            raise ValueError("%s: %s is a column's number, from 0, of %d, got %r" % (
                self.path, name, self.columns, column))  # fmt: skip
        return column % self.columns

    def _scan(self, size):
        """Count the lines from that in hand on and note where every so manieth begins."""
        lines, places, step, samples = self._lines, array("I"), 1, 0
        while samples == 0 or lines.line():
            if samples % step == 0:
                places.append(lines.at)
            samples += 1
            if len(places) > 2 * size:
                places = array("I", [places[k] for k in range(0, len(places), 2)])
                step *= 2
        self._places, self._step = places, step
        return samples

    def read(self, first, count, at):
        lines, following, self._next = self._lines, self._next, -1
        if first != following or lines.file is None:
            lines.seek(self._places[first // self._step])
            for _ in range(first % self._step):
                lines.line()
        for k in range(at, at + count):
            words = lines.words()
            if words is None:
                raise ValueError("%s ends before sample %d of %d" % (self.path, first + k - at, self.samples))
            self._take(words, k)
        self._next = first + count

    def _take(self, words, at):
        lines, what = self._lines, "number"
        try:
            at_x = at * len(self._x_columns)
            for k, column in enumerate(self._x_columns):
                pack_into("<I", self._x, 4 * (at_x + k), float32(*lines.number_of(words[column])))
            if self._integer:
                column, what = self._y_columns[0], "label of %r" % self._names if self._names else "whole number"
                self._y[at] = self._label(words[column])
                return
            at_y = at * len(self._y_columns)
            for k, column in enumerate(self._y_columns):
                pack_into("<I", self._y, 4 * (at_y + k), float32(*lines.number_of(words[column])))
        except ValueError:
            lines.refuse(column, words[column], what)

    def _label(self, word):
        if self._names:
            return self._names.index(text(word))
        value, exact = whole(*self._lines.number_of(word))
        if not exact or not -0x80000000 <= value < 0x80000000:
            raise ValueError
        return value

    def check_model(self, session):
        """ValueError where a line has more or fewer features than the model's samples."""
        _check_row(self.path, len(self._x_columns), session, " in columns %r" % (self._x_columns,))

    def batch(self, count):
        x = memoryview(self._x)[: count * len(self._x_columns)]
        if self._normalizer:
            self._normalizer.apply(x)
        return x, memoryview(self._y)[: count * len(self._y_columns)]

    def close(self) -> None:
        """Close the file; iterating opens it again."""
        self._lines.close()


class Normalizer:
    """The mean and the deviation of each feature, learnt a sample at a time (Welford, 1962).

        normalizer = Normalizer(6)
        normalizer.update(samples)          # array('f') of any number of samples, again and again
        normalizer.apply(samples)           # in place: (x - mean) / deviation

    ``for x, _ in reader: normalizer.update(x)``, then give it to a reader. Computed with the
    interpreter's floats, in the order of the samples, feature by feature; where these are short the
    last bits differ from a PC's: to have the same bits on two machines, move ``to_bytes()``.
    """

    def __init__(self, features: "int") -> None:
        if not is_int(features) or features < 1:
            raise ValueError("Normalizer: features is an int above 0, got %r" % (features,))
        self.features = features
        self.count = 0
        self.mean = array("f", bytes(4 * features))
        self.squares = array("f", bytes(4 * features))

    def update(self, x: "Data") -> None:
        """Take in samples, a flat array after one another or (samples, features).

        ValueError for NaN, infinity and what is beyond 1e18; then nothing is taken in.
        """
        size, x = self.features, self._flat(x)
        for at in range(len(x)):
            if not -1e18 < x[at] < 1e18:
                raise ValueError(
                    "x: sample %d, feature %d: %r is no number below 1e18" % (at // size, at % size, own(x[at]))
                )
        mean, squares, count = array("f", self.mean), array("f", self.squares), self.count
        for at in range(0, len(x), size):
            if count == 0x7FFFFFFF:  # the older half is dropped
                count >>= 1
                for k in range(size):
                    squares[k] /= 2
            count += 1
            for k in range(size):
                value = x[at + k]
                delta = value - mean[k]
                mean[k] += delta / count
                squares[k] += delta * (value - mean[k])

        def change():
            self.mean, self.squares, self.count = mean, squares, count

        from ..files.stored import whole

        whole(change)

    def _flat(self, x):
        if len(getattr(x, "shape", ())) > 1:
            from ..run.arrays import rows

            x = rows("x", x, self.features)
        if len(x) % self.features:
            raise ValueError("x: %d numbers are not whole samples of %d" % (len(x), self.features))
        return x

    def deviation(self, k):
        """The standard deviation of feature k; 1 where all samples are alike."""
        variance = self.squares[k] / self.count if self.count else 0
        return variance**0.5 if variance > 1e-12 else 1.0

    def apply(self, x: "Any") -> None:
        """Normalise samples in place, an array of floats; returns it, flat."""
        x = self._flat(x)
        for k in range(self.features):
            mean, factor = self.mean[k], 1 / self.deviation(k)
            for at in range(k, len(x), self.features):
                x[at] = (x[at] - mean) * factor
        return x

    def to_bytes(self) -> "bytes":
        """The state, for a file."""
        return bytes(array("i", [self.features, self.count])) + bytes(self.mean) + bytes(self.squares)

    @staticmethod
    def from_bytes(data: "bytes") -> "Normalizer":
        """The Normalizer whose ``to_bytes`` this is."""
        words = array("i", bytes(data[:8])) if len(data) >= 8 else (0, 0)
        if words[0] < 1 or len(data) != 8 + 8 * words[0]:
            raise ValueError("%d bytes are no Normalizer" % len(data))
        result = Normalizer(words[0])
        result.count = words[1]
        result.mean = array("f", bytes(data[8 : 8 + 4 * words[0]]))
        result.squares = array("f", bytes(data[8 + 4 * words[0] :]))
        return result
