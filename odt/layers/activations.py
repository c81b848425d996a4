"""Activations as layers, as layers.py has ReLU; it loads them when one is named."""

from ..base.fixed import is_number, own
from ..base.primitives import scale_of
from . import Layer


class ReLU6(Layer):
    """``min(max(x, 0), 6)``; in int8 the step is 6 / 255, and after a layer with weights it costs nothing."""

    kind = "relu6"
    family = "activation"
    clamps = 6


class LeakyReLU(Layer):
    """``x`` where it is positive, else ``negative_slope * x``, with a slope of 0 to 1.

    In int8 the output keeps the input's scale, so a small slope has few steps below zero.
    """

    kind = "leaky_relu"
    family = "activation"

    def __init__(self, negative_slope=0.3, name=None):
        super().__init__(name)
        negative_slope = own(negative_slope)
        if not is_number(negative_slope):
            raise TypeError("LeakyReLU: negative_slope is a number, got %r" % (negative_slope,))
        if not 0 <= negative_slope <= 1:
            raise ValueError("LeakyReLU: negative_slope is in 0..1, got %r" % (negative_slope,))
        self.slope = scale_of(negative_slope) if negative_slope > 1e-9 else 0


class Sigmoid(Layer):
    """``1 / (1 + exp(-x))``; in int8 in steps of 1/256."""

    kind = "sigmoid"
    family = "activation"


class Tanh(Layer):
    """``tanh(x)``; in int8 in steps of 1/128."""

    kind = "tanh"
    family = "activation"


class Softmax(Layer):
    """``exp(x) / sum(exp(x))`` over the last axis; in int8 in steps of 1/256.

    The crossentropy losses contain it: they want the logits.
    """

    kind = "softmax"
    family = "activation"
