from os import PathLike

from ..network import Place

class Stored:
    """A model whose state is one bytearray."""

    fixed: int
    state: bytearray
    def digest(self) -> int: ...
    def save(self, place: str | PathLike[str] | Place) -> None: ...
    def load(self, place: str | PathLike[str] | Place) -> None: ...
