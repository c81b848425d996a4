"""Weights without residuals: an int8 step is rounded to whole steps of the scale, at random."""

from ..optimizers import SGD

if 1 - 1:  # for type checkers alone
    from ..optimizers import Schedule, _State


class RoundedSGD(SGD):
    """SGD whose int8 weights have no residuals: a byte less for each weight that trains.

    A weight moves by whole steps of its row's scale, up or down with the probability of what is lost (stochastic
    rounding: Gupta et al., 2015), so that its mean is that of SGD's. Arguments as of SGD, without ``weight_decay``. In
    float32 models it is SGD. ``compile`` raises ValueError for a dynamic update.
    """

    residuals = False

    def __init__(
        self,
        learning_rate: "float | Schedule" = 0.01,
        momentum: "float" = 0,
        state: "_State | None" = None,
        nesterov: "bool" = False,
        global_clipnorm: "float | None" = None,
    ) -> None:
        super().__init__(learning_rate, momentum, state, nesterov, 0, global_clipnorm)

    def step(self, s, name, operands, gradient, scale, part, factor, common):
        """As in SGD."""
        kernel, residual, of_rows, limited = operands
        if part.chosen or residual is not None:
            raise ValueError("RoundedSGD: %s: with %s take SGD" % (
                name, "a dynamic update" if part.chosen else "ZerothOrder"))  # fmt: skip
        scales = self.direct(s, name, gradient, scale, part, factor)
        sizes = (part.total, part.columns, s.stream(name + " step"), common, part.at, part.rows)
        s.emit("round_i8", (kernel, of_rows, limited, gradient, scales, s.updates.rate, s.control), sizes)
        return True
