from typing import Any

class LogMel:
    """Of a frame of int16 samples, the energy in each band of the mel scale: int16, in units of 1/256 of a factor of 2."""

    rate: int
    window: int
    fft: int
    channels: int
    low: int
    high: int
    coefficients: int
    outputs: int
    nbytes: int
    def __init__(
        self,
        rate: int = 16000,
        window: int | None = None,
        fft: int | None = None,
        channels: int = 40,
        low: int = 125,
        high: int | None = None,
    ) -> None: ...
    def layers(self, x: Any = None) -> list[Any]: ...
    def parameters(self) -> tuple[str, dict[str, int]]: ...
    def __call__(self, samples: Any, out: Any = None) -> Any: ...

class MFCC(LogMel):
    """The first coefficients of the cosine transform of a LogMel's channels: int16, in units of 1/32 of a factor of 2."""

    def __init__(
        self,
        rate: int = 16000,
        window: int | None = None,
        fft: int | None = None,
        channels: int = 40,
        low: int = 125,
        high: int | None = None,
        coefficients: int = 13,
    ) -> None: ...
