"""Classes of a few samples: each the mean of what a frozen front says of them (prototypical networks: Snell et al.,
2017).

    latents = Latents(odt.load_model("front.odt"))
    prototypes = Prototypes(latents, classes=5)
    prototypes.learn_one(x, 3)                  # a new class, or one sample more of it: one pass, no training
    label = prototypes.predict_one(x)

Sums and counts are integers, and so are all decisions: the same on every machine, in any order of the samples. Of equal
distances the first class counts. odt.host.episodes trains a front for it.
"""

import struct

from ..base.fixed import is_number, own, within
from ..base.primitives import decimal, isqrt
from ..base.regions import const
from ..online.neighbours import NCM

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from os import PathLike
    from typing import Any, Literal

    from ..run.network import Place
    from .latents import Latents

_PROTOTYPES = const(5)
_METRIC, _CRC = const(20), const(52)  # offsets in the state
_UNIT = const(4096)  # the length of an embedding that is normalised
_METRICS = ("euclidean", "cosine")


class Prototypes(NCM):
    """Nearest class mean of the outputs of ``front``, odt.continual.latents' Latents: 64 bytes, and 8 and 8 per output
    for each of ``classes``.

    ``metric``: "euclidean", or "cosine", for which each embedding is first made as long as any other. ``reject``: the
    largest distance, as ``nearest_one`` gives it, of a sample that is of any class; None for no such limit.
    """

    front: "Latents"
    metric: "Literal['euclidean', 'cosine']"
    reject: "float | None"

    _kind = _PROTOTYPES

    def __init__(
        self,
        front: "Latents",
        classes: "int" = 10,
        metric: "Literal['euclidean', 'cosine']" = "euclidean",
        reject: "float | None" = None,
    ) -> None:
        if metric not in _METRICS:
            raise ValueError('Prototypes: metric is "euclidean" or "cosine", got %r' % (metric,))
        if not hasattr(front, "crc"):
            raise TypeError("Prototypes: front is a Latents of odt.continual.latents, got %r" % (type(front),))
        front.check()
        super().__init__(front.width, classes, 0)
        struct.pack_into("<I", self.state, _METRIC, _METRICS.index(metric))
        struct.pack_into("<I", self.state, _CRC, front.crc)
        self.front, self.metric, self.reject = front, metric, reject
        self._limit()

    @property
    def labels(self) -> "list[int]":
        """The labels that have samples."""
        return [label for label in range(self._places) if self.count(label)]

    def partial_fit(self, x: "Any", y: "Sequence[int]") -> None:
        """Learn samples, as the front's ``predict`` takes them, and a label for each.

        ValueError, TypeError before any is learned.
        """
        labels = [self._label(label, self._places) for label in y]
        z, width = self.front(x), self.inputs
        if len(z) != len(labels) * width:
            raise ValueError("y: %d labels, x has %d samples" % (len(labels), len(z) // width))
        for i in range(len(labels)):
            self._add(self._embedding(z, i * width), labels[i])

    def forget(self, label: "int") -> None:
        """Unlearn a class, to the bit."""
        at = 64 + within("forget: label", label, self._places) * self._step
        self._change((at, bytes(self._step)))

    def nearest_one(self, x: "Any") -> "tuple[int | None, float | None]":
        """(label, distance) of the nearest class, whatever ``reject`` says; (None, None) where nothing was learned.

        "euclidean": in units of the front's outputs; "cosine": 1 - the cosine, in 1/1024.
        """
        place, distance = self._found(self._units(x))
        if place is None:
            return None, None
        return place, distance / 1024 if self.metric == "cosine" else distance * self.front.scale / 256

    def predict_one(self, x: "Any") -> "int | None":
        """The label of the nearest class; None where nothing was learned, and of a sample that is farther than
        ``reject``.
        """
        limit = self._limit()
        place, distance = self._found(self._units(x))
        return None if limit is not None and distance > limit else place

    def load(self, place: "str | PathLike[str] | Place") -> None:
        """Read a checkpoint of Prototypes of the same sizes and metric, over the same front; else ValueError, and
        nothing changes.
        """
        self.front.check()
        new = self.read(place)
        found, ours = struct.unpack_from("<I", new, _CRC)[0], struct.unpack_from("<I", self.state, _CRC)[0]
        if found != ours:
            raise ValueError("load: stale prototypes: of a front of CRC %08x, this one's is %08x" % (found, ours))
        self._change((0, new))

    def _limit(self):
        """``reject`` in units of a distance of integers."""
        reject = own(self.reject)
        if reject is None:
            return None
        if not is_number(reject) or not 0 <= reject < 1e30:
            raise ValueError("Prototypes: reject is None, or a distance of 0 or more, got %r" % (self.reject,))
        over, power = decimal(reject)
        if self.metric == "cosine":
            over, under = 1024 * over, 1
        else:
            under, less = decimal(self.front.scale)
            over, power = 256 * over, power - less
        return over * 10 ** max(power, 0) // (under * 10 ** max(-power, 0))

    def _units(self, x):
        z = self.front(x)
        if len(z) != self.inputs:
            raise ValueError("x: one sample is expected, got %d" % (len(z) // self.inputs))
        return self._embedding(z, 0)

    def _embedding(self, z, at):
        zero = self.front.zero_point + 128
        found = [(z[i] ^ 128) - zero for i in range(at, at + self.inputs)]
        if self.metric == "cosine":
            length = isqrt(sum([value * value for value in found]) << 16)  # in 1/256
            found = [(2 * 256 * _UNIT * value + length) // (2 * length) if length else 0 for value in found]
        return found

    def _found(self, x):
        """(place, distance): in 1/256 of a step of the latents, or 1/1024 of the cosine."""
        if self.metric == "euclidean":
            place, distance = self._nearest(x), 0
            if place is not None:
                n, *sums = struct.unpack_from(self._format, self.state, 64 + place * self._step)
                distance = isqrt(sum([(s - n * v) ** 2 for s, v in zip(sums, x)]) << 16) // n
            return place, distance
        best, top = None, 0
        length = isqrt(sum([v * v for v in x]))
        for place in range(self._places):
            n, *sums = struct.unpack_from(self._format, self.state, 64 + place * self._step)
            if n:
                size = isqrt(sum([s * s for s in sums])) * length
                cosine = (sum([s * v for s, v in zip(sums, x)]) << 20) // size if size else 0
                if best is None or cosine > top:
                    best, top = place, cosine
        return best, max(0, 1024 - (top + 512 >> 10))
