"""Layers of other frameworks: paddings of each side, windows that reach beyond the end, and tables.

The instructions have always taken where a window begins and how many there are; odt's own layers give them what Keras's
words mean. What is made here runs on every board, as any program does.
"""

from ... import layers


class _Placed:
    """``pads``: (before, after) of each axis; ``out``: positions of the output."""

    pads = out = None

    def _place(self, shape, size, strides, padding, channels):
        made = super()._place(shape, (1,) * self.axes, (1,) * self.axes, "valid", channels)
        one, zero = (1,) * (2 - self.axes), (0,) * (2 - self.axes)
        before = tuple(pair[0] for pair in self.pads)
        self.window = self.window[:4] + one + tuple(size) + one + tuple(strides) + zero + before + one + self.out
        return self.out + made[-1:]


class Conv2D(_Placed, layers.Conv2D):
    """Convolution with a padding of each side."""


class Conv1D(_Placed, layers.Conv1D):
    """Conv2D of (length, channels)."""


class MaxPool2D(_Placed, layers.MaxPool2D):
    """The largest of each window's positions inside the image, with a padding of each side."""


class MaxPool1D(_Placed, layers.MaxPool1D):
    """MaxPool2D of (length, channels)."""


class AvgPool2D(_Placed, layers.AvgPool2D):
    """The mean of each window's positions inside the image, with a padding of each side."""


class AvgPool1D(_Placed, layers.AvgPool1D):
    """AvgPool2D of (length, channels)."""


class _PlacedTranspose:
    pads = out = None

    def build(self, shapes):
        super().build(shapes)
        one, zero = (1,) * (2 - self.axes), (0,) * (2 - self.axes)
        before = tuple(pair[0] for pair in self.pads)
        self.window = self.window[:8] + zero + before + one + self.out
        return self.out + (self.filters,)


class Conv2DTranspose(_PlacedTranspose, layers.Conv2DTranspose):
    """Transposed convolution of which each side is cut by a padding of its own."""


class Conv1DTranspose(_PlacedTranspose, layers.Conv1DTranspose):
    """Conv2DTranspose of (length, channels)."""


class Lookup(layers.Layer):
    """A function of one number, between int8 steps that are fixed; ``table``: what -128 to 127 become, as bytes."""

    kind = "lookup"
    family = "activation"
    table = None


def placed(kind, pads, out, *arguments, **options):
    """A layer of this module, by its name."""
    layer = globals()[kind](*arguments, **options)
    layer.pads, layer.out = pads, tuple(out)
    return layer


def worded(size, strides, pads, extents, out, transposed=False):
    """The word of odt's own layers, "valid" or "same", that means these paddings and this output, or None."""
    before = tuple(pair[0] for pair in pads)
    sizes = list(zip(extents, size, strides))
    if transposed:
        valid = tuple(extent * stride + max(width - stride, 0) for extent, width, stride in sizes)
        same = tuple(extent * stride for extent, _, stride in sizes)
        least = tuple(max(width - stride, 0) // 2 for _, width, stride in sizes)
    else:
        valid = tuple((extent - width) // stride + 1 for extent, width, stride in sizes)
        same = tuple(-(-extent // stride) for extent, _, stride in sizes)
        least = tuple(max((count - 1) * stride + width - extent, 0) // 2
                      for count, (extent, width, stride) in zip(same, sizes))  # fmt: skip
    if not any(before) and tuple(out) == valid:
        return "valid"
    if before == least and tuple(out) == same:
        return "same"
    return None
