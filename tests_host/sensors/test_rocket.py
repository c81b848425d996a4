"""odt.sensors.MiniRocket: C and Python give equal bits, those of the paper's definition in NumPy; bad arguments and
states.
"""

import itertools
import json
from array import array

import _odt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odt
import odt.sensors.features
from odt.reference.rocket import rocket
from odt.sensors import MiniRocket
from odt.sensors.features.rocket import _dilations

SIZES = [(128, 3, 420), (9, 1, 84), (40, 1, 840), (50, 16, 252), (300, 2, 1260)]


def windows(window, axes, count=12, seed=1):
    rng = np.random.default_rng(seed)
    level, offset = rng.choice([1, 40, 3000], (count, 1, 1)), rng.integers(-20000, 20000, (count, 1, axes))
    found = np.rint(rng.normal(0, 1, (count, window, axes)) * level + offset)
    found[0], found[1] = 32767, np.where(np.arange(window)[:, None] % 2, 32767, -32768)
    return found.clip(-32768, 32767).astype("int16")


def defined(feature, x):
    """Of a window, in float64 by the paper: {(dilation, kernel): the convolution}."""
    dilations = int(feature._tables[3])
    masks = np.array(feature._tables[4 + 2 * dilations :]).reshape(dilations, 84)
    found = {}
    for i, d in enumerate(feature._tables[4 : 4 + dilations]):
        for k, where in enumerate(itertools.combinations(range(9), 3)):
            weights = np.full(9, -1.0)
            weights[list(where)] = 2
            spread = np.zeros(8 * d + 1)
            spread[::d] = weights
            summed = sum(x[:, c].astype(float) for c in range(x.shape[1]) if int(masks[i, k]) >> c & 1)
            padded = np.pad(summed, 4 * d) if (i + k) % 2 == 0 else summed
            found[i, k] = np.correlate(padded, spread, "valid")
    return found


@pytest.mark.parametrize("size", SIZES)
def test_shares_are_those_of_the_definition(size):
    x = windows(*size[:2])
    feature = MiniRocket(*size).fit(x)
    counts = feature._tables[4 + feature._tables[3] : 4 + 2 * feature._tables[3]]
    for each in x[::3]:
        expected, biases = [], iter(feature.biases)
        for (i, _), convolution in defined(feature, each).items():
            expected += [(convolution > next(biases)).mean() for _ in range(counts[i])]
        np.testing.assert_array_equal(feature(each.ravel()), np.floor(16384 * np.array(expected) + 0.5))


@pytest.mark.parametrize("size", SIZES)
def test_biases_are_quantiles_of_one_window_s_convolution_each(size):
    x = windows(*size[:2])
    feature = MiniRocket(*size).fit(x)
    counts = feature._tables[4 + feature._tables[3] : 4 + 2 * feature._tables[3]]
    of = [defined(feature, each) for each in x]
    taken, at = set(), 0
    for i, k in of[0]:
        for n in range(counts[i]):
            quantile = (at + n + 1) * ((5**0.5 - 1) / 2) % 1
            ordered = [np.sort(each[i, k]) for each in of]
            # the golden ratio has 32 bits there: at the edge of a step it may take the one beside
            places = {int((quantile + off) % 1 * len(ordered[0])) for off in (-1e-6, 0, 1e-6)}
            sources = {number for number, v in enumerate(ordered) if feature.biases[at + n] in v[list(places)]}
            assert sources
            taken |= sources if len(sources) == 1 else set()
        at += counts[i]
    assert len(taken) > len(x) // 2  # of many windows, not of one


def test_dilations_are_those_of_the_paper():
    for window in (9, 17, 40, 128, 500, 2048):
        for count in (1, 2, 5, 20, 32, 33, 119):
            most = min(count, 32)
            exponent = np.log2((window - 1) / 8)
            spaced = np.floor(np.logspace(0, exponent, most, base=2) * (1 + 1e-12)).astype(int)
            dilations, counts = np.unique(spaced, return_counts=True)
            counts = (counts * (count / most) + 1e-9).astype(int)
            rest = count - counts.sum()
            counts[:rest] += 1
            assert dict(zip(dilations.tolist(), counts.tolist())) == _dilations(window, count), (window, count)
            assert sum(counts) == count


def test_channels_are_drawn_one_in_half_of_the_kernels():
    for axes in (1, 3, 16):
        feature = MiniRocket(100, axes, 840)
        masks = [mask & 0xFFFF for mask in feature._tables[4 + 2 * feature._tables[3] :]]
        sizes = np.bincount([bin(mask).count("1") for mask in masks], minlength=10)
        assert sizes[0] == 0 and max(masks) < 1 << axes and len(sizes) == 10
        if axes > 1:
            assert abs(sizes[1] / len(masks) - 1 / 2) < 0.1 and abs(sizes[2] / len(masks) - 1 / 4) < 0.1
            assert {c for mask in masks for c in range(axes) if mask >> c & 1} == set(range(axes))
    assert MiniRocket(100, 3, 84, seed=1)._tables != MiniRocket(100, 3, 84, seed=2)._tables


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_c_and_python_give_equal_bits_at_any_size(data):
    window, axes = data.draw(st.integers(9, 200)), data.draw(st.integers(1, 16))
    feature = MiniRocket(window, axes, 84 * data.draw(st.integers(1, 6)), data.draw(st.integers(0, 2**32 - 1)))
    x = windows(window, axes, 4, data.draw(st.integers(0, 1000)))
    feature.fit(x)
    for each in x:
        native = feature(each.ravel())
        again = array("h", bytes(2 * feature.outputs))
        assert rocket(again, each.ravel(), feature._tables, feature._work) == 0 and again == native


