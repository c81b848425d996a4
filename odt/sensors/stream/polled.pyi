from collections.abc import Callable, Sequence
from typing import Any, Literal

class PolledSource:
    """What a driver's function returns, so many times a second, as a source."""

    read: Callable[[], float | Sequence[float]]
    rate: int
    channels: int
    typecode: str
    scale: float
    late: int
    clipped: int
    ended: bool
    def __init__(
        self,
        read: Callable[[], float | Sequence[float]],
        rate: int,
        channels: int = 1,
        typecode: Literal["b", "B", "h", "H", "i", "I", "f"] = "h",
        scale: float = 1,
        clock: Callable[[], int] | None = None,
    ) -> None: ...
    def readinto(self, buffer: Any) -> int: ...
