"""odt.sensors.Motion and Filter: C and Python give equal bits, near what NumPy and SciPy give in float64; bad arguments
and states.
"""

import json
from array import array

import _odt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

import odt
import odt.sensors.features
from odt.reference.biquads import biquads
from odt.reference.motion import motion
from odt.sensors import Filter, Motion, make

SIZES = [
    (100, 128, 3, (1, 3, 5, 10, 20, 40)),
    (50, 100, 6, (0, 1, 2, 25)),
    (1000, 2048, 1, (10, 100, 500)),
    (62, 32, 3, (2, 4, 8, 16)),
    (100, 50, 3, ()),
    (100, 2, 16, ()),
]
RANGE = 58 * 256


def _windows(rate, window, axes):
    rng = np.random.default_rng(1)
    t = np.arange(window)[:, None] / rate
    for level in (1, 50, 3000, 40000):
        for gravity in (0, 8192, -30000):
            yield rng.normal(gravity, level, (window, axes))
            yield gravity + level * np.sin(2 * np.pi * rng.uniform(0.02, 0.4, axes) * rate * t + 1) + rng.normal(0, 1)
    yield np.full((window, axes), -32768)
    yield np.full((window, axes), 32767)
    yield np.where(np.arange(window)[:, None] % 2, 32767, -32768) * np.ones(axes)
    yield np.where(np.arange(window)[:, None] < window // 2, 32767, -32768) * np.ones(axes)


def _all(size):
    return [np.clip(np.round(x), -32768, 32767).astype("int16") for x in _windows(*size[:3])]


def _both(feature, x, kernels=(_odt.motion, motion)):
    found = []
    for kernel in kernels:
        feature._kernel = kernel
        found.append(feature(x.ravel(), array("h", [-1] * feature.outputs)))
    return found


@pytest.mark.parametrize("size", SIZES)
def test_c_and_python_give_equal_bits(size):
    feature = Motion(*size)
    for x in _all(size)[:: 1 if size[1] < 1000 else 6]:
        native, python = _both(feature, x)
        assert native == python


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_c_and_python_give_equal_bits_at_any_size(data):
    window, rate = data.draw(st.integers(2, 300)), data.draw(st.integers(64, 2000))
    edges = sorted(data.draw(st.sets(st.integers(0, rate // 2), max_size=8)))
    try:
        feature = Motion(rate, window, data.draw(st.integers(1, 5)), edges if len(edges) > 1 else ())
    except ValueError as error:
        assert "no bin" in str(error)
        return
    rng, level = np.random.default_rng(data.draw(st.integers(0, 1000))), data.draw(st.integers(1, 40000))
    x = rng.normal(data.draw(st.integers(-32768, 32767)), level, (window, feature.axes))
    native, python = _both(feature, np.clip(x, -32768, 32767).astype("int16"))
    assert native == python


@pytest.mark.parametrize("size", SIZES)
def test_statistics_are_those_of_numpy(size):
    feature = Motion(*size)
    for x in _all(size):
        found = np.array(feature(x.ravel())).reshape(size[2], -1)[:, :6]
        y = x.astype(float)
        mean = np.floor(y.mean(0) + 0.5)
        above = y >= mean
        expected = np.array([
            mean, y.std(0), np.sqrt((y**2).mean(0)), (above[1:] != above[:-1]).sum(0), y.max(0) - mean, y.min(0) - mean
        ]).T.clip(-32768, 32767)  # fmt: skip
        np.testing.assert_array_equal(found[:, [0, 3, 4, 5]], expected[:, [0, 3, 4, 5]])
        assert np.abs(found - expected).max() <= 0.5 + 1 / 32


@pytest.mark.parametrize("size", [size for size in SIZES if size[3]])
def test_power_in_bands_is_within_half_a_percent_of_float64(size):
    """Above what the rounding of samples to int16 leaves in a band, and a mean that is an integer."""
    rate, window, axes, bands = size
    feature = Motion(*size)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(window) + 0.5) / window)
    frequencies = np.arange(feature.fft // 2 + 1) * rate / feature.fft
    errors = []
    for x in _all(size):
        y = x - np.floor(x.mean(0) + 0.5)
        power = np.abs(np.fft.rfft(y * hann[:, None], feature.fft, axis=0)) ** 2
        found = np.array(feature(x.ravel())).reshape(axes, -1)[:, 6:]
        for b in range(len(bands) - 1):
            bins = (frequencies >= bands[b]) & (frequencies < bands[b + 1])
            expected, noise = power[bins].sum(0), bins.sum() * (hann**2).sum() / 12
            good = expected > max(noise, 1)
            errors.extend(np.abs(found[good, b] - 256 * np.log2(expected[good])))
    assert max(errors) <= 0.005 * RANGE and np.median(errors) <= 0.0005 * RANGE


def test_gravity_is_no_power_and_stillness_is_zero():
    feature = Motion(100, 64, 1, (1, 10, 50))
    x = np.random.default_rng(2).normal(0, 500, 64).astype("int16")
    x -= int(np.floor(x.mean() + 0.5))
    still, tilted = np.array(feature(x)), np.array(feature(x + 16384))
    np.testing.assert_array_equal(still[6:], tilted[6:])
    assert tilted[0] == still[0] + 16384 and (tilted[[1, 3, 4, 5]] == still[[1, 3, 4, 5]]).all()
    assert feature(np.full(64, 1234, "int16")).tolist() == [1234, 0, 1234, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "options, text",
    [
        ({"window": 1}, "window is in 2..2048, got 1"),
        ({"window": 2049}, "window is in 1..2048, got 2049"),
        ({"axes": 17}, "axes is in 1..16, got 17"),
        ({"rate": 0}, "rate is in 1..1000000, got 0"),
        ({"fft": 64}, "not below the window, got 64"),
        ({"fft": 129}, "power of two .* got 129"),
        ({"bands": (1,)}, "bands are \\(\\) or 2..65 edges, got 1"),
        ({"bands": (5, 5)}, "bands rise .* got \\(5, 5\\)"),
        ({"bands": (1, 51)}, "rate / 2 = 50 Hz"),
        ({"bands": (-1, 5)}, "bands rise"),
        ({"window": 32, "bands": (1, 2)}, "no bin of the transform is from 1 up to 2 Hz"),
    ],
)
def test_sizes_out_of_range_are_named(options, text):
    with pytest.raises(ValueError, match="Motion: .*" + text):
        Motion(**options)


def test_a_size_that_is_no_int_is_a_type_error():
    for options in ({"window": 1.5}, {"rate": None}, {"fft": "64"}):
        with pytest.raises(TypeError, match="Motion: .* int"):
            Motion(**options)
    for edge in ("2", None, True, 1j):
        with pytest.raises(TypeError, match="Motion: the edges of bands are numbers"):
            Motion(bands=(1, edge))
    for bands in ((1, float("nan")), (0.5, float("inf")), (-0.5, 1), (0.5, 0.5, 1), (1, 0.5)):
        with pytest.raises(ValueError, match="Motion: bands rise"):
            Motion(bands=bands)


def test_edges_below_one_hertz_are_those_of_a_slower_clock():
    """Half a hertz at 10 Hz is the bin of 5 at 100."""
    samples = array("h", (np.random.default_rng(3).normal(size=3 * 256) * 1000).astype("int16").tobytes())
    for slow, fast in (
        ((0.1, 0.3, 0.5, 2), (1, 3, 5, 20)),
        ((0, 0.25, 1), (0, 2.5, 10)),
        ((np.float64(0.2), 1.5), (2, 15)),
    ):
        feature, same = Motion(10, 256, 3, slow), Motion(100, 256, 3, fast)
        assert feature._tables == same._tables and feature(samples) == same(samples)
        again = make(*feature.parameters())
        assert again.bands == feature.bands and again(samples) == feature(samples)
    with pytest.raises(ValueError, match="from 0.1 up to 0.15 Hz"):
        Motion(100, 128, 3, (0.1, 0.15))


@pytest.mark.parametrize("kernel", [_odt.motion, motion])
def test_samples_and_out_of_another_kind_are_named_and_nothing_is_written(kernel):
    feature = Motion(100, 32, 3, ())
    feature._kernel = kernel
    out = array("h", [5] * 18)
    for samples in (array("h", bytes(190)), bytes(193), array("f", bytes(192)), [0] * 96, None, np.zeros(96, "uint16")):
        with pytest.raises(ValueError, match="samples: 96 int16 are expected, got "):
            feature(samples, out)
    for wrong in (array("h", bytes(34)), array("H", bytes(36)), [0] * 18):
        with pytest.raises(ValueError, match="out: 18 int16 are expected, got "):
            feature(bytes(192), wrong)
    assert out == array("h", [5] * 18)
    with pytest.raises(ValueError, match="out: memory of its own"):
        feature(bytes(192), feature._tables)


def test_tables_whose_sizes_or_edges_leave_them_are_refused_by_both():
    feature = Motion(100, 64, 2, (1, 10, 50))
    x, out = array("h", bytes(256)), array("h", [1] * 16)
    good, work = feature._tables, feature._work
    for at, value in (
        (0, 0),
        (1, 1),
        (1, 65),
        (2, 63),
        (2, 128),
        (3, 0),
        (3, 17),
        (4, 0),
        (4, 3),
        (4, -1),
        (5, -1),
        (7, 34),
        (6, 0),
    ):
        state = array("h", good)
        state[at] = value
        assert _odt.motion(out, x, state, work) == motion(out, x, state, work) == 1, (at, value)
    for state, scratch in ((good[:-1], work), (good, work[:-1]), (good[:0], work), (good, work[:0])):
        assert _odt.motion(out, x, state, scratch) == motion(out, x, state, scratch) == 1
    assert out == array("h", [1] * 16)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_tables_are_refused_or_computed_with(data):
    """What is not refused reads and writes within its buffers: `make sanitize` looks."""
    feature = Motion(100, 40, 2, (1, 10, 50))
    state, work = array("h", feature._tables), array("i", feature._work)
    for _ in range(data.draw(st.integers(1, 6))):
        state[data.draw(st.integers(0, len(state) - 1))] = data.draw(st.integers(-32768, 32767))
        work[data.draw(st.integers(0, len(work) - 1))] = data.draw(st.integers(-(2**31), 2**31 - 1))
    x = array("h", data.draw(st.lists(st.integers(-32768, 32767), min_size=80, max_size=80)))
    assert _odt.motion(array("h", bytes(2 * feature.outputs)), x, state, work) in range(4)
    smooth = Filter(signal.butter(4, 0.2, output="sos"), 2)
    state, work = array("i", smooth._tables), array("i", smooth._work)
    for _ in range(data.draw(st.integers(1, 6))):
        state[data.draw(st.integers(0, len(state) - 1))] = data.draw(st.integers(-(2**31), 2**31 - 1))
        work[data.draw(st.integers(0, len(work) - 1))] = data.draw(st.integers(-(2**31), 2**31 - 1))
    assert _odt.biquads(array("h", bytes(160)), x, state, work) in range(4)


DESIGNS = {
    "low-pass, order 4, 5 of 100 Hz": signal.butter(4, 5, fs=100, output="sos"),
    "gravity: low-pass, 0.3 of 100 Hz": signal.butter(2, 0.3, fs=100, output="sos"),
    "without gravity: high-pass, 0.3 of 100 Hz": signal.butter(2, 0.3, "highpass", fs=100, output="sos"),
    "band-pass, 1 to 20 of 100 Hz": signal.butter(3, (1, 20), "bandpass", fs=100, output="sos"),
    "notch, 50 of 1000 Hz": signal.tf2sos(*signal.iirnotch(50, 30, fs=1000)),
    "low-pass, order 4, 0.5 of 100 Hz": signal.butter(4, 0.5, fs=100, output="sos"),
    "Chebyshev, order 8": signal.cheby1(8, 0.5, 0.3, output="sos"),
    "elliptic, order 6": signal.ellip(6, 1, 60, 0.25, output="sos"),
}


def _signals():
    rng = np.random.default_rng(5)
    t = np.arange(3000)
    yield rng.normal(0, 3000, 3000)
    yield 8192 + 200 * np.sin(t * 0.2) + rng.normal(0, 20, 3000)
    yield np.where(t // 700 % 2, 12000, -12000)
    yield 3 * np.sin(t * 0.01)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_filter_is_within_one_step_of_scipy(name):
    """Of an output's step; plus 0.005 % of the largest output, by the rounding of coefficients."""
    smooth = Filter(DESIGNS[name])
    for x in _signals():
        x = np.round(x).astype("int16")
        smooth.reset()
        expected = signal.sosfilt(DESIGNS[name], x.astype(float))
        assert np.abs(expected).max() < 32767
        assert np.abs(np.array(smooth(x)) - expected).max() <= 1 + 5e-5 * np.abs(expected).max()


@pytest.mark.parametrize("name", DESIGNS)
def test_filters_give_equal_bits_in_c_and_python_in_any_chunks(name):
    x = np.random.default_rng(6).normal(0, 20000, 1200).clip(-32768, 32767).astype("int16")
    one = Filter(DESIGNS[name], channels=3)
    whole = one(x)
    for kernel, step in ((_odt.biquads, 3), (_odt.biquads, 300), (biquads, 99)):
        other = Filter(DESIGNS[name], channels=3)
        other._kernel = kernel
        parts = np.concatenate([other(x[i : i + step]) for i in range(0, 1200, step)])
        np.testing.assert_array_equal(parts, whole)
        assert other._work == one._work
    for c in range(3):  # channels do not hear each other
        np.testing.assert_array_equal(np.array(whole)[c::3], Filter(DESIGNS[name])(np.ascontiguousarray(x[c::3])))


def test_a_filter_works_in_place_and_ends_with_nothing_left_of_silence():
    x = np.random.default_rng(7).normal(0, 3000, 600).astype("int16")
    sos = DESIGNS["band-pass, 1 to 20 of 100 Hz"]
    expected = Filter(sos)(x)
    for kernel in (_odt.biquads, biquads):
        smooth, same = Filter(sos), array("h", x.tolist())
        smooth._kernel = kernel
        assert smooth(same, same) is same and same == expected
    assert set(smooth(bytes(8000))[-2000:]) <= {0}  # no limit cycle


def test_a_filter_s_parameters_are_ints_that_make_it_again():
    one = Filter(DESIGNS["elliptic, order 6"], channels=2)
    name, parameters = one.parameters()
    assert all(isinstance(v, int) for row in parameters["sos"] for v in row)
    for made in (odt.sensors.make(name, parameters), odt.sensors.make(name, json.loads(json.dumps(parameters)))):
        assert made._tables == one._tables and made.sos == one.sos and made.channels == 2
    assert repr(one) == "Filter(3 sections, 2 channels, 160 bytes)"
    feature = Motion(100, 64, 2, [1, 10, np.int64(50)])
    name, parameters = feature.parameters()
    again = odt.sensors.make(name, parameters)
    assert again._tables == feature._tables and again._work == feature._work and parameters["bands"] == (1, 10, 50)
    assert repr(feature) == "Motion(64 samples of 2 axes at 100 Hz -> 16 numbers, %d bytes)" % feature.nbytes


@pytest.mark.parametrize(
    "sos, text",
    [
        ([[1.0, 0.0, 0.0, 0.5, 0.0, 0.0]], "a section is \\(b0"),
        ([[1.0, 0.0, 0.0, 1.0, 0.0]], "a section is \\(b0"),
        ([[5.0, 0.0, 0.0, 1.0, 0.0, 0.0]], "coefficient is in -4 .. 4, got 5.0"),
        ([[1.0, 0.0, 0.0, 1.0, -1.99, 1.0]], "section 0 is not stable"),
        ([[1.0, 0.0, 0.0, 1.0, 1.5, 0.4]], "section 0 is not stable"),
        ([[1.0, 0.0, float("nan"), 1.0, 0.0, 0.0]], "coefficient is in -4 .. 4"),
        ([[1 << 31, 0, 0, 1 << 29, 0, 0]], "coefficient is in -2\\^31"),
        ([], "sections is in 1..16, got 0"),
    ],
)
def test_filters_that_cannot_be_are_named(sos, text):
    with pytest.raises(ValueError, match="Filter: .*" + text):
        Filter(sos)


def test_other_arguments_of_filters_are_checked():
    with pytest.raises(TypeError, match="Filter: sos has floats"):
        Filter([["1"] * 6])
    for channels in (0, 17):
        with pytest.raises(ValueError, match="channels is in 1..16"):
            Filter(DESIGNS["elliptic, order 6"], channels)
    smooth = Filter(DESIGNS["elliptic, order 6"], 2)
    for kernel in (_odt.biquads, biquads):
        smooth._kernel = kernel
        for samples in (bytes(6), array("f", bytes(8)), [0, 0], None, b"", array("h", bytes(6))):
            with pytest.raises(ValueError, match="samples: int16, a multiple of 2, are expected"):
                smooth(samples)
        for out in (array("h", bytes(6)), array("H", bytes(8)), [0] * 4):
            with pytest.raises(ValueError, match="out: as many int16"):
                smooth(bytes(8), out)
        x = array("h", bytes(8))
        for at, value in ((0, 0), (1, 0), (1, 17), (2, 0), (2, 3)):
            state = array("i", smooth._tables)
            state[at] = value
            assert kernel(x, x, state, smooth._work) == 1
        assert kernel(x, x, smooth._tables[:-1], smooth._work) == kernel(x, x, smooth._tables, smooth._work[:-1]) == 1
    assert not any(smooth._work)


def test_each_executor_has_its_kernel():
    assert Motion()._kernel is _odt.motion and Filter(DESIGNS["elliptic, order 6"])._kernel is _odt.biquads
    odt.executor.use("reference")
    try:
        assert Motion()._kernel is motion and Filter(DESIGNS["elliptic, order 6"])._kernel is biquads
    finally:
        odt.executor.use("native")
