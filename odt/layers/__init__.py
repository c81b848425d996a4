"""Layers, in Keras's words. A layer knows its shapes, its weights and its cost; it computes nothing.

Shapes are tuples without the batch: ``(features,)``, ``(length, channels)``,
``(height, width, channels)``. A layer called on a node gives a node::

    x = odt.Input((8, 8, 1))
    y = odt.Conv2D(8, 3, padding="same", activation="relu")(x)
    z = odt.Add()([y, odt.Conv2D(8, 3, padding="same")(y)])
    model = odt.Model(x, odt.Dense(10)(odt.Flatten()(z)))
"""

import sys

from ..base.fixed import elements, is_int, is_number, own
from ..base.primitives import millionths, size_of, sizes_of
from ..base.regions import DEFAULT_LIMIT
from ..plan.graph import Node

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from typing import Literal

    from typing_extensions import TypeAlias

    from .activations import ELU as ELU
    from .activations import GELU as GELU
    from .activations import SELU as SELU
    from .activations import LeakyReLU as LeakyReLU
    from .activations import ReLU6 as ReLU6
    from .activations import Sigmoid as Sigmoid
    from .activations import Softmax as Softmax
    from .activations import Tanh as Tanh
    from .joins import Add as Add
    from .joins import Concatenate as Concatenate
    from .joins import Multiply as Multiply
    from .normalization import Normalization as Normalization
    from .norms import BatchNorm as BatchNorm
    from .norms import GroupNorm as GroupNorm
    from .norms import LayerNorm as LayerNorm
    from .resizing import AdaptiveAvgPool1D as AdaptiveAvgPool1D
    from .resizing import AdaptiveAvgPool2D as AdaptiveAvgPool2D
    from .resizing import Conv1DTranspose as Conv1DTranspose
    from .resizing import Conv2DTranspose as Conv2DTranspose
    from .resizing import Reshape as Reshape
    from .resizing import UpSampling1D as UpSampling1D
    from .resizing import UpSampling2D as UpSampling2D

    ActivationName: TypeAlias = Literal[
        "leaky_relu", "elu", "selu", "gelu", "sigmoid", "softmax", "tanh", "relu", "relu6"
    ]

    DataType: TypeAlias = Literal["float32", "int8", "uint8", "int16", "uint16", "int32"]

    Padding: TypeAlias = Literal["valid", "same", "causal"]

    Sizes: TypeAlias = "int | Sequence[int]"

_FORMATS = ("float32", "int8", "uint8", "int16", "uint16", "int32")
_RANGES = {
    "float32": (0, 0),
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "int32": (-2147483648, 2147483647),
}


# Activations that follow as a layer of their own, and the modules of these and other layers that few networks have.
FOLLOWING = {
    "sigmoid": "Sigmoid", "tanh": "Tanh", "softmax": "Softmax", "leaky_relu": "LeakyReLU",
    "elu": "ELU", "selu": "SELU", "gelu": "GELU",
}  # fmt: skip


