"""KSWIN: whether a stream's last values still are distributed as those before. River's, by a test in integers.

    detector = KSWIN()
    detector.update(x)
    if detector.drift_detected:
        ...

Of equally many values the Kolmogorov-Smirnov test's p-value is a quotient of integers (Hodges, 1958), so that which
distance raises an alarm is known beforehand, exactly.
"""

from ..base.fixed import hash32, is_int, own
from .drift import Detector, ratio, whole


def _choose(n, k):
    """How many ways there are to choose k of n."""
    ways = 1
    for i in range(k):
        ways = ways * (n - i) // (i + 1)
    return ways


def _least(size, over, under):
    """The least distance of two samples of ``size`` values, in 1 / size, that chance exceeds with at most over / under.

    Above a tenth, as River has it; size + 1 where there is none.
    """
    all_ways = _choose(2 * size, size)
    for distance in range(size // 10 + 1, size + 1):
        ways = 0
        for k in range(size // distance, 0, -1):
            ways = _choose(2 * size, size - k * distance) - ways
        if 2 * ways * under <= over * all_ways:
            return distance
    return size + 1


def drawn(seed: "int", n: "int", count: "int", population: "int") -> "list[int]":
    """``count`` different places of 0 .. population - 1, by the hashes of a seed and a step (Floyd's algorithm)."""
    found = []
    for i in range(count):
        last = population - count + i
        place = hash32(seed, (n * count + i) & 0xFFFFFFFF) * (last + 1) >> 32
        found.append(last if place in found else place)
    return found


class KSWIN(Detector):
    """Kolmogorov-Smirnov windowing (Raab et al., 2020): the last ``stat_size`` of the last ``window_size`` values,
    against as many drawn of the others.

    alpha: how likely a false alarm may be at each value, of 4 digits. window_size: twice ``stat_size`` at least;
    stat_size: 2 to 1000. seed: of what is drawn.
    """

    def __init__(
        self, alpha: "float" = 0.005, window_size: "int" = 100, stat_size: "int" = 30, seed: "int" = 0
    ) -> None:
        over, under = ratio("KSWIN", "alpha", alpha, 1e-6, 1)
        size = self._size = whole("KSWIN", "stat_size", stat_size, 2)
        if size > 1000:
            raise ValueError("KSWIN: stat_size is at most 1000, got %d" % size)
        self._window = whole("KSWIN", "window_size", window_size, 2)
        if self._window < 2 * size:
            raise ValueError("KSWIN: window_size is twice stat_size, %d, at least, got %d" % (2 * size, window_size))
        seed = own(seed)
        if not is_int(seed) or not 0 <= seed < 1 << 30:
            raise ValueError("KSWIN: seed is an int in 0..2^30-1, got %r" % (seed,))
        self._seed = seed
        self._alarm = _least(size, over, under)
        super().__init__(over, under, size, self._window, seed)

    def _first(self):
        return False, False, 0, ()

    def _known(self, found):
        return found[:3] + (tuple(found[3]),)

    def _next(self, state, x):
        _, _, n, values = state
        values = values[len(values) >= self._window :] + (x,)
        found = len(values) == self._window and self._distance(n + 1, values) >= self._alarm
        return found, False, n + 1, values

    def _distance(self, n, values):
        """The largest distance of the two distributions, in 1 / stat_size."""
        size, before = self._size, self._window - self._size
        old = sorted([values[place] for place in drawn(self._seed, n, size, before)])
        new = sorted(values[before:])
        largest = i = k = 0
        while i < size and k < size:
            x = min(old[i], new[k])
            while i < size and old[i] == x:
                i += 1
            while k < size and new[k] == x:
                k += 1
            largest = max(largest, abs(i - k))
        return largest
