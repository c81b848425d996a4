from . import ActivationName, Layer

class Add(Layer):
    """The sum of outputs of one shape: the join of a residual branch."""

    def __init__(self, activation: ActivationName | None = None, name: str | None = None) -> None: ...

class Multiply(Layer):
    """The product of outputs of one shape, element by element."""

    def __init__(self, name: str | None = None) -> None: ...

class Concatenate(Layer):
    """Outputs beside one another along the last axis; the other axes are equal."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None: ...
