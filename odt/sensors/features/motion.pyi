from collections.abc import Sequence
from typing import Any

STATISTICS: int

class Motion:
    """Of each axis of a window of int16 samples: six statistics and the power in bands, int16."""

    rate: int
    window: int
    axes: int
    bands: tuple[float, ...]
    fft: int
    outputs: int
    nbytes: int
    def __init__(
        self,
        rate: int = 100,
        window: int = 128,
        axes: int = 3,
        bands: Sequence[float] = (1, 3, 5, 10, 20, 40),
        fft: int | None = None,
    ) -> None: ...
    def layers(self, x: Any = None) -> list[Any]: ...
    def parameters(self) -> tuple[str, dict[str, Any]]: ...
    def __call__(self, samples: Any, out: Any = None) -> Any: ...
