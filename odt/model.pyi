from collections.abc import Sequence
from typing import Literal

from typing_extensions import Buffer, TypeAlias

from .layers import Layer
from .losses import _Loss
from .optimizers import SGD, Adam
from .optimizers.zeroth import ZerothOrder
from .plan.graph import Node
from .run.network import Network

LossName: TypeAlias = Literal[
    "sparse_categorical_crossentropy",
    "categorical_crossentropy",
    "binary_crossentropy",
    "mse",
    "mean_squared_error",
    "mae",
    "mean_absolute_error",
    "huber",
]

class Model(Network):
    """A network from an Input to one output, and all that it takes to train it."""

    nodes: list[Node]
    def __init__(self, inputs: Node, outputs: Node) -> None: ...
    def compile(
        self,
        optimizer: Literal["sgd", "adam", "adamw"] | SGD | Adam | ZerothOrder | None = "adam",
        loss: LossName | _Loss = "sparse_categorical_crossentropy",
        dtype: Literal["int8", "float32"] = "int8",
        batch_size: int = 16,
        seed: int = 0,
        micro_batch: int | None = None,
        memory_budget: int | None = None,
        checkpoint: Literal["sqrt"] | None = None,
        frozen: Buffer | None = None,
        metrics: str | Sequence[str] | None = None,
    ) -> None: ...
    @property
    def layers(self) -> list[Layer]: ...
    def summary(self) -> None: ...

class Sequential(Model):
    """Layers one after another; the first item is an ``Input``, or a layer with ``input_shape=``."""

    def __init__(self, layers: Sequence[Node | Layer] = ()) -> None: ...
    def add(self, layer: Node | Layer) -> None: ...
    def pop(self) -> Layer: ...
    def stack(self, ends: list[Node], layers: Sequence[Node | Layer]) -> None: ...
    @property
    def layers(self) -> list[Layer]: ...
