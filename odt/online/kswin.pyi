from .drift import Detector

class KSWIN(Detector):
    """Kolmogorov-Smirnov windowing."""

    def __init__(
        self,
        alpha: float = 0.005,
        window_size: int = 100,
        stat_size: int = 30,
        seed: int = 0,
    ) -> None: ...
