"""odt.online.CentroidDrift has the distances and alarms of its definition in NumPy's float64; what is no sample changes
nothing.
"""

import numpy as np
import pytest

from odt.online import NCM, CentroidDrift
from odt.slots import Bytes


class Definition:
    """The same by samples that are kept, in float64."""

    def __init__(self, window, threshold, point):
        self.window, self.threshold, self.scale = window, threshold, 2.0**point
        self.trained, self.recent = [], []

    def units(self, x):
        return np.clip(np.floor(np.asarray(x) * self.scale + 0.5), -32768, 32767) / self.scale

    def centroid(self, samples, label):
        return np.mean([x for x, y in samples if y == label], axis=0)

    def label(self, x):
        labels = sorted({y for _, y in self.trained})
        return min(labels, key=lambda y: np.square(self.units(x) - self.centroid(self.trained, y)).sum())

    def update(self, x, y, begin):
        """The distance and whether it is an alarm, after a window's last sample."""
        if not self.recent and not begin:
            return None
        self.recent.append((self.units(x), self.label(x) if y is None else y))
        if len(self.recent) < self.window:
            return None
        apart = [np.abs(self.centroid(self.recent, y) - self.centroid(self.trained, y)).sum() for _, y in self.recent]
        self.recent = []
        return np.mean(apart), np.mean(apart) > self.threshold


@pytest.mark.parametrize("inputs, classes, window, threshold, point", (
    (1, 1, 1, 1.5, 8), (3, 1, 20, 0.5, 8), (4, 3, 50, 1.0, 8), (6, 4, 33, 3.0, 4), (2, 2, 10, 0.0, 15),
))  # fmt: skip
def test_distances_and_alarms_are_those_of_the_definition(inputs, classes, window, threshold, point):
    rng = np.random.default_rng(inputs)
    ours, expected = CentroidDrift(inputs, classes, window, threshold, point), Definition(window, threshold, point)
    size = 0.2 if point == 15 else 1
    middles = rng.normal(0, 2 * size, (classes, inputs))
    windows = alarms = 0
    for i in range(600):
        label = i % classes if i < 200 else int(rng.integers(classes))
        x = (middles[label] + rng.normal(0, size, inputs) + (i > 400) * size).tolist()
        if i < 200:
            ours.learn_one(x, label)
            expected.trained.append((expected.units(x), label))
            continue
        y, begin = (label if i % 3 else None), bool(x[0] > 0)
        found = expected.update(x, y, begin)
        ours.update(x, y, begin)
        assert ours.drift_detected == bool(found and found[1]), i
        if found:
            windows, alarms = windows + 1, alarms + found[1]
            assert abs(ours.distance - found[0]) < 1e-4
    assert windows > 5 and alarms > 2 and (alarms < windows or threshold == 0)


def test_the_ram_is_what_is_said_and_nothing_grows():
    detector = CentroidDrift(5, 3, window=4)
    assert len(detector.state) == 64 + 3 * (16 + 16 * 5)
    for y in range(3):
        detector.learn_one([y] * 5, y)
    for i in range(100):
        detector.update([127] * 5, i % 3)
    assert len(detector.state) == 64 + 3 * (16 + 16 * 5) and detector.predict_one([2] * 5) == 2


def test_extremes_of_all_counts():
    """Labels at their limits, as after years: nothing overflows."""
    import struct

    detector = CentroidDrift(2, 1, window=2, threshold=65535, point=0)
    struct.pack_into("<3q", detector.state, 64, (1 << 31) - 1, -32768 * ((1 << 31) - 1), -32768 * ((1 << 31) - 1))
    for _ in range(2):
        detector.update([1e5, 1e5], 0)
    assert detector.distance == 2 * 65535 and detector.drift_detected


def test_what_is_no_sample_changes_nothing():
    detector = CentroidDrift(2, 3, window=3)
    with pytest.raises(ValueError, match="any label has no centroid"):
        detector.update([1, 2])
    detector.learn_one([1, 2], 1)
    detector.update([1, 2], 1)
    before = bytes(detector.state)
    for x in ([1, float("nan")], [float("inf"), 1], [1], [1, 2, 3], 5, None, ["a", 1], [1 << 20, 0]):
        with pytest.raises((ValueError, TypeError), match=r"x.* expected, got"):
            detector.update(x, 1)
    for y in (-1, 3, 1.0, True, "a"):
        with pytest.raises(ValueError, match="y: a label in 0..2"):
            detector.update([1, 2], y)
    with pytest.raises(ValueError, match="label 0 has no centroid: learn_one comes first"):
        detector.update([1, 2], 0)
    assert bytes(detector.state) == before


@pytest.mark.parametrize("options, text", (
    (dict(inputs=0), "CentroidDrift: inputs"), (dict(classes=0), "classes"), (dict(window=0), "window"),
    (dict(window=2.5), "window"),
    (dict(threshold=-0.1), "threshold is in 0..65535, got -0.1"), (dict(threshold=65536), "threshold"),
    (dict(threshold=float("nan")), "threshold"),
    (dict(threshold="1"), "threshold"), (dict(point=16), "point"),
))  # fmt: skip
def test_bad_arguments_are_named(options, text):
    with pytest.raises((ValueError, TypeError), match=text):
        CentroidDrift(**dict(dict(inputs=2), **options))


def test_a_checkpoint_in_the_middle_of_a_window_goes_on_as_it_would(tmp_path):
    detector, other, place = CentroidDrift(2, 2, 5, 0.5), CentroidDrift(2, 2, 5, 0.5), Bytes(bytearray(1024))
    for i in range(10):
        detector.learn_one([i % 2, i], i % 2)
    for i in range(8):
        detector.update([i, i], i % 2)
    detector.save(str(tmp_path / "a"))
    detector.save(place)
    for source in (str(tmp_path / "a"), place):
        other.load(source)
        assert other.digest() == detector.digest() and other.distance == detector.distance is not None
    for i in range(2):
        detector.update([9, 9], 0)
        other.update([9, 9], 0)
    assert other.digest() == detector.digest() and other.drift_detected
    for model in (NCM(2, 2), CentroidDrift(2, 2, 6, 0.5), CentroidDrift(2, 2, 5, 0.25), CentroidDrift(2, 3, 5, 0.5)):
        before = model.digest()
        with pytest.raises(ValueError, match="another kind"):
            model.load(place)
        assert model.digest() == before
