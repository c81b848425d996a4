from array import array
from collections.abc import Sequence
from typing import Literal

from .oselm import OSELM

class EchoState(OSELM):
    """A fixed random recurrent layer, and linear outputs by recursive least squares, a sample at a time."""

    units: int
    connections: int
    gain: float
    def __init__(
        self,
        inputs: int,
        outputs: int | None = None,
        units: int = 32,
        activation: Literal["tanh", "clip"] = "tanh",
        classes: int | None = None,
        leak: float = 1.0,
        radius: float = 0.9,
        connections: int = 4,
        input_scale: float = 0.2,
        forgetting: float = 1.0,
        regularization: float = 1e-8,
        seed: int = 0,
    ) -> None: ...
    def step_one(self, x: Sequence[float]) -> None: ...
    def reset(self) -> None: ...
    def states(self) -> array[float]: ...
