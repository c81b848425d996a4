from collections.abc import Sequence
from typing import Any

KERNELS: int

class MiniRocket:
    """Of a window of int16 samples: which share of its convolutions with 84 fixed kernels is above fixed biases, int16."""

    window: int
    axes: int
    features: int
    seed: int
    biases: tuple[int, ...] | None
    outputs: int
    nbytes: int
    def __init__(
        self,
        window: int = 128,
        axes: int = 3,
        features: int = 420,
        seed: int = 0,
        biases: Sequence[int] | None = None,
    ) -> None: ...
    def fit(self, x: Any) -> MiniRocket: ...
    def layers(self, x: Any = None) -> list[Any]: ...
    def parameters(self) -> tuple[str, dict[str, Any]]: ...
    def __call__(self, samples: Any, out: Any = None) -> Any: ...
