from collections.abc import Sequence

from .neighbours import NCM

class CentroidDrift(NCM):
    """How far the centroids of the last samples are from those that were trained."""

    drift_detected: bool
    distance: float | None
    def __init__(
        self, inputs: int, classes: int = 1, window: int = 50, threshold: float = 1.0, point: int = 8
    ) -> None: ...
    def update(self, x: Sequence[float], y: int | None = None, begin: bool = True) -> None: ...
