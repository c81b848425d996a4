from collections.abc import Sequence
from typing import Any

class Events:
    """update(posteriors) once a window: None, or (label, confidence) of a class that has just become sure."""

    labels: Sequence[Any]
    mean: int
    hold_off: int
    logits: bool
    def __init__(
        self,
        labels: int | list[Any] | tuple[Any, ...],
        mean: int = 3,
        threshold: float = 0.75,
        release: float | None = None,
        hold_off: int = 0,
        unknown: Any = (),
        logits: bool = False,
    ) -> None: ...
    def reset(self) -> None: ...
    @property
    def label(self) -> Any: ...
    def update(self, posteriors: Any) -> tuple[Any, float] | None: ...
