"""An optimizer around another one: gradients are those of a network whose weights are noisy."""

from ..base.fixed import is_number, own
from ..base.primitives import scale_of
from ..optimizers import Adam

if 1 - 1:  # for type checkers alone
    from ..optimizers import SGD
    from ..plan.graph import Node


class Noisy:
    """Noise-aware training: each step draws weights with Gaussian noise, and updates those without.

    In the forward pass and in the error that goes back, a kernel's weight w is ``w + weight * max|w| * e1 + drift * w *
    e2``, with e1 and e2 from a normal distribution, drawn for each weight and step (Joshi et al., 2020; in IBM's
    aihwkit, weight modifiers of type ADD_NORMAL with rel_to_actual_wmax, and MULT_NORMAL). ``max|w|``: the layer's
    largest weight after the step before. In int8, where each row has a scale of its own (depthwise layers, layers of
    which rows train, frozen layers), it is the row's. Weights are not changed: the noisy ones are a copy.

    ``optimizer``: an SGD or an Adam, which gets the gradients; default ``Adam()``. ``weight``, ``drift``: standard
    deviations, each in 0..0.5; with 0 there is no such noise.

    Biases and normalisations have none, as they are digital in such hardware. Predictions and ``evaluate`` have none,
    either. TypeError, ValueError for other arguments; ``compile`` raises ValueError for a layer that is frozen with 4
    bits.
    """

    direct = None  # of an optimizer of gradients

    def __init__(self, optimizer: "SGD | Adam | None" = None, weight: "float" = 0.1, drift: "float" = 0) -> None:
        if optimizer is not None and not (hasattr(optimizer, "direct") and optimizer.direct):
            raise TypeError("Noisy: optimizer is an SGD or an Adam, got %r" % (optimizer,))
        self.weight, self.drift = share("Noisy", "weight", weight), share("Noisy", "drift", drift)
        self.inner = optimizer or Adam()
        self.learning_rate = self.inner.learning_rate
        self.state, self.residuals = self.inner.state, getattr(self.inner, "residuals", True)

    @staticmethod
    def prepare() -> None:
        """Import what planning takes."""
        from .plan import train  # noqa: F401

    def passes(
        self, s: "object", nodes: "list[Node]", loss: "object", micro: "int | None", segments: "object"
    ) -> "object":
        """Emit a step into the schedule ``s``: what compiler.py asks of an optimizer that has passes of its own."""
        from .plan import train

        return train(s, nodes, loss, micro, segments, self)


def share(what: "str", name: "str", value: "float") -> "int":
    """A standard deviation in 0..0.5 as float32 bits, 0 for none."""
    value = own(value)
    if not is_number(value):
        raise TypeError("%s: %s is a number, got %r" % (what, name, value))
    if not (value == 0 or 1e-4 <= value <= 0.5):
        raise ValueError("%s: %s is 0, or a share in 0.0001..0.5, got %r" % (what, name, value))
    return scale_of(value) if value else 0
