"""odt.sensors.LogMel and MFCC: C and Python give equal bits, near what float64 gives by the definition; bad states and
arguments.
"""

import json
from array import array

import _odt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odt
import odt.sensors.features
from odt.reference.logmel import log_mel
from odt.sensors import MFCC, LogMel
from odt.sensors.features import tables

ROWS = [
    (16000, 480, 512, 40, 125, 7500),
    (8000, 240, 256, 20, 100, 4000),
    (44100, 2048, 2048, 64, 20, 16000),
    (16000, 400, 512, 80, 0, 8000),
    (22050, 777, 1024, 40, 60, 11025),
    (16000, 32, 32, 3, 300, 8000),
    (1000, 50, 64, 5, 0, 500),
]
RANGE = 58 * 256  # of what comes out: the largest energy of int16 samples at 2048 points


def _bands(rate, window, fft, channels, low, high):
    """The triangles of the filter bank, (channels, fft/2 + 1)."""

    def mel(f):
        return 1127 * np.log1p(np.asarray(f) / 700)

    edges, bins = np.linspace(mel(low), mel(high), channels + 2), mel(np.arange(fft // 2 + 1) * rate / fft)
    a, b, c = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    return np.minimum((bins - a) / (b - a), (c - bins) / (c - b)).clip(0)


def _energies(x, size):
    window, fft = size[1:3]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(window) + 0.5) / window)
    return _bands(*size) @ np.abs(np.fft.rfft(np.array(x, float) * hann, fft)) ** 2


