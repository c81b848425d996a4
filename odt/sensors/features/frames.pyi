from collections.abc import Callable
from typing import Any

class Frames:
    """Rows of a feature over a recording: what a network over a spectrogram takes."""

    features: Callable[..., Any]
    hop: int
    rows: int
    axes: int
    window: int
    outputs: int
    shape: tuple[int, int]
    def __init__(self, features: Callable[..., Any] | tuple[str, dict[str, Any]], hop: int, rows: int) -> None: ...
    def layers(self, x: Any = None) -> list[Any]: ...
    def parameters(self) -> tuple[str, dict[str, Any]]: ...
    def __call__(self, samples: Any, out: Any = None) -> Any: ...
