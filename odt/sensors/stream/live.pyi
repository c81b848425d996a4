from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Protocol

from ...run.network import Network
from .events import Events
from .window import Window

class Source(Protocol):
    def readinto(self, buffer: Any, /) -> Any: ...

class Stalled(OSError):
    """A source gave nothing for too long."""

class Stream:
    """Labels of what a sensor sends: each window goes through features, model and events."""

    window: Window
    model: Network | Callable[[Any], Any]
    events: Events
    features: Callable[[Any], Any] | None
    frames: Window | None
    def __init__(
        self,
        window: Window,
        model: Network | Callable[[Any], Any],
        events: Events,
        features: Callable[[Any], Any] | None = None,
        frames: Window | None = None,
    ) -> None: ...
    @staticmethod
    def of(model: Any, events: Events | None = None, hop: int | None = None, slots: int = 2) -> Stream: ...
    def feed(self, samples: Sequence[float] | Any) -> tuple[tuple[Any, float], ...]: ...
    def poll(self) -> tuple[tuple[Any, float], ...]: ...
    def see(self, x: Any) -> tuple[Any, float] | None: ...
    def posteriors(self, x: Any) -> Any: ...
    def listen(self, source: Source, pause: float = 0.01, patience: int = 500) -> AsyncIterator[tuple[Any, float]]: ...
    def cost(self, clock: Callable[[], int] | None = None) -> tuple[int, int]: ...