def _signals(rate, window):
    rng = np.random.default_rng(1)
    t = np.arange(window) / rate
    voice = sum(8000 / h**1.5 * np.sin(2 * np.pi * 140 * h * t + h * h) for h in range(1, 25))
    for offset in (0, 3000, -30000):
        for level in (2, 100, 10000):
            yield "noise of %d at %d" % (level, offset), rng.normal(offset, level, window)
        for level in (30, 1000, 30000):
            for part in (0.02, 0.125, 0.31):
                yield "tone of %d at %d" % (level, offset), level * np.sin(2 * np.pi * part * rate * t + 1) + offset
        yield "voice at %d" % offset, voice + rng.normal(0, 5, window) + offset
        yield "constant at %d" % offset, np.full(window, offset)
    yield "brown", np.cumsum(rng.normal(0, 500, window))
    yield "saturated", rng.normal(0, 40000, window)
    yield "impulse", np.eye(1, window, window // 2)[0] * 32767
    yield "square", 32767 * np.sign(np.sin(2 * np.pi * 0.06 * rate * t + 0.1))
    yield "lowest", np.full(window, -32768)
    yield "highest", np.full(window, 32767)
    yield "alternating", 32767 * (-1.0) ** np.arange(window)


def _frames(size):
    for name, x in _signals(size[0], size[1]):
        yield name, array("h", np.clip(np.round(x), -32768, 32767).astype(int).tolist())


def _both(mel, x, kernels=(_odt.log_mel, log_mel)):
    found = []
    for kernel in kernels:
        mel._kernel = kernel
        found.append(mel(x, array("h", [-1] * mel.outputs)))
    return found


@pytest.mark.parametrize("size", ROWS)
def test_c_and_python_give_equal_bits(size):
    mel = LogMel(*size)
    for name, x in list(_frames(size))[:: 1 if size[2] < 1024 else 4]:
        native, python = _both(mel, x)
        assert native == python, name


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_c_and_python_give_equal_bits_at_any_size(data):
    fft = data.draw(st.sampled_from([32, 64, 128, 256, 512]))
    rate = data.draw(st.integers(100, 1000000))
    window, channels = data.draw(st.integers(1, fft)), data.draw(st.integers(1, 128))
    high = data.draw(st.integers(1, rate // 2))
    mel = LogMel(rate, window, fft, channels, data.draw(st.integers(0, high - 1)), high)
    level, seed = data.draw(st.integers(1, 40000)), data.draw(st.integers(0, 1000))
    x = np.clip(np.random.default_rng(seed).normal(data.draw(st.integers(-32768, 32767)), level, window), -32768, 32767)
    x = x.astype("int16")
    native, python = _both(mel, x)
    assert native == python
    native, python = _both(MFCC(rate, window, fft, channels, mel.low, high, data.draw(st.integers(1, channels))), x)
    assert native == python


@pytest.mark.parametrize("size", ROWS)
def test_what_is_above_int16_s_own_rounding_is_within_half_a_percent_of_float64(size):
    """The rounding of samples is white noise of 1/12: a channel in which less than that is left is not the signal's."""
    mel = LogMel(*size)
    noise = np.maximum(_bands(*size).sum(1) * size[1] * 3 / 8 / 12, 1)
    errors = []
    for name, x in _frames(size):
        expected = _energies(x, size)
        out = np.array(mel(x))
        wrong = np.abs(out - 256 * np.log2(np.maximum(expected, 1)))[expected >= noise].max(initial=0)
        assert wrong <= 0.005 * RANGE, (name, wrong)
        quiet = expected < noise
        assert (out[quiet] <= 256 * np.log2(2 * noise[quiet] + 2)).all(), name
        errors.append(wrong)
    assert np.median(errors) <= 0.0005 * RANGE


def _cosine_transform(x):
    """DCT-II, orthonormal, in float64 by its definition."""
    k = np.arange(len(x))
    matrix = np.sqrt(2 / len(x)) * np.cos(np.pi * k[:, None] * (2 * k + 1) / (2 * len(x)))
    matrix[0] /= np.sqrt(2)
    return matrix @ x


@pytest.mark.parametrize("size", ROWS)
def test_mfcc_are_the_orthonormal_cosine_transform_of_the_channels(size):
    mel = LogMel(*size)
    for count in (1, size[3], min(13, size[3])):
        mfcc = MFCC(*size, coefficients=count)
        assert mfcc.outputs == count and len(mfcc(bytes(2 * size[1]))) == count
        for name, x in list(_frames(size))[::5]:
            expected = _cosine_transform(np.array(mel(x), float))[:count] / 8
            assert (np.abs(np.array(mfcc(x)) - expected) <= 1 + 0.0001 * np.abs(expected)).all(), name


def test_mfcc_are_near_float64_from_the_samples_on():
    size = ROWS[0]
    mfcc = MFCC(*size)
    for name, x in _frames(size):
        energies = _energies(x, size)
        if (energies > 100).all():
            expected = _cosine_transform(256 * np.log2(energies))[:13] / 8
            assert np.abs(np.array(mfcc(x)) - expected).max() <= 0.005 * RANGE / 8 * np.sqrt(40) / 4, name


def test_silence_is_zero_and_twice_the_samples_are_two_powers_of_two_more():
    mel = LogMel()
    assert mel(array("h", bytes(960))) == array("h", bytes(80))
    x = np.random.default_rng(2).normal(0, 1000, 480).astype("int16")
    once, twice = np.array(mel(x)), np.array(mel(2 * x))
    np.testing.assert_array_equal(twice, once + 512)


def test_what_samples_and_out_may_be():
    mel = LogMel(window=400, channels=10)
    x = np.random.default_rng(3).normal(0, 1000, 400).astype("int16")
    expected = mel(x)
    rows = array("h", [7] * 30)
    for samples in (array("h", x.tolist()), x.tobytes(), bytearray(x.tobytes()), memoryview(x)):
        for kernel in (_odt.log_mel, log_mel):
            mel._kernel = kernel
            out = memoryview(rows)[10:20]
            assert mel(samples, out) is out
            assert rows[10:20] == expected and rows[:10] == rows[20:] == array("h", [7] * 10)
    out = np.zeros(10, "int16")
    mel(x, out)
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("kernel", [_odt.log_mel, log_mel])
def test_samples_and_out_of_another_kind_are_named_and_nothing_is_written(kernel):
    mel = LogMel(window=400, channels=10)
    mel._kernel = kernel
    good, out = array("h", bytes(800)), array("h", [5] * 10)
    for samples in (
        array("h", bytes(798)), bytes(801), array("f", bytes(800)), array("H", bytes(800)), array("i", bytes(800)),
        [0] * 400,
        None, 5, "text", np.zeros(400, "float32"), np.zeros(400, "uint16"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="samples: 400 int16 are expected, got "):
            mel(samples, out)
    for wrong in (
        array("h", bytes(18)),
        array("H", bytes(20)),
        array("f", bytes(20)),
        [0] * 10,
        np.zeros(10, "uint16"),
        5,
    ):
        with pytest.raises(ValueError, match="out: 10 int16 are expected, got "):
            mel(good, wrong)
    with pytest.raises(ValueError, match="out: memory of its own"):
        mel(good, mel._tables)
    assert out == array("h", [5] * 10)


def test_samples_with_gaps_and_an_out_that_cannot_be_written_are_refused():
    mel, x = LogMel(window=400, channels=10), np.zeros(800, "int16")
    with pytest.raises(ValueError, match="samples: 400 int16"):
        mel(x[::2])
    with pytest.raises(ValueError, match="out: 10 int16"):
        mel(x[:400], bytes(20))


def test_tables_whose_sizes_or_edges_leave_them_are_refused_by_both():
    mel = LogMel(8000, 240, 256, 20, 100, 4000)
    x, out = array("h", bytes(480)), array("h", [1] * 20)
    good, work = mel._tables, mel._work
    changes = [
        (0, 0),
        (1, 0),
        (1, 257),
        (2, 255),
        (2, 512),
        (2, -256),
        (3, 0),
        (3, 21),
        (3, -20),
        (4, -1),
        (4, 21),
        (4, 5),
        (5, -1),
        (26, 130),
        (10, 1),
    ]
    for at, value in changes:
        state = array("h", good)
        state[at] = value
        assert _odt.log_mel(out, x, state, work) == log_mel(out, x, state, work) == 1, (at, value)
    for state, scratch in ((good[:-1], work), (good, work[:-1]), (good[:0], work), (good[:4], work), (good, work[:0])):
        assert _odt.log_mel(out, x, state, scratch) == log_mel(out, x, state, scratch) == 1
    shared = array("i", bytes(4 * (len(work) + len(good))))
    view = memoryview(shared).cast("B")
    view[: 2 * len(good)] = good.tobytes()
    at = 2 * len(good) - 2 & ~3  # the scratch over the tables' end, the tables over the scratch
    for place in (at, 0):
        assert _odt.log_mel(out, x, view[: 2 * len(good)], view[place : place + 4 * len(work)]) == 1
    assert _odt.log_mel(view[: 2 * 20].cast("h"), x, view[: 2 * len(good)], work) == 1
    assert _odt.log_mel(out, x, good, memoryview(bytearray(4 * len(work) + 1))[1:]) == 1  # not aligned
    assert out == array("h", [1] * 20)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_tables_are_refused_or_computed_with(data):
    """What is not refused reads and writes within its buffers: `make sanitize` looks."""
    mel = MFCC(8000, 60, 64, 6, 100, 4000, 4) if data.draw(st.booleans()) else LogMel(8000, 60, 64, 6, 100, 4000)
    state, work = array("h", mel._tables), array("i", mel._work)
    for _ in range(data.draw(st.integers(1, 6))):
        state[data.draw(st.integers(0, len(state) - 1))] = data.draw(st.integers(-32768, 32767))
        work[data.draw(st.integers(0, len(work) - 1))] = data.draw(st.integers(-(2**31), 2**31 - 1))
    x = array("h", data.draw(st.lists(st.integers(-32768, 32767), min_size=60, max_size=60)))
    assert _odt.log_mel(array("h", bytes(2 * mel.outputs)), x, state, work) in (0, 1)


@pytest.mark.parametrize("fft", [32, 512, 2048])
def test_sines_and_window_are_the_nearest_integers(fft):
    work = np.array(tables.waves(fft - 1, fft))
    exact = 2**31 * np.sin(2 * np.pi * np.arange(fft // 4 + 1) / fft)
    assert np.abs(work[: fft // 4 + 1] - np.minimum(exact, 2**31 - 1)).max() <= 0.5 + 1e-6
    hann = 2**31 * (0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(fft // 2) + 0.5) / (fft - 1)))
    found = work[fft // 4 + 1 :][: fft // 2]
    assert np.abs(found - np.minimum(hann, 2**31 - 1)).max() <= 0.5 + 1e-6 and not work[fft // 4 + 1 + fft // 2 :].any()


@pytest.mark.parametrize("size", ROWS)
def test_weights_are_the_triangles_of_the_mel_scale(size):
    state = np.array(tables.bands(*size))
    edges, weights = state[5 : 7 + size[3]], state[7 + size[3] :]
    bank = np.zeros((size[3], size[2] // 2 + 1))
    for c in range(size[3] + 1):
        for k in range(edges[c], edges[c + 1]):
            if c < size[3]:
                bank[c, k] = weights[k] / 4096
            if c:
                bank[c - 1, k] = 1 - weights[k] / 4096
    assert np.abs(bank - _bands(*size)).max() < 1 / 4000


@pytest.mark.parametrize(
    "options, text",
    [
        ({"fft": 500}, "fft is a power of two in 32..2048, got 500"),
        ({"fft": 4096}, "fft is in 1..2048, got 4096"),
        ({"window": 513, "fft": 512}, "window is in 1..512, got 513"),
        ({"window": 2049}, "window is in 1..2048, got 2049"),
        ({"window": 0}, "window is in 1..2048, got 0"),
        ({"channels": 0}, "channels is in 1..128, got 0"),
        ({"channels": 129}, "channels is in 1..128, got 129"),
        ({"high": 8001}, "rate / 2 = 8000 Hz is expected, got 125 and 8001"),
        ({"low": 7500}, "got 7500 and 7500"),
        ({"low": -1}, "got -1 and 7500"),
        ({"rate": 0}, "rate is in 1..1000000, got 0"),
    ],
)
def test_sizes_out_of_range_are_named(options, text):
    with pytest.raises(ValueError, match="LogMel: .*" + text):
        LogMel(**options)


@pytest.mark.parametrize("name", ["rate", "window", "fft", "channels", "low", "high"])
def test_a_size_that_is_no_int_is_a_type_error(name):
    for value in (0.5, "40", True) + ((None,) if name in ("rate", "channels", "low") else ()):
        with pytest.raises(TypeError, match="LogMel: .*%s.* int" % name):
            LogMel(**{name: value})


def test_mfcc_s_own_arguments_are_checked():
    for value in (0, 41, -1):
        with pytest.raises(ValueError, match="MFCC: coefficients is in 1..40, got %d" % value):
            MFCC(coefficients=value)
    with pytest.raises(ValueError, match="MFCC: channels is in 1..128, got 129"):
        MFCC(channels=129)
    with pytest.raises(TypeError, match="MFCC: coefficients is an int"):
        MFCC(coefficients=1.5)
    mfcc = MFCC()
    assert repr(mfcc) == "MFCC(480 samples at 16000 Hz -> 40 channels of 125..7500 Hz -> 13 coefficients, 4386 bytes)"
    with pytest.raises(ValueError, match="out: 13 int16 are expected, got 80 bytes"):
        mfcc(bytes(960), array("h", bytes(80)))


@pytest.mark.parametrize(
    "feature", [LogMel(8000, np.int64(240), 256, 20, 100, 4000), MFCC(window=400), MFCC(coefficients=5)]
)
def test_a_feature_is_made_again_of_its_parameters(feature):
    name, parameters = feature.parameters()
    assert all(getattr(feature, keyword) == value for keyword, value in parameters.items())
    assert json.loads(json.dumps(parameters)) == parameters
    again = odt.sensors.make(name, parameters)
    assert type(again) is type(feature) and repr(again) == repr(feature)
    assert again._tables == feature._tables and again._work == feature._work


def test_an_unknown_feature_and_parameters_out_of_range_are_named():
    with pytest.raises(ValueError, match="odt.sensors.make: no feature is called 'Missing'"):
        odt.sensors.make("Missing", {})
    with pytest.raises(ValueError, match="LogMel: channels is in 1..128, got 0"):
        odt.sensors.make("LogMel", {"channels": 0})
    with pytest.raises(TypeError):
        odt.sensors.make("LogMel", {"missing": 0})


def test_each_executor_has_its_kernel():
    mel = LogMel(window=np.int64(480), low=np.int32(125))
    assert mel._kernel is _odt.log_mel and mel.window == 480
    assert repr(mel) == "LogMel(480 samples at 16000 Hz -> 40 channels of 125..7500 Hz, %d bytes)" % mel.nbytes
    assert mel.nbytes == 2 * (5 + 42 + 257) + 4 * (129 + 240 + 514)
    odt.executor.use("reference")
    try:
        assert LogMel()._kernel is log_mel
    finally:
        odt.executor.use("native")
    with pytest.raises(AttributeError, match="no attribute 'Missing'"):
        odt.sensors.features.Missing  # noqa: B018
