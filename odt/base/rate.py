"""The learning rate that does not change, and what all schedules are made from (schedules.py, rates.py)."""

from .fixed import is_number, own


class Constant:
    """The same rate at every step."""

    def __init__(self, rate: "float") -> None:
        rate = own(rate)
        if not is_number(rate):
            raise TypeError("learning_rate is a number or a schedule, got %r" % (rate,))
        if not 0 <= rate < 1e6:
            raise ValueError("learning_rate is in 0..1e6, got %r" % (rate,))
        self.base = 0
        if rate > 1e-30:
            from .primitives import scale_of

            self.base = scale_of(rate)

    def bits(self, step: "int") -> "int":
        """The rate of step ``step`` (from 0) as float32 bits."""
        return self.base

    def steady(self):
        """Whether that is ``base`` at every step."""
        return self.__class__ is Constant

    def saved(self) -> "list":
        """What a model file keeps of it: integers, or lists of such."""
        return [self.base]

    def restore(self, values: "list") -> None:
        """Become what ``saved`` told of."""
        (self.base,) = values


def positive(kind, argument, value):
    """A number above 0 that was given for an argument, as float32 bits: TypeError, ValueError."""
    value = own(value)
    if not is_number(value):
        raise TypeError("%s: %s is a number, got %r" % (kind, argument, value))
    if not 1e-30 <= value <= 1e6:
        raise ValueError("%s: %s is in 1e-30..1e6, got %r" % (kind, argument, value))
    from .primitives import scale_of

    return scale_of(value)
