from collections.abc import Callable
from os import PathLike
from typing import Any, Literal

from typing_extensions import TypeAlias

from .model import Model, Place

_Mode: TypeAlias = Literal["auto", "min", "max"]

class Callback:
    """Has the model; the base of those below, and of your own if you like."""

    model: Model
    def set_model(self, model: Model) -> None: ...

class EarlyStopping(Callback):
    """Stop after ``patience`` epochs (0 is as 1) in which ``monitor`` has not improved by more than ``min_delta``."""

    best: float | None
    best_epoch: int | None
    def __init__(
        self,
        monitor: str = "val_loss",
        patience: int = 0,
        restore_best_weights: bool = False,
        path: str | PathLike[str] | None = None,
        min_delta: float = 0,
        mode: _Mode = "auto",
    ) -> None: ...
    def on_train_begin(self) -> None: ...
    def on_epoch_end(self, epoch: int, logs: dict[str, Any]) -> None: ...
    def on_train_end(self) -> None: ...

class ModelCheckpoint(Callback):
    """Save the model after each epoch, or after those that improve ``monitor``, or every ``steps`` steps."""

    def __init__(
        self,
        filepath: str | PathLike[str] | Place | None = None,
        monitor: str = "val_loss",
        save_best_only: bool = False,
        steps: int | None = None,
        mode: _Mode = "auto",
        path: str | PathLike[str] | Place | None = None,
    ) -> None: ...
    def on_epoch_end(self, epoch: int, logs: dict[str, Any]) -> None: ...

class ReduceLROnPlateau(Callback):
    """Multiply the learning rate by ``factor`` after ``patience`` epochs without an improvement of ``monitor``."""

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        mode: _Mode = "auto",
        min_delta: float = 0.0001,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None: ...
    def on_train_begin(self) -> None: ...
    def on_epoch_end(self, epoch: int, logs: dict[str, Any]) -> None: ...

class LearningRateScheduler(Callback):
    """Before each epoch the learning rate becomes ``schedule(epoch, rate)``."""

    def __init__(self, schedule: Callable[[int, float], float]) -> None: ...
    def on_epoch_begin(self, epoch: int) -> None: ...
