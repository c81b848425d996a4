"""Rules on events: what is said of a stream, and when, becomes an action.

Complex events of simple ones, in fixed memory.

    rules = Rules(["knock", "step"])
    rules.add("visitor", Sequence(["step", "knock"], within=5000), lambda rule: print("at the door"), cooldown=30000)
    rules.add("nobody", Absence("step", 3600000), lambda rule: light.off())
    rules.add("odd", Above("score", 0.8, hold=2000), lambda rule: freeze())
    rules.event("step", time.ticks_ms())
    rules.value("score", model.score_one(x), time.ticks_ms())
    rules.tick(time.ticks_ms())                 # now and then: that nothing comes is no event

A rule that fires is an event itself, by its name, for the rules after it: so they make sequences of sequences, and two
rules before one are an "or". Times are whole milliseconds of a clock that never goes back, such as ticks_ms(), and may
wrap at 2^30.
"""

import struct

from ..base.fixed import is_int, own
from ..base.primitives import size_of
from ..base.regions import const
from ..base.units import fixed_point
from ..files.stored import Stored, whole

if 1 - 1:  # for type checkers alone
    from collections.abc import Callable
    from collections.abc import Sequence as Several
    from os import PathLike

    from ..run.network import Place

_MAGIC = const(0x3153544F)
_PERIOD = const(0x3FFFFFFF)  # of ticks_ms(), less 1
_BACK = const(1 << 24)  # a clock that stands so far back, 4.6 hours, is wrong; else it has restarted
_CELLS = const(3)  # of a rule: whether it is on, the time after its cooldown, how often it has fired
_POINT = const(16)
_TICK, _VALUE, _EVENT = const(0), const(1), const(2)


def _span(kind, name, value):
    """Milliseconds, as an int of 1 to 2^29 - 1: six days."""
    value = own(value)
    if not is_int(value) or not 0 < value < 1 << 29:
        raise ValueError("%s: %s is milliseconds, an int in 1..2^29-1, got %r" % (kind, name, value))
    return value


def _names(kind, name, value, least):
    """A tuple of names."""
    if not isinstance(value, (list, tuple)):
        raise TypeError("%s: %s is a list of names, got %r" % (kind, name, value))
    value = tuple(value)
    for each in value:
        if not isinstance(each, str):
            raise TypeError("%s: %s is a list of names, got %r" % (kind, name, value))
    if len(value) < least:
        raise ValueError("%s: %s: at least %d are needed, got %d" % (kind, name, least, len(value)))
    return value


class Condition:
    """What a rule waits for.

    Its cells lie in the rules' list from ``at`` on; a time in it is 1 later than it was, 0 is none.
    """

    cells: "int" = 1
    signal: "str | None" = None  # whose values it wants
    events: "tuple[str, ...]" = ()  # which it knows

    def event(self, cells: "list[int]", at: "int", name: "str", now: "int") -> "bool":
        """Whether this event completes it."""
        return False

    def value(self, cells: "list[int]", at: "int", x: "float", now: "int") -> "bool":
        """Whether this value of its signal does."""
        return False

    def tick(self, cells: "list[int]", at: "int", now: "int") -> "bool":
        """Whether the time does."""
        return False

    def clear(self, cells: "list[int]", at: "int") -> None:
        """Start again."""
        for i in range(at, at + self.cells):
            cells[i] = 0


class Count(Condition):
    """``number`` times ``event`` within ``within`` ms, the first and the last included.

    Each event is counted once.
    """

    number: "int"
    within: "int"

    def __init__(self, event: "str", number: "int", within: "int") -> None:
        self.events = _names("Count", "event", [event], 1)
        self.number = self.cells = size_of("Count", "number", number, 65535)
        self.within = _span("Count", "within", within)
        self.cells += 1  # where the next time goes

    def event(self, cells: "list[int]", at: "int", name: "str", now: "int") -> "bool":
        if name != self.events[0]:
            return False
        place = cells[at]
        cells[at] = following = (place + 1) % self.number
        cells[at + 1 + place] = now + 1
        first = cells[at + 1 + following]
        return first > 0 and now + 1 - first <= self.within


