from os import PathLike
from typing import Any

from ..files.stored import Stored
from ..model import Model
from ..run.network import Network, Place

def front(model: Model, layer: str | None = None, x: Any = None) -> Model:
    """The model up to a layer, with its weights and ranges; it does not train."""

class Teacher(Stored):
    """Learns classes by a few samples each, over the outputs of a model that does not change."""

    front: Network
    classes: int
    each: int
    width: int
    labels: list[str | int]
    place: str | PathLike[str] | Place | None
    reject: float | None
    def __init__(
        self,
        front: Network,
        classes: int = 10,
        budget: int = 16384,
        reject: float | None = None,
        place: str | PathLike[str] | Place | None = None,
        steps: int = 1000,
        seed: int = 0,
    ) -> None: ...
    def learn(self, x: Any, label: str | int) -> None: ...
    def forget(self, label: str | int) -> None: ...
    def count(self, label: str | int) -> int: ...
    def predict(self, x: Any) -> tuple[str | int | None, float]: ...
    def similarity(self, x: Any) -> float: ...
    def fit(self) -> None: ...
    def digest(self) -> int: ...
    def save(self, place: str | PathLike[str] | Place) -> None: ...
    def load(self, place: str | PathLike[str] | Place) -> None: ...
