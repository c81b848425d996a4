from . import Layer

class ReLU6(Layer):
    """``min(max(x, 0), 6)``; in int8 the step is 6 / 255, and behind a layer with weights it costs nothing."""

class LeakyReLU(Layer):
    """``x`` where it is positive, else ``negative_slope * x``, with a slope of 0 to 1."""

    def __init__(self, negative_slope: float = 0.3, name: str | None = None) -> None: ...

class Sigmoid(Layer):
    """``1 / (1 + exp(-x))``; in int8 in steps of 1/256."""

class Tanh(Layer):
    """``tanh(x)``; in int8 in steps of 1/128."""

class Softmax(Layer):
    """``exp(x) / sum(exp(x))`` over the last axis; in int8 in steps of 1/256."""

class ELU(Layer):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``, with an alpha of 0 to 1.9."""

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None: ...

class SELU(Layer):
    """``1.0507 * x`` where it is positive, else ``1.7581 * (exp(x) - 1)``."""

class GELU(Layer):
    """``x * (1 + erf(x / sqrt(2))) / 2``, the exact form."""
