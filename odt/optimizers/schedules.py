"""Learning rates that fall, as Keras has them; rates.py has more.

Each is a function of the step alone, in small integers, because a step must not allocate.
"""

from ..base.fixed import is_int, own
from ..base.rate import Constant, positive


class StepDecay(Constant):
    """``initial * gamma ** (step // step_size)``.

    Each product is rounded to float32, and goes on from where it was asked for last, in two places: also two models
    that train by turns with one object take one product a step at most. After a jump, as by ``load``, it is found from
    the start once.
    """

    def __init__(self, initial: "float", step_size: "int", gamma: "float" = 0.1) -> None:
        super().__init__(initial)
        step_size = own(step_size)
        if not is_int(step_size) or step_size < 1:
            raise ValueError("StepDecay: step_size is an int above 0, got %r" % (step_size,))
        self.step_size = step_size
        self.gamma = positive("StepDecay", "gamma", gamma)
        self._counts = [0, 0]  # of products in each of _rates; -1: while that changes, as Ctrl-C may come in between
        self._rates = [self.base, self.base]
        self._last = 0

    def saved(self):
        """As Constant has it."""
        return [self.base, self.step_size, self.gamma]

    def restore(self, values):
        """As Constant has it."""
        self.base, self.step_size, self.gamma = values
        self._counts, self._rates, self._last = [0, 0], [self.base, self.base], 0

    def bits(self, step):
        """The rate of step ``step`` (from 0) as float32 bits."""
        count = step // self.step_size
        counts, rates, k = self._counts, self._rates, self._last
        if counts[k] == count or not self.base:
            return rates[k]
        if not 0 <= counts[k] <= count or counts[k] < counts[1 - k] <= count:
            self._last = k = 1 - k
        done, rate = counts[k], rates[k]
        if not 0 <= done <= count:
            done, rate = 0, self.base
        while done < count:
            before = rate
            rate = _product(rate, self.gamma)
            done = count if rate == before else done + 1  # at an end of float32's range it stays
        counts[k] = -1
        rates[k] = rate
        counts[k] = count
        return rate


class CosineDecay(Constant):
    """``initial * (1 + cos(pi * step / decay_steps)) / 2``, then 0 (Loshchilov and Hutter, 2017)."""

    def __init__(self, initial: "float", decay_steps: "int") -> None:
        super().__init__(initial)
        decay_steps = own(decay_steps)
        if not is_int(decay_steps) or not 1 <= decay_steps <= 0xFFFF:
            raise ValueError("CosineDecay: decay_steps is an int in 1..65535, got %r" % (decay_steps,))
        self.decay_steps = decay_steps

    def saved(self):
        """As Constant has it."""
        return [self.base, self.decay_steps]

    def restore(self, values):
        """As Constant has it."""
        self.base, self.decay_steps = values

    def bits(self, step):
        if step >= self.decay_steps or not self.base:
            return 0
        # Small integers only: a step must not allocate. Half the angle, as a Q14 part of pi / 2; Taylor's series of the
        # cosine to its 8th power, pi^2 / 8, pi^4 / 384, .. in Q14. Within 4e-4 of the schedule, relative to its first
        # rate.
        z = step * 16384 // self.decay_steps
        z = z * z >> 14
        cos = 16384 - (20213 * z >> 14) + (4156 * (z * z >> 14) >> 14)
        cos -= 342 * ((z * z >> 14) * z >> 14) >> 14
        cos += 15 * (z * z >> 14) >> 14
        mantissa = ((self.base & 0x7FFFFF | 0x800000) >> 10) * (cos * cos >> 14)
        exponent = (self.base >> 23) - 4
        if mantissa <= 0:
            return 0
        while mantissa >= 0x1000000:
            mantissa >>= 1
            exponent += 1
        while mantissa < 0x800000:
            mantissa <<= 1
            exponent -= 1
        return (exponent << 23) + (mantissa & 0x7FFFFF)


def _product(a, b):
    """scale_mul(a, b) of fixed.py in small integers, without a tuple: a step must not allocate."""
    high = (a & 0x7FFFFF | 0x800000) >> 12
    top = (b & 0x7FFFFF | 0x800000) >> 12
    middle = high * (b & 4095) + top * (a & 4095) + ((a & 4095) * (b & 4095) >> 12)
    low = (middle & 4095) << 12 | (a & 4095) * (b & 4095) & 4095
    high = high * top + (middle >> 12)  # the product of the mantissas is high * 2**24 + low
    field = (a >> 23) + (b >> 23) - 127
    if high >= 0x800000:
        field += 1
        high += low >> 23
    else:
        high = 2 * high + (low + 0x400000 >> 23)
    if high == 0x1000000:
        field += 1
        high = 0x800000
    if field < 1:
        return 0x800000
    return (field << 23) + (high & 0x7FFFFF) if field < 255 else 0x7F7FFFFF
