"""A fixed number of samples that stand for all that came, for what a sensor sends without end.

reservoir = Reservoir(64, 6, "float32", seed=1)
reservoir.add(sample, label)                # at any time
model.fit(reservoir.x, reservoir.y)         # now and then
"""

from array import array

from ..base.fixed import hash32, is_int
from ..base.primitives import count_of
from ..files.stored import whole

if 1 - 1:  # for type checkers alone
    from typing import SupportsFloat

    from ..layers import DataType
    from ..run.network import Numbers

_CODES = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "float32": "f"}


class Reservoir:
    """A seeded uniform sample of a stream (algorithm R: Vitter, 1985); the same on every machine.

    ``row``: numbers a sample, of ``dtype``, the Input's; labels are int32, or ``targets`` float32 numbers each.
    """

    capacity: "int"
    row: "int"
    seen: "int"

    def __init__(
        self, capacity: "int", row: "int", dtype: "DataType" = "float32", targets: "int | None" = None, seed: "int" = 0
    ) -> None:
        if dtype not in _CODES:
            raise ValueError("Reservoir: dtype is one of %s, got %r" % (", ".join(sorted(_CODES)), dtype))
        for name, value in (("capacity", capacity), ("row", row), ("targets", 1 if targets is None else targets)):
            if not is_int(value) or value < 1:
                raise ValueError("Reservoir: %s is an int above 0, got %r" % (name, value))
        self.capacity, self.row, self.seed = capacity, row, seed
        self.width = targets or 1
        self.seen = 0
        code = _CODES[dtype]
        # One sample more than are kept: add() converts into it.
        self._x = array(code, bytes((capacity + 1) * row * len(bytes(array(code, [0])))))
        self._y = array("f" if targets else "i", bytes(4 * (capacity + 1) * self.width))

    def __len__(self) -> "int":
        return min(self.seen, self.capacity)

    def add(self, x: "Numbers", y: "SupportsFloat | Numbers") -> "int | None":
        """Offer a sample; returns the place it took, or None if it was dropped. One that raises is not counted."""
        targets = (y,) if count_of(y) is None else y
        if len(x) != self.row or len(targets) != self.width:
            raise ValueError("Reservoir: a sample of %d and %d numbers, expected %d and %d" % (
                len(x), len(targets), self.row, self.width))  # fmt: skip
        place, seen = self.seen, self.seen + 1
        if place >= self.capacity:
            place = hash32(self.seed, place) * seen >> 32
            if place >= self.capacity:
                self.seen = seen
                return None
        parts = []
        for numbers, kept, row in ((x, self._x, self.row), (targets, self._y, self.width)):
            new = self.capacity * row
            for k in range(row):
                kept[new + k] = numbers[k]
            view = memoryview(kept)
            parts.append((view[place * row : (place + 1) * row], view[new : new + row]))

        def change():
            for old, new in parts:
                old[:] = new
            self.seen = seen

        whole(change)  # a sample never has another's label
        return place

    @property
    def x(self) -> "memoryview":
        """The samples kept, without a copy."""
        return memoryview(self._x)[: len(self) * self.row]

    @property
    def y(self) -> "memoryview":
        """Their labels or targets."""
        return memoryview(self._y)[: len(self) * self.width]
