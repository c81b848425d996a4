from array import array
from collections.abc import Sequence
from typing import Any, Literal

class Window:
    """The last length samples of channels numbers each, every hop samples; one writer, one reader, nothing allocated."""

    length: int
    channels: int
    hop: int
    slots: int
    typecode: str
    data: array[Any]
    overruns: int
    gap: int
    position: int
    @property
    def begun(self) -> bool: ...
    def __init__(
        self,
        length: int,
        channels: int = 1,
        hop: int | None = None,
        typecode: Literal["b", "B", "h", "H", "i", "I", "f"] = "h",
        slots: int = 2,
    ) -> None: ...
    def push(self, samples: Sequence[float] | Any) -> int: ...
    def put(self, samples: Sequence[float] | Any, start: int = 0) -> int: ...
    def slot(self) -> memoryview | None: ...
    def commit(self, count: int | None = None) -> None: ...
    def sample(self) -> memoryview | None: ...
    def skip(self, count: int = 1) -> None: ...
    def next(self) -> array[Any] | None: ...
