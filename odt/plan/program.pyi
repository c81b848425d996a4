from array import array

class Program:
    """A program, its words readable by name (docs/program.md)."""

    code: bytes
    words: array[int]
    arena: int
    state: int
    constants: int
    def __init__(self, code: bytes) -> None: ...
    def section(self, name: str) -> tuple[int, int]: ...
