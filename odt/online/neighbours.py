"""Classifiers that compare with what they keep: nearest class mean, k nearest neighbours, RCE's influence fields,
k-means.

    model = KNN(4, budget=64)
    model.learn_one(x, label)
    label = model.predict_one(x)

Inputs become int16 in units of 2^-point (larger ones the largest); from there on all is integers: distances and means
are exact, and every machine decides alike. Of equal distances the first counts. The state is one bytearray of a size
that is known beforehand.
"""

import struct
from array import array

from ..base import executor
from ..base.fixed import is_int, own, within
from ..base.primitives import size_of
from ..base.units import fixed_point
from ..files.stored import Stored

if 1 - 1:  # for type checkers alone
    from typing import Literal, SupportsIndex

    from ..run.network import Numbers

_MAGIC = 0x3154444E
_MEANS, _KNN, _RCE, _KMEANS = 1, 2, 3, 4
_MANY = (1 << 31) - 1
_BEST = 3  # the highest score of a condensed sample
_NONE, _DAMAGED = -1, -4  # what the kernel returns in place of a label


def _knn():
    """The kernel of the executor that computes: of a firmware's or PC's ``_odt``, of a stock board's ``_odt_knn.mpy``,
    in Python.
    """
    if executor.backend == "native":
        if hasattr(executor.engine, "knn"):
            return executor.engine.knn
        try:
            from _odt_knn import knn

            return knn
        except ImportError:
            pass
    from ..reference.knn import knn

    return knn


class _Kept(Stored):
    """The state: 11 words that never change, [magic, kind, inputs, point, places, 6 of the kind's], one of the places
    in use, one of the next, 3 of 0; then the places, of ``step`` bytes each.
    """

    inputs: "int"
    point: "int"

    def __init__(self, kind, inputs, point, places, step, words=()):
        name = type(self).__name__
        self.inputs = size_of(name, "inputs", inputs, 65536)
        if not is_int(point) or not 0 <= point <= 15:
            raise ValueError("%s: point is an int in 0..15, got %r" % (name, point))
        self.point, self._places, self._step = point, places, step
        self.state = bytearray(64 + places * step)
        words = (_MAGIC, kind, inputs, point, places) + tuple(words)
        for i in range(len(words)):
            struct.pack_into("<I", self.state, 4 * i, words[i])

    def __len__(self) -> "int":
        """Places in use."""
        return min(struct.unpack_from("<I", self.state, 44)[0], self._places)

    def _units(self, x):
        if len(getattr(x, "shape", ())) > 1:
            from ..run.arrays import one_sample

            x = one_sample("x", x, (self.inputs,))
        try:
            count = len(x)
        except TypeError:
            raise TypeError("x: %d numbers are expected, got %r" % (self.inputs, x)) from None
        if count != self.inputs:
            raise ValueError("x: %d numbers are expected, got %d" % (self.inputs, count))
        return [max(-32768, min(32767, fixed_point("x[%d]" % i, x[i], self.point))) for i in range(count)]

    def _label(self, label, end=1 << 31):
        label = own(label)
        if not is_int(label) or not 0 <= label < end:
            raise ValueError("y: a label in 0..%d is expected, got %r" % (end - 1, label))
        return label

    def __repr__(self):
        return "%s(%d, %d of %d, %d bytes)" % (
            type(self).__name__, self.inputs, len(self), self._places, len(self.state))  # fmt: skip


class NCM(_Kept):
    """Nearest class mean, of labels 0 .. classes - 1: 8 bytes and 8 more per input for each."""

    _kind = _MEANS

    def __init__(self, inputs: "int", classes: "int", point: "int" = 8) -> None:
        name = type(self).__name__
        inputs = size_of(name, "inputs", inputs, 65536)
        super().__init__(self._kind, inputs, point, size_of(name, "classes", classes, 4096), 8 + 8 * inputs)
        struct.pack_into("<I", self.state, 44, self._places)
        self._format = "<q%dq" % inputs

    def learn_one(self, x: "Numbers", y: "SupportsIndex") -> None:
        """Learn a sample of label y. ValueError, TypeError for what is none; then nothing is learned."""
        self._add(self._units(x), self._label(y, self._places))

    def predict_one(self, x: "Numbers") -> "int | None":
        """The label whose mean is nearest; None if none was learned."""
        return self._nearest(self._units(x))

    def count(self, label: "int") -> "int":
        """Samples learned of a label; at 2^31 the count is halved. ValueError for what is no label."""
        within("count: label", own(label), self._places)
        return struct.unpack_from("<q", self.state, 64 + label * self._step)[0]

    def mean(self, label: "int") -> "list[float] | None":
        """The mean of a label as a list of floats; None if it has none."""
        n = self.count(label)
        sums = struct.unpack_from(self._format, self.state, 64 + label * self._step)[1:]
        return [total / n / (1 << self.point) for total in sums] if n else None

    def _add(self, x, place):
        at = 64 + place * self._step
        values = list(struct.unpack_from(self._format, self.state, at))
        if values[0] >= _MANY:
            values = [value >> 1 for value in values]
        values[0] += 1
        for i in range(len(x)):
            values[i + 1] += x[i]
        record = bytearray(self._step)
        for i in range(len(values)):
            struct.pack_into("<q", record, 8 * i, values[i])
        self._change((at, record))

    def _nearest(self, x):
        best, top, bottom = None, 0, 1
        for place in range(self._places):
            n, *sums = struct.unpack_from(self._format, self.state, 64 + place * self._step)
            if n:
                # |x - S/n|^2 less |x|^2, times n^2; compared with the best's over its n^2
                distance = sum([s * (s - 2 * n * v) for s, v in zip(sums, x)])
                if best is None or distance * bottom < top * n * n:
                    best, top, bottom = place, distance, n * n
        return best


