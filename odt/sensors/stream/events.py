"""Events from posteriors: the mean of the last windows, a threshold with hysteresis, a pause after each.

Decided in integers.
"""

from array import array

from ...base import executor
from ...base.fixed import is_int, is_number, own
from ...base.primitives import millionths, size_of
from ...run.posteriors import parts, softmax

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from typing import Any


class Events:
    """``update(posteriors)`` once a window: None, or (label, confidence) of a class that has just become sure.

    ``labels``: names in the order of the classes, or their number; of a list that grows (it may begin empty) new ones
    count from the next window on. ``mean``: windows that are averaged; those before the first count as 0.
    ``threshold``, ``release``, from 0 to 1 (None: three quarters of the threshold): a class becomes active where it is
    the first and its mean at least the threshold, and stays so until it is below ``release`` or another becomes active;
    it is an event when it becomes so. ``hold_off``: number of windows after an event without another. ``unknown``: a
    label, or a list of those, that is no event ("rest", "noise"). ``logits``: update() is given logits.

    ``label`` is that of the class that is active, or None.
    """

    labels: "Sequence[Any]"
    mean: "int"
    hold_off: "int"
    logits: "bool"

    def __init__(
        self,
        labels: "int | list[Any] | tuple[Any, ...]",
        mean: "int" = 3,
        threshold: "float" = 0.75,
        release: "float | None" = None,
        hold_off: "int" = 0,
        unknown: "Any" = (),
        logits: "bool" = False,
    ) -> None:
        if not hasattr(labels, "index"):  # of a list or tuple
            labels = range(size_of("Events", "labels", labels))
        elif isinstance(labels, tuple) and not labels:
            raise ValueError("Events: labels is an empty tuple: pass a list if labels come later")
        self.labels = labels
        self.mean, self.hold_off, self.logits = size_of("Events", "mean", mean, 1024), own(hold_off), logits
        if not is_int(self.hold_off) or self.hold_off < 0:
            raise ValueError("Events: hold_off is an int of at least 0, got %r" % (hold_off,))
        self.threshold = _part("threshold", threshold)
        self.release = self.threshold * 3 // 4 if release is None else _part("release", release)
        if not 0 < self.threshold >= self.release:
            raise ValueError("Events: threshold %r is to be above 0, release %r not above it" % (threshold, release))
        self.unknown = unknown if isinstance(unknown, (list, tuple)) else (unknown,)
        for label in self.unknown:
            if label not in self.labels:
                raise ValueError("Events: unknown %r is no label of %r" % (label, self.labels))
        self.reset()

    def reset(self) -> None:
        """Forget the windows that came, and what is active."""
        count = len(self.labels)
        self._sums = ()  # until all is there: update() starts again
        self._active = -1
        self._at = self._hold = 0
        self._ring = array("i", bytes(4 * count * self.mean))
        self._row, self._next = array("i", bytes(4 * count)), array("i", bytes(4 * count))
        self._sums = array("i", bytes(4 * count))

    @property
    def label(self) -> "Any":
        return self.labels[self._active] if self._active >= 0 else None

    def update(self, posteriors: "Any") -> "tuple[Any, float] | None":
        """None, or the event that this window makes: (label, confidence), confidence in 1/1024.

        Of each class a number: ints in 65536ths; int8 and uint8 of an array as a softmax in int8 puts them out (scale
        1/256); floats from 0 to 1. With ``logits`` ints in 65536ths, or floats. A tuple is (label, confidence), as
        ``odt.continual.teach`` predicts: the others count as 0. ValueError for NaN, what is not from 0 to 1, and
        another number of classes; then nothing has changed.
        """
        count = len(self.labels)
        if len(self._sums) != count:
            self.reset()
        row, ring = self._row, self._ring
        before, sums = self._sums, self._next
        self._read(posteriors, row, count)
        if not count:
            return None
        at, best = self._at, 0
        for k in range(count):
            sums[k] = before[k] + row[k] - ring[at + k]
            if sums[k] > sums[best]:
                best = k
        active, held = self._active, self._hold
        if active >= 0 and sums[active] < self.release * self.mean:
            active = -1
        if held or best == active or sums[best] < self.threshold * self.mean or self.labels[best] in self.unknown:
            self._take(active, held - 1 if held else 0)
            return None
        event = self.labels[best], (sums[best] // self.mean >> 6) / 1024
        self._take(best, self.hold_off)
        return event

    def _take(self, active, held):
        """Take over a row and the sums with it, as a whole: what interrupts it is raised afterwards."""
        sums, before = self._next, self._sums
        row, at, late = self._row, self._at, None
        following = (at + len(row)) % len(self._ring)
        for _ in range(9):
            try:
                for k in range(len(row)):
                    self._ring[at + k] = row[k]
                self._sums, self._next = sums, before
                self._at, self._active, self._hold = following, active, held
                break
            except BaseException as error:
                late = error
        if late:
            raise late

    def _read(self, values, row, count):
        """Posteriors into ``row`` as 65536ths."""
        if isinstance(values, tuple):
            label, share = values
            if label is not None and label not in self.labels:
                raise ValueError("update: %r is no label of %r" % (label, self.labels))
            values = [0] * count
            if label is not None:
                values[list(self.labels).index(label)] = share
        if len(values) != count:
            raise ValueError("update: %d posteriors, there are %d classes" % (len(values), count))
        code = None if isinstance(values, list) else executor.engine.typecode(values)
        found = row
        if self.logits:
            found = [0] * count
        for k in range(count):
            value = values[k]
            if code is not None or value.__class__ is not int:
                value = own(value)
                if code == "b" or code == "B":
                    value = value + 128 * (code == "b") << 8
                elif code == "f" or not is_int(value):
                    value = parts(values, k)
            if value is None or not self.logits and not 0 <= value <= 65536:
                what = "a finite number" if self.logits else "one from 0 to 1 (logits=True takes logits)"
                raise ValueError("update: posterior %d is %r, %s is expected" % (k, values[k], what))
            found[k] = value
        if self.logits:
            for k, value in enumerate(softmax(found)):
                row[k] = value


def _part(name, value):
    """From 0 to 1 in 65536ths."""
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError("Events: %s is in 0..1, got %r" % (name, value))
    return 65536 if value == 1 else (millionths(value) * 65536 + 500000) // 1000000
