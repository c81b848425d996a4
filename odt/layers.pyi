from collections.abc import Sequence
from typing import Literal

from typing_extensions import TypeAlias

from .plan.graph import Node

_Activation: TypeAlias = Literal["leaky_relu", "sigmoid", "softmax", "tanh", "relu", "relu6"]
DataType: TypeAlias = Literal["float32", "int8", "uint8", "int16", "int32"]
Padding: TypeAlias = Literal["valid", "same"]
_Sizes: TypeAlias = int | Sequence[int]

class Layer:
    """Base of all layers."""

    name: str | None
    trainable: bool
    macs: int
    def __init__(self, name: str | None = None, trainable: bool = True) -> None: ...
    def __call__(self, inputs: Node | Sequence[Node]) -> Node: ...
    def build(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]: ...
    def weight_shapes(self) -> list[tuple[str, tuple[int, ...]]]: ...

def Activation(activation: _Activation, name: str | None = None) -> Layer: ...
def Input(
    shape: _Sizes,
    dtype: DataType = "float32",
    scale: float = 1,
    zero_point: int = 0,
    name: str | None = None,
    limit: float | None = None,
) -> Node: ...

class Dense(Layer):
    """Fully connected: ``y = activation(x @ kernel.T + bias)``, kernel ``(units, features)``."""

    def __init__(
        self,
        units: int,
        activation: _Activation | None = None,
        use_bias: bool = True,
        name: str | None = None,
        trainable: bool = True,
        input_shape: _Sizes | None = None,
    ) -> None: ...

class Conv2D(Layer):
    """2-D convolution of (height, width, channels); kernel ``(filters, height, width, channels)``."""

    def __init__(
        self,
        filters: int,
        kernel_size: _Sizes,
        strides: _Sizes = 1,
        padding: Padding = "valid",
        activation: _Activation | None = None,
        use_bias: bool = True,
        name: str | None = None,
        trainable: bool = True,
        groups: int = 1,
        input_shape: _Sizes | None = None,
    ) -> None: ...

class Conv1D(Conv2D):
    """1-D convolution of (length, channels); kernel ``(filters, length, channels)``."""

class Conv2DTranspose(Layer):
    """Transposed 2-D convolution: each position adds a window of its own to a larger image."""

    def __init__(
        self,
        filters: int,
        kernel_size: _Sizes,
        strides: _Sizes = 1,
        padding: Padding = "valid",
        activation: _Activation | None = None,
        use_bias: bool = True,
        name: str | None = None,
        trainable: bool = True,
    ) -> None: ...

class Conv1DTranspose(Conv2DTranspose):
    """Transposed 1-D convolution of (length, channels); kernel ``(filters, length, channels)``."""

class DepthwiseConv2D(Layer):
    """Each channel convolved with a filter of its own; kernel ``(channels, height, width, 1)``."""

    def __init__(
        self,
        kernel_size: _Sizes,
        strides: _Sizes = 1,
        padding: Padding = "valid",
        activation: _Activation | None = None,
        use_bias: bool = True,
        name: str | None = None,
        trainable: bool = True,
    ) -> None: ...

class MaxPool2D(Layer):
    """The largest value of each window; ``strides`` defaults to ``pool_size``."""

    def __init__(
        self,
        pool_size: _Sizes = 2,
        strides: _Sizes | None = None,
        padding: Padding = "valid",
        name: str | None = None,
    ) -> None: ...

class MaxPool1D(MaxPool2D):
    """The largest value of each window of (length, channels)."""

class AvgPool2D(Layer):
    """The mean of each window's positions inside the image; ``strides`` defaults to ``pool_size``."""

    def __init__(
        self,
        pool_size: _Sizes = 2,
        strides: _Sizes | None = None,
        padding: Padding = "valid",
        name: str | None = None,
    ) -> None: ...

class AvgPool1D(AvgPool2D):
    """The mean of each window of (length, channels)."""

class AdaptiveAvgPool2D(Layer):
    """The mean of as many windows as ``output_size`` says, whatever the input's size."""

    def __init__(self, output_size: _Sizes, name: str | None = None) -> None: ...

class AdaptiveAvgPool1D(AdaptiveAvgPool2D):
    """The mean of ``output_size`` windows of (length, channels)."""

class UpSampling2D(Layer):
    """Each position repeated ``size`` times along each axis (nearest neighbour)."""

    def __init__(self, size: _Sizes = 2, name: str | None = None) -> None: ...

class UpSampling1D(UpSampling2D):
    """Each position of (length, channels) repeated ``size`` times."""

class GlobalAvgPool(Layer):
    """The mean of each channel over all positions: ``(.., channels)`` to ``(channels,)``."""

class Flatten(Layer):
    """All axes in one."""

    def __init__(self, name: str | None = None, trainable: bool = True, input_shape: _Sizes | None = None) -> None: ...

class Reshape(Layer):
    """The same numbers in another shape of as many; one extent may be -1, for what is left."""

    def __init__(self, target_shape: Sequence[int], name: str | None = None) -> None: ...

class ReLU(Layer):
    """``max(x, 0)``; behind a layer with weights it costs nothing."""

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

class Dropout(Layer):
    """While training, zeros with probability ``rate``, and the rest times 1 / (1 - rate)."""

    def __init__(self, rate: float = 0.5, name: str | None = None) -> None: ...

class Multiply(Layer):
    """The product of outputs of one shape, element by element."""

    def __init__(self, name: str | None = None) -> None: ...

class Concatenate(Layer):
    """Outputs beside one another along the last axis; the other axes are equal."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None: ...

class Add(Layer):
    """The sum of outputs of one shape: the join of a residual branch."""

    def __init__(self, activation: _Activation | None = None, name: str | None = None) -> None: ...