class Layer:
    """Base of all layers.

    ``trainable=False`` freezes the weights: no gradient, no optimizer state, no update is planned. A layer may be part
    of several models (lite.py), with inputs of the same shapes in all: it knows its sizes. Else ValueError.
    """

    name: "str | None"
    trainable: "bool"

    kind = None  # which row of its family lowers it: plan/forward.py
    family = None  # the module of plan/ that has the row
    view = False  # the same bytes as its input: no instruction
    clamps = 0  # 1: the layer is a ReLU, 6: a ReLU6
    selects = False  # each output is one of the inputs, whose error is the output's
    repeatable = True  # a second forward pass of a step gives the same: recompute.py
    can_be_dynamic = False  # its rows that train may change from step to step: update.dynamic
    shapes = None  # of the inputs, once it is built
    input_shape = None  # of a sample, as Keras has it: a Sequential that begins with the layer puts an Input before it
    can_clamp = False  # a following ReLU costs nothing
    arity = 1  # inputs of a call
    variadic = False  # takes more inputs than that, too
    activation = None
    kernel_shape = None  # of the weight, output channels first; None without weights
    use_bias = False
    normalises = False  # norms.py
    by_channel = False  # an input channel meets one output channel only
    zero = False  # the kernel, or gamma, begins with zeros: see lite.py
    steps = None  # (scale, zero point, lower clamp) of an int8 output as another framework has it
    macs: "int" = 0  # multiply-accumulates of one sample, forward

    def __init__(self, name: "str | None" = None, trainable: "bool" = True) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError("%s: name is a str, got %r" % (type(self).__name__, name))
        self.name = name
        self.trainable = trainable
        self.update_rows = None  # ((first, count), ..), ascending: the output channels whose weights train; None: all
        self.update_bias = True
        self.dynamic = None  # of adapt.update.dynamic: which of these train changes from step to step

    def __call__(self, inputs: "Node | Sequence[Node]") -> "Node":
        nodes = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        for node in nodes:
            if not isinstance(node, Node):
                raise TypeError("%r takes layers' outputs, got %r" % (self, type(node)))
        if len(nodes) != self.arity and not (self.variadic and len(nodes) > self.arity):
            more = " or more" if self.variadic else ""
            raise ValueError("%r takes %d inputs%s, got %d" % (self, self.arity, more, len(nodes)))
        shapes = [node.shape for node in nodes]
        if self.shapes not in (None, shapes):
            place = (self, self.shapes, shapes)
            raise ValueError("%r: part of a model with input of %s, got %s: make a second layer" % place)
        node = Node(self, nodes, self.build(shapes))
        self.shapes = shapes
        if self.activation in FOLLOWING:
            node = Activation(self.activation)(node)
        return node

    def __repr__(self):
        return self.name or type(self).__name__

    def build(self, shapes: "Sequence[tuple[int, ...]]") -> "tuple[int, ...]":
        """The output's shape for the inputs' shapes; ValueError when they do not fit."""
        return shapes[0]

    def weight_shapes(self) -> "list[tuple[str, tuple[int, ...]]]":
        """``[(name, shape)]`` of the weights in the order of ``get_weights``."""
        shapes = []
        if self.kernel_shape:
            shapes.append(("kernel", self.kernel_shape))
        if self.use_bias:
            shapes.append(("bias", (self.kernel_shape[0],)))
        return shapes

    def fans(self):
        """Fan-in and fan-out of the kernel, for the initial weights."""
        receptive = 1
        for size in self.kernel_shape[1:-1]:
            receptive *= size
        return receptive * self.kernel_shape[-1], receptive * self.kernel_shape[0]

    def wrong_shape(self, shape, expected):
        raise ValueError("%r takes input of shape %s, got %s" % (self, expected, shape))


class InputLayer(Layer):
    """What ``Input`` puts at the start of a graph."""

    kind = "input"
    family = "step"
    arity = 0

    def __init__(self, shape, dtype, scale, zero_point, name, limit):
        super().__init__(name)
        self.shape = sizes_of("Input", "shape", shape, None, DEFAULT_LIMIT)
        if dtype not in _FORMATS:
            raise ValueError("Input: dtype is one of %s, got %r" % (", ".join(_FORMATS), dtype))
        scale, zero_point, limit = own(scale), own(zero_point), own(limit)
        if not is_number(scale):
            raise TypeError("Input: scale is a number, got %r" % (scale,))
        if not 1e-30 <= scale <= 1e30:
            raise ValueError("Input: scale is in 1e-30..1e30, got %r" % (scale,))
        if not is_int(zero_point):
            raise TypeError("Input: zero_point is an int, got %r" % (zero_point,))
        low, high = _RANGES[dtype]
        if not low <= zero_point <= high:
            place = (dtype, low, high, zero_point)
            raise ValueError("Input: zero_point of %s is in %d..%d, got %d" % place)
        if dtype == "float32" and scale != 1:
            raise ValueError("Input: scale belongs to an integer dtype, got %r with float32" % (scale,))
        if limit is not None:
            if dtype in ("int8", "uint8"):
                raise ValueError("Input: limit belongs to data that int8 rescales, got dtype %r" % dtype)
            if isinstance(limit, bool) or not isinstance(limit, (int, float)):
                raise TypeError("Input: limit is a number, got %r" % (limit,))
            if not 1e-30 <= limit <= 1e30:
                raise ValueError("Input: limit is in 1e-30..1e30, got %r" % (limit,))
        self.dtype = dtype
        self.scale = scale
        self.zero_point = zero_point
        self.limit = limit


