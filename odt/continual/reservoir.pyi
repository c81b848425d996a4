from collections.abc import Sequence

from ..layers import DataType

class Reservoir:
    """A seeded uniform sample of a stream (algorithm R: Vitter, 1985); the same on every machine."""

    capacity: int
    row: int
    seen: int
    x: memoryview
    y: memoryview
    def __init__(
        self,
        capacity: int,
        row: int,
        dtype: DataType = "float32",
        targets: int | None = None,
        seed: int = 0,
    ) -> None: ...
    def __len__(self) -> int: ...
    def add(self, x: Sequence[float], y: float | Sequence[float]) -> int | None: ...
