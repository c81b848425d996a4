"""Features travel in a model's file: what opens makes the bits that training had, and what a file damages is named."""

import json
import struct
import zlib
from array import array

import numpy as np
import pytest

import odt
from odt.sensors import MFCC, Events, Frames, LogMel, MicroFrontend, Motion, Stream, make

MEL = LogMel(rate=8000, window=200, fft=256, channels=12, high=4000)
SOUND = array("h", np.random.default_rng(1).integers(-9000, 9000, 3000).astype("int16"))


def network(shape, labels=True):
    model = odt.Sequential([odt.Input(shape, dtype="int16", scale=1 / 2048), odt.Flatten(), odt.Dense(2)])
    model.compile(odt.SGD(0.1), batch_size=1, seed=1)
    model.labels = ["no", "yes"] if labels else None
    return model


@pytest.mark.parametrize("feature", (MEL, MFCC(8000, 128, 128, 20, 0, 4000, 9)), ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("hop, rows", ((1, 1), (50, 4), (128, 3)))
@pytest.mark.parametrize("kind", (lambda x: x, memoryview, lambda x: bytes(x), np.array))
def test_frames_are_the_features_of_each_piece(feature, hop, rows, kind):
    frames = make(*json.loads(json.dumps(Frames(feature, hop, rows).parameters())))
    assert frames.window == feature.window + (rows - 1) * hop and frames.shape == (rows, feature.outputs)
    samples = SOUND[: frames.window]
    expected = []
    for row in range(rows):
        expected += feature(samples[row * hop : row * hop + feature.window])
    assert list(frames(kind(samples))) == expected
    out = array("h", bytes(2 * frames.outputs))
    assert frames(kind(samples), out) is out and list(out) == expected
    for given, to, words in (
        (SOUND[: frames.window - 1], None, "samples"),
        (SOUND[: frames.window], out[1:], "out"),
    ):
        with pytest.raises(ValueError, match="Frames: %s: .* numbers are expected" % words):
            frames(given, to)


@pytest.mark.parametrize("again", (False, True))
@pytest.mark.parametrize("purpose", ("training", "inference"))
def test_what_opens_makes_the_same_numbers(tmp_path, purpose, again):
    path, frames = str(tmp_path / "m.odt"), Frames(MEL, 80, 5)
    model = network(frames.shape)
    model.calibrate(np.zeros((1, 5, 12), "int16") + 900)
    model.export(path, features=frames, purpose=purpose)
    opened = odt.load_model(path)
    if again:
        opened.export(path, purpose=purpose)
        opened = odt.load_model(path)
    assert opened.features is opened.features and opened.features.parameters() == frames.parameters()
    assert bytes(opened.features(SOUND[: frames.window])) == bytes(frames(SOUND[: frames.window]))
    opened.features = None
    assert opened.features is None
    model.features = frames
    model.export(path)
    assert odt.load_model(path).features.parameters() == frames.parameters()
    opened = odt.load_model(path)
    assert opened.kind == "Sequential"
    opened.export(path)
    assert odt.load_model(path).kind == "Sequential"
    model.features = None
    model.export(path)
    assert odt.load_model(path).features is None


def test_the_stream_of_a_model_hears_what_training_heard(tmp_path):
    frames = Frames(MEL, 80, 5)
    model, taken = network(frames.shape), []
    model.features = frames
    stream = Stream.of(model, hop=2)
    stream.model = lambda x: taken.append(list(x)) or [0.5, 0.5]
    stream.feed(SOUND)
    count = (len(SOUND) - frames.window) // 160 + 1
    assert taken == [list(frames(SOUND[160 * k : 160 * k + frames.window])) for k in range(count)]
    assert stream.events.labels == ["no", "yes"]
    model.features = MEL  # a feature of a window
    stream, taken = Stream.of(model, Events(["a", "b"]), hop=100), []
    stream.model = lambda x: taken.append(list(x)) or [0.5, 0.5]
    stream.feed(SOUND[:500])
    assert taken == [list(MEL(SOUND[at : at + 200])) for at in (0, 100, 200, 300)]
    model = network((20, 3))  # none: windows of samples
    stream, taken = Stream.of(model, hop=10), []
    stream.model = lambda x: taken.append(list(x)) or [0.5, 0.5]
    stream.feed(SOUND[:90])
    assert taken == [list(SOUND[:60]), list(SOUND[30:90])]
    with pytest.raises(ValueError, match=r"windows of \(samples, channels\) are expected, .* shape \(4, 4, 1\)"):
        Stream.of(network((4, 4, 1)))
    with pytest.raises(ValueError, match="the model has no labels"):
        Stream.of(network((20, 3), labels=False))


def damaged(path, features):
    """The file with this in its head."""
    data = path.read_bytes()
    sizes = list(struct.unpack_from("<5I", data, 12))
    head = json.loads(data[64 : 64 + sizes[0]])
    head["features"] = features
    rest = data[64 + (sizes[0] + 3 & ~3) :]
    head = json.dumps(head).encode()
    sizes[0] = len(head)
    body = head + bytes(-len(head) % 4) + rest
    top = data[:12] + struct.pack("<5I", *sizes) + bytes(24) + struct.pack("<I", zlib.crc32(body))
    path.write_bytes(top + struct.pack("<I", zlib.crc32(top)) + body)


def test_bad_features_are_named(tmp_path):
    path = tmp_path / "m.odt"
    model = network((5, 12))
    for features, error, words in (
        (MEL, ValueError, "the features are 12 numbers, the model's Input takes 60"),
        (abs, TypeError, "features is one of odt.sensors.features, got <built-in function abs>"),
    ):
        with pytest.raises(error, match=words):
            model.export(path, features=features)
        assert not path.exists()
    model.export(path, features=Frames(MEL, 80, 5))
    for features in (5, "Frames", ["Frames"], [3, {}], ["LogMel", [1]], {}, [], {"a": 1}):
        damaged(path, features)
        with pytest.raises(ValueError, match="no model that runs here"):
            odt.load_model(path)
    for features in (
        ["Nothing", {}], ["__getattr__", {}], ["LogMel", {"rate": -1}], ["LogMel", {"unknown": 1}],
        ["LogMel", {"fft": 1 << 40}], ["Frames", {}], ["Frames", {"features": ["Frames"], "hop": 1, "rows": 1}],
        ["Frames", {"features": ["LogMel", {}], "hop": "1", "rows": 1}],
        ["Frames", {"features": 7, "hop": 1, "rows": 1}],
    ):  # fmt: skip
        damaged(path, features)
        opened = odt.load_model(path)
        with pytest.raises((ValueError, TypeError)):
            opened.features  # noqa: B018
        opened.features = None  # and the model runs without
        opened.predict(np.zeros((1, 5, 12), "int16"))


def test_features_of_several_axes_and_with_a_memory_travel_too(tmp_path):
    motion = make(*json.loads(json.dumps(Motion(50, 32, 3, (1, 5, 10)).parameters())))
    model = network((motion.outputs,))
    model.export(tmp_path / "m.odt", features=motion)
    opened, taken = odt.load_model(tmp_path / "m.odt"), []
    stream = Stream.of(opened, hop=16)
    stream.model = lambda x: taken.append(list(x)) or [0.5, 0.5]
    stream.feed(SOUND[: 3 * 80])
    assert taken == [list(motion(SOUND[48 * k : 48 * k + 96])) for k in range(4)]
    frames = Frames(motion, 8, 3)
    whole = frames(SOUND[: 3 * frames.window])
    assert list(whole) == [value for row in range(3) for value in motion(SOUND[24 * row : 24 * row + 96])]
    frames = make(*json.loads(json.dumps(Frames(MicroFrontend(), 160, 4).parameters())))
    sound = array("h", list(SOUND) * 2)
    first = list(frames(sound[: frames.window]))
    frames(sound[1000 : 1000 + frames.window])
    assert list(frames(sound[: frames.window])) == first  # a recording's noise is its own
