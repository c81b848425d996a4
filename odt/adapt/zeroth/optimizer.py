"""Training without a backward pass: two forward passes, with weights a little to either side, say where to go."""

from ...base.fixed import ONE, is_int, is_number, own, scale_div
from ...base.primitives import scale_of
from ...base.rate import Constant
from ...optimizers import SGD, Adam

if 1 - 1:  # for type checkers alone
    from ...optimizers import Schedule
    from ...plan.graph import Node


class ZerothOrder:
    """Zeroth-order descent (Spall, 1992): ``weight -= learning_rate * sign(L+ - L-) * z``.

    L+ and L- are the batch's loss with the weights at ``weight + epsilon * z`` and ``weight - epsilon * z``; z is drawn
    from the step's key, 1, 0, 0 or -1, and drawn again where it is needed: no gradient and no z is ever in RAM, and the
    arena is that of a forward pass. In int8 epsilon is a whole number of steps of each row's scale, at least one and 31
    at most, and weights keep what is less than a step, rounded at random. ``sign`` False: ``weight -= learning_rate *
    (L+ - L-) / (2 * epsilon) * z``. ``tail``: the number of last trainable layers that have a backward
    pass, with ``optimizer`` (an SGD or Adam; default ``Adam()``); the learning rate follows its schedule in proportion
    (Sugiura and Matsutani, 2025: ElasticZO).
    """

    direct = None  # of an optimizer of gradients
    moves = True  # weights, within a step

    def __init__(
        self,
        learning_rate: "float | Schedule" = 0.003,
        epsilon: "float" = 0.02,
        tail: "int" = 0,
        optimizer: "SGD | Adam | None" = None,
        sign: "bool" = True,
    ) -> None:
        tail, epsilon = own(tail), own(epsilon)
        if not is_int(tail):
            raise TypeError("ZerothOrder: tail is an int, got %r" % (tail,))
        if tail < 0:
            raise ValueError("ZerothOrder: tail is 0 or more layers, got %d" % tail)
        if sign not in (True, False):
            raise TypeError("ZerothOrder: sign is True or False, got %r" % (sign,))
        if optimizer is not None and not (hasattr(optimizer, "direct") and optimizer.direct):
            raise TypeError("ZerothOrder: optimizer is an SGD or an Adam, got %r" % (optimizer,))
        if optimizer is not None and not tail:
            raise ValueError("ZerothOrder: optimizer is that of the tail, got one and tail=0")
        self.tail, self.sign = tail, sign
        if not is_number(epsilon):
            raise TypeError("ZerothOrder: epsilon is a number, got %r" % (epsilon,))
        if not 1e-6 <= epsilon <= 100:
            raise ValueError("ZerothOrder: epsilon is in 1e-6..100, got %r" % (epsilon,))
        self.epsilon = (
            scale_of(epsilon) + 0x8000 & ~0xFFFF
        )  # 8 significant bits: see perturb_f32 in docs/reference/numerics.md
        self.ratio = ONE
        self.of_tail = SGD(learning_rate)
        rate = self.of_tail.learning_rate
        if tail:
            self.of_tail = optimizer or Adam()
            base = getattr(self.of_tail.learning_rate, "base", 0)
            if type(rate) is not Constant or not rate.base or not base:
                raise ValueError("ZerothOrder: with a tail learning_rate is a number above 0, its schedule that of "
                    "optimizer, which begins above 0; got %r" % (learning_rate,))  # fmt: skip
            self.ratio = scale_div(rate.base, base)
        self.learning_rate = self.of_tail.learning_rate
        self.state = self.of_tail.state

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

    def backward_macs(self, nodes: "list[Node]") -> "list[int]":
        """Multiply-accumulates of each node after a sample's first forward pass."""
        from ...plan.graph import backward_macs
        from .plan import divide

        macs = backward_macs(nodes, divide(nodes, self.tail)[1])
        return [more + (0 if node.alias else node.layer.macs) for more, node in zip(macs, nodes)]
