"""Drift: whether a stream is no longer what it was.

River's detectors, in integers: the same alarm at the same sample everywhere.

    detector = ADWIN()
    detector.update(model.error)
    if detector.drift_detected:
        ...

What comes is rounded to 1/65536; from there on sums are exact, and quotients and roots have 40 bits after the point, so
that the precision of a board's floats makes no difference. After an alarm a detector starts again from the next value.
"""

import struct

from ..base import executor
from ..base.fixed import bit_length, is_int, is_number, own
from ..base.primitives import decimal, isqrt
from ..base.units import LIMIT, fixed_point
from ..files.stored import Stored

if 1 - 1:  # for type checkers alone
    from typing import Any, Literal, SupportsFloat

_MAGIC = 0x3144544F
_POINT = 40  # bits after the point of what is compared
_ONE = 1 << _POINT
_LN2 = 0x2C5C85FDF473DE6B  # ln 2, 62 bits after the point


def ratio(kind, name, value, low, high):
    """A user's number as two integers, of 4 digits: on every interpreter the same."""
    if not is_number(value) or not low <= value <= high:
        raise ValueError("%s: %s is in %s..%s, got %r" % (kind, name, low, high, value))
    mantissa, exponent = decimal(value)
    return (mantissa * 10**exponent, 1) if exponent > 0 else (mantissa, 10**-exponent)


def whole(kind, name, value, low):
    if not is_int(value) or not low <= value < 1 << 31:
        raise ValueError("%s: %s is an int in %d..2147483647, got %r" % (kind, name, low, value))
    return value


def _ln(v, point):
    """The natural logarithm of v / 2^point >= 1, 40 bits after the point: a bit of log2 per squaring."""
    n = bit_length(v) - 1
    m = v << 60 >> n
    log2 = n - point
    for _ in range(44):
        m = m * m >> 60
        log2 <<= 1
        if m >> 61:
            m >>= 1
            log2 += 1
    return log2 * _LN2 >> 62 + 44 - _POINT


class Detector(Stored):
    """What the detectors share: ``update(x)``, then ``drift_detected``.

    What they know is one tuple, that changes as a whole.

    ``save`` and ``load`` keep it, as text (JSON), for a detector of the same settings.
    """

    header = 8
    varies = True

    def __init__(self, *settings: "Any") -> None:
        self._settings = executor.engine.crc32(repr((type(self).__name__, settings)).encode())
        self.reset()

    def reset(self) -> None:
        """Start again."""
        self._state = self._first()

    @property
    def drift_detected(self) -> "bool":
        """Whether the last value raised an alarm."""
        return self._state[0]

    @property
    def warning_detected(self) -> "bool":
        """Whether it raised a warning: DDM's alone."""
        return self._state[1]

    @property
    def n(self) -> "int":
        """Values since it started; for ADWIN those in the window."""
        return self._state[2]

    def update(self, x: "SupportsFloat") -> None:
        """Look at the next value. ValueError, TypeError for what is no number; then nothing has changed."""
        x = self._read(x)
        self._state = self._next(self._first() if self._state[0] else self._state, x)

    def digest(self) -> "int":
        """CRC-32 of what it knows: equal on every machine."""
        return executor.engine.crc32(repr(self._state).encode())

    @property
    def state(self):
        """What ``save`` writes: made when it is asked for."""
        from json import dumps

        return bytearray(struct.pack("<2I", _MAGIC, self._settings) + dumps(self._state).encode())

    def load(self, place):
        """Read a checkpoint; ValueError and no change where it is none, damaged or of other settings."""
        from json import loads

        found = loads(bytes(self.read(place)[self.header :]).decode())
        if len(found) != len(self._first()):
            raise ValueError("%r: no state of a %s" % (place, type(self).__name__))
        self._state = self._known(tuple(found))

    def _known(self, found):
        """A state whose tuples have become lists."""
        return found

    def _read(self, x):
        return fixed_point(type(self).__name__, x)


class PageHinkley(Detector):
    """Page-Hinkley's test (1954): the sum of deviations from the mean, faded by ``alpha``, leaves its least or its
    most.

    min_instances: values before any alarm; delta: what a deviation is less by; threshold: how far the sum may go; mode:
    "up", "down" or "both". delta, threshold and alpha of 4 digits.
    """

    def __init__(
        self,
        min_instances: "int" = 30,
        delta: "float" = 0.005,
        threshold: "float" = 50.0,
        alpha: "float" = 0.9999,
        mode: "Literal['up', 'down', 'both']" = "both",
    ) -> None:
        self._instances = whole("PageHinkley", "min_instances", min_instances, 1)
        if mode not in ("up", "down", "both"):
            raise ValueError('PageHinkley: mode is "up", "down" or "both", got %r' % (mode,))
        self._mode = mode
        over, under = ratio("PageHinkley", "delta", delta, 0, LIMIT)
        self._delta = _ONE * over // under
        over, under = ratio("PageHinkley", "threshold", threshold, 0, LIMIT)
        self._threshold = _ONE * over // under
        self._alpha = ratio("PageHinkley", "alpha", alpha, 0, 1)
        super().__init__(self._instances, self._delta, self._threshold, self._alpha, mode)

    def _first(self):
        return False, False, 0, 0, 0, 0, None, -_ONE  # this most is River's

    def _next(self, state, x):
        _, _, n, total, up, down, least, most = state
        n, total = n + 1, total + x
        deviation = (x * n - total << _POINT - 16) // n
        over, under = self._alpha
        up = up * over // under + deviation - self._delta
        down = down * over // under + deviation + self._delta
        least = up if least is None else min(up, least)
        most = max(down, most)
        rises, falls = up - least > self._threshold, most - down > self._threshold
        found = n >= self._instances and ((rises and self._mode != "down") or (falls and self._mode != "up"))
        return found, False, n, total, up, down, least, most


