from array import array
from collections.abc import Awaitable, Iterable, Sequence
from os import PathLike
from typing import Any, Literal, Protocol

from typing_extensions import Buffer, TypeAlias

from .plan.graph import Node
from .layers import Layer
from .losses import _Loss
from .optimizers import SGD, Adam
from .plan.program import Program
from .run.fit import History

Data: TypeAlias = Buffer | Sequence[Any]
"""Samples after one another: anything with the buffer protocol, or lists."""
Batches: TypeAlias = Iterable[tuple[Data, Data]]

LossName: TypeAlias = Literal[
    "sparse_categorical_crossentropy",
    "binary_crossentropy",
    "mse",
    "mean_squared_error",
    "mae",
    "mean_absolute_error",
    "huber",
]

class Place(Protocol):
    """Where checkpoints go that is no file: slots.Blocks and slots.Bytes."""

    def read(self, engine: Any) -> Any: ...
    def write(self, engine: Any, header: Any, state: Any) -> None: ...

class Model:
    """A network from an Input to one output, and all that it takes to train it."""

    nodes: list[Node]
    session: Any  # what compile() made, of odt.run.session
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
    def __init__(self, inputs: Node, outputs: Node) -> None: ...
    def compile(
        self,
        optimizer: Literal["sgd", "adam", "adamw"] | SGD | Adam = "adam",
        loss: LossName | _Loss = "sparse_categorical_crossentropy",
        dtype: Literal["int8", "float32"] = "int8",
        batch_size: int = 16,
        seed: int = 0,
        micro_batch: int | None = None,
        memory_budget: int | None = None,
        checkpoint: Literal["sqrt"] | None = None,
        frozen: Buffer | None = None,
    ) -> None: ...
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
    ) -> Awaitable[History]: ...
    def train_step(self, x: Data, y: Data) -> float: ...
    def evaluate(self, x: Data | Batches, y: Data | None = None) -> tuple[float, float | None]: ...
    def predict(self, x: Data) -> array[float]: ...
    def summary(self) -> None: ...
    def disassemble(self) -> str: ...
    def draw(self, width: int = 78, rows: int = 24) -> str: ...
    def digest(self) -> int: ...
    def get_weights(self) -> list[array[float]]: ...
    def set_weights(self, values: Sequence[Any]) -> None: ...
    def save(self, path: str | PathLike[str] | Place) -> None: ...
    def load(self, path: str | PathLike[str] | Place) -> None: ...

class Sequential(Model):
    """Layers one after another; the first item is an ``Input``."""

    def __init__(self, layers: Sequence[Node | Layer]) -> None: ...
