"""Learning rates against their formulas in float64, and in integers that a board keeps small."""

import math

import pytest

import odt
from odt import ExponentialDecay, WarmUp
from odt.base import fixed, primitives
from odt.optimizers import schedules
from odt.optimizers.rates import scaled


class Small(int):
    """An int that no operation takes beyond a small int of MicroPython on 32 bits; counts operations."""

    operations = 0


def _checked(name):
    def operation(self, other):
        Small.operations += 1
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


@pytest.mark.parametrize("decay_steps", (1, 7, 1000, 65535))
def test_cosine_decay_is_the_cosine_within_0_0004_of_its_first_rate(decay_steps):
    schedule = odt.CosineDecay(0.02, decay_steps)
    for step in range(0, decay_steps, 1 + decay_steps // 2000):
        exact = 0.02 * (1 + math.cos(math.pi * step / decay_steps)) / 2
        assert abs(real(schedule.bits(step)) - exact) < 0.0004 * 0.02, step
    assert real(schedule.bits(0)) == pytest.approx(0.02, rel=1e-4) and schedule.bits(decay_steps) == 0


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


def decayed(initial, gamma, count):
    """StepDecay's definition: the products one after the other, by the normative scale_mul."""
    rates = [primitives.scale_of(initial)]
    while len(rates) <= count:
        rates.append(fixed.scale_mul(rates[-1], primitives.scale_of(gamma)))
    return rates


@pytest.mark.parametrize("gamma", (0.1, 0.5, 0.9, 0.999, 0.9999999, 1, 1.5, 1e6, 1e-30))
def test_step_decay_has_the_bits_of_its_products_wherever_it_is_asked(gamma):
    expected = decayed(0.7, gamma, 3000)
    forward = odt.StepDecay(0.7, 3, gamma)
    assert [forward.bits(step) for step in range(9000)] == [expected[step // 3] for step in range(9000)]
    jumps = [0, 8999, 5, 6000, 6001, 6003, 2, 8998, 3, 0, 4500, 4499, 8999, 8999]
    assert [forward.bits(step) for step in jumps] == [expected[step // 3] for step in jumps]
    turns = odt.StepDecay(0.7, 3, gamma)  # two models with one object, one of them loaded
    for step in range(3000):
        assert turns.bits(step) == expected[step // 3]
        assert turns.bits(step + 6000) == expected[step // 3 + 2000]


@pytest.mark.parametrize("places", (1, 2))
@pytest.mark.parametrize("gamma", (0.5, 0.9999))
def test_step_decay_takes_one_product_a_step(gamma, places, monkeypatch):
    products = []
    product = schedules._product
    monkeypatch.setattr(schedules, "_product", lambda a, b: products.append(1) or product(a, b))
    schedule = odt.StepDecay(0.1, 1, gamma)
    schedule.bits(2000 * (places - 1))  # after load()
    before = len(products)
    for step in range(2000):
        for place in range(places):
            schedule.bits(step + 2000 * place)
    assert len(products) - before <= 2000 * places


def test_a_product_that_no_longer_changes_the_rate_ends_the_search():
    """Where float32 ends, or rounding returns the same: no load is far."""
    for gamma, products in ((0.1, 50), (0.9, 900), (1, 2)):
        schedule = odt.StepDecay(0.1, 1, gamma)
        schedule.gamma, schedule.base = Small(schedule.gamma), Small(schedule.base)
        Small.operations = 0
        schedule.bits(2**32 - 1)
        assert 0 < Small.operations < 40 * products


def test_step_decay_in_small_integers_and_an_interrupt_in_it(monkeypatch):
    expected = decayed(0.3, 0.97, 400)
    schedule = odt.StepDecay(0.3, 1, 0.97)
    schedule.base, schedule.gamma, schedule.step_size = Small(schedule.base), Small(schedule.gamma), Small(1)
    assert [schedule.bits(Small(step)) for step in range(400)] == expected[:400]

    class Interrupted(list):
        at = None

        def __setitem__(self, index, value):
            if self.at == 0:
                self.at = None
                raise KeyboardInterrupt
            self.at = self.at and self.at - 1
            super().__setitem__(index, value)

    for at in range(4):
        schedule = odt.StepDecay(0.3, 1, 0.97)
        schedule._counts, schedule._rates = Interrupted(schedule._counts), Interrupted(schedule._rates)
        schedule.bits(20)
        for stored in (schedule._counts, schedule._rates):
            stored.at = at
            for step in (21, 200, 22, 23):
                try:
                    schedule.bits(step)
                except KeyboardInterrupt:
                    pass
            assert [schedule.bits(step) for step in range(20, 400)] == expected[20:400]


@pytest.mark.parametrize("schedule", (
    ExponentialDecay(0.1, 7, 0.9), ExponentialDecay(0.1, 2**30 - 1, 0.999),
    WarmUp(ExponentialDecay(0.1, 7, 0.9), 65535),
    odt.CosineDecay(0.1, 65535),
))  # fmt: skip
def test_a_rate_costs_no_more_at_a_later_step(schedule):
    for step in (3, 100, 60000, 65534, 70000, 10**6, 2**29 + 12345):
        Small.operations = 0
        schedule.bits(Small(step))
        assert Small.operations <= 4 * 30, step


@pytest.mark.parametrize("decay_steps", (2**28, 2**30 - 1))
def test_exponential_decay_goes_on_beyond_2_to_the_30(decay_steps):
    schedule = ExponentialDecay(0.1, decay_steps, 0.5)
    for step in (2**30 - 1, 2**30, 2**31 + 5, 2**32 - 1):
        assert real(schedule.bits(step)) == pytest.approx(0.1 * 0.5 ** (step / decay_steps), rel=1e-3), step


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


@pytest.mark.parametrize("top, factor", ((28679, 585), (16384, 512), (16384, 1024), (32767, 1), (32767, 32767)))
def test_a_rate_times_a_factor_is_their_product_to_24_bits(top, factor):
    """Where the product has 24 bits (28679 * 585 is 2^24 - 1) or fewer, exactly."""
    bits = (120 << 23) | (top << 9 & 0x7FFFFF)
    exact = real(bits) * factor / 2**15
    found = real(scaled(bits, factor, 15))
    assert found == exact if top * factor < 1 << 24 else exact * (1 - 2**-23) < found <= exact
