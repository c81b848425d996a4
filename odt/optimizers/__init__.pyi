from typing import Any, Literal, Protocol

from typing_extensions import TypeAlias

_State: TypeAlias = Literal["int16", "float32"]

class Schedule(Protocol):
    """A learning rate by step: ``bits(step)`` is its float32 as an int."""

    def bits(self, step: int) -> int: ...

class Constant:
    """The same rate at every step."""

    def __init__(self, rate: float) -> None: ...
    def bits(self, step: int) -> int: ...
    def saved(self) -> list[Any]: ...
    def restore(self, values: list[Any]) -> None: ...

class SGD:
    """Stochastic gradient descent, with momentum, Nesterov's or not, and decoupled weight decay."""

    def __init__(
        self,
        learning_rate: float | Schedule = 0.01,
        momentum: float = 0,
        state: _State | None = None,
        nesterov: bool = False,
        weight_decay: float = 0,
        global_clipnorm: float | None = None,
    ) -> None: ...

class Adam:
    """Adam (Kingma and Ba, 2015) with bias correction."""

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        state: _State | None = None,
        weight_decay: float = 0,
        global_clipnorm: float | None = None,
    ) -> None: ...

def AdamW(learning_rate: float | Schedule = 0.001, weight_decay: float = 0.01, **options: Any) -> Adam: ...
def RMSprop(learning_rate: float | Schedule = 0.001, rho: float = 0.9, **options: Any) -> Adam: ...
