from collections.abc import Sequence

from . import ActivationName, Layer, Padding, Sizes

class Conv2DTranspose(Layer):
    """Transposed 2-D convolution: each position adds a window of its own to a larger image."""

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: Padding = "valid",
        activation: ActivationName | None = None,
        use_bias: bool = True,
        name: str | None = None,
        trainable: bool = True,
    ) -> None: ...

class Conv1DTranspose(Conv2DTranspose):
    """Transposed 1-D convolution of (length, channels); kernel ``(filters, length, channels)``."""

class AdaptiveAvgPool2D(Layer):
    """The mean of as many windows as ``output_size`` says, whatever the input's size."""

    def __init__(self, output_size: Sizes, name: str | None = None) -> None: ...

class AdaptiveAvgPool1D(AdaptiveAvgPool2D):
    """The mean of ``output_size`` windows of (length, channels)."""

class UpSampling2D(Layer):
    """Each position repeated ``size`` times along each axis (nearest neighbour)."""

    def __init__(self, size: Sizes = 2, name: str | None = None) -> None: ...

class UpSampling1D(UpSampling2D):
    """Each position of (length, channels) repeated ``size`` times."""

class Reshape(Layer):
    """The same numbers in another shape of as many; one extent may be -1, for what is left."""

    def __init__(self, target_shape: Sequence[int], name: str | None = None) -> None: ...
