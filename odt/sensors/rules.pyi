from collections.abc import Callable
from collections.abc import Sequence as Several
from os import PathLike

from ..files.stored import Stored
from ..run.network import Place

class Condition:
    """What a rule waits for."""

    cells: int
    signal: str | None
    events: tuple[str, ...]

class Count(Condition):
    """``number`` times ``event`` within ``within`` ms."""

    number: int
    within: int
    def __init__(self, event: str, number: int, within: int) -> None: ...

class Sequence(Condition):
    """These events in this order within ``within`` ms."""

    order: tuple[str, ...]
    without: tuple[str, ...]
    within: int
    def __init__(self, events: Several[str], within: int, without: str | Several[str] = ()) -> None: ...

class All(Condition):
    """Each of these events within ``within`` ms, in any order."""

    within: int
    def __init__(self, events: Several[str], within: int) -> None: ...

class Absence(Condition):
    """No ``event`` for ``within`` ms."""

    within: int
    def __init__(self, event: str, within: int) -> None: ...

class Above(Condition):
    """``signal`` at ``limit`` or above for ``hold`` ms; again when it has been below ``release``."""

    hold: int
    limit: float
    bound: int
    def __init__(self, signal: str, limit: float, release: float | None = None, hold: int = 0) -> None: ...

class Below(Above):
    """As Above, the other way round."""

class Rule:
    """One of Rules."""

    rules: Rules
    name: str
    condition: Condition
    action: Callable[[Rule], object] | None
    cooldown: int
    at: int
    enabled: bool
    def __init__(
        self,
        rules: Rules,
        name: str,
        condition: Condition,
        action: Callable[[Rule], object] | None,
        cooldown: int,
        at: int,
    ) -> None: ...
    @property
    def fired(self) -> int:
        """How often it has fired."""

class Rules(Stored):
    """Rules on events, in the order in which they were added."""

    names: list[str]
    rules: list[Rule]
    cells: list[int]
    def __init__(self, events: Several[str] = ()) -> None: ...
    def add(
        self, name: str, condition: Condition, action: Callable[[Rule], object] | None = None, cooldown: int = 0
    ) -> Rule:
        """A new Rule, which is an event for those after it."""

    def event(self, name: str, now: int) -> None:
        """An event has come, at ``now`` milliseconds."""

    def value(self, signal: str, x: float, now: int) -> None:
        """A signal's value."""

    def tick(self, now: int) -> None:
        """Time has passed."""

    @property
    def state(self) -> bytearray:  # type: ignore[override]
        """What ``save`` writes."""

    def load(self, place: str | PathLike[str] | Place) -> None:
        """Read a checkpoint of the same rules."""
