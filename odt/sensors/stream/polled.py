"""A driver that is asked for one sample at a time, as a source."""

import time
from struct import pack_into

from ...base.primitives import count_of

if 1 - 1:  # for type checkers alone
    from collections.abc import Callable, Sequence
    from typing import Any, Literal

_LIMITS = {
    "b": (-128, 127), "B": (0, 255), "h": (-32768, 32767), "H": (0, 65535),
    "i": (-0x80000000, 0x7FFFFFFF), "I": (0, 0xFFFFFFFF),
}  # fmt: skip


class PolledSource:
    """What ``read()`` returns, ``rate`` times a second: ``ADC(26).read_u16``, an accelerometer's method that gives (x,
    y, z).

    For ``Stream.listen`` and ``Recorder.capture``, whose ``pause`` is to be shorter than 1 / rate. Each number times
    ``scale``, rounded where ``typecode`` is of ints; what is beyond its limits is the limit, and counted in
    ``clipped``. ``late`` counts samples that were not asked for in time. ValueError for NaN and for another number of
    ``channels``.
    """

    read: "Callable[[], float | Sequence[float]]"
    rate: "int"
    channels: "int"
    typecode: "str"
    scale: "float"
    late: "int"
    clipped: "int"

    ended: "bool" = False

    def __init__(
        self,
        read: "Callable[[], float | Sequence[float]]",
        rate: "int",
        channels: "int" = 1,
        typecode: "Literal['b', 'B', 'h', 'H', 'i', 'I', 'f']" = "h",
        scale: "float" = 1,
        clock: "Callable[[], int] | None" = None,
    ) -> None:
        if not callable(read):
            raise TypeError("PolledSource: read is a function, got %r" % (read,))
        if typecode != "f" and typecode not in _LIMITS:
            raise ValueError("PolledSource: typecode is one of bBhHiIf, got %r" % (typecode,))
        self.read, self.rate, self.channels, self.typecode, self.scale = read, rate, channels, typecode, scale
        self.late = self.clipped = 0
        self._size = 1 if typecode in "bB" else 2 if typecode in "hH" else 4
        self._clock = clock or getattr(time, "ticks_us", None) or _microseconds
        ticks = getattr(time, "ticks_us", None)
        self._end = time.ticks_add(0, -1) if ticks and self._clock is ticks else None  # its last number
        self._period = 1000000 // rate
        if self._period < 1:
            raise ValueError("PolledSource: rate is in 1..1000000, got %r" % (rate,))
        self._last = None

    def readinto(self, buffer: "Any") -> "int":
        """The next sample's bytes if it is time, else 0."""
        now = self._clock()
        if self._last is None:
            self._last, self._left = now, 0
        waited = now - self._last
        if self._end is not None:
            waited &= self._end  # ticks_diff() is negative after half of its period
        elif waited < 0:
            waited = self._left  # a clock that has restarted
        waited -= self._left
        if waited < 0:
            return 0
        values = self.read()
        if count_of(values) is None:
            values = (values,)
        if len(values) != self.channels:
            raise ValueError("PolledSource: read() gave %d numbers, expected %d" % (len(values), self.channels))
        size = self._size * self.channels
        if len(buffer) < size:
            raise ValueError("PolledSource: a sample has %d bytes, there is room for %d" % (size, len(buffer)))
        for k in range(self.channels):
            self._put(buffer, k * self._size, values[k] * self.scale)
        self.late += waited // self._period
        self._last, self._left = now, self._period - waited % self._period
        return size

    def _put(self, buffer, at, value):
        if value != value:
            raise ValueError("PolledSource: read() gave NaN")
        if self.typecode == "f":
            return pack_into("<f", buffer, at, value)
        low, high = _LIMITS[self.typecode]
        if not low - 0.5 < value < high + 0.5:
            self.clipped += 1
            value = low if value < low else high
        elif not isinstance(value, int):
            value = int(value + 0.5) if value >= 0 else -int(0.5 - value)
        pack_into("<" + self.typecode, buffer, at, min(max(value, low), high))


def _microseconds():
    return time.monotonic_ns() // 1000
