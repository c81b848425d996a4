"""odt.sensors.stream: windows as NumPy's sliding_window_view has them, events as a slow reference in fractions,
sources, bad input.
"""

import asyncio
import random
import struct
import wave
from array import array
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import odt
from odt.sensors import CsvSource, Events, Frames, LogMel, PolledSource, Recorder, Stalled, Stream, WavSource, Window


def slid(x, length, hop):
    """[(end, window)] of samples (n, channels)."""
    if len(x) < length:
        return []
    views = sliding_window_view(x, length, axis=0)[::hop].swapaxes(1, 2)
    return [(length + k * hop, view.reshape(-1).tolist()) for k, view in enumerate(views)]


def drain(window, into):
    found = window.next()
    while found is not None:
        into.append((window.position, list(found)))
        found = window.next()


SIZES = st.tuples(st.integers(1, 12), st.integers(1, 3), st.integers(1, 12), st.integers(1, 4))


@settings(max_examples=200, deadline=None)
@given(
    SIZES,
    st.lists(st.integers(0, 9), max_size=30),
    st.sampled_from("bBhHiIf"),
    st.sampled_from(["array", "list", "bytes", "view"]),
)
def test_windows_are_those_of_numpy_whatever_is_pushed_at_a_time(sizes, counts, code, kind):
    length, channels, hop, slots = sizes
    hop = min(hop, length)
    window, found = Window(length, channels, hop, code, slots), []
    counts = [hop if count > 6 else count for count in counts]  # which is copied otherwise
    x = np.random.default_rng(1).integers(0, 100, (sum(counts), channels)).astype(code)
    at = 0
    for count in counts:
        data = array(code, x[at : at + count].tobytes())
        data = {"array": data, "list": list(data), "bytes": data.tobytes(), "view": memoryview(data)}[kind]
        done = 0
        while done < len(data):  # as Stream.feed does
            done = window.put(data, done)
            drain(window, found)
        at += count
    assert found == slid(x, length, hop)
    assert window.overruns == window.gap == 0


@settings(max_examples=200, deadline=None)
@given(SIZES, st.integers(0, 9999))
def test_slots_filled_by_odd_numbers_of_bytes_give_the_same_windows(sizes, seed):
    rng = random.Random(seed)
    length, channels, hop, slots = sizes
    hop = min(hop, length)
    window, found = Window(length, channels, hop, "h", slots), []
    x = np.random.default_rng(2).integers(-999, 999, (60, channels)).astype("h")
    data, at = x.tobytes(), 0
    while data:
        if not at % (2 * channels) and rng.random() < 0.3:
            sample = window.sample()
            sample[:] = array("h", data[: 2 * channels])
            window.commit(2 * channels)
            data = data[2 * channels :]
            drain(window, found)
            continue
        slot = window.slot()
        count = rng.randint(0, min(len(slot), len(data)))
        at += count
        slot[:count] = data[:count]
        window.commit(count)
        data = data[count:]
        drain(window, found)
    assert found == slid(x, length, hop)


@settings(max_examples=300, deadline=None)
@given(
    SIZES, st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["read", "read all", "wait", "skip"])), max_size=40)
)
def test_an_overrun_is_a_gap_that_is_counted_and_in_no_window(sizes, steps):
    """One writer, one reader, in any order: the samples are their own numbers, so a torn window would show."""
    length, channels, hop, slots = sizes
    hop = min(hop, length)
    window = Window(length, channels, hop, "i", slots)
    came, kept, last_end, gaps = 0, 0, None, 0
    for count, then in steps:
        count = hop if count > 6 else count
        data = array("i", [k for k in range(came, came + count) for _ in range(channels)])
        accepted = window.push(data)
        assert 0 <= accepted <= count
        came += count
        kept += accepted
        if then == "skip":  # those of a slot that is not whole are lost with it
            window.skip(3)
            came += 3
            kept = came - window.overruns
        for _ in range({"wait": 0, "read": 1}.get(then, 99)):
            found = window.next()
            if found is None:
                break
            first = found[0]
            expected = [k for k in range(first, first + length) for _ in range(channels)]
            assert list(found) == expected and window.position == first + length
            if window.gap:
                gaps += window.gap
            elif last_end is not None:
                assert window.position == last_end + hop
            last_end = window.position
        assert window.overruns == came - kept and gaps <= window.overruns


