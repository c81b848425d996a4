from array import array
from collections.abc import Sequence

from typing_extensions import TypeAlias

from .model import Batches, Data, Model

_Matrix: TypeAlias = Sequence[Sequence[int]]

def confusion_matrix(
    model: Model, x: Data | Batches, y: Data | None = None, output: int | None = None
) -> list[array[int]]: ...
def precision(matrix: _Matrix) -> list[float]: ...
def recall(matrix: _Matrix) -> list[float]: ...
def f1(matrix: _Matrix) -> list[float]: ...
def accuracy(matrix: _Matrix) -> float: ...
def macro(values: Sequence[float]) -> float: ...
def report(
    model: Model,
    x: Data | Batches,
    y: Data | None = None,
    names: Sequence[object] | None = None,
    output: int | None = None,
) -> None: ...
