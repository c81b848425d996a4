from array import array
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol

from typing_extensions import Buffer, TypeAlias

from ..plan.program import Program
from .fit import History

class _Array(Protocol):
    """As NumPy's, which has the buffer protocol for type checkers from Python 3.12 on alone; pandas', PyTorch's."""

    def __array__(self) -> Any: ...

Data: TypeAlias = Buffer | Sequence[Any] | _Array
"""Samples after one another: anything with the buffer protocol, arrays of NumPy and others, or lists."""
Batches: TypeAlias = Iterable[tuple[Data, Data]]

class Place(Protocol):
    """Where checkpoints go that is no file: slots.Blocks and slots.Bytes."""

    def read(self, engine: Any) -> Any: ...
    def write(self, engine: Any, header: Any, state: Any) -> None: ...

class Network:
    """What trains, evaluates and predicts: a compiled model, or one from a file."""

    session: Any  # of odt.run.session
    @property
    def program(self) -> Program | None: ...
    @property
    def dtype(self) -> Literal["int8", "float32"]: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    labels: list[str] | None  # the classes' names
    features: Any  # of odt.sensors.features, or None
    stop_training: bool
    history: History | None
    def fit(
        self,
        x: Data | Batches,
        y: Data | None = None,
        epochs: int = 1,
        validation_data: tuple[Data, Data] | Batches | None = None,
        shuffle: bool = True,
        verbose: int = 1,
        callbacks: Iterable[Any] = (),
        initial_epoch: int | None = None,
        steps_per_epoch: int | None = None,
        validation_split: float = 0,
        class_weight: Sequence[float] | Mapping[int, float] | None = None,
        batch_size: int | None = None,
    ) -> History: ...
    def fit_async(
        self,
        x: Data | Batches,
        y: Data | None = None,
        epochs: int = 1,
        validation_data: tuple[Data, Data] | Batches | None = None,
        shuffle: bool = True,
        verbose: int = 1,
        callbacks: Iterable[Any] = (),
        initial_epoch: int | None = None,
        steps_per_epoch: int | None = None,
        slice_ms: int = 10,
        validation_split: float = 0,
        class_weight: Sequence[float] | Mapping[int, float] | None = None,
        batch_size: int | None = None,
    ) -> Awaitable[History]: ...
    def train_step(self, x: Data, y: Data) -> float: ...
    def evaluate(
        self, x: Data | Batches, y: Data | None = None, batch_size: int | None = None, verbose: int | str = 0
    ) -> tuple[float, float | None]: ...
    labels: Sequence[Any] | None
    def predict(self, x: Data, out: Any = None, batch_size: int | None = None, verbose: int | str = 0) -> Any: ...
    def predict_proba(self, x: Data) -> Any: ...
    def predict_classes(self, x: Data) -> list[Any]: ...
    def __call__(self, x: Data) -> array[float]: ...
    def calibrate(self, x: Data, y: Data | None = None) -> None: ...
    def summary(self) -> None: ...
    def disassemble(self) -> str: ...
    def draw(self, width: int = 78, rows: int = 24) -> str: ...
    def digest(self) -> int: ...
    def get_weights(self) -> list[array[float]]: ...
    def set_weights(self, values: Sequence[Any]) -> None: ...
    def save(self, path: str | PathLike[str] | Place) -> None: ...
    def load(self, path: str | PathLike[str] | Place) -> None: ...
    def load_weights(self, source: str | PathLike[str] | Buffer | Network) -> None: ...
    def export(
        self,
        path: str | PathLike[str],
        labels: Sequence[str] | None = None,
        purpose: Literal["training", "inference"] = "training",
        features: Any = None,
    ) -> None: ...
