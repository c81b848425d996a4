"""Learning rates against their formulas in float64, and in integers that a board keeps small."""

import math

import pytest

import odt
from odt import fixed
from odt.rates import ExponentialDecay, WarmUp


class Small(int):
    """An int that no operation takes beyond a small int of MicroPython on 32 bits."""


def _checked(name):
    def operation(self, other):
        result = getattr(int, name)(self, other)
        assert result is NotImplemented or -(2**30) <= result < 2**30, (name, self, other)
        return result if isinstance(result, (bool, type(NotImplemented))) else Small(result)

    return operation


_NAMES = "add radd sub rsub mul rmul floordiv rfloordiv lshift rlshift rshift rrshift and rand or ror"
for _name in _NAMES.split():
    setattr(Small, "__%s__" % _name, _checked("__%s__" % _name))


def real(bits):
    return fixed.bits_to_float(bits) if bits else 0.0


STEPS = [*range(20), 99, 1000, 12345, 65535, 65536, 999999, 2**29 + 12345, 2**30 - 1]


@pytest.mark.parametrize("rate", (0.000001, 0.001, 0.1, 0.5, 0.9, 0.96, 0.99, 0.999999))
@pytest.mark.parametrize("decay_steps", (1, 7, 1000, 100000, 2**30 - 1))
def test_exponential_decay_is_the_exponential_in_small_integers(rate, decay_steps):
    for initial in (0.001, 0.02, 1.5):
        schedule = ExponentialDecay(initial, decay_steps, rate)
        schedule.base = Small(schedule.base)
        schedule._halvings = tuple(Small(value) for value in schedule._halvings)
        for step in STEPS:
            log = math.log2(initial) + step / decay_steps * math.log2(rate)
            found = real(schedule.bits(Small(step)))
            if log > -125:
                assert found == pytest.approx(2**log, rel=1e-3), step
            else:
                assert 0 <= found < 2**-124, step


def test_exponential_decay_never_rises_and_starts_at_its_first_rate():
    schedule = ExponentialDecay(0.01, 300, 0.5)
    rates = [real(schedule.bits(step)) for step in range(5000)]
    assert rates[0] == pytest.approx(0.01, rel=1e-6)
    assert all(a >= b for a, b in zip(rates, rates[1:]))


@pytest.mark.parametrize("steps", (1, 2, 3, 10, 1000, 65535))
def test_warm_up_is_a_straight_line_in_small_integers(steps):
    for initial in (0.003, 1.5):
        schedule = WarmUp(initial, steps)
        schedule.base, schedule.steps = Small(schedule.base), Small(steps)
        for step in sorted({0, 1, 2, 5, steps // 3, steps // 2, steps - 2, steps - 1} & set(range(steps))):
            expected = initial * (step + 1) / steps
            assert real(schedule.bits(Small(step))) == pytest.approx(expected, rel=1e-3), step
        for step in (steps, steps + 1, 10 * steps):
            assert real(schedule.bits(step)) == pytest.approx(initial, rel=1e-6)


def test_after_warm_up_the_schedule_begins_at_its_own_first_step():
    inner = odt.CosineDecay(0.1, 50)
    schedule = WarmUp(inner, 8)
    assert [schedule.bits(8 + step) for step in range(60)] == [inner.bits(step) for step in range(60)]
    warm = [schedule.bits(step) for step in range(8)]
    assert warm == sorted(warm) and warm[-1] == inner.bits(0)
    nested = WarmUp(ExponentialDecay(0.2, 10, 0.5), 4)
    assert real(nested.bits(14)) == pytest.approx(0.1, rel=1e-3)


def test_a_schedule_is_a_function_of_the_step_alone():
    """A loaded model may be younger or older than the one that asked before."""
    for schedule in (ExponentialDecay(0.1, 9, 0.7), WarmUp(odt.StepDecay(0.1, 3), 5)):
        forward = [schedule.bits(step) for step in range(40)]
        assert [schedule.bits(step) for step in reversed(range(40))] == forward[::-1]


def test_a_rate_of_zero_stays_zero():
    for schedule in (ExponentialDecay(0, 2, 0.5), WarmUp(0, 3)):
        assert [schedule.bits(step) for step in range(10)] == [0] * 10


@pytest.mark.parametrize("make, words", (
    (lambda: ExponentialDecay(0.1, 0, 0.5), "decay_steps 0"),
    (lambda: ExponentialDecay(0.1, 2.5, 0.5), "decay_steps 2.5"),
    (lambda: ExponentialDecay(0.1, 5, 0), "decay_rate 0.000001 0"),
    (lambda: ExponentialDecay(0.1, 5, 1), "decay_rate 0.999999 1"),
    (lambda: ExponentialDecay(0.1, 5, "x"), "decay_rate 'x'"),
    (lambda: ExponentialDecay(-1, 5, 0.5), "learning_rate -1"),
    (lambda: WarmUp(0.1, 0), "steps 65535 0"),
    (lambda: WarmUp("x", 3), "learning_rate 'x'"),
))  # fmt: skip
def test_bad_arguments_of_schedules_are_refused(make, words):
    with pytest.raises((ValueError, TypeError)) as error:
        make()
    for word in words.split():
        assert word in str(error.value)


def test_a_model_trains_with_them():
    model = odt.Sequential([odt.Input((2,)), odt.Dense(8, "relu"), odt.Dense(2)])
    model.compile(odt.SGD(WarmUp(ExponentialDecay(0.5, 100, 0.5), 5)), dtype="float32", batch_size=4)
    losses = model.fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1], epochs=60, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 2