class KMeans(NCM):
    """Clusters of a stream (MacQueen, 1967): the first ``clusters`` samples that differ begin them, each other one
    joins the nearest mean.
    """

    _kind = _KMEANS

    def __init__(self, inputs: "int", clusters: "int", point: "int" = 8) -> None:
        super().__init__(inputs, clusters, point)

    def learn_one(self, x: "Numbers") -> "int":
        """Learn a sample; returns its cluster."""
        x = self._units(x)
        place = self._nearest(x)
        for free in range(self._places):
            if not self.count(free):
                values = struct.unpack_from(self._format, self.state, 64 + (place or 0) * self._step)
                if place is None or any([s != v * values[0] for s, v in zip(values[1:], x)]):
                    place = free
                break
        self._add(x, place)
        return place


class KNN(_Kept):
    """k nearest neighbours among at most ``budget`` samples, of any labels below 2^31: 4 bytes and 2 per input for
    each.

    condense: only samples that it gets wrong are kept (Hart, 1968; TML-CD: Disabato and Roveri), of labels below 65536.
    When the budget is used up, the oldest goes; of a condensed model the one with the lowest score. A sample's score
    rises by 1, up to 3, when it is nearest to a sample of its own label, and falls by 2, down to -3, when that has
    another. metric: "l2", or "l1".
    """

    k: "int"

    def __init__(
        self,
        inputs: "int",
        budget: "int" = 64,
        k: "int" = 1,
        condense: "bool" = False,
        metric: "Literal['l1', 'l2']" = "l2",
        point: "int" = 8,
    ) -> None:
        inputs, budget = size_of("KNN", "inputs", inputs, 65536), size_of("KNN", "budget", budget, 65536)
        self.k = size_of("KNN", "k", k, budget)
        if metric not in ("l1", "l2"):
            raise ValueError('KNN: metric is "l1" or "l2", got %r' % (metric,))
        self._squares, self._condense = metric == "l2", bool(condense)
        super().__init__(_KNN, inputs, point, budget, 4 + 2 * inputs, (k, int(self._squares), int(self._condense)))
        self._format = "<i%dh" % inputs
        self._work = array("i", bytes(4 * (1 + (inputs + 1) // 2 + 3 * k)))  # of native/kernels/online/knn.h
        self._knn = _knn()

    def learn_one(self, x: "Numbers", y: "SupportsIndex") -> None:
        """Keep a sample of label y, unless it is condensed away.

        ValueError, TypeError for what is none; then nothing changes.
        """
        x, y = self._units(x), self._label(y, 65536 if self._condense else 1 << 31)
        used, place = struct.unpack_from("<2I", self.state, 44)
        place %= self._places
        parts = []
        if self._condense and used:
            struct.pack_into(self._format, self._work, 0, 0, *x)
            vote = self._look()
            nearest = self._work[0]
            at = 66 + nearest * self._step  # its score, the upper half of its label's word
            label, score = struct.unpack_from("<Hh", self.state, at - 2)
            score = min(score + 1, _BEST) if label == y else max(score - 2, -_BEST)
            parts.append((at, struct.pack("<h", score)))
            if vote == y:
                return self._change(*parts)
            if used == self._places:
                place = self._worst(place, nearest, score)
        used, following = min(used + 1, self._places), (place + 1) % self._places
        parts.append((64 + place * self._step, struct.pack(self._format, y, *x)))
        self._change(*parts, (44, struct.pack("<2I", used, following)))

    def _worst(self, first, changed, score):
        """The place of the lowest score, the first from ``first`` on of several; that of ``changed`` is ``score``."""
        worst = None
        for i in range(self._places):
            place = (first + i) % self._places
            found = score if place == changed else struct.unpack_from("<h", self.state, 66 + place * self._step)[0]
            if worst is None or found < worst[0]:
                worst = found, place
        return worst[1]

    def predict_one(self, x: "Numbers") -> "int | None":
        """The label that most of the k nearest have, the smallest of several; None if none is kept.

        An array('f') or array('h') of ``inputs`` numbers is read as it is, and nothing is allocated.
        """
        label = _DAMAGED if x is None else self._knn(self.state, self._work, x)
        if label < _NONE:  # x has another form, or a value that _units() names
            struct.pack_into(self._format, self._work, 0, 0, *self._units(x))
            label = self._look()
        return None if label == _NONE else label

    def forget(self, left: "int" = 0) -> None:
        """Drop all samples but the ``left`` newest: after a drift."""
        if not is_int(left) or left < 0:
            raise ValueError("forget: left is an int of at least 0, got %r" % (left,))
        used, place = struct.unpack_from("<2I", self.state, 44)
        left = min(left, used)
        kept = bytearray(self._places * self._step)
        for i in range(left):
            old = 64 + (place - left + i) % self._places * self._step
            kept[i * self._step : (i + 1) * self._step] = self.state[old : old + self._step]
        self._change((64, kept), (44, struct.pack("<2I", left, left % self._places)))

    def _look(self):
        """The label of predict_one() for the units in ``_work``, whose first word becomes the place of the nearest."""
        label = self._knn(self.state, self._work, None)
        if label == _DAMAGED:
            raise ValueError("state: it is damaged; load() or make a new model")
        return label


class RCE(_Kept):
    """Restricted Coulomb energy (Reilly, Cooper and Elbaum, 1982), as NeuroMem's chips have it: neurons with fields of
    influence.

    A sample that no neuron of its label claims gets a neuron, whose field reaches to the nearest neuron of another
    label, ``reach`` at most; fields of other labels that claim it shrink until they do not. metric: "l1", or "lsup",
    the largest difference. ``budget``: neurons, of 8 bytes and 2 per input; a sample that finds none left is not
    learned.
    """

    def __init__(
        self,
        inputs: "int",
        budget: "int" = 64,
        reach: "float" = 64,
        metric: "Literal['l1', 'lsup']" = "l1",
        point: "int" = 8,
    ) -> None:
        inputs, budget = size_of("RCE", "inputs", inputs, 65536), size_of("RCE", "budget", budget, 65536)
        if metric not in ("l1", "lsup"):
            raise ValueError('RCE: metric is "l1" or "lsup", got %r' % (metric,))
        self._sum = metric == "l1"
        if not is_int(point) or not 0 <= point <= 15:
            raise ValueError("RCE: point is an int in 0..15, got %r" % (point,))
        self._reach = fixed_point("RCE: reach", reach, point)
        if not 0 < self._reach <= _MANY:
            raise ValueError("RCE: reach is above 0, and below 2^31 units, got %r" % (reach,))
        super().__init__(_RCE, inputs, point, budget, 8 + 2 * inputs, (int(self._sum), self._reach))
        self._format = "<2i%dh" % inputs

    def learn_one(self, x: "Numbers", y: "SupportsIndex") -> "int":
        """Learn a sample of label y; returns the number of neurons that changed or came,
        -1 if the budget is used up.
        """
        x, y = self._units(x), self._label(y)
        used = len(self)
        field, claimed, parts = self._reach, False, []
        for place, label, radius, distance in self._distances(x):
            if label == y:
                claimed = claimed or distance < radius
            else:
                field = min(field, distance)
                if distance < radius:
                    parts.append((64 + place * self._step + 4, struct.pack("<i", distance)))
        if not claimed and field > 0:
            if used == self._places:
                return -1
            parts.append((64 + used * self._step, struct.pack(self._format, y, field, *x)))
            parts.append((44, struct.pack("<I", used + 1)))
        self._change(*parts)
        return len(parts) - (not claimed and field > 0)

    def classify_one(self, x: "Numbers") -> "tuple[str, int | None, int | None]":
        """("identified", label, neuron), ("uncertain", label, neuron) where others claim it too, or ("unknown", None,
        None).

        The neuron, by its number, is the nearest of those that claim x: why.
        """
        best, labels = None, set()
        for place, label, radius, distance in self._distances(self._units(x)):
            if distance < radius:
                labels.add(label)
                if best is None or distance < best[0]:
                    best = distance, label, place
        if best is None:
            return "unknown", None, None
        return ("identified" if len(labels) == 1 else "uncertain"), best[1], best[2]

    def predict_one(self, x: "Numbers") -> "int | None":
        """The label of the nearest neuron that claims x; None if none does."""
        return self.classify_one(x)[1]

    def _distances(self, x):
        found = []
        for place in range(len(self)):
            label, radius, *sample = struct.unpack_from(self._format, self.state, 64 + place * self._step)
            apart = [abs(a - b) for a, b in zip(sample, x)]
            found.append((place, label, radius, sum(apart) if self._sum else max(apart)))
        return found
