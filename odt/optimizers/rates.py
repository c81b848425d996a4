"""More learning rates, imported when used: ``from odt import ExponentialDecay, WarmUp``.

As those of optimizers.py: ``bits(step)`` is a function of the step alone, so that a loaded model goes
on with the right rate, and it computes with small integers only, because a step must not allocate.
(A rate of 2 or more has bits beyond a small integer of a 32-bit board, and costs an object.)
"""

from ..base.fixed import is_int, is_number, own
from ..base.primitives import millionths
from ..base.rate import Constant

if 1 - 1:  # for type checkers alone
    from typing import Any

    from . import Schedule

_MILLION = 1000000
_FAR = 200 << 16  # 2^-200, in Q16: no float32 is as small


def scaled(bits: "int", factor: "int", shift: "int") -> "int":
    """``bits * factor * 2**-shift`` for a scale of at least 2^-100 and ``0 <= factor < 2**15``; truncated."""
    mantissa = ((bits & 0x7FFFFF | 0x800000) >> 9) * factor
    exponent = (bits >> 23) + 9 - shift
    # As CosineDecay ends, whose one step does not load this module.
    if mantissa <= 0:
        return 0
    while mantissa >= 0x1000000:
        mantissa >>= 1
        exponent += 1
    while mantissa < 0x800000:
        mantissa <<= 1
        exponent -= 1
    return (exponent << 23) + (mantissa & 0x7FFFFF) if exponent > 0 else 0


class ExponentialDecay(Constant):
    """``initial * decay_rate ** (step / decay_steps)``, smoothly; ``decay_rate`` to 6 places.

    Within 1e-3 of it. For steps down instead see StepDecay.
    """

    def __init__(self, initial: "float", decay_steps: "int", decay_rate: "float") -> None:
        super().__init__(initial)
        decay_steps, decay_rate = own(decay_steps), own(decay_rate)
        if not is_int(decay_steps) or not 1 <= decay_steps < 1 << 30:
            raise ValueError("ExponentialDecay: decay_steps is an int in 1..2**30-1, got %r" % (decay_steps,))
        if not is_number(decay_rate):
            raise TypeError("ExponentialDecay: decay_rate is a number, got %r" % (decay_rate,))
        if not 0.000001 <= decay_rate < 1 or millionths(decay_rate) == _MILLION:
            raise ValueError("ExponentialDecay: decay_rate is in 0.000001..0.999999, got %r" % (decay_rate,))
        # log2(1 / decay_rate) in Q48, a bit a squaring.
        value = (_MILLION << 64) // millionths(decay_rate)
        log = 0
        while value >= 2 << 64:
            value = (value + 1) >> 1
            log += 1
        for _ in range(48):
            value = value * value >> 64
            log <<= 1
            if value >= 2 << 64:
                value >>= 1
                log |= 1
        # How many halvings, in Q16, 2^i steps are: a sum over the bits of the step is exact enough.
        table = []
        for i in range(32):
            halvings = (log << i) // decay_steps >> 31
            table.append(min((halvings + 1) >> 1, _FAR))
            if table[-1] == _FAR:
                break
        self._halvings = tuple(table)

    def saved(self) -> "list[Any]":
        """As Constant has it."""
        return [self.base, list(self._halvings)]

    def restore(self, values: "list[Any]") -> None:
        """As Constant has it."""
        self.base, self._halvings = values[0], tuple(values[1])

    def bits(self, step: "int") -> "int":
        """The rate of step ``step`` (from 0) as float32 bits; 0 once it is below 2^-126."""
        t = 0
        for halvings in self._halvings:
            if step & 1:
                t += halvings
            step >>= 1
        if not t and not step:
            return self.base
        if step or t >= _FAR or not self.base:
            return 0
        f = (t & 65535) >> 2  # 2^-f: exp2n of docs/reference/numerics.md with 15 bits instead of 16
        r = 1745 - (224 * f >> 14)
        r = 7848 - (r * f >> 14)
        r = 22710 - (r * f >> 14)
        return scaled(self.base, min(32768 - (r * f >> 14), 32767), 15 + (t >> 16))


class WarmUp(Constant):
    """Rises linearly within the first ``steps`` steps to ``schedule``, a number or a schedule.

    Step i has ``(i + 1) / steps`` of the schedule's first rate; step ``steps`` is the schedule's step 0.
    """

    def __init__(self, schedule: "float | Schedule", steps: "int") -> None:
        if not hasattr(schedule, "bits"):
            schedule = Constant(schedule)
        steps = own(steps)
        if not is_int(steps) or not 1 <= steps <= 0xFFFF:
            raise ValueError("WarmUp: steps is an int in 1..65535, got %r" % (steps,))
        self.schedule = schedule
        self.steps = steps
        self.base = schedule.bits(0)

    def saved(self) -> "list[Any]":
        """As Constant has it."""
        return [self.steps, self.schedule]

    def restore(self, values: "list[Any]") -> None:
        """As Constant has it."""
        self.steps, self.schedule = values
        self.base = self.schedule.bits(0)

    def bits(self, step: "int") -> "int":
        """The rate of step ``step`` (from 0) as float32 bits."""
        if step >= self.steps:
            return self.schedule.bits(step - self.steps)
        step += 1
        if step == self.steps or not self.base:
            return self.base
        shift = 0
        while step < 1 << 28:
            step <<= 1
            shift += 1
        step //= self.steps
        while step >= 1 << 15:
            step >>= 1
            shift -= 1
        return scaled(self.base, step, shift)