def Input(
    shape: "Sizes",
    dtype: "DataType" = "float32",
    scale: "float" = 1,
    zero_point: "int" = 0,
    name: "str | None" = None,
    limit: "float | None" = None,
) -> "Node":
    """The shape and the number format of one sample; gives a node.

    ``dtype`` is the format of the data that ``fit`` will get: "float32", "int8", "uint8", "int16",
    "uint16" or "int32". An integer ``raw`` means ``(raw - zero_point) * scale``: uint8 pixels want
    ``scale=1 / 255``.

    In an int8 model the range of float32, int16, uint16 and int32 data is found on the first batch and then follows the
    data, by at most a quarter per step, so that a rare outlier is clipped and forgotten. ``limit`` fixes the range
    instead: magnitudes above it are clipped, always. ``float32`` models take every value as it is.
    """
    layer = InputLayer(shape, dtype, scale, zero_point, name, limit)
    return Node(layer, [], layer.shape)


class Dense(Layer):
    """Fully connected: ``y = activation(x @ kernel.T + bias)``, kernel ``(units, features)``.

    An input of more axes is treated as rows of its last axis.
    """

    kind = "dense"
    family = "linear"
    can_clamp = can_be_dynamic = True

    def __init__(
        self,
        units: "int",
        activation: "ActivationName | None" = None,
        use_bias: "bool" = True,
        name: "str | None" = None,
        trainable: "bool" = True,
        input_shape: "Sizes | None" = None,
    ) -> None:
        super().__init__(name, trainable)
        self.input_shape = input_shape
        self.units = size_of("Dense", "units", units)
        self.activation = activation_of("Dense", activation)
        self.use_bias = use_bias

    def build(self, shapes):
        shape = shapes[0]
        self.rows = elements(shape[:-1])
        self.kernel_shape = (self.units, shape[-1])
        self.macs = self.rows * self.units * shape[-1]
        return shape[:-1] + (self.units,)


