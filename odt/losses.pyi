from collections.abc import Mapping, Sequence

class _Loss:
    """What Model asks of a loss."""

    name: str

class SparseCategoricalCrossentropy(_Loss):
    """Softmax and cross-entropy on integer labels; the network's output is the logits, or a Softmax of them."""

    def __init__(
        self,
        class_weight: Sequence[float] | Mapping[int, float] | None = None,
        label_smoothing: float = 0,
        from_logits: bool | None = None,
    ) -> None: ...

class CategoricalCrossentropy(SparseCategoricalCrossentropy):
    """As SparseCategoricalCrossentropy, on one-hot labels."""

class BinaryCrossentropy(_Loss):
    """Sigmoid and cross-entropy, for each output on its own; the network's output is the logits, or a Sigmoid of them."""

    def __init__(self, from_logits: bool | None = None) -> None: ...

class MeanSquaredError(_Loss):
    """The mean of squared differences over outputs and samples."""

    def __init__(self) -> None: ...

class MeanAbsoluteError(_Loss):
    """The mean of absolute differences over outputs and samples; targets as of MeanSquaredError."""

    def __init__(self) -> None: ...

class Huber(_Loss):
    """Half the square of a difference up to ``delta``, linear beyond; the mean; targets as of MeanSquaredError."""

    def __init__(self, delta: float = 1) -> None: ...
