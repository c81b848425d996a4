from collections.abc import Sequence
from typing import Literal

from typing_extensions import TypeAlias

from ..plan.graph import Node
from .activations import LeakyReLU as LeakyReLU
from .activations import ReLU6 as ReLU6
from .activations import Sigmoid as Sigmoid
from .activations import Softmax as Softmax
from .activations import Tanh as Tanh
from .joins import Add as Add
from .joins import Concatenate as Concatenate
from .joins import Multiply as Multiply
from .resizing import AdaptiveAvgPool1D as AdaptiveAvgPool1D
from .resizing import AdaptiveAvgPool2D as AdaptiveAvgPool2D
from .resizing import Conv1DTranspose as Conv1DTranspose
from .resizing import Conv2DTranspose as Conv2DTranspose
from .resizing import Reshape as Reshape
from .resizing import UpSampling1D as UpSampling1D
from .resizing import UpSampling2D as UpSampling2D

ActivationName: TypeAlias = Literal["leaky_relu", "elu", "selu", "gelu", "sigmoid", "softmax", "tanh", "relu", "relu6"]
DataType: TypeAlias = Literal["float32", "int8", "uint8", "int16", "uint16", "int32"]
Padding: TypeAlias = Literal["valid", "same", "causal"]
Sizes: TypeAlias = int | Sequence[int]

class Layer:
    """Base of all layers."""

    name: str | None
    trainable: bool
    macs: int
    def __init__(self, name: str | None = None, trainable: bool = True) -> None: ...
    def __call__(self, inputs: Node | Sequence[Node]) -> Node: ...
    def build(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]: ...
    def weight_shapes(self) -> list[tuple[str, tuple[int, ...]]]: ...

def Activation(activation: ActivationName, name: str | None = None) -> Layer: ...
def Input(
    shape: Sizes,
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
        activation: ActivationName | None = None,
        use_bias: bool = True,
        name: str | None = None,
        trainable: bool = True,
        input_shape: Sizes | None = None,
    ) -> None: ...

class Window(Layer):
    """What convolutions and poolings share: a window that slides over (height, width, channels)."""

class Conv(Window):
    """What convolutions share: filters, a kernel and an activation."""

    def __init__(
        self,
        filters: int | None,
        kernel_size: Sizes,
        strides: Sizes,
        padding: Padding,
        activation: ActivationName | None,
        use_bias: bool,
        name: str | None,
        trainable: bool,
        dilation_rate: Sizes = 1,
    ) -> None: ...

def activation_of(kind: str, activation: ActivationName | Literal["linear"] | None) -> ActivationName | None: ...

class Conv2D(Layer):
    """2-D convolution of (height, width, channels); kernel ``(filters, height, width, channels)``."""

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
        groups: int = 1,
        input_shape: Sizes | None = None,
        dilation_rate: Sizes = 1,
    ) -> None: ...

class Conv1D(Conv2D):
    """1-D convolution of (length, channels); kernel ``(filters, length, channels)``."""

class DepthwiseConv2D(Layer):
    """Each channel convolved with a filter of its own; kernel ``(channels, height, width, 1)``."""

    def __init__(
        self,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: Padding = "valid",
        activation: ActivationName | None = None,
        use_bias: bool = True,
        name: str | None = None,
        trainable: bool = True,
        dilation_rate: Sizes = 1,
    ) -> None: ...

class MaxPool2D(Layer):
    """The largest value of each window; ``strides`` defaults to ``pool_size``."""

    def __init__(
        self,
        pool_size: Sizes = 2,
        strides: Sizes | None = None,
        padding: Padding = "valid",
        name: str | None = None,
    ) -> None: ...

class MaxPool1D(MaxPool2D):
    """The largest value of each window of (length, channels)."""

class AvgPool2D(Layer):
    """The mean of each window's positions inside the image; ``strides`` defaults to ``pool_size``."""

    def __init__(
        self,
        pool_size: Sizes = 2,
        strides: Sizes | None = None,
        padding: Padding = "valid",
        name: str | None = None,
    ) -> None: ...

class AvgPool1D(AvgPool2D):
    """The mean of each window of (length, channels)."""

class GlobalAvgPool(Layer):
    """The mean of each channel over all positions: ``(.., channels)`` to ``(channels,)``."""

class Flatten(Layer):
    """All axes in one."""

    def __init__(self, name: str | None = None, trainable: bool = True, input_shape: Sizes | None = None) -> None: ...

class ReLU(Layer):
    """``max(x, 0)``; behind a layer with weights it costs nothing."""

class Dropout(Layer):
    """While training, zeros with probability ``rate``, and the rest times 1 / (1 - rate)."""

    def __init__(self, rate: float = 0.5, name: str | None = None) -> None: ...