class Sequence(Condition):
    """These ``events`` in this order within ``within`` ms, any others between; an event in ``without`` resets it."""

    order: "tuple[str, ...]"
    without: "tuple[str, ...]"
    within: "int"

    def __init__(self, events: "Several[str]", within: "int", without: "str | Several[str]" = ()) -> None:
        self.order = _names("Sequence", "events", events, 2)
        self.without = _names("Sequence", "without", (without,) if isinstance(without, str) else without, 0)
        self.events = self.order + self.without
        self.within = _span("Sequence", "within", within)
        self.cells = len(self.order)  # of each event: when the latest run up to it began

    def event(self, cells: "list[int]", at: "int", name: "str", now: "int") -> "bool":
        if name in self.without:
            self.clear(cells, at)
            return False
        last = len(self.order) - 1
        for i in range(last, 0, -1):
            begun = cells[at + i - 1]
            if self.order[i] == name and begun and now + 1 - begun <= self.within:
                cells[at + i] = begun
                if i == last:
                    return True
        if self.order[0] == name:
            cells[at] = now + 1
        return False


class All(Condition):
    """Each of these ``events`` within ``within`` ms, in any order."""

    within: "int"

    def __init__(self, events: "Several[str]", within: "int") -> None:
        self.events = _names("All", "events", events, 2)
        for i, name in enumerate(self.events):
            if name in self.events[:i]:
                raise ValueError("All: events: %r is there twice" % name)
        self.within = _span("All", "within", within)
        self.cells = len(self.events)  # of each, when it last came

    def event(self, cells: "list[int]", at: "int", name: "str", now: "int") -> "bool":
        if name not in self.events:
            return False
        cells[at + self.events.index(name)] = now + 1
        for i in range(at, at + self.cells):
            if not cells[i] or now + 1 - cells[i] > self.within:
                break
        else:
            return True
        return False


class Absence(Condition):
    """No ``event`` for ``within`` ms, since it came or, before that, since the first call;
    once, until it comes again.
    """

    within: "int"

    cells = 2  # since when, whether it has been said

    def __init__(self, event: "str", within: "int") -> None:
        self.events = _names("Absence", "event", [event], 1)
        self.within = _span("Absence", "within", within)

    def event(self, cells: "list[int]", at: "int", name: "str", now: "int") -> "bool":
        if name == self.events[0]:
            cells[at], cells[at + 1] = now + 1, 0
        return False

    def tick(self, cells: "list[int]", at: "int", now: "int") -> "bool":
        if not cells[at]:
            cells[at] = now + 1
        if cells[at + 1] or now + 1 - cells[at] < self.within:
            return False
        cells[at + 1] = 1
        return True

    def clear(self, cells: "list[int]", at: "int") -> None:
        pass


class Above(Condition):
    """``signal`` at ``limit`` or above for ``hold`` ms; again only when it has been below ``release`` (None: the
    limit).

    ``limit`` may be set to another number at any time, an action's too. Numbers are rounded to 1/65536.
    """

    hold: "int"
    bound: "int"

    _sign = 1
    cells = 2  # since when it is above, whether it has been said

    def __init__(self, signal: "str", limit: "float", release: "float | None" = None, hold: "int" = 0) -> None:
        kind = type(self).__name__
        (self.signal,) = _names(kind, "signal", [signal], 1)
        self.hold = _span(kind, "hold", hold) if own(hold) else 0
        self.limit = limit
        self._release = self.bound if release is None else self._sign * fixed_point(kind, release, _POINT)
        if self._release > self.bound:
            raise ValueError("%s: release %r is beyond limit %r" % (kind, release, limit))
        self._gap = self.bound - self._release

    @property
    def limit(self) -> "float":
        return self._sign * self.bound / 65536

    @limit.setter
    def limit(self, value: "float") -> None:
        self.bound = self._sign * fixed_point(type(self).__name__, value, _POINT)

    def value(self, cells: "list[int]", at: "int", x: "float", now: "int") -> "bool":
        x *= self._sign
        if x < self.bound - self._gap:
            cells[at] = cells[at + 1] = 0
            return False
        if x < self.bound:  # it goes on being above, if it was said
            if not cells[at + 1]:
                cells[at] = 0
            return False
        if not cells[at]:
            cells[at] = now + 1
        if cells[at + 1] or now + 1 - cells[at] < self.hold:
            return False
        cells[at + 1] = 1
        return True

    def clear(self, cells: "list[int]", at: "int") -> None:
        pass


