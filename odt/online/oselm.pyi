from array import array
from collections.abc import Sequence
from typing import Literal

from ..files.stored import Stored

class OSELM(Stored):
    """Random features, and linear outputs by recursive least squares, a sample at a time."""

    inputs: int
    outputs: int
    classes: int | None
    hidden: int
    seen: int
    error: float
    def __init__(
        self,
        inputs: int,
        outputs: int | None = None,
        hidden: int | None = 32,
        activation: Literal["tanh", "sigmoid", "relu"] = "tanh",
        classes: int | None = None,
        forgetting: float = 1.0,
        regularization: float = 0.01,
        seed: int = 0,
        scale: float = 1.0,
    ) -> None: ...
    def learn_one(self, x: Sequence[float], y: float | Sequence[float]) -> None: ...
    def partial_fit(self, x: Sequence[Sequence[float]], y: Sequence[float] | Sequence[Sequence[float]]) -> OSELM: ...
    def predict_one(self, x: Sequence[float], out: array[float] | None = None) -> float | array[float]: ...
    def predict_proba_one(self, x: Sequence[float]) -> array[float]: ...
    def score_one(self, x: Sequence[float], y: float | Sequence[float]) -> float: ...
    def weights(self) -> array[float]: ...

class Autoencoder(OSELM):
    """An OSELM that learns its inputs."""

    def __init__(
        self,
        inputs: int,
        hidden: int = 8,
        activation: Literal["tanh", "sigmoid", "relu"] = "tanh",
        forgetting: float = 1.0,
        regularization: float = 0.01,
        seed: int = 0,
        scale: float = 1.0,
    ) -> None: ...
    def learn_one(self, x: Sequence[float]) -> None: ...
    def partial_fit(self, x: Sequence[Sequence[float]]) -> Autoencoder: ...
    def score_one(self, x: Sequence[float]) -> float: ...
