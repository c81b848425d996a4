from ..plan.graph import Node
from . import SGD, Adam, Schedule

class ZerothOrder:
    """Zeroth-order descent (Spall, 1992): two forward passes a step; the last ``tail`` layers by backpropagation."""

    def __init__(
        self,
        learning_rate: float | Schedule = 0.003,
        epsilon: float = 0.02,
        tail: int = 0,
        optimizer: SGD | Adam | None = None,
        sign: bool = True,
    ) -> None: ...
    def passes(self, s: object, nodes: list[Node], loss: object, micro: int | None, segments: object) -> object: ...
    def backward_macs(self, nodes: list[Node]) -> list[int]: ...