class Window(Layer):
    """What convolutions and poolings share: a window that slides over (height, width, channels)."""

    axes = 2

    dilation_rate = (1, 1)  # pixels from one tap to the next

    def _place(self, shape, size, strides, padding, channels):
        """Set ``self.window`` (the sizes of opcodes.WINDOW without B, as if nothing were dilated) and return the
        output's shape.
        """
        if len(shape) != self.axes + 1:
            axes = "(length, channels)" if self.axes == 1 else "(height, width, channels)"
            self.wrong_shape(shape, axes)
        if max(shape[:-1]) > 65535:
            self.wrong_shape(shape, "at most 65535 along an axis")
        out = []
        before = []
        for extent, width, stride, rate in zip(shape, size, strides, self.dilation_rate):
            width += (width - 1) * (rate - 1)
            if padding != "valid":
                count = (extent + stride - 1) // stride
                before.append(width - 1 if padding == "causal" else max((count - 1) * stride + width - extent, 0) // 2)
            else:
                count = (extent - width) // stride + 1
                before.append(0)
            if count < 1:
                raise ValueError("%r: a window of %s does not fit into %s" % (self, size, shape))
            out.append(count)
        one = (1,) * (2 - self.axes)
        zero = (0,) * (2 - self.axes)
        self.window = (
            (one + shape[:-1] + (shape[-1], channels) + one + size + one + strides)
            + (zero + tuple(before))
            + (one + tuple(out))
        )
        return tuple(out) + (channels,)


class Conv(Window):
    """What convolutions share: filters, a kernel and an activation."""

    family = "linear"
    can_clamp = True

    def __init__(
        self,
        filters: "int | None",
        kernel_size: "Sizes",
        strides: "Sizes",
        padding: "Padding",
        activation: "ActivationName | None",
        use_bias: "bool",
        name: "str | None",
        trainable: "bool",
        dilation_rate: "Sizes" = 1,
    ) -> None:
        super().__init__(name, trainable)
        kind = type(self).__name__
        self.filters = filters if filters is None else size_of(kind, "filters", filters)
        self.kernel_size = sizes_of(kind, "kernel_size", kernel_size, self.axes, 255)
        self.strides = sizes_of(kind, "strides", strides, self.axes, 255)
        self.padding = _padding(kind, padding)
        self.dilation_rate = sizes_of(kind, "dilation_rate", dilation_rate, self.axes, 65535)
        if max(self.dilation_rate) > 1:
            self.family, self.can_be_dynamic = "dilated", False
            if max(self.strides) > 1:
                raise ValueError("%s: strides or dilation_rate is 1, got %s and %s" % (kind, strides, dilation_rate))
        self.activation = activation_of(kind, activation)
        self.use_bias = use_bias

    def build(self, shapes):
        channels = shapes[0][-1]
        filters = self.filters or channels
        out = self._place(shapes[0], self.kernel_size, self.strides, self.padding, filters)
        depth = channels if self.filters else 1
        self.kernel_shape = (filters,) + self.kernel_size + (depth,)
        self.macs = depth * elements(out + self.kernel_size)
        return out


class Conv2D(Conv):
    """2-D convolution of (height, width, channels); kernel ``(filters, height, width, channels)``.

    ``padding`` is "valid" or "same" (TensorFlow's: the odd row of zeros comes last). With ``groups`` the channels and
    the filters are split into that many groups, and a filter meets its group's channels only. ``dilation_rate``, as in
    Keras: the distance between a filter's taps; strides are 1 where it is more.
    """

    kind = "conv2d"
    can_be_dynamic = True

    def __init__(
        self,
        filters: "int",
        kernel_size: "Sizes",
        strides: "Sizes" = 1,
        padding: "Padding" = "valid",
        activation: "ActivationName | None" = None,
        use_bias: "bool" = True,
        name: "str | None" = None,
        trainable: "bool" = True,
        groups: "int" = 1,
        input_shape: "Sizes | None" = None,
        dilation_rate: "Sizes" = 1,
    ) -> None:
        super().__init__(filters, kernel_size, strides, padding, activation, use_bias, name, trainable, dilation_rate)
        self.input_shape = input_shape
        self.groups = size_of(type(self).__name__, "groups", groups)
        if self.filters % self.groups:
            raise ValueError("%r: groups divide the %d filters, got %d" % (self, filters, groups))

    def build(self, shapes):
        out = super().build(shapes)
        groups, channels = self.groups, shapes[0][-1]
        if groups > 1:
            if channels % groups:
                self.wrong_shape(shapes[0], "channels that are a multiple of %d groups" % groups)
            depth = channels // groups
            self.kernel_shape = self.kernel_shape[:-1] + (depth,)
            self.macs //= groups
            self.by_channel = groups == channels == self.filters
            self.kind = "depthwise2d" if self.by_channel else "group_conv2d"
            self.can_be_dynamic = self.by_channel and self.family == "linear"
            if not self.by_channel:
                self.window = self.window[:2] + (depth,) + self.window[3:]
        return out


class Conv1D(Conv2D):
    """1-D convolution of (length, channels); kernel ``(filters, length, channels)``.

    ``padding`` may be "causal", too: all zeros come first, and no output depends on a later input. A ``dilation_rate``
    of which the length is a multiple takes no RAM; for others samples are copied, see docs/reference/numerics.md.
    """

    axes = 1


class DepthwiseConv2D(Conv):
    """Each channel convolved with a filter of its own; kernel ``(channels, height, width, 1)``."""

    kind = "depthwise2d"
    by_channel = can_be_dynamic = True

    def __init__(
        self,
        kernel_size: "Sizes",
        strides: "Sizes" = 1,
        padding: "Padding" = "valid",
        activation: "ActivationName | None" = None,
        use_bias: "bool" = True,
        name: "str | None" = None,
        trainable: "bool" = True,
        dilation_rate: "Sizes" = 1,
    ) -> None:
        super().__init__(None, kernel_size, strides, padding, activation, use_bias, name, trainable, dilation_rate)

    def fans(self):
        taps = self.kernel_shape[1] * self.kernel_shape[2]
        return taps, taps


class _Pool(Window):
    family = "pool"

    def __init__(
        self,
        pool_size: "Sizes" = 2,
        strides: "Sizes | None" = None,
        padding: "Padding" = "valid",
        name: "str | None" = None,
    ) -> None:
        super().__init__(name)
        kind = type(self).__name__
        self.pool_size = sizes_of(kind, "pool_size", pool_size, self.axes, 255)
        strides = self.pool_size if strides is None else strides
        self.strides = sizes_of(kind, "strides", strides, self.axes, 255)
        self.padding = _padding(kind, padding)

    def build(self, shapes):
        return self._place(shapes[0], self.pool_size, self.strides, self.padding, shapes[0][-1])


class MaxPool2D(_Pool):
    """The largest value of each window; ``strides`` defaults to ``pool_size``."""

    kind = "maxpool2d"
    selects = True


class MaxPool1D(MaxPool2D):
    """The largest value of each window of (length, channels)."""

    axes = 1


class AvgPool2D(_Pool):
    """The mean of each window's positions inside the image; ``strides`` defaults to ``pool_size``."""

    kind = "avgpool2d"
    adaptive = False

    def __init__(
        self,
        pool_size: "Sizes" = 2,
        strides: "Sizes | None" = None,
        padding: "Padding" = "valid",
        name: "str | None" = None,
    ) -> None:
        super().__init__(pool_size, strides, padding, name)
        self.positions = elements(self.pool_size)  # of a whole window
        if self.positions > 16384:  # the gradient's sum of 256 * positions * error fits an int32
            raise ValueError("%s: a window has at most 16384 positions, got %d" % (type(self).__name__, self.positions))


class AvgPool1D(AvgPool2D):
    """The mean of each window of (length, channels)."""

    axes = 1


class GlobalAvgPool(Layer):
    """The mean of each channel over all positions: ``(.., channels)`` to ``(channels,)``."""

    kind = "globalavg"
    family = "pool"

    def build(self, shapes):
        shape = shapes[0]
        if len(shape) < 2:
            self.wrong_shape(shape, "(.., channels)")
        self.positions = elements(shape[:-1])
        return shape[-1:]


class Flatten(Layer):
    """All axes in one."""

    kind = "flatten"
    view = True

    def __init__(self, name: "str | None" = None, trainable: "bool" = True, input_shape: "Sizes | None" = None) -> None:
        super().__init__(name, trainable)
        self.input_shape = input_shape

    def build(self, shapes):
        return (elements(shapes[0]),)


class ReLU(Layer):
    """``max(x, 0)``; after a layer with weights it costs nothing."""

    kind = "relu"
    family = "activation"
    clamps = 1


class Dropout(Layer):
    """In training, sets elements to 0 with probability ``rate`` and multiplies the others by 1 / (1 - rate).

    Which elements is a hash of the model's seed, the step and the element (Srivastava et al. 2014).
    """

    kind = "dropout"
    family = "dropout"
    repeatable = False

    def __init__(self, rate: "float" = 0.5, name: "str | None" = None) -> None:
        super().__init__(name)
        rate = own(rate)
        if not is_number(rate):
            raise TypeError("Dropout: rate is a number, got %r" % (rate,))
        if not 0 <= rate < 1:
            raise ValueError("Dropout: rate is in 0..1, below 1, got %r" % (rate,))
        self.drop = min((millionths(rate) * 65536 + 500000) // 1000000, 65535)


def Activation(activation: "ActivationName", name: "str | None" = None) -> "Layer":
    """The layer of that activation, "relu" for one: a ReLU."""
    if activation == "relu":
        return ReLU(name=name)
    if activation != "relu6" and activation not in FOLLOWING:
        activation_of("Activation", activation)
        raise ValueError("Activation: %r changes nothing: leave it out" % (activation,))
    return getattr(sys.modules["odt"], FOLLOWING.get(activation, "ReLU6"))(name=name)


if 1 - 1:  # mypy takes the first of two, pyright the last: both refuse a name that is not above

    class __getattr__: ...


def __getattr__(name):
    """Layers that have a module of their own, and Keras's names."""
    package = sys.modules["odt"]
    place = package.home(name) or ""
    if place[:7] == "layers." or place in ("attention", "recurrent", "embedding"):
        return getattr(__import__("odt." + place, None, None, ("*",)), name)
    if name not in package.KERAS:
        raise AttributeError("module 'odt.layers' has no attribute %r" % name)
    return getattr(package, name)


if 1 - 1:
    AveragePooling1D = AvgPool1D
    AveragePooling2D = AvgPool2D
    BatchNormalization = BatchNorm
    GlobalAveragePooling1D = GlobalAveragePooling2D = GlobalAvgPool
    GroupNormalization = GroupNorm
    LayerNormalization = LayerNorm
    MaxPooling1D = MaxPool1D
    MaxPooling2D = MaxPool2D

    class __getattr__: ...


def _padding(kind, padding):
    if padding not in ("valid", "same") and not (padding == "causal" and kind == "Conv1D"):
        raise ValueError('%s: padding is "valid", "same" or, of Conv1D, "causal", got %r' % (kind, padding))
    return padding


def activation_of(kind: "str", activation: "ActivationName | Literal['linear'] | None") -> "ActivationName | None":
    """What a layer has of that name; ValueError where it is none."""
    if activation == "linear":
        return None
    if activation not in (None, "relu", "relu6") and activation not in FOLLOWING:
        names = ", ".join(["None", "linear", "relu", "relu6"] + sorted(FOLLOWING))
        raise ValueError("%s: activation is one of %s, got %r" % (kind, names, activation))
    return activation
