from array import array
from collections.abc import Iterator
from os import PathLike
from typing import Any

from ..data.readers import RawReader
from .stream.window import Window

class Recorder:
    """Windows and their labels, appended to a file that fit and NumPy read."""

    path: str
    window: Window
    rate: int | None
    classes: int | None
    record: int
    each: int
    labels: list[str]
    def __init__(
        self,
        path: str | PathLike[str],
        window: Window,
        rate: int | None = None,
        budget: int = 65536,
        classes: int | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def count(self, label: str) -> int: ...
    def add(self, x: array[Any] | memoryview, label: str) -> bool: ...
    def capture(
        self, label: str, count: int = 1, source: Any = None, pause: float = 0.01, patience: int = 500
    ) -> int: ...
    def remove(self, number: int = -1) -> None: ...
    def forget(self, label: str) -> None: ...
    def close(self) -> None: ...
    def __iter__(self) -> Iterator[tuple[array[Any], str]]: ...
    def reader(self, batch_size: int, block: int = 1) -> RawReader: ...