def test_a_writer_that_comes_in_anywhere_within_the_reader_tears_no_window():
    """An interrupt after each line of next(), by a trace: what is read is contiguous, what is lost is counted."""
    import sys

    code = Window.next.__code__
    for every, slots in ((1, 2), (5, 2), (11, 2), (12, 2), (13, 3), (24, 2), (31, 2)):
        window, sent, lines = Window(6, 1, 4, "i", slots), 0, 0

        def interrupt(frame, event, _):
            nonlocal sent, lines
            if frame.f_code is not code:
                return None
            if event == "line":
                lines += 1
                if lines % every == 0:
                    window.push(array("i", range(sent, sent + 3)))
                    sent += 3
            return interrupt

        ends, gaps = [], 0
        old = sys.gettrace()
        sys.settrace(interrupt)
        try:
            for _ in range(300):
                found = window.next()
                if found is not None:
                    first = found[0]
                    assert list(found) == list(range(first, first + 6)) and window.position == first + 6
                    gaps += window.gap
                    assert not ends or window.gap or window.position == ends[-1] + 4
                    ends.append(window.position)
        finally:
            sys.settrace(old)
        assert gaps <= window.overruns and (len(ends) > 40 or every < 24)


def test_a_window_says_what_it_takes_and_refuses_what_makes_none():
    assert repr(Window(64, 3, 16)) == "Window(64, 3, 16, 'h'): 576 bytes, 0 samples lost"
    for bad, words in (
        ((0,), "length"), ((4, 0), "channels"), ((4, 1, 5), "hop is in 1..4"), ((4, 1, 0), "hop"),
        ((4, 1, 2, "d"), "typecode"),
        ((4, 1, 2, "bh"), "typecode"), ((4, 1, 2, 3), "typecode"), ((4, 1, 2, "h", 0), "slots"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            Window(*bad)
    for bad in ((2.5,), (4, "1"), (4, 1, True)):
        with pytest.raises(TypeError):
            Window(*bad)
    window = Window(4, 3, 2)
    with pytest.raises(ValueError, match="7 elements are not whole samples of 3"):
        window.push([0] * 7)
    with pytest.raises(ValueError, match="7 elements are not whole samples of 6"):
        window.push(bytes(7))
    with pytest.raises(ValueError, match="13 bytes, the slot has 12"):
        window.commit(13)
    with pytest.raises(ValueError, match="-1 bytes"):
        window.commit(-1)
    with pytest.raises(ValueError, match="skip"):
        window.skip(0)
    window.commit(1)
    with pytest.raises(ValueError, match="part of a sample"):
        window.push([1, 2, 3])
    window.commit(11)
    window.push([1, 2, 3, 4, 5, 6])
    assert window.slot() is None and window.push([0, 0, 0]) == 0 and window.overruns == 1
    assert list(window.next()) == [0] * 6 + [1, 2, 3, 4, 5, 6]


# --- events -----------------------------------------------------------------------------------


def events_of(rows, mean, threshold, release, hold_off, unknown):
    """By the definition, in fractions: a list of (window, class)."""
    active, last, found = None, None, []
    for now in range(len(rows)):
        window = rows[max(0, now - mean + 1) : now + 1]
        means = [Fraction(sum(column), mean * 65536) for column in zip(*window)]
        if active is not None and means[active] < release:
            active = None
        first = means.index(max(means))
        waiting = last is not None and now - last <= hold_off
        if not waiting and first != active and first not in unknown and means[first] >= threshold:
            active, last = first, now
            found.append((now, first))
    return found


def rows_like_a_model(rng, count, classes):
    """Posteriors that stay a while, in 65536ths."""
    rows, left = [], 0
    while len(rows) < count:
        if not left:
            left, peak, height = rng.randint(1, 9), rng.randrange(classes), rng.uniform(0.2, 1)
        row = [rng.uniform(0, 0.3) for _ in range(classes)]
        row[peak] += 3 * height
        total = sum(row)
        rows.append([int(65536 * value / total) for value in row])
        left -= 1
    return rows


@settings(max_examples=300, deadline=None)
@given(
    st.integers(1, 5), st.integers(1, 6), st.integers(1, 16), st.integers(0, 16), st.integers(0, 5), st.booleans(),
    st.integers(0, 9999),
)  # fmt: skip
def test_events_are_those_of_the_definition(classes, mean, threshold, release, hold_off, quiet, seed):
    rng = random.Random(seed)
    threshold, release = Fraction(threshold, 16), Fraction(min(release, threshold), 16)
    rows = rows_like_a_model(rng, 120, classes)
    names = ["c%d" % k for k in range(classes)]
    unknown = ["c0"] if quiet else []
    events = Events(names, mean, float(threshold), float(release), hold_off, unknown)
    found = []
    for now, row in enumerate(rows):
        event = events.update(row)
        if event:
            means = sum(each[int(event[0][1:])] for each in rows[max(0, now - mean + 1) : now + 1]) / mean / 65536
            assert event[0] == events.label and means - 1 / 1024 < event[1] <= means
            found.append((now, int(event[0][1:])))
    assert found == events_of(rows, mean, threshold, release, hold_off, {0} if quiet else set())


def test_a_steady_class_is_one_event_and_a_flicker_none():
    events = Events(["a", "b"], mean=3, threshold=0.7, release=0.4)
    rows = [[0.9, 0.1]] * 10 + [[0.1, 0.9], [0.9, 0.1]] * 4 + [[0.45, 0.55]] * 20 + [[0.1, 0.9]] * 10 + [[0.9, 0.1]] * 9
    found = [(k, event[0]) for k, event in enumerate([events.update(row) for row in rows]) if event]
    assert [label for _, label in found] == ["a", "b", "a"] and found[0][0] == 2
    events.reset()
    assert events.label is None and events.update([1.0, 0.0]) is None


def test_below_the_threshold_and_of_an_unknown_class_nothing_is_said():
    events = Events(["wave", "rest"], mean=1, threshold=0.7, unknown="rest")
    for row in ([0.69, 0.31], [0.5, 0.5], [0.0, 1.0], [0.3, 0.7]):
        assert events.update(row) is None and events.label is None
    assert events.update([0.7, 0.3]) == ("wave", 716 / 1024)


FORMS = (
    (lambda p: list(p), 1e-4), (lambda p: array("f", p), 1e-4), (lambda p: np.array(p, "float32"), 1e-4),
    (lambda p: np.array(p), 1e-4),
    (lambda p: [int(v * 65536) for v in p], 1e-4), (lambda p: np.array([int(v * 65536) for v in p]), 1e-4),
    (lambda p: array("b", [max(-128, min(127, round(v * 256) - 128)) for v in p]), 1 / 256),
    (lambda p: np.array([min(255, round(v * 256)) for v in p], "uint8"), 1 / 256),
)  # fmt: skip


@pytest.mark.parametrize("form, error", FORMS)
def test_posteriors_come_in_any_form(form, error):
    events = Events(3, mean=2, threshold=0.4)
    assert events.update(form((0.25, 0.25, 0.5))) is None
    label, confidence = events.update(form((0.125, 0.125, 0.75)))
    assert label == 2 and abs(confidence - 0.625) < error + 1 / 1024


def test_logits_become_the_softmax_of_float64():
    rng = np.random.default_rng(3)
    for form in (list, lambda row: array("f", row), lambda row: [int(v * 65536) for v in row]):
        logits = rng.normal(0, 3, 5)
        expected = np.exp(logits) / np.exp(logits).sum()
        label, confidence = Events(5, mean=1, threshold=0.01, logits=True).update(form(logits.tolist()))
        assert label == expected.argmax() and abs(confidence - expected.max()) < 2 / 1024


def test_a_teachers_answers_and_labels_that_grow():
    labels = ["rest", "wave"]
    events = Events(labels, mean=2, threshold=0.6, unknown=["rest"])
    assert events.update(("wave", 0.75)) is None and events.update(("wave", 0.75)) == ("wave", 0.75)
    labels.append("circle")
    assert [events.update(("circle", 1.0)) for _ in range(2)] == [None, ("circle", 1.0)]
    assert [events.update((None, 0.5)) for _ in range(3)] == [None] * 3 and events.label is None
    with pytest.raises(ValueError, match="'square' is no label"):
        events.update(("square", 1.0))


def test_of_a_list_that_is_empty_yet_there_is_no_event_until_it_grows():
    labels = []
    events = Events(labels, mean=1)
    assert events.update((None, 0.0)) is None and events.update([]) is None and events.label is None
    with pytest.raises(ValueError, match="1 posteriors, there are 0 classes"):
        events.update([1.0])
    labels.append("wave")
    assert events.update(("wave", 1.0)) == ("wave", 1.0)


def test_what_is_no_posterior_is_named_and_changes_nothing():
    rows = rows_like_a_model(random.Random(5), 60, 3)
    expected = [Events(3, threshold=0.5).update(row) for row in rows]
    clean, bad = Events(3, threshold=0.5), Events(3, threshold=0.5)
    wrongs = (
        ([0.1, 0.2], "2 posteriors, there are 3"), ([0.1, float("nan"), 0.2], "posterior 1 is nan"),
        (array("f", [float("inf"), 0, 0]), "posterior 0"),
        ([0.2, 0.2, 1.5], "posterior 2 is 1.5"), ([70000, 0, 0], "posterior 0 is 70000"),
        ([-1, 0, 0], "posterior 0 is -1"), ([], "0 posteriors"),
        ((7, 0.5), "7 is no label"), ((1, float("nan")), "posterior 1 is nan"),
    )  # fmt: skip
    for k, row in enumerate(rows):
        with pytest.raises(ValueError, match=wrongs[k % len(wrongs)][1]):
            bad.update(wrongs[k % len(wrongs)][0])
        assert clean.update(row) == bad.update(row) and clean.label == bad.label
    assert expected


def test_settings_of_events_that_make_none_are_refused():
    for options, words in (
        ({"mean": 0}, "mean"), ({"threshold": 1.5}, "threshold"), ({"threshold": 0}, "above 0"),
        ({"threshold": float("nan")}, "threshold"),
        ({"release": 0.9, "threshold": 0.5}, "not above it"), ({"hold_off": -1}, "hold_off"),
        ({"unknown": "noise"}, "'noise' is no label"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            Events(["a", "b"], **options)
    with pytest.raises(TypeError, match="labels"):
        Events(None)
    with pytest.raises(ValueError, match="labels"):
        Events(0)
    with pytest.raises(ValueError, match="Events: labels is an empty tuple: pass a list"):
        Events(())


# --- all of it ----------------------------------------------------------------------------------


def network(length=16, channels=2, classes=3, **options):
    model = odt.Sequential(
        [odt.Input((length, channels), dtype="int16", scale=1 / 1024), odt.Flatten(), odt.Dense(classes)]
    )
    model.compile(odt.Adam(0.02), batch_size=4, seed=1, **options)
    rng = np.random.default_rng(0)
    y = np.arange(90) % classes
    x = (rng.normal(0, 100, (90, length, channels)) + 600 * (y - 1)[:, None, None]).astype("int16")
    model.fit(x, y, epochs=10, verbose=0)
    return model


def recording():
    """Three levels in turn, 100 samples each."""
    rng = np.random.default_rng(4)
    level = np.repeat([0, 1, -1, 0, -1, 1], 100)[:, None]
    return (rng.normal(0, 100, (600, 2)) + 600 * level).astype("int16")


def expected_of(model, x, hop):
    rows = odt.continual.labels.probabilities(
        model, np.stack([np.array(view) for _, view in slid(x, 16, hop)]).astype("int16").reshape(-1, 16, 2)
    )
    events = Events(["down", "still", "up"], hold_off=2)
    return [event for event in (events.update(row) for row in rows) if event]


def stream_of(model, hop=8, **options):
    return Stream(Window(16, 2, hop), model, Events(["down", "still", "up"], hold_off=2), **options)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_a_stream_says_what_its_parts_say_of_all_windows_at_once(dtype):
    model, x = network(dtype=dtype), recording()
    expected = expected_of(model, x, 8)
    assert [label for label, _ in expected] == ["still", "up", "down", "still", "down", "up"]
    digest = model.digest()
    flat = array("h", x.tobytes())
    for step in (1, 7, 600):
        stream, found = stream_of(model), []
        for at in range(0, 1200, 2 * step):
            found += stream.feed(flat[at : at + 2 * step])
        assert found == expected
    stream, found = stream_of(model), []
    for at in range(0, 1200, 2):  # as a timer does
        stream.window.push(flat[at : at + 2])
        found += stream.poll()
    assert found == expected and model.digest() == digest and stream.window.overruns == 0


def test_features_and_frames_come_between():
    """A row of features per window; the model gets the last four rows."""
    x, seen = recording(), []

    def features(window):
        return array("h", [sum(window[0::2]) // 8, sum(window[1::2]) // 8, len(window)])

    def model(rows):
        seen.append(list(rows))
        return [1.0, 0.0]

    stream = Stream(Window(8, 2, 4), model, Events(["a", "b"], mean=1), features, Window(4, 3, 2))
    assert stream.feed(array("h", x.tobytes())) == (("a", 1.0),)
    rows = np.array([features(array("h", view)) for _, view in slid(x, 8, 4)])
    assert seen == [view for _, view in slid(rows, 4, 2)]
    stream.window.skip(9)  # frames before a gap are not joined to those after it
    before = len(seen)
    stream.feed(array("h", [7] * 2 * (8 + 3 * 4)))
    assert seen[before:] == [[7, 7, 16] * 4]


class Sensor:
    """Gives a part of what is asked for, at times nothing, or something to wait for."""

    def __init__(self, data, awaits):
        self.data, self.random, self.awaits, self.ended = data, random.Random(3), awaits, False

    def _read(self, buffer):
        if self.random.random() < 0.3:
            return self.random.choice([None, 0])
        count = min(self.random.randint(1, len(buffer)), len(self.data))
        buffer[:count] = self.data[:count]
        self.data = self.data[count:]
        self.ended = not count
        return count

    async def _later(self, buffer):
        await asyncio.sleep(0)
        return self._read(buffer)

    def readinto(self, buffer):
        return self._later(buffer) if self.awaits and self.random.random() < 0.5 else self._read(buffer)


def heard(stream, source, **options):
    async def main():
        return [event async for event in stream.listen(source, **options)]

    return asyncio.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("awaits", [False, True])
def test_listening_hears_the_same_while_others_run(awaits):
    model, x = network(), recording()
    ticks = []

    async def other():
        while True:
            ticks.append(1)
            await asyncio.sleep(0)

    async def main():
        task = asyncio.ensure_future(other())
        found = [event async for event in stream_of(model).listen(Sensor(x.tobytes(), awaits), pause=0)]
        task.cancel()
        return found

    assert asyncio.run(main()) == expected_of(model, x, 8) and len(ticks) > 50


@pytest.mark.parametrize("nothing", [0, None])
def test_a_source_that_stalls_is_named_and_what_came_is_kept(nothing):
    class Dead:
        given = 0

        def readinto(self, buffer):
            self.given += 1
            return 4 if self.given < 4 else nothing

    stream, source = stream_of(network()), Dead()
    with pytest.raises(Stalled, match="nothing 7 times in a row"):
        heard(stream, source, pause=0, patience=7)
    assert source.given == 3 + 7 and isinstance(Stalled(), OSError)
    assert stream.feed(array("h", recording().tobytes()[12:]))


def test_a_wav_file_plays_a_sensor(tmp_path):
    model, x = network(), recording()
    path = str(tmp_path / "x.wav")
    with wave.open(path, "wb") as file:
        file.setparams((2, 2, 50, 0, "NONE", ""))
        file.writeframes(x.tobytes())
    source = WavSource(path, rate=50)
    assert (source.channels, source.typecode, source.rate) == (2, "h", 50)
    assert heard(stream_of(model), source) == expected_of(model, x, 8) and source.ended
    source.close()
    with pytest.raises(ValueError, match="50 samples a second, expected 16000"):
        WavSource(path, rate=16000)
    with pytest.raises(ValueError, match="the source has channels 2, expected 1"):
        Stream(Window(16), model, Events(3)).listen(WavSource(path))
    with pytest.raises(ValueError, match="typecode 'h', expected 'f'"):
        Stream(Window(16, 2, None, "f"), model, Events(3)).listen(WavSource(path))


def chunk(kind, body):
    return kind + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)


def test_wav_files_of_other_formats_are_read_or_named(tmp_path):
    def source(fmt, before=b"", data=b"\1\2\3\4"):
        path = tmp_path / "y.wav"
        path.write_bytes(
            b"RIFF\0\0\0\0WAVE"
            + before
            + chunk(b"fmt ", fmt)
            + chunk(b"LIST", b"odd")
            + chunk(b"data", data)
            + b"after"
        )
        return WavSource(str(path))

    def pcm(code, bits, channels=1, more=b""):
        return struct.pack("<HHIIHH", code, channels, 8000, 0, 0, bits) + more

    extensible = struct.pack("<HHIH", 22, bits := 32, 4, 3) + bytes(14)
    for fmt, code in (
        (pcm(1, 8), "B"),
        (pcm(1, 16), "h"),
        (pcm(1, 32), "i"),
        (pcm(3, 32), "f"),
        (pcm(0xFFFE, bits, 1, extensible), "f"),
    ):
        found = source(fmt)
        buffer = bytearray(3)
        assert found.typecode == code and found.readinto(buffer) == 3 and bytes(buffer) == b"\1\2\3" and not found.ended
        assert found.readinto(buffer) == 1 and found.readinto(buffer) == 0 and found.ended
    for fmt in (pcm(1, 24), pcm(17, 4), pcm(1, 16, 0), b"\1\0"):
        with pytest.raises(ValueError, match="format"):
            source(fmt)
    with pytest.raises(ValueError, match="data before its format"):
        source(pcm(1, 16), before=chunk(b"data", b""))
    for text in (b"", b"RIFF", b"RIFF\0\0\0\0WAVEfmt ", b"x" * 50):
        (tmp_path / "z.wav").write_bytes(text)
        with pytest.raises(ValueError, match="z.wav"):
            WavSource(str(tmp_path / "z.wav"))


def test_a_csv_file_plays_a_sensor_as_odt_readers_would_read_it(tmp_path):
    model, x = network(), recording()
    path = tmp_path / "x.csv"
    lines = ["%d;%d,%d" % (k, *row) for k, row in enumerate(x)]
    path.write_text("time;x,y\n\n" + "\n".join(lines).replace(";", ",") + "\n")
    source = CsvSource(str(path), columns=(1, -1))
    assert source.channels == 2 and heard(stream_of(model), source) == expected_of(model, x, 8)
    source.close()
    floats = np.random.default_rng(6).normal(0, 1e3, (20, 3)).astype("float32")
    path.write_text("\n".join([",".join(["%.9g" % v for v in row]) for row in floats]))  # no heading, no end of line
    source, buffer = CsvSource(str(path), "f"), bytearray(300)
    assert (
        source.readinto(buffer) == 240
        and bytes(buffer[:240]) == floats.tobytes()
        and source.readinto(buffer) == 0
        and source.ended
    )


def test_lines_that_are_no_samples_are_named(tmp_path):
    path = tmp_path / "x.csv"

    def read(text, **options):
        path.write_text(text)
        source = CsvSource(str(path), **options)
        while source.readinto(bytearray(64)):
            pass

    for text, words in (
        ("a,b\n1,2\n3,x\n", "line 3, column 1 is no number of typecode 'h'"),
        ("1,2\n3\n", "line 2 has 1 columns, expected 2"),
        ("1,2\n3,40000\n", "line 2, column 1"), ("1,2\n3,1.5\n", "line 2, column 1"), ("a,b\n", "no line of numbers"),
        ("", "no line of numbers"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            read(text)
    with pytest.raises(ValueError, match="line 2, column 1"):
        read("1,2\n3,nan\n", typecode="f")
    with pytest.raises(ValueError, match="line 1, column 4: it has 2 columns"):
        read("1,2\n3,4\n", columns=[4])


def test_what_does_not_fit_together_is_named():
    model = network()
    with pytest.raises(TypeError, match="model is a model or a function"):
        Stream(Window(4), "model", Events(3))
    with pytest.raises(ValueError, match="2 samples of the model's Input"):
        Stream(Window(32, 2), model, Events(3)).feed([0] * 64)
    with pytest.raises(ValueError, match="3 posteriors, there are 2 classes"):
        Stream(Window(16, 2), model, Events(2)).feed([0] * 32)
    with pytest.raises(ValueError, match="not whole samples"):
        Stream(Window(15, 2), model, Events(3)).feed([0] * 30)
    floats = odt.Sequential([odt.Input((4,)), odt.Dense(2)])
    floats.compile(batch_size=2, seed=1)
    floats.fit([[0, 1, 0, 1], [1, 0, 1, 0]], [0, 1], verbose=0)
    stream = Stream(Window(4, typecode="f"), floats, Events(2, mean=1, threshold=0.1))
    with pytest.raises(ValueError, match="NaN"):
        stream.feed([0.0, float("nan"), 0.0, 1.0])
    assert stream.events.label is None and len(stream.feed([0.0, 1.0, 0.0, 1.0])) == 1


def test_an_error_in_one_window_loses_no_sample_of_a_block_and_no_event():
    """Windows that follow a NaN are those of an unbroken stream; what they were is returned by the next call."""

    def labels(x):
        seen.append(list(x))
        if any(value != value for value in x):
            raise ValueError("NaN")
        return [1.0, 0.0] if x[0] % 4 < 2 else [0.0, 1.0]

    data = [float(i) for i in range(40)]
    data[9] = data[10] = data[30] = float("nan")
    for size in (2, 8, 16, 40):
        seen, errors, events = [], 0, ()
        stream = Stream(Window(4, hop=2, typecode="f"), labels, Events(["a", "b"], mean=1))
        for at in range(0, 40, size):
            try:
                events += stream.feed(array("f", data[at : at + size]))
            except ValueError:
                errors += 1
        events += stream.poll()
        assert str(seen) == str([data[at : at + 4] for at in range(0, 38, 2)]) and stream.window.overruns == 0 < errors
        good = [at for at in range(0, 38, 2) if not {9, 10, 30} & set(range(at, at + 4))]
        expected = ["a" if at % 4 < 2 else "b" for at in good]
        changes = [b for a, b in zip([None] + expected, expected) if a != b]
        assert [label for label, _ in events] == changes


def test_a_row_that_features_could_not_make_is_a_gap_of_the_frames():
    def features(x):
        if 5 in x:
            raise ValueError("five")
        return [x[0]]

    seen = []
    stream = Stream(
        Window(2, typecode="h"), lambda x: seen.append(list(x)) or [1.0, 0.0], Events(2), features, Window(3, hop=1)
    )
    with pytest.raises(ValueError, match="five"):
        stream.feed(array("h", range(20)))
    assert seen == [[6, 8, 10], [8, 10, 12], [10, 12, 14], [12, 14, 16], [14, 16, 18]]


def test_a_source_of_another_rate_than_the_features_is_refused(tmp_path):
    path = str(tmp_path / "x.wav")
    with wave.open(path, "wb") as file:
        file.setparams((1, 2, 44100, 0, "NONE", ""))
        file.writeframes(bytes(2000))
    mel = LogMel(8000, 240, 256, 20, 125, 4000)
    for features in (mel, Frames(mel, 80, 2)):
        stream = Stream(Window(features.window), lambda x: [1.0, 0.0], Events(2), features)
        with pytest.raises(ValueError, match="source has rate 44100, expected 8000: resample it"):
            stream.listen(WavSource(path))
        stream.listen(PolledSource(lambda: 0, 8000))
        with pytest.raises(ValueError, match="rate 50"):
            stream.listen(PolledSource(lambda: 0, 50))
    with pytest.raises(ValueError, match="capture: the source has 44100 samples a second, the file 16000"):
        Recorder(str(tmp_path / "r.npy"), Window(8), rate=16000).capture("a", 1, WavSource(path))


def wav(sound, riff=None, data=None, after=b""):
    """The bytes of a WAV file, its sizes as given."""
    body = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    whole = body + b"data" + struct.pack("<I", len(sound) if data is None else data) + sound + after
    return b"RIFF" + struct.pack("<I", len(whole) if riff is None else riff) + whole


def test_a_wav_file_whose_writer_did_not_know_its_size_is_read_to_its_end(tmp_path):
    sound, path = array("h", range(-50, 50)).tobytes(), tmp_path / "s.wav"
    more = b"LIST" + struct.pack("<I", 4) + b"abcd"
    for content, expected in (
        (wav(sound), sound), (wav(sound, 0, 0), sound), (wav(sound, 0xFFFFFFFF, 0xFFFFFFFF), sound),
        (wav(sound, 36, 0), sound),
        (wav(sound, None, 0xFFFFFFFF), sound), (wav(b""), b""), (wav(b"", after=more), b""),
        (wav(sound, after=more), sound),
        (wav(sound[:-20], None, len(sound)), sound[:-20]),
    ):  # fmt: skip
        path.write_bytes(content)
        source, found, buffer = WavSource(str(path)), b"", bytearray(64)
        while not source.ended:
            found += bytes(buffer[: source.readinto(buffer)])
        assert found == expected


def test_the_cost_of_a_window_is_that_of_its_parts_and_changes_nothing():
    now, model = [0], network()

    def features(window):
        now[0] += 300
        return window

    stream = stream_of(model, features=features)
    digest = model.digest()
    before = stream.feed(array("h", recording().tobytes()))
    assert stream.cost(lambda: now[0]) == (300, 0)
    stream.model = lambda x: now.__setitem__(0, now[0] + 7) or [1.0, 0, 0]
    assert stream.cost(lambda: now[0]) == (300, 7) and stream.cost()[0] >= 0
    assert model.digest() == digest and before and stream.events.label == before[-1][0]


class Clock:
    """A clock and a driver: what is read is the time, and its negative."""

    def __init__(self):
        self.now, self.asked = 1000, []

    def __call__(self):
        return self.now

    def read(self):
        self.asked.append(self.now)
        return self.now / 1000, -self.now / 1000


@pytest.mark.parametrize("code", "hif")
def test_a_polled_driver_is_asked_when_it_is_time_and_what_was_late_is_counted(code):
    clock = Clock()
    source, window = PolledSource(clock.read, 100, 2, code, scale=2, clock=clock), Window(4, 2, 2, code)
    found = []
    for step in [2500] * 20 + [25000] + [2500] * 16:  # microseconds
        count = source.readinto(window.slot())
        window.commit(count)
        drain(window, found)
        clock.now += step
    # Each 10 ms; the one of 61 ms comes at 76 ms, for that of 71 ms it is too late, and the next is on time.
    assert clock.asked == [1000, 11000, 21000, 31000, 41000, 51000, 76000, 81000, 91000, 101000, 111000]
    assert source.late == 1
    values = np.array(clock.asked)[:, None] / 500 * [1, -1]
    values = np.rint(values) if code != "f" else values.astype("f")
    assert found == slid(values, 4, 2) and len(found) == 4


def test_a_polled_driver_that_saturates_or_errs_is_told_so():
    clock, given = Clock(), [None]
    window = Window(1, 1, typecode="b")
    source = PolledSource(lambda: given[0], 1000, typecode="b", clock=clock)
    for value, expected, clipped in (
        (127, 127, 0), (127.4, 127, 0), (128, 127, 1), (1e9, 127, 2), (float("inf"), 127, 3), (-128.4, -128, 3),
        (-129, -128, 4), (float("-inf"), -128, 5), (-0.6, -1, 5), (2.5, 3, 5), (-2.5, -3, 5),
    ):  # fmt: skip
        given[0] = value
        window.commit(source.readinto(window.slot()))
        assert list(window.next()) == [expected] and source.clipped == clipped
        clock.now += 1000
    for value, words in ((float("nan"), "gave NaN"), ((1, 2), "gave 2 numbers, expected 1"), ((), "gave 0 numbers")):
        given[0] = value
        with pytest.raises(ValueError, match=words):
            source.readinto(window.slot())
    given[0] = 1
    assert source.readinto(window.slot()) == 1 and source.readinto(window.slot()) == 0
    with pytest.raises(ValueError, match="a sample has 2 bytes, there is room for 1"):
        PolledSource(lambda: 1, 10, clock=clock).readinto(bytearray(1))
    for error, words, arguments in (
        (TypeError, "read is a function, got 3", (3, 10)),
        (ValueError, "rate is in 1..1000000, got 2000000", (abs, 2000000)),
        (ValueError, "typecode is one of bBhHiIf, got 'q'", (abs, 10, 1, "q")),
    ):
        with pytest.raises(error, match=words):
            PolledSource(*arguments)
