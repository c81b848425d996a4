from typing import Any

from ..plan.graph import Node
from ..run.network import Network

class Latents:
    """The outputs of a model that does not change, in int8."""

    front: Network
    shape: tuple[int, ...]
    width: int
    scale: float
    zero_point: int
    crc: int
    def __init__(self, front: Network, x: Any = None) -> None: ...
    def __call__(self, x: Any) -> bytearray: ...
    def input(self, name: str | None = None) -> Node: ...
    def check(self) -> None: ...
