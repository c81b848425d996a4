from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

from ..online.neighbours import NCM
from ..run.network import Place
from .latents import Latents

class Prototypes(NCM):
    """Nearest class mean of the outputs of a model that does not change."""

    front: Latents
    metric: Literal["euclidean", "cosine"]
    reject: float | None
    labels: list[int]
    def __init__(
        self,
        front: Latents,
        classes: int = 10,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        reject: float | None = None,
    ) -> None: ...
    def partial_fit(self, x: Any, y: Sequence[int]) -> None: ...
    def forget(self, label: int) -> None: ...
    def nearest_one(self, x: Any) -> tuple[int | None, float | None]: ...
    def predict_one(self, x: Any) -> int | None: ...
    def load(self, place: str | PathLike[str] | Place) -> None: ...
