"""Values and events of a stream, read from what log() prints: odt/sensors/stream/logs.py writes these lines.

What else a script prints is kept apart; a line that is not whole is counted and left out.
"""

import collections
import math
import re

RECENT = 500  # values that are drawn live
_BINS = 4096  # of a series, twice as many at most: more values share them
_NAMES = 100  # of series, and of events: what has more is damage
_MARKS = 1000  # events whose places are kept, the last ones
_MOST = 1e100  # what is beyond, no board's float32 is: infinite
_BEHIND = " threshold"  # of what name, a line across its values

_NAME = r"(?! )[^\0-\x1f\x7f-\x9f:|>\ufffd]{1,%d}"
_NUMBER = r"-?(?:\d{1,39}(?:\.\d{1,39})?(?:e[-+]?\d{1,3})?|inf|nan)"
_LINE = re.compile(r">(?:event:(%s)\|t|(%s):(%s))" % (_NAME % 40, _NAME % (40 + len(_BEHIND)), _NUMBER))
_FRAGMENT = re.compile(r">%s:|\|t$|^(?P<end>%s):%s$" % (_NAME % 50, _NAME.replace("1,", "0,") % 50, _NUMBER))


class Series:
    """The values of one name.

    ``count``; ``last``; ``recent``: the last of them, (number from 1, value, threshold or None). ``lows``, ``highs``:
    the least and the greatest of every ``each`` values, NaN where none is finite; ``each`` grows so that these lists
    stay short. ``steps``: thresholds, (the number of values before, threshold), where they change.
    """

    def __init__(self):
        self.count, self.each = 0, 1
        self.last = self.threshold = None
        self.lows, self.highs, self.steps = [], [], []
        self.recent = collections.deque(maxlen=RECENT)

    def add(self, value):
        """Take in the next value."""
        if self.count == self.each * 2 * _BINS:
            self.lows, self.highs = _halved(self.lows, min), _halved(self.highs, max)
            self.each *= 2
        finite = value if math.isfinite(value) else math.nan
        if self.count % self.each:
            self.lows[-1], self.highs[-1] = _of(min, self.lows[-1], finite), _of(max, self.highs[-1], finite)
        else:
            self.lows.append(finite)
            self.highs.append(finite)
        self.count += 1
        self.last = value
        self.recent.append([self.count, value, self.threshold])

    def limit(self, value):
        """Take in the threshold of the last value and of later ones."""
        if value != self.threshold:
            if len(self.steps) == 2 * _BINS:
                del self.steps[:-1:2]
            self.steps.append((self.count, value))
            self.threshold = value
        if self.recent:
            self.recent[-1][2] = value


def _of(which, a, b):
    return b if math.isnan(a) else a if math.isnan(b) else which(a, b)


def _halved(values, which):
    return [_of(which, values[i], values[i + 1]) for i in range(0, len(values), 2)]


class Logged:
    """Give it each line.

    ``series``: {name: Series}; ``events``: {name: how many}; ``damaged``, how many lines were left out.

    ``marks``: the last events, (name, {series' name: how many of its values came before}).
    """

    def __init__(self):
        self.series, self.events = {}, {}
        self.marks = collections.deque(maxlen=_MARKS)
        self.damaged = 0
        self._latest = None  # the name of the series that came last

    def line(self, line):
        """Returns what is to be shown of it: what is a script's own, events in words."""
        own, events = "", []
        for piece in re.split("(?=>)", line):
            match = _LINE.fullmatch(piece)
            if not match:
                own += piece
            elif match[1]:
                events += self._event(match[1])
            else:
                value = float(match[3])
                self._value(match[2], math.copysign(math.inf, value) if abs(value) >= _MOST else value)
        self.damaged += self._is_fragment(own)
        return ([own] if own.strip() else []) + events

    def _is_fragment(self, line):
        match = _FRAGMENT.search(line)
        end = match and match["end"]
        return bool(match) and (end is None or any(name.endswith(end) for name in self.series))

    def _value(self, name, value):
        of = name[: -len(_BEHIND)] if name.endswith(_BEHIND) else name
        if of not in self.series and len(self.series) == _NAMES:
            self.damaged += 1
            return
        series = self.series.setdefault(of, Series())
        if of == name:
            series.add(value)
            self._latest = name
        else:
            series.limit(value)

    def _event(self, name):
        if name not in self.events and len(self.events) == _NAMES:
            self.damaged += 1
            return []
        self.events[name] = self.events.get(name, 0) + 1
        self.marks.append((name, {each: series.count for each, series in self.series.items()}))
        if self._latest is None:
            return [name]
        series = self.series[self._latest]
        return ["%s at %s %d: %.6g" % (name, self._latest, series.count, series.last)]
