from typing import Any, Literal

from ..files.stored import Stored

class Detector(Stored):
    """What the detectors share: update(x), then drift_detected."""

    drift_detected: bool
    warning_detected: bool
    n: int
    def __init__(self, *settings: Any) -> None: ...
    def reset(self) -> None: ...
    def update(self, x: float) -> None: ...
    def digest(self) -> int: ...

class PageHinkley(Detector):
    """Page-Hinkley's test."""

    def __init__(
        self,
        min_instances: int = 30,
        delta: float = 0.005,
        threshold: float = 50.0,
        alpha: float = 0.9999,
        mode: Literal["up", "down", "both"] = "both",
    ) -> None: ...

class DDM(Detector):
    """The drift detection method, of errors that are 0 or 1."""

    def __init__(self, warm_start: int = 30, warning_threshold: float = 2.0, drift_threshold: float = 3.0) -> None: ...

class ADWIN(Detector):
    """The adaptive window."""

    estimation: float
    def __init__(
        self,
        delta: float = 0.002,
        clock: int = 32,
        max_buckets: int = 5,
        min_window_length: int = 5,
        grace_period: int = 10,
    ) -> None: ...
