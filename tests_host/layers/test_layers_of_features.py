"""What a network over features begins with: sounds are told apart by the page's own recipe, in both number systems."""

from array import array

import numpy as np
import pytest

import odt
from odt.sensors import MFCC, Events, Filter, Frames, LogMel, MicroFrontend, MiniRocket, Motion, Stream, Window

RATE = 8000
FRAMES = Frames(LogMel(RATE, channels=20), 160, 25)


def clip(kind, random):
    """Noise; with a chirp; with a click that fades."""
    x = random.normal(size=FRAMES.window) * random.uniform(0.005, 0.03)
    count = int(RATE * (random.uniform(0.25, 0.45) if kind == 1 else random.uniform(0.05, 0.12)))
    t = np.arange(count) / RATE
    chirp = np.sin(2 * np.pi * (random.uniform(900, 1600) * t + random.uniform(400, 900) * t * t)) * np.hanning(count)
    click = random.normal(size=count) * np.exp(-t * random.uniform(30, 60)) * 0.7
    if kind:
        at = random.integers(0, len(x) - count)
        x[at : at + count] += (chirp if kind == 1 else click) * random.uniform(0.2, 1)
    return array("h", np.clip(x * 8000, -32767, 32767).astype("int16").tobytes())


def sounds(count, random):
    y = np.arange(count) % 3
    return np.array([FRAMES(clip(kind, random)) for kind in y], "int16"), y.astype("uint8")


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("adapted", (False, True))
def test_log_mel_learns_what_tells_sounds_apart(dtype, adapted, capsys):
    random = np.random.default_rng(7)
    (x, y), (test, labels) = sounds(240, random), sounds(90, random)
    x, test = x.reshape(-1, *FRAMES.shape), test.reshape(-1, *FRAMES.shape)
    accuracies = []
    for begin in ([odt.Input(FRAMES.shape, "int16", 1 / 2048)], FRAMES.layers(x) if adapted else FRAMES.layers()):
        model = odt.Sequential(begin + [odt.Conv1D(12, 3, strides=2, activation="relu"),
            odt.Conv1D(12, 3, strides=2, activation="relu"),
                                        odt.GlobalAvgPool(), odt.Dense(3)])  # fmt: skip
        model.compile(odt.Adam(0.005), batch_size=16, seed=0, dtype=dtype)
        model.fit(x, y, epochs=25)
        accuracies.append(model.evaluate(test, labels)[1])
        said = "lie far from 0" in capsys.readouterr().out
        assert said == (len(accuracies) == 1)
    assert accuracies[1] > 0.97 > accuracies[0] + 0.02


def test_layers_are_what_they_say():
    random = np.random.default_rng(1)
    (node,) = FRAMES.layers()
    assert node.shape == (25, 20) and (node.layer.scale, node.layer.zero_point, node.layer.dtype) == (
        1 / 1024,
        5632,
        "int16",
    )
    motion = Motion(100, 64, 2, (1, 10, 50))
    windows = (random.normal(size=(9, 64, 2)) * 900 + (0, 4000)).astype("int16")
    x = np.array([motion(window) for window in windows])
    for data in (x, x.tolist(), x.ravel(), array("h", x.tobytes()), [array("h", row.tobytes()) for row in x]):
        model = odt.Sequential([*motion.layers(data), odt.Dense(2)])
        model.compile(None, dtype="float32")
        mean, variance = (np.array(values).ravel() for values in model.get_weights()[:2])
        assert mean == pytest.approx(x.mean(0) / 1024, rel=1e-3) and variance == pytest.approx(
            x.var(0) / 1024**2, rel=1e-3
        )
    for feature in (motion, MFCC(), MicroFrontend(), Frames(MFCC(), 160, 3)):
        with pytest.raises(ValueError, match="layers: these features have several units: give x"):
            feature.layers()
    assert len(MiniRocket(40, 2).layers()) == 1
    with pytest.raises(
        ValueError, match=r"layers: x: shape \(9, 20, 25\), expected \(samples, 25, 20\): x.transpose\(0, 2, 1\)"
    ):
        FRAMES.layers(np.zeros((9, 20, 25), "int16"))


@pytest.mark.parametrize("kind", (LogMel, MFCC, MicroFrontend))
def test_a_rate_brings_its_own_window_transform_and_bands(kind):
    assert kind().parameters() == kind(16000, 480, 512, 40, 125, 7500).parameters()
    for rate, window, fft, high in ((8000, 240, 256, 3750), (11025, 330, 512, 5167), (22050, 661, 1024, 7500),
        (44100, 1323, 2048, 7500), (48000, 1440, 2048, 7500),
                                    (96000, 2048, 2048, 7500)):  # fmt: skip
        feature = kind(rate)
        assert (feature.window, feature.fft, feature.high) == (window, fft, high)
        assert len(feature(bytes(2 * window))) == feature.outputs
    assert kind(8000, window=100).fft == 128 and kind(8000, fft=512).window == 240


@pytest.mark.parametrize("made, window", (
    (lambda: LogMel(rate=8000), None), (lambda: Frames(LogMel(rate=8000), hop=80, rows=3), None),
    (lambda: Motion(rate=50, window=64, axes=1, bands=(1, 3, 5)), None),
    (lambda: Filter(((1 << 29, 0, 0, 1 << 29, 0, 0),)), 64),
))  # fmt: skip
def test_a_recording_of_another_kind_is_told_what_makes_it_the_right_one(made, window):
    feature = made()
    window = window or feature.window
    stereo = np.random.default_rng(1).integers(-9999, 9999, (window, 2)).astype("int16")
    left = list(feature(np.ascontiguousarray(stereo[:, 0])))
    for samples, words, right in (
        (stereo[:, 0], "an array with gaps, .*give samples.copy", lambda x: x.copy()),
        (stereo[:, 0] / 32767, r"make \(x \* 32767\).astype\('int16'\)", lambda x: np.rint(x * 32767).astype("int16")),
        (stereo[:, 0].astype("int32"), r"give x.astype\('int16'\)", lambda x: x.astype("int16")),
        (stereo[:, 0].tolist(), r"a list: give array\('h', samples\)", lambda x: array("h", x)),
    ):
        if window == 64 and words.startswith("give x"):
            continue  # a Filter takes any number: it does not know how many are meant
        with pytest.raises(ValueError, match=words):
            feature(samples)
        assert list(feature(right(samples))) == left
    if not isinstance(feature, Filter):
        with pytest.raises(ValueError, match=r"one channel is expected, as samples\[..., :1\]"):
            feature(stereo)
        assert list(feature(stereo[..., :1])) == left


@pytest.mark.parametrize("name, value, words", (
    ("channels", 2, "a Window of as many"), ("typecode", "f", "a Window of it, or write the file in that type"),
    ("rate", 44100, "resample it"),
))  # fmt: skip
def test_a_source_of_another_kind_is_told_what_to_do(name, value, words):
    class Source:
        channels, typecode, rate = 1, "h", 8000

    stream = Stream(Window(240, hop=80), lambda x: [0.5, 0.5], Events(["a", "b"]), LogMel(rate=8000))
    setattr(Source, name, value)
    with pytest.raises(ValueError, match="listen: the source has %s %r, expected .*: %s" % (name, value, words)):
        stream.listen(Source())
