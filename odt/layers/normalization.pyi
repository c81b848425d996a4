from typing import Any

from ..run.network import Data
from . import Layer

class Normalization(Layer):
    """Each feature, a place along the last axis, less its mean and over its deviation; follows the Input."""

    def __init__(self, name: str | None = None) -> None: ...
    def adapt(self, x: Data) -> None: ...
    def statistics(self, inputs: Any) -> tuple[bytes, bytes]: ...
