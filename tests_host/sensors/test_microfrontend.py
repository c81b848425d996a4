"""odt.sensors.MicroFrontend: the integers of TensorFlow's microfrontend, as the PyPI package pymicro-features (2.0.2)
computes them; C and Python.
"""

import zlib
from array import array

import _odt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odt
import odt.sensors.features
from odt.reference.frontend import frontend
from odt.sensors import LogMel, MicroFrontend

HOP = 160
SIZES = [
    (16000, 480, 512, 40, 125, 7500),
    (8000, 240, 256, 20, 100, 4000),
    (16000, 32, 32, 3, 300, 8000),
    (44100, 2000, 2048, 128, 0, 16000),
    (16000, 401, 1024, 80, 20, 8000),
]


def _noise(count, seed):
    """Uniform int16, by integers alone."""
    state = np.arange(1, count + 1, dtype=np.uint64) * 0x9E3779B97F4A7C15 + seed
    for _ in range(3):
        state = (state ^ state >> 29) * 0xBF58476D1CE4E5B9
    return (state >> 48).astype(np.int64) - 32768


def _signals():
    """(name, a second of int16, CRC-32 of the package's 98 rows of 40 int16)."""
    t = np.arange(16000)
    triangle = np.abs(t * 440 * 4 % 64000 - 32000) - 16000
    sweep = np.abs((t * (200 + t // 8) * 4) % 64000 - 32000) - 16000
    yield "noise", _noise(16000, 1) // 2, 0xA94C0CD8
    yield "quiet noise", _noise(16000, 2) // 8192, 0x0C21976A
    yield "loud noise", np.clip(_noise(16000, 3) * 3, -32767, 32767), 0xA13A94C7
    yield "triangle", triangle, 0x667C1C5A
    yield "sweep, on and off", sweep * (t // 2000 % 2) + _noise(16000, 4) // 2048, 0x9DAEB7B5
    yield "square", np.where(t * 440 % 16000 < 8000, 32767, -32767), 0xDDBCF06F
    yield "offset", 20000 + _noise(16000, 5) // 256, 0x9A02B91A
    yield "impulses", np.where(t % 777 == 0, 30000, 0), 0x40BE3A88


SIGNALS = list(_signals())


def _rows(front, x):
    front.reset()
    x = x.astype("int16")
    return np.array([front(x[i : i + front.window]) for i in range(0, len(x) - front.window + 1, HOP)])


@pytest.mark.parametrize("name, x, crc", SIGNALS, ids=[signal[0] for signal in SIGNALS])
def test_every_integer_is_that_of_the_package(name, x, crc):
    rows = _rows(MicroFrontend(), x).astype("<i2")
    assert rows.shape == (98, 40)
    assert zlib.crc32(rows.tobytes()) == crc


def test_every_integer_is_that_of_the_package_at_any_level():
    import pymicro_features as package

    rng, front = np.random.default_rng(1), MicroFrontend()
    for _ in range(20):
        other, t = package.MicroFrontend(), np.arange(8000) / 16000
        x = rng.normal(0, 10 ** rng.uniform(0, 4.3), 8000) * (1 + np.sin(2 * np.pi * rng.uniform(0, 9) * t))
        x += 10 ** rng.uniform(0, 4.3) * np.sin(2 * np.pi * rng.uniform(50, 7900) * t) + rng.uniform(-5000, 5000)
        x = np.clip(np.round(x), -32767, 32767).astype("<i2")
        found, data = [], x.tobytes()
        while len(data) >= 2 * HOP:
            done = other.process_samples(data[: 2 * HOP])
            data = data[2 * done.samples_read :]
            if done.features:
                found.append(np.round(np.array(done.features) / 0.0390625))
        np.testing.assert_array_equal(_rows(front, x), found)


def _both(front, frames):
    """What C and Python make of them, and the noise that they keep."""
    found = []
    for kernel in (_odt.frontend, frontend):
        front._kernel = kernel
        front.reset()
        rows = [front(x, array("h", [-1] * front.outputs)).tolist() for x in frames]
        found.append((rows, front._work[front.fft // 2 + 1 :]))
    return found


@pytest.mark.parametrize("size", SIZES)
def test_c_and_python_give_equal_bits(size):
    window = size[1]
    rng = np.random.default_rng(1)
    frames = [rng.normal(o, level, window) for level in (1, 300, 9000, 60000) for o in (0, -20000)]
    frames += [np.full(window, -32768), np.full(window, 32767), 32767 * (-1.0) ** np.arange(window), np.zeros(window)]
    native, python = _both(MicroFrontend(*size), [np.clip(x, -32768, 32767).astype("int16") for x in frames])
    assert native == python


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_c_and_python_give_equal_bits_at_any_size(data):
    fft = data.draw(st.sampled_from([32, 64, 128, 256, 512]))
    rate, high = data.draw(st.integers(100, 1000000)), 0
    high = data.draw(st.integers(1, rate // 2))
    front = MicroFrontend(
        rate, data.draw(st.integers(1, fft)), fft, data.draw(st.integers(1, 128)), data.draw(st.integers(0, high - 1)),
        high
    )  # fmt: skip
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    frames = np.clip(rng.normal(0, data.draw(st.integers(1, 60000)), (2, front.window)), -32768, 32767).astype("int16")
    native, python = _both(front, frames)
    assert native == python


def _float64(size, frames):
    """The steps of the microfrontend in float64, nothing rounded."""
    rate, window, fft, channels, low, high = size
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(window) + 0.5) / window)
    mel = 1127 * np.log1p(np.arange(fft // 2 + 1) * rate / fft / 700)
    edges = np.linspace(1127 * np.log1p(low / 700), 1127 * np.log1p(high / 700), channels + 2)
    a, b, c = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bank = np.minimum((mel - a) / (b - a), (c - mel) / (c - b)).clip(0)
    noise, rows = np.zeros(channels), []
    smoothing = np.where(np.arange(channels) % 2, 0.06, 0.025)
    for x in frames:
        signal = 64 * np.sqrt(bank @ np.abs(np.fft.rfft(x * hann, fft) / fft) ** 2)
        noise = smoothing * signal + (1 - smoothing) * noise
        left = np.maximum(signal - noise, 0.05 * signal)
        ratio = left * fft / 64 * (noise * fft / 64 + 80) ** -0.95
        shrunk = np.where(ratio < 2, ratio**2 / 4, ratio - 1)
        rows.append(64 * np.log(np.maximum(shrunk * fft, 1)))
    return np.array(rows)


@pytest.mark.parametrize("size", [SIZES[0], SIZES[1], SIZES[4]])
def test_the_steps_are_those_of_float64_where_there_is_signal(size):
    """In steps of the output, 1/64 of a factor e.

    Below 300 the noise reduction takes a difference of near equals, there as here.
    """
    x = np.random.default_rng(3).normal(0, 5000, size[1] * 30)
    frames = x.astype("int16").reshape(30, -1)
    front = MicroFrontend(*size)
    found = np.array([front(frame) for frame in frames])
    expected = _float64(size, frames)
    error = np.abs(found - expected)[expected > 300]
    assert error.size > expected.size / 2 and np.median(error) <= 1 and error.max() <= 12


def test_noise_is_learned_until_reset():
    front, rng = MicroFrontend(), np.random.default_rng(4)
    frames = rng.normal(0, 1000, (40, 480)).astype("int16")
    first = [front(x).tolist() for x in frames]
    assert np.mean(first[-1]) < np.mean(first[0]) - 20  # what stays is noise
    assert front(frames[0]).tolist() != first[0]
    front.reset()
    assert [front(x).tolist() for x in frames] == first


def test_a_microfrontend_is_made_again_of_its_parameters():
    front = MicroFrontend(8000, 240, 256, 20, 100, 4000)
    again = odt.sensors.make(*front.parameters())
    assert type(again) is MicroFrontend and again._tables == front._tables
    assert front.parameters() == ("MicroFrontend", LogMel(8000, 240, 256, 20, 100, 4000).parameters()[1])
    assert (
        repr(front) == "MicroFrontend(240 samples at 8000 Hz -> 20 channels of 100..4000 Hz, %d bytes)" % front.nbytes
    )


@pytest.mark.parametrize("kernel", [_odt.frontend, frontend])
def test_samples_and_out_of_another_kind_are_named_and_nothing_changes(kernel):
    front = MicroFrontend(window=400, channels=10)
    front._kernel = kernel
    out, before = array("h", [5] * 10), front._work[257:]
    for samples in (array("h", bytes(798)), bytes(801), array("f", bytes(800)), [0] * 400, None):
        with pytest.raises(ValueError, match="samples: 400 int16 are expected, got "):
            front(samples, out)
    for wrong in (array("h", bytes(18)), array("H", bytes(20)), [0] * 10):
        with pytest.raises(ValueError, match="out: 10 int16 are expected, got "):
            front(bytes(800), wrong)
    with pytest.raises(ValueError, match="out: memory of its own"):
        front(bytes(800), front._tables)
    assert out == array("h", [5] * 10) and front._work[257:] == before


def test_tables_whose_sizes_or_edges_leave_them_are_refused_by_both():
    front = MicroFrontend(8000, 240, 256, 20, 100, 4000)
    x, out = array("h", bytes(480)), array("h", [1] * 20)
    good, work = front._tables, front._work
    for at, value in (
        (0, 0), (1, 0), (1, 257), (1, 239), (2, 255), (2, 512), (2, -256), (3, 0), (3, 21), (3, -20), (4, -1),
        (25, 130), (10, 1)
    ):  # fmt: skip
        state = array("h", good)
        state[at] = value
        assert _odt.frontend(out, x, state, work) == frontend(out, x, state, work) == 1, (at, value)
    for state, scratch in ((good[:-1], work), (good, work[:-1]), (good[:0], work), (good[:3], work), (good, work[:0])):
        assert _odt.frontend(out, x, state, scratch) == frontend(out, x, state, scratch) == 1
    assert _odt.frontend(out, x, good, memoryview(bytearray(4 * len(work) + 1))[1:]) == 1  # not aligned
    assert out == array("h", [1] * 20)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_tables_are_refused_or_computed_with(data):
    """What is not refused reads and writes within its buffers: `make sanitize` looks."""
    front = MicroFrontend(8000, 60, 64, 6, 100, 4000)
    state, work = array("h", front._tables), array("i", front._work)
    for _ in range(data.draw(st.integers(1, 6))):
        state[data.draw(st.integers(0, len(state) - 1))] = data.draw(st.integers(-32768, 32767))
        work[data.draw(st.integers(0, len(work) - 1))] = data.draw(st.integers(-(2**31), 2**31 - 1))
    x = array("h", data.draw(st.lists(st.integers(-32768, 32767), min_size=60, max_size=60)))
    assert _odt.frontend(array("h", bytes(12)), x, state, work) in (0, 1)


def test_each_executor_has_its_kernel():
    assert MicroFrontend()._kernel is _odt.frontend
    odt.executor.use("reference")
    try:
        assert MicroFrontend()._kernel is frontend
    finally:
        odt.executor.use("native")
