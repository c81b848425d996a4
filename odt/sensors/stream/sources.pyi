from collections.abc import Sequence
from typing import Any

class WavSource:
    """The samples of a WAV file: PCM of 8, 16 or 32 bits, float of 32."""

    channels: int
    typecode: str
    rate: int
    ended: bool
    def __init__(self, path: str, rate: int | None = None) -> None: ...
    def readinto(self, buffer: Any) -> int: ...
    def close(self) -> None: ...

class CsvSource:
    """The lines of a text file, a sample each."""

    channels: int
    typecode: str
    ended: bool
    def __init__(
        self,
        path: str,
        typecode: str = "h",
        columns: Sequence[int] | None = None,
        separator: str | None = ",",
        scale: float | None = None,
        decimal: str = ".",
    ) -> None: ...
    def readinto(self, buffer: Any) -> int: ...
    def close(self) -> None: ...
