"""Drift detection by the distance between recent and trained centroids (Yamada and Matsutani, 2022).

    detector = CentroidDrift(4, classes=2, window=50, threshold=0.5)
    detector.learn_one(x, label)  # in training
    detector.update(x, label)  # in use
    if detector.drift_detected:
        ...

No sample is kept. Inputs become int16 as in neighbours.py; sums are exact integers, and the distance has 16 bits after
the point.
"""

import struct

from ..base.primitives import size_of
from ..base.units import fixed_point
from .neighbours import NCM

if 1 - 1:  # for type checkers alone
    from typing import SupportsIndex

    from ..run.network import Numbers

_CENTROIDS = 6  # 5 are odt.continual.prototypes


class CentroidDrift(NCM):
    """Trained centroids of labels, and those of a window of ``window`` samples; an alarm where their distance exceeds
    ``threshold``.

    The distance is the sum of |recent - trained| over the inputs, the mean over the window's samples of their labels'
    distances. The state: NCM's, with words of window and threshold, places for the window's sums, and from byte 48 on
    the window's samples, the distance of the last whole window in 1/65536 (-1: none) and whether the last sample raised
    an alarm.
    """

    _kind = _CENTROIDS

    def __init__(
        self, inputs: "int", classes: "int" = 1, window: "int" = 50, threshold: "float" = 1.0, point: "int" = 8
    ) -> None:
        super().__init__(inputs, classes, point)
        self._window = size_of("CentroidDrift", "window", window, 1 << 20)
        self._threshold = fixed_point("CentroidDrift: threshold", threshold)
        if not 0 <= self._threshold < 1 << 32:
            raise ValueError("CentroidDrift: threshold is in 0..65535, got %r" % (threshold,))
        self._recent = len(self.state)
        state = bytearray(self._recent + self._places * self._step)
        state[: self._recent] = self.state
        struct.pack_into("<II", state, 20, self._window, self._threshold)
        struct.pack_into("<q", state, 52, -1)
        self.state = state

    @property
    def drift_detected(self) -> "bool":
        """Whether the last sample ended a window that is too far."""
        return bool(self.state[60])

    @property
    def distance(self) -> "float | None":
        """Of the last whole window; None before the first."""
        distance = struct.unpack_from("<q", self.state, 52)[0]
        return None if distance < 0 else distance / 65536

    def update(self, x: "Numbers", y: "SupportsIndex | None" = None, begin: "bool" = True) -> None:
        """Look at a sample of label y, None: of the nearest centroid.

        Where no window is under way, one begins if ``begin``.

        ValueError, TypeError for what is no sample, and for a label that was not trained; then nothing has changed.
        """
        x = self._units(x)
        y = self._nearest(x) if y is None else self._label(y, self._places)
        if y is None or not self.count(y):
            raise ValueError(
                "CentroidDrift: %s has no centroid: learn_one comes first"
                % ("any label" if y is None else "label %d" % y)
            )
        n = struct.unpack_from("<I", self.state, 48)[0]
        if not n and not begin:
            self._change((60, b"\0"))
            return
        at = self._recent + y * self._step
        sums = self._sums(at)
        record = bytearray(struct.pack("<q", sums[0] + 1))
        for i in range(len(x)):
            record.extend(struct.pack("<q", sums[i + 1] + x[i]))
        if n + 1 < self._window:
            self._change((at, record), (48, struct.pack("<I", n + 1)), (60, b"\0"))
            return
        recent = bytearray(self.state[self._recent :])
        recent[at - self._recent : at - self._recent + self._step] = record
        distance = self._compare(recent)
        found = b"\1" if distance > self._threshold else b"\0"
        self._change((self._recent, bytes(len(recent))), (48, struct.pack("<Iq", 0, distance)), (60, found))

    def _sums(self, at):
        return struct.unpack_from(self._format, self.state, at)

    def _compare(self, recent):
        total = 0
        for place in range(self._places):
            m, *new = struct.unpack_from(self._format, recent, place * self._step)
            if m:
                n, *old = self._sums(64 + place * self._step)
                total += (sum([abs(t * n - m * s) for t, s in zip(new, old)]) << 16 - self.point) // n
        return total // self._window
