"""Transposed convolutions, adaptive pooling, upsampling and reshaping: layers as those of layers.py."""

from ..base.fixed import own
from ..base.primitives import size_of, sizes_of
from . import Conv, Layer, Window

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence

    from . import ActivationName, Padding, Sizes


class Conv2DTranspose(Conv):
    """Transposed 2-D convolution: each position adds a window of its own to a larger image.

    Kernel ``(filters, height, width, channels)``. The output has ``size * strides`` positions an axis
    ("same"), or ``kernel_size - strides`` more where that is above 0 ("valid"), as in Keras.
    """

    kind = "transposed2d"

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
    ) -> None:
        super().__init__(filters, kernel_size, strides, padding, activation, use_bias, name, trainable)
        size_of(type(self).__name__, "filters", filters)

    def build(self, shapes):
        shape = shapes[0]
        ones = (1,) * self.axes
        self._place(shape, ones, ones, "valid", self.filters)
        out, before = [], []
        self.macs = self.filters * shape[-1]
        for extent, size, stride in zip(shape, self.kernel_size, self.strides):
            self.macs *= extent * size
            if self.padding == "same":
                out.append(extent * stride)
                before.append(max(size - stride, 0) // 2)
            else:
                out.append(extent * stride + max(size - stride, 0))
                before.append(0)
        if max(out) > 65535:
            self.wrong_shape(shape, "at most 65535 along an axis of the output")
        one = (1,) * (2 - self.axes)
        self.window = (
            (one + shape[:-1] + (shape[-1], self.filters) + one + self.kernel_size + one + self.strides)
            + ((0,) * (2 - self.axes) + tuple(before))
            + (one + tuple(out))
        )
        self.kernel_shape = (self.filters,) + self.kernel_size + (shape[-1],)
        return tuple(out) + (self.filters,)


class Conv1DTranspose(Conv2DTranspose):
    """Transposed 1-D convolution of (length, channels); kernel ``(filters, length, channels)``."""

    axes = 1


class AdaptiveAvgPool2D(Window):
    """The mean over each window of a grid of ``output_size`` windows, for any size of the input.

    Window i covers positions floor(i * size / outputs) to ceil((i + 1) * size / outputs), as PyTorch's does.
    """

    kind = "avgpool2d"
    family = "pool"
    adaptive = True

    def __init__(self, output_size: "Sizes", name: "str | None" = None) -> None:
        super().__init__(name)
        self.output_size = sizes_of(type(self).__name__, "output_size", output_size, self.axes)

    def build(self, shapes):
        shape = shapes[0]
        ones = (1,) * self.axes
        self._place(shape, ones, ones, "valid", shape[-1])
        self.positions = 1  # of the largest window
        for size, outputs in zip(shape, self.output_size):
            if outputs > size:
                self.wrong_shape(shape, "at least %s" % (self.output_size,))
            self.positions *= max([((i + 1) * size - 1) // outputs + 1 - i * size // outputs for i in range(outputs)])
        if self.positions > 16384:
            raise ValueError("%r: a window has at most 16384 positions, got %d" % (self, self.positions))
        self.window = self.window[:10] + (1,) * (2 - self.axes) + self.output_size
        return self.output_size + shape[-1:]


class AdaptiveAvgPool1D(AdaptiveAvgPool2D):
    """The mean of ``output_size`` windows of (length, channels)."""

    axes = 1


class UpSampling2D(Window):
    """Each position repeated ``size`` times along each axis (nearest neighbour)."""

    kind = "upsample2d"
    family = "join"

    def __init__(self, size: "Sizes" = 2, name: "str | None" = None) -> None:
        super().__init__(name)
        self.size = sizes_of(type(self).__name__, "size", size, self.axes, 255)

    def build(self, shapes):
        shape = shapes[0]
        ones = (1,) * self.axes
        self._place(shape, ones, ones, "valid", shape[-1])
        one = (1,) * (2 - self.axes)
        self.window = one + shape + one + self.size
        out = tuple([extent * times for extent, times in zip(shape, self.size)])
        if max(out) > 65535:
            self.wrong_shape(shape, "at most 65535 along an axis when enlarged")
        return out + shape[-1:]


class UpSampling1D(UpSampling2D):
    """Each position of (length, channels) repeated ``size`` times."""

    axes = 1


class Reshape(Layer):
    """The same numbers in another shape; one extent may be -1 and is then computed."""

    kind = "reshape"
    view = True

    def __init__(self, target_shape: "Sequence[int]", name: "str | None" = None) -> None:
        super().__init__(name)
        if not isinstance(target_shape, (tuple, list)) or not 1 <= len(target_shape) <= 3:
            raise ValueError("Reshape: target_shape is 1 to 3 sizes, got %r" % (target_shape,))
        self.target_shape = tuple([own(size) for size in target_shape])
        if self.target_shape.count(-1) > 1:
            raise ValueError("Reshape: one extent may be -1, got %r" % (target_shape,))
        for size in self.target_shape:
            if size != -1:
                size_of("Reshape", "target_shape", size)

    def build(self, shapes):
        count = left = 1
        for size in shapes[0]:
            count *= size
        for size in self.target_shape:
            left *= max(size, 1)
        shape = tuple([count // left if size == -1 else size for size in self.target_shape])
        if left * (count // left) != count or (left != count and -1 not in self.target_shape):
            raise ValueError("%r: %s does not hold the numbers of %s" % (self, self.target_shape, shapes[0]))
        return shape