class Below(Above):
    """As Above, the other way round: at ``limit`` or below; again when it has been above ``release``."""

    _sign = -1


class Rule:
    """One of Rules: ``name``, ``condition``, ``action``; ``fired``, how often; ``enabled``, whether it looks at what
    comes.
    """

    rules: "Rules"
    name: "str"
    condition: "Condition"
    action: "Callable[[Rule], object] | None"
    cooldown: "int"
    at: "int"

    def __init__(
        self,
        rules: "Rules",
        name: "str",
        condition: "Condition",
        action: "Callable[[Rule], object] | None",
        cooldown: "int",
        at: "int",
    ) -> None:
        self.rules, self.name, self.condition, self.action = rules, name, condition, action
        self.cooldown, self.at = cooldown, at

    @property
    def fired(self) -> "int":
        return self.rules.cells[self.at + 2]

    @property
    def enabled(self) -> "bool":
        return self.rules.cells[self.at] == 1

    @enabled.setter
    def enabled(self, value: "bool") -> None:
        cells = self.rules.cells
        cells[self.at] = int(bool(value))
        self.condition.clear(cells, self.at + _CELLS)

    def __repr__(self):
        return "<rule %s, fired %d times>" % (self.name, self.fired)


class Rules(Stored):
    """``events``: names of what comes from outside. Rules see each event in the order in which they were added.

    All memory is reserved by ``add``: 8 bytes of a checkpoint, and a list's cell, for each time that is kept (3 for a
    rule, and 2 for Absence, Above and Below, ``number`` + 1 for Count, one an event for Sequence and All). ``save``,
    ``load``: how far each rule is, limits too; how long the board was off does not count. An action is called with its
    Rule, after everything of it is written: what it raises comes out of the call when all rules have seen the event.
    """

    names: "list[str]"
    rules: "list[Rule]"
    cells: "list[int]"

    header = 12

    def __init__(self, events: "Several[str]" = ()) -> None:
        self.names = list(_names("Rules", "events", events, 0))
        self.rules = []
        self.cells = [0, 0]  # what the clock showed at first, 1 later; milliseconds since then
        self._signals = []

    def add(
        self, name: "str", condition: "Condition", action: "Callable[[Rule], object] | None" = None, cooldown: "int" = 0
    ) -> "Rule":
        """A Rule; ``cooldown``: ms after a firing in which it does not fire again.

        ValueError for names that are taken or not known.
        """
        if not isinstance(name, str) or name in self.names:
            raise ValueError("add: name is a new one, got %r" % (name,))
        if not isinstance(condition, Condition):
            raise TypeError("add: condition is a Count, Sequence, All, Absence, Above or Below, got %r" % (condition,))
        for each in condition.events:
            if each not in self.names:
                raise ValueError("%s: no event %r; there are %s" % (name, each, ", ".join(self.names)))
        if action is not None and not callable(action):
            raise TypeError("add: action is a function, got %r" % (action,))
        cooldown = _span("add", "cooldown", cooldown) if own(cooldown) else 0
        for rule in self.rules:
            if rule.condition is condition:
                raise ValueError("add: the condition is that of rule %r: make a second one" % rule.name)
        rule = Rule(self, name, condition, action, cooldown, len(self.cells))
        cells = self.cells + [1] + [0] * (_CELLS - 1 + condition.cells)
        names, rules, signals = self.names + [name], self.rules + [rule], self._signals
        if condition.signal and condition.signal not in signals:
            signals = signals + [condition.signal]

        def change():
            self.cells, self.names, self.rules, self._signals = cells, names, rules, signals

        whole(change)
        return rule

    def event(self, name: "str", now: "int") -> None:
        """An event has come.

        ValueError for a name that is none, and where ``now`` is before the last; nothing has changed then.
        """
        if name not in self.names:
            raise ValueError("event: no event %r; there are %s" % (name, ", ".join(self.names)))
        self._take(_EVENT, name, 0, self._clock(now))

    def value(self, signal: "str", x: "float", now: "int") -> None:
        """A signal's value, below 2^20. ValueError for a signal that no rule wants, and as of ``event``."""
        if signal not in self._signals:
            raise ValueError("value: no rule wants %r; there are %s" % (signal, ", ".join(self._signals)))
        x = fixed_point("value", x, _POINT)
        self._take(_VALUE, signal, x, self._clock(now))

    def tick(self, now: "int") -> None:
        """Time has passed."""
        self._see(_TICK, 0, None, 0, self._clock(now))

    def _clock(self, now):
        cells, now = self.cells, own(now)
        if not is_int(now) or now < 0:
            raise ValueError("now is milliseconds, an int of at least 0, got %r" % (now,))
        now &= _PERIOD
        if not cells[0]:
            cells[0] = (now - cells[1] & _PERIOD) + 1
        passed = (now + 1 - cells[0] - cells[1]) & _PERIOD
        if passed > _PERIOD - _BACK:
            raise ValueError("now is %d, before the last, %d" % (now, cells[0] - 1 + cells[1] & _PERIOD))
        cells[1] += passed  # one store: what interrupts it leaves the time whole
        return cells[1]

    def _take(self, kind, name, x, now):
        try:
            self._see(_TICK, 0, None, 0, now)
        finally:
            self._see(kind, 0, name, x, now)

    def _see(self, kind, first, name, x, now):
        """Show an event, a signal's value or the time to the rules from ``first`` on. An exception of a rule is raised
        after every rule has seen it.
        """
        index, late = first, None
        while True:
            try:
                while index < len(self.rules):
                    index += 1
                    if self._completes(kind, self.rules[index - 1], name, x, now):
                        self._fire(index, self.rules[index - 1], now)
                break
            except BaseException as error:  # an action's, or Ctrl-C
                late = error
        if late:
            raise late

    def _completes(self, kind, rule, name, x, now):
        cells, condition, at = self.cells, rule.condition, rule.at
        if not cells[at]:
            return False
        at += _CELLS
        if kind == _TICK:
            return condition.tick(cells, at, now)
        if kind == _VALUE:
            return condition.signal == name and condition.value(cells, at, x, now)
        return condition.event(cells, at, name, now)

    def _fire(self, following, rule, now):
        """A rule is complete: its action, and it is an event for the rules from ``following`` on."""
        cells, at = self.cells, rule.at
        rule.condition.clear(cells, at + _CELLS)
        if cells[at + 1] > now:
            return
        cells[at + 1] = now + rule.cooldown
        cells[at + 2] += 1
        try:
            if rule.action:
                rule.action(rule)
        finally:
            self._see(_EVENT, following, rule.name, 0, now)

    @property
    def state(self) -> "bytearray":
        """What ``save`` writes: made when it is asked for."""
        from ..base import executor

        sizes = [len(self.cells)] + [len(rule.condition.events) for rule in self.rules]
        words = "/".join(self.names + [type(rule.condition).__name__ for rule in self.rules])
        crc = executor.engine.crc32(words.encode()) ^ executor.engine.crc32(struct.pack("<%dI" % len(sizes), *sizes))
        limits = [rule.condition.bound for rule in self._limited()]
        cells = [0] + self.cells[1:] + limits
        return bytearray(struct.pack("<3I%dq" % len(cells), _MAGIC, len(cells), crc, *cells))

    def load(self, place: "str | PathLike[str] | Place") -> None:
        """Read a checkpoint of the same rules; ValueError and no change where it is none or damaged.

        The clock may restart.
        """
        cells = list(struct.unpack("<%dq" % (len(self.cells) + len(self._limited())), self.read(place)[12:]))
        limits, cells = cells[len(self.cells) :], cells[: len(self.cells)]

        def change():
            for rule, limit in zip(self._limited(), limits):
                rule.condition.bound = limit
            self.cells = cells

        whole(change)

    def _limited(self):
        return [rule for rule in self.rules if rule.condition.signal]
