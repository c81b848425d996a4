"""odt.online's detectors raise River's alarms at the same sample; what is no number changes nothing."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from odt.base.units import fixed_point
from odt.online import ADWIN, DDM, KSWIN, PageHinkley
from odt.online.kswin import drawn


def streams(seed):
    rng = np.random.default_rng(seed)
    return {
        "bits": (rng.random(2000) < np.repeat([0.1, 0.3, 0.05, 0.5], 500)).astype(int).tolist(),
        "normal": np.r_[rng.normal(0, 1, 800), rng.normal(1, 1, 800), rng.normal(-2, 3, 800)].tolist(),
        "integers": np.r_[rng.integers(0, 2, 1000), rng.integers(4, 8, 1000)].tolist(),
        "drifting": (rng.normal(0, 0.2, 2000) + np.linspace(0, 2, 2000)).tolist(),
        "scores": np.r_[rng.exponential(0.05, 1500), rng.exponential(0.2, 500)].tolist(),
        "constant": [0.25] * 500 + [0.75] * 500,
    }


def alarms(detector, values):
    found = []
    for i, value in enumerate(values):
        detector.update(value)
        if detector.drift_detected or getattr(detector, "warning_detected", False):
            found.append((i, detector.drift_detected))
    return found


CASES = [
    (PageHinkley, {}), (PageHinkley, dict(threshold=5.0, delta=0.01, alpha=0.99)),
    (PageHinkley, dict(mode="up", threshold=3.0, alpha=1.0)),
    (PageHinkley, dict(mode="down", threshold=3.0, min_instances=5)),
    (ADWIN, {}), (ADWIN, dict(clock=1)), (ADWIN, dict(delta=0.05, clock=7, max_buckets=2, min_window_length=1)),
    (ADWIN, dict(delta=0.3, clock=3, min_window_length=3, grace_period=30)),
    (DDM, {}), (DDM, dict(warm_start=10, warning_threshold=1.5, drift_threshold=2.5)),
]  # fmt: skip


@pytest.mark.parametrize("ours, options", CASES)
def test_alarms_are_rivers_at_the_same_sample(ours, options):
    if sys.version_info < (3, 11):
        pytest.skip("River is for Python 3.11 and later")
    from river import drift

    theirs = drift.binary.DDM if ours is DDM else getattr(drift, ours.__name__)
    raised = 0
    for seed in range(4):
        for name, values in streams(seed).items():
            if ours is DDM and name != "bits":
                continue
            expected = alarms(theirs(**options), values)
            assert alarms(ours(**options), values) == expected, (name, seed)
            raised += len(expected)
    assert raised > 10


class Draws:
    """CPython's random as River's KSWIN asks it, with the draws of ours."""

    def __init__(self, seed):
        self.seed, self.asked = seed, 0

    def sample(self, population, count):
        self.asked += 1
        return drawn(self.seed, len(population) + count + self.asked - 1, count, len(population))


@pytest.mark.parametrize("options", (
    {}, dict(alpha=0.0001), dict(alpha=0.05, window_size=40, stat_size=10),
    dict(alpha=0.01, window_size=31, stat_size=15, seed=7),
    dict(alpha=0.005, window_size=300, stat_size=101), dict(alpha=1.0, window_size=4, stat_size=2),
))  # fmt: skip
def test_kswin_raises_rivers_alarms_of_the_same_draws(options, monkeypatch):
    if sys.version_info < (3, 11):
        pytest.skip("River is for Python 3.11 and later")
    from river.drift import kswin

    monkeypatch.setattr(kswin, "random", SimpleNamespace(Random=Draws))
    raised = 0
    for name, values in streams(0).items():
        values = [np.floor(value * 65536 + 0.5) / 65536 for value in values]  # ties are ties for both
        expected = alarms(kswin.KSWIN(**dict(dict(seed=0), **options)), values)
        assert alarms(KSWIN(**options), values) == expected, name
        raised += len(expected)
    assert raised > 5


@pytest.mark.parametrize("ours, options", [*CASES, (KSWIN, dict(window_size=60, stat_size=20))])
def test_what_is_saved_goes_on_with_the_same_alarms(ours, options, tmp_path):
    place = str(tmp_path / "detector")
    values = streams(1)["bits" if ours is DDM else "normal"]
    whole, half = ours(**options), ours(**options)
    expected = alarms(whole, values)
    before = alarms(half, values[:777])
    half.save(place)
    after = ours(**options)
    after.load(place)
    assert after.digest() == half.digest()
    assert before + [(777 + i, drift) for i, drift in alarms(after, values[777:])] == expected
    assert after.digest() == whole.digest()


def test_other_settings_other_detectors_and_damage_are_refused_and_change_nothing(tmp_path):
    place = tmp_path / "detector"
    for value in (1, 2, 3):
        (saved := ADWIN(clock=8)).update(value)
    saved.save(str(place))
    for other in (ADWIN(), ADWIN(clock=8, delta=0.1), PageHinkley(), DDM(), KSWIN()):
        other.update(1)
        before = other.digest()
        with pytest.raises(ValueError, match="another kind, size or setting"):
            other.load(str(place))
        assert other.digest() == before
    data = place.read_bytes()
    for damaged in (data[:-1], data + b" ", data[:70] + b"9" + data[71:], b""):
        place.write_bytes(damaged)
        with pytest.raises(ValueError, match="damaged|not an odt"):
            saved.load(str(place))


def test_kswin_draws_each_place_equally_often_and_none_twice():
    counts = np.zeros(70, int)
    for n in range(2000):
        places = drawn(5, n, 30, 70)
        assert len(set(places)) == 30 and 0 <= min(places) <= max(places) < 70
        counts[places] += 1
    assert abs(counts / 2000 - 30 / 70).max() < 5 * (30 / 70 * 40 / 70 / 2000) ** 0.5


def test_alarms_of_rivers_documentation():
    """The examples of its docstrings: no River is needed."""
    import random

    rng = random.Random(12345)
    values = rng.choices([0, 1], k=1000) + rng.choices(range(4, 8), k=1000)
    assert alarms(PageHinkley(), values)[0] == (1006, True)
    assert alarms(ADWIN(), values)[0] == (1023, True)
    rng = random.Random(42)
    values = rng.choices([0, 1], k=1000) + rng.choices([0, 1], k=1000, weights=[0.3, 0.7])
    found = alarms(DDM(), values)
    assert found[0] == (1084, False) and [i for i, drift in found if drift] == [1334]


def test_adwin_follows_the_mean_of_what_came_since_the_change():
    rng = np.random.default_rng(0)
    detector = ADWIN()
    for value in np.r_[rng.normal(0, 0.1, 1000), rng.normal(3, 0.1, 1000)]:
        detector.update(value)
    assert abs(detector.estimation - 3) < 0.02 and 900 < detector.n < 1100
    detector.reset()
    assert detector.estimation == 0 and detector.n == 0 and not detector.drift_detected


def test_numbers_are_rounded_half_up_to_units():
    for x in (0.0, 1.5, -1.5, 0.5 / 65536, -0.5 / 65536, -0.51 / 65536, 1e-30, 1048575.999, -7, 7, np.float32(0.1)):
        assert fixed_point("it", x) == np.floor(float(x) * 65536 + 0.5)


@pytest.mark.parametrize("detector", (PageHinkley(), ADWIN(), DDM(), KSWIN()))
def test_what_is_no_number_changes_nothing(detector):
    detector.update(1)
    before = detector.digest()
    for value in (float("nan"), float("inf"), -float("inf"), 1 << 20, 1e300, None, "1", [1]):
        with pytest.raises((ValueError, TypeError), match="expected, got"):
            detector.update(value)
    assert detector.digest() == before


@pytest.mark.parametrize("make, text", (
    (lambda: PageHinkley(mode="left"), "mode"), (lambda: PageHinkley(alpha=1.5), "alpha is in 0..1, got 1.5"),
    (lambda: PageHinkley(threshold=float("nan")), "threshold"), (lambda: PageHinkley(min_instances=0), "min_instances"),
    (lambda: ADWIN(delta=0), "delta"), (lambda: ADWIN(clock=2.5), "clock is an int"),
    (lambda: DDM(drift_threshold="3"), "drift_threshold"),
    (lambda: KSWIN(alpha=0), "alpha"), (lambda: KSWIN(stat_size=1), "stat_size is an int in 2"),
    (lambda: KSWIN(stat_size=1001), "at most 1000"),
    (lambda: KSWIN(window_size=59), "twice stat_size, 60, at least, got 59"), (lambda: KSWIN(seed=-1), "seed"),
))  # fmt: skip
def test_bad_arguments_are_named(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_an_interrupt_leaves_what_was_known(monkeypatch):
    from odt.online import drift

    detector = ADWIN(clock=1)
    for i in range(200):
        detector.update(i % 3)
    before = detector.digest()

    def interrupted(*unused):
        raise KeyboardInterrupt

    monkeypatch.setattr(drift, "isqrt", interrupted)
    with pytest.raises(KeyboardInterrupt):
        detector.update(1)
    assert detector.digest() == before