def test_windows_may_come_as_rows_as_a_flat_array_or_as_bytes():
    x = windows(40, 2)
    one = MiniRocket(40, 2, 84).fit(x)
    for same in (x.ravel(), array("h", x.ravel().tolist()), x.tobytes(), memoryview(array("h", x.ravel().tolist()))):
        assert MiniRocket(40, 2, 84).fit(same).biases == one.biases
    assert one(x[0]) == one(x[0].ravel()) == one(x[0].tobytes())


def test_parameters_make_it_again_in_a_model_s_file(tmp_path):
    x = windows(40, 2)
    one = MiniRocket(40, 2, 84, seed=7).fit(x)
    name, parameters = one.parameters()
    again = odt.sensors.make(name, json.loads(json.dumps(parameters)))
    assert again._tables == one._tables and again.biases == one.biases and again(x[3].ravel()) == one(x[3].ravel())
    assert repr(one) == "MiniRocket(40 samples of 2 axes -> 84 numbers, %d bytes)" % one.nbytes
    model = odt.Sequential([odt.Input((84,), dtype="int16", scale=1 / 16384), odt.Dense(2)])
    model.compile(odt.Adam(0.01), batch_size=1)
    model.export(tmp_path / "m.odt", features=one)
    assert odt.load_model(tmp_path / "m.odt").features(x[3].ravel()) == one(x[3].ravel())


@pytest.mark.parametrize(
    "options, text",
    [
        ({"window": 8}, "window is in 9..2048, got 8"),
        ({"window": 2049}, "window is in 1..2048, got 2049"),
        ({"axes": 17}, "axes is in 1..16, got 17"),
        ({"features": 100}, "features is a multiple of 84, got 100"),
        ({"features": 10164}, "features is in 1..10080, got 10164"),
        ({"seed": -1}, "seed is an int in 0..2\\^32 - 1, got -1"),
        ({"features": 84, "biases": [0] * 83}, "biases are 84 ints below 2\\^24"),
        ({"features": 84, "biases": [0.5] * 84}, "biases are 84 ints"),
        ({"features": 84, "biases": [1 << 24] * 84}, "biases are 84 ints"),
    ],
)
def test_what_is_out_of_range_is_named(options, text):
    with pytest.raises(ValueError, match="MiniRocket: " + text):
        MiniRocket(**options)


def test_other_arguments_are_named_and_nothing_changes():
    feature = MiniRocket(40, 2, 84)
    with pytest.raises(ValueError, match=r"MiniRocket: fit\(x\) comes first"):
        feature(bytes(160))
    for wrong in (None, np.zeros(80, "f"), array("H", [0] * 80)):
        with pytest.raises(TypeError, match="MiniRocket.fit: x: .*int16"):
            feature.fit(wrong)
    for wrong in (np.zeros(81, "int16"), array("h"), bytes(158)):
        with pytest.raises(ValueError, match="MiniRocket.fit: x: "):
            feature.fit(wrong)
    assert feature.biases is None
    feature.fit(windows(40, 2))
    out = array("h", [5] * 84)
    for kernel in (_odt.rocket, rocket):
        feature._kernel = kernel
        for samples in (
            array("h", bytes(158)),
            bytes(159),
            array("f", bytes(160)),
            [0] * 80,
            None,
            np.zeros(80, "uint16"),
        ):
            with pytest.raises(ValueError, match="samples: 80 int16 are expected, got "):
                feature(samples, out)
        for wrong in (array("h", bytes(166)), array("H", bytes(168)), [0] * 84):
            with pytest.raises(ValueError, match="out: 84 int16 are expected, got "):
                feature(bytes(160), wrong)
        with pytest.raises(ValueError, match="out: memory of its own"):
            feature(bytes(160), feature._tables)
    assert out == array("h", [5] * 84)


def test_tables_whose_sizes_leave_them_are_refused_by_both():
    feature = MiniRocket(40, 2, 168).fit(windows(40, 2))
    x, out, good, work = array("h", bytes(160)), array("h", [1] * 168), feature._tables, feature._work
    assert good[3] == 2
    for at, value in (
        (0, 0),
        (1, 8),
        (1, 41),
        (2, 0),
        (2, 17),
        (3, 0),
        (3, 3),
        (3, -1),
        (4, 0),
        (4, 5),
        (6, 0),
        (6, 2),
        (7, 121),
    ):
        state = array("h", good)
        state[at] = value
        assert _odt.rocket(out, x, state, work) == rocket(out, x, state, work) == 1, (at, value)
    for state, scratch in ((good[:-1], work), (good, work[:-1]), (good[:0], work), (good, work[:0])):
        assert _odt.rocket(out, x, state, scratch) == rocket(out, x, state, scratch) == 1
    assert out == array("h", [1] * 168)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_tables_are_refused_or_computed_with(data):
    """What is not refused reads and writes within its buffers: `make sanitize` looks. To the same bits in Python."""
    feature = MiniRocket(20, 2, 84).fit(windows(20, 2))
    state, work = array("h", feature._tables), array("i", feature._work)
    for _ in range(data.draw(st.integers(1, 6))):
        state[data.draw(st.integers(0, len(state) - 1))] = data.draw(st.integers(-32768, 32767))
        work[data.draw(st.integers(0, len(work) - 1))] = data.draw(st.integers(-(2**31), 2**31 - 1))
    x = array("h", data.draw(st.lists(st.integers(-32768, 32767), min_size=40, max_size=40)))
    one, two = array("h", bytes(168)), array("h", bytes(168))
    assert _odt.rocket(one, x, state, work) == rocket(two, x, state, work) and one == two


def test_each_executor_has_its_kernel():
    assert MiniRocket()._kernel is _odt.rocket
    odt.executor.use("reference")
    try:
        assert MiniRocket()._kernel is rocket
    finally:
        odt.executor.use("native")
