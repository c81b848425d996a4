"""Activations as layers, as layers.py has ReLU; it loads them when one is named."""

from ..base.fixed import ONE, is_number, own
from ..base.primitives import scale_of
from . import Layer


def _factor(what, value, most):
    """A number from 0 to ``most`` as float32 bits, 0 where it is next to nothing."""
    value = own(value)
    if not is_number(value):
        raise TypeError("%s is a number, got %r" % (what, value))
    if not 0 <= value <= most:
        raise ValueError("%s is in 0..%s, got %r" % (what, most, value))
    return scale_of(value) if value > 1e-9 else 0


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

    def __init__(self, negative_slope: "float" = 0.3, name: "str | None" = None) -> None:
        super().__init__(name)
        self.slope = _factor("LeakyReLU: negative_slope", negative_slope, 1)


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


class _Curve(Layer):
    kind = "curve"
    family = "activation"
    curve = 1, ONE, ONE  # of the instructions: kind, alpha, gain


class ELU(_Curve):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``, with an alpha of 0 to 1.9 (Clevert et al. 2015)."""

    def __init__(self, alpha: "float" = 1.0, name: "str | None" = None) -> None:
        super().__init__(name)
        self.curve = 0, _factor("ELU: alpha", alpha, 1.9), ONE


class SELU(_Curve):
    """``1.0507 * x`` where it is positive, else ``1.7581 * (exp(x) - 1)`` (Klambauer et al. 2017)."""

    curve = 0, 0x3FD62D7D, 0x3F867D5F


class GELU(_Curve):
    """``x * (1 + erf(x / sqrt(2))) / 2``, the exact form (Hendrycks and Gimpel 2016)."""
