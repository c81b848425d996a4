from collections.abc import Iterator
from os import PathLike
from typing import Any

from ..files.stored import Stored
from ..run.network import Network, Place
from .latents import Latents

class Replay(Stored):
    """Samples of what a model has learned, in fixed memory, mixed into the batches of fit."""

    model: Network
    front: Latents | None
    seed: int
    classes: int
    size: int
    width: int
    capacity: int
    seen: int
    x: memoryview
    y: memoryview
    def __init__(self, model: Network, budget: int = 16384, front: Latents | None = None, seed: int = 0) -> None: ...
    def __len__(self) -> int: ...
    def count(self, label: int) -> int: ...
    def add(self, x: Any, y: Any) -> None: ...
    def mixed(self, x: Any, y: Any, share: float | None = None) -> Mixed: ...
    def check(self) -> None: ...
    def save(self, place: str | PathLike[str] | Place) -> None: ...
    def load(self, place: str | PathLike[str] | Place) -> None: ...

class Mixed:
    """What Replay.mixed gives to fit."""

    epoch: int
    order: int
    def __init__(self, replay: Replay, data: tuple[memoryview, int, Any, int], share: float | None) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[memoryview, memoryview]]: ...

def shuffled(p: int, count: int, key: int) -> int:
    """Which of count comes at p in the order of this key."""
