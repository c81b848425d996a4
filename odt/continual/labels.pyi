from array import array
from collections.abc import Callable, Sequence
from typing import Any, Literal

from ..online import OSELM
from ..run.network import Network

Measure = Literal["margin", "entropy", "least_confidence"]

def probabilities(model: Network | OSELM, x: Any) -> list[list[int]]:
    """A list for each sample: the probability of each class in 65536ths."""

def uncertainty(model: Network | OSELM, x: Any, by: Measure = "margin") -> array[int]:
    """For each sample how little the model knows about it, 0 .. 65536."""

def query(
    model: Network, x: Any, count: int, by: Literal["margin", "entropy", "least_confidence", "coreset"] = "margin"
) -> list[int]:
    """Indices of the samples to have labelled next, the first most urgent."""

class Asker:
    """Decides about samples as they come: the least certain share of the last is asked about, budget in all."""

    budget: int
    asked: int
    seen: int
    def __init__(
        self, model: Network | OSELM, budget: int, share: float = 0.1, window: int = 50, by: Measure = "margin"
    ) -> None: ...
    def wants(self, x: Any) -> bool: ...
    def unanswered(self) -> None: ...

class Votes:
    """Rules that label, each right in some cases: weak supervision."""

    classes: int
    accuracies: list[int] | None
    def __init__(self, rules: Sequence[Callable[[Any], int | None]], classes: int) -> None: ...
    def votes(self, samples: Any) -> array[int]: ...
    def fit(self, samples: Any, rounds: int = 50) -> None: ...
    def labels(self, samples: Any, least: float = 0) -> array[int]: ...

def pseudo(model: Network, x: Any, least: float = 0.95, each: int | None = None) -> tuple[array[int], array[int]]:
    """Indices and labels of the samples whose best class has at least this probability."""