class DDM(Detector):
    """The drift detection method (Gama, 2004): ``update(wrong)``, 1 or True of an error; alarms where errors are more
    than at best.

    warm_start: values before any alarm. warning_threshold, drift_threshold: standard deviations, of 4 digits.
    """

    def __init__(
        self, warm_start: "int" = 30, warning_threshold: "float" = 2.0, drift_threshold: "float" = 3.0
    ) -> None:
        self._start = whole("DDM", "warm_start", warm_start, 0)
        self._warning = ratio("DDM", "warning_threshold", warning_threshold, 0, 1000)
        self._drift = ratio("DDM", "drift_threshold", drift_threshold, 0, 1000)
        super().__init__(self._start, self._warning, self._drift)

    def _first(self):
        return False, False, 0, 0, None, None

    def _read(self, x):
        x = own(x)
        if not isinstance(x, (int, float)) or x not in (0, 1):
            raise ValueError("DDM: 0 or 1 is expected, got %r" % (x,))
        return int(x)

    def _next(self, state, wrong):
        _, _, n, errors, least, spread = state
        n, errors = n + 1, errors + wrong
        if n <= self._start:
            return False, False, n, errors, least, spread
        p = errors * _ONE // n
        s = isqrt((errors * (n - errors) << 2 * _POINT) // (n * n * n))
        if least is None or p + s <= least + spread:
            least, spread = p, s
        beyond = p + s - least
        drift = beyond * self._drift[1] > spread * self._drift[0]
        warning = not drift and beyond * self._warning[1] > spread * self._warning[0]
        return drift, warning, n, errors, least, spread


class ADWIN(Detector):
    """The adaptive window (Bifet and Gavalda, 2007): the values since the last change, in buckets that double; their
    ``estimation``.

    delta: how likely a false alarm may be, of 4 digits; clock: values between looks; max_buckets: of a size;
    min_window_length: of either part; grace_period: values before any look.
    """

    def __init__(
        self,
        delta: "float" = 0.002,
        clock: "int" = 32,
        max_buckets: "int" = 5,
        min_window_length: "int" = 5,
        grace_period: "int" = 10,
    ) -> None:
        self._delta = ratio("ADWIN", "delta", delta, 1e-6, 1)
        self._clock = whole("ADWIN", "clock", clock, 1)
        self._buckets = whole("ADWIN", "max_buckets", max_buckets, 1)
        self._shortest = whole("ADWIN", "min_window_length", min_window_length, 1)
        self._grace = whole("ADWIN", "grace_period", grace_period, 1)
        super().__init__(self._delta, self._clock, self._buckets, self._shortest, self._grace)

    def _first(self):
        # The last: rows of buckets of 1, 2, 4 .. values, each (total, sum of squares), the oldest first.
        return False, False, 0, 0, 0, 0, [[]]

    def _known(self, found):
        return found[:6] + ([[tuple(bucket) for bucket in row] for row in found[6]],)

    @property
    def estimation(self) -> "float":
        """The mean of the window, 0 of none."""
        return self._state[4] / 65536 / self._state[2] if self._state[2] else 0.0

    def _next(self, state, x):
        _, _, n, tick, total, squares, rows = state
        n, tick, total, squares, rows = n + 1, tick + 1, total + x, squares + x * x, list(rows)
        rows[0] = rows[0] + [(x, x * x)]
        row = 0
        while len(rows[row]) > self._buckets:
            if row + 1 == len(rows):
                rows.append([])
            a, b = rows[row][0], rows[row][1]
            rows[row + 1] = rows[row + 1] + [(a[0] + b[0], a[1] + b[1])]
            rows[row] = rows[row][2:]
            row += 1
        found = False
        if tick % self._clock == 0 and n > self._grace:
            while self._differs(n, total, squares, rows):  # without its oldest bucket?
                old = rows[-1][0]
                n, total, squares = n - (1 << len(rows) - 1), total - old[0], squares - old[1]
                rows[-1] = rows[-1][1:]
                while len(rows) > 1 and not rows[-1]:
                    rows.pop()
                found = True
        return found, False, n, tick, total, squares, rows

    def _differs(self, n, total, squares, rows):
        """Whether the means of two parts of the window, cut between buckets, differ by more than chance has it."""
        shortest = self._shortest
        if n < 2 * shortest:
            return False
        over, under = self._delta
        delta = _ln(2 * _ln(n, 0) * under // over, _POINT)
        variance = (squares * n - total * total << _POINT - 32) // (n * n)
        n0 = u0 = 0
        for row in range(len(rows) - 1, -1, -1):
            for bucket in rows[row]:
                n0, u0 = n0 + (1 << row), u0 + bucket[0]
                n1 = n - n0
                if n0 >= shortest and n1 >= shortest:
                    gap = (abs(u0 * n1 - (total - u0) * n0) << _POINT - 16) // (n0 * n1)
                    a, b = n0 - shortest + 1, n1 - shortest + 1
                    m = (a + b << _POINT) // (a * b)
                    if gap > isqrt(2 * variance * m * delta >> _POINT) + (2 * delta * m // 3 >> _POINT):
                        return True
        return False
