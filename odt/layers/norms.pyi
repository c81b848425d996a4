from . import Layer

class LayerNorm(Layer):
    """Each position's numbers along the last axis to mean 0 and variance 1, times gamma, plus beta."""

    def __init__(self, epsilon: float = 1e-3, name: str | None = None, trainable: bool = True) -> None: ...

class GroupNorm(Layer):
    """As LayerNorm, over all positions of a sample and the channels of a group (Wu and He 2018)."""

    def __init__(
        self,
        groups: int,
        epsilon: float = 1e-3,
        name: str | None = None,
        trainable: bool = True,
    ) -> None: ...

class BatchNorm(Layer):
    """Each channel to mean 0 and variance 1, times gamma, plus beta (Ioffe and Szegedy 2015)."""

    def __init__(
        self,
        momentum: float = 0.9,
        epsilon: float = 1e-3,
        name: str | None = None,
        trainable: bool = True,
    ) -> None: ...
