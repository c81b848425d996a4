"""odt.sensors.record: files that NumPy reads as what was recorded, whatever is added, removed and cut short between."""

import os
from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odt
from odt.data import RawReader
from odt.host import files
from odt.sensors import CsvSource, Recorder, Window

FIELDS = ["y", "label", "x"]


def recorder(path, **options):
    return Recorder(path, Window(5, 2, hop=2), **options)


def taken(number):
    return array("h", range(number, number + 10))


def check(path, rows):
    """The file, as NumPy reads it, holds these (label, number) in this order."""
    found = np.load(path)
    assert [(label.decode(), int(x[0, 0])) for _, label, x in found] == rows
    names = list(dict.fromkeys(label for label, _ in rows))
    assert found["y"].tolist() == [names.index(label) for label, _ in rows]
    assert all((x.ravel() == np.arange(10) + x[0, 0]).all() and x.shape == (5, 2) for x in found["x"])


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(["rest", "wave", "ärger", "a name of 19 bytes "])),
        st.tuples(st.just("remove"), st.integers(-30, 30)),
        st.tuples(st.just("forget"), st.sampled_from(["rest", "wave"])),
        st.tuples(st.just("again"), st.booleans()),
        st.tuples(st.just("cut"), st.integers(0, 39)),
    ),
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(STEPS, st.sampled_from([None, 2]))
def test_numpy_reads_what_was_recorded(tmp_path_factory, steps, classes):
    path = str(tmp_path_factory.mktemp("record") / "r.npy")
    budget = 192 + 12 * 40 + 39
    made, rows = recorder(path, rate=50, budget=budget, classes=classes), []
    for number, (step, value) in enumerate(steps):
        labels = list(dict.fromkeys(label for label, _ in rows))
        if step == "add":
            if classes and value not in labels and len(labels) == classes:
                with pytest.raises(ValueError, match="label more than 2"):
                    made.add(taken(number), value)
                continue
            full = [label for label, _ in rows].count(value) == 6 if classes else len(rows) == 12
            assert made.add(taken(number), value) is not full
            rows += [] if full else [(value, number)]
        elif step == "remove":
            if -len(rows) <= value < len(rows):
                made.remove(value)
                del rows[value]
            else:
                with pytest.raises(IndexError, match="of %d" % len(rows)):
                    made.remove(value)
        elif step == "forget" and value in labels:
            made.forget(value)
            rows = [row for row in rows if row[0] != value]
        elif step == "again":
            if value:
                made.close()
            made = recorder(path, budget=budget, classes=classes)
            assert made.rate == 50
        elif step == "cut":  # the power fails within an add: so many bytes of it are there
            with open(path, "r+b") as file:
                file.seek(192 + 40 * len(rows))
                file.write((bytes(20) + b"x" * 19)[:value] if value else bytes(40))
            made = recorder(path, budget=budget, classes=classes)
        assert made.labels == list(dict.fromkeys(label for label, _ in rows)) and len(made) == len(rows)
        assert all(made.count(label) == [row[0] for row in rows].count(label) for label in made.labels)
    made.close()
    check(path, rows)
    assert os.path.getsize(path) < budget
    if rows:
        reader, x, y = made.reader(4), [], []
        assert isinstance(reader, RawReader)
        for each in reader:
            x += list(each[0])
            y += list(each[1])
        reader.close()
        assert y == np.load(path)["y"].tolist() and x == np.load(path)["x"].ravel().tolist()


@pytest.mark.parametrize("code", "bBhHiIf")
def test_every_typecode_is_read_by_numpy_and_what_fit_takes_trains(tmp_path, code):
    path = tmp_path / "r.npy"
    made = Recorder(path, Window(4, 1, typecode=code), rate=16000)
    for k in range(12):
        made.add(array(code, [k % 2 * 100, k, 3, 127]), "high" if k % 2 else "low")
    made.close()
    found = np.load(path)
    assert found["x"].dtype == np.dtype(code) and found["x"][:, 1, 0].tolist() == list(range(12))
    assert found.dtype.fields["x"][2] == "16000 Hz"
    if code == "I":
        with pytest.raises(ValueError, match="reader: fit takes no numbers of typecode %r" % code):
            made.reader(4)
        return
    kind = {"b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "f": "float32"}[code]
    if code == "i":
        return
    scale = {} if code == "f" else {"scale": 1 / 128}
    digests = []
    for data in (made.reader(4), (found["x"].copy(), found["y"].astype("int32"))):
        model = odt.Sequential([odt.Input((4, 1), dtype=kind, **scale), odt.Flatten(), odt.Dense(2)])
        model.compile(odt.Adam(0.01), batch_size=4, seed=1)
        model.fit(*(data if isinstance(data, tuple) else (data,)), epochs=2, verbose=0)
        digests.append(model.digest())
    assert digests[0] == digests[1]


def test_pairs_of_the_records_teach_a_teacher(tmp_path):
    from odt.continual import teach

    made = recorder(str(tmp_path / "r.npy"))
    rows = [("rest", 0), ("wave", 40), ("rest", 1), ("wave", 44), ("wave", 41)]
    for label, number in rows:
        made.add(taken(number), label)
    found = [(label, list(x)) for x, label in made]
    assert found == [(label, list(taken(number))) for label, number in rows]
    assert [x.typecode for x, _ in made] == ["h"] * 5
    made.close()
    front = odt.Sequential([odt.Input((5, 2), dtype="int16", scale=1 / 32), odt.Flatten(), odt.Dense(6, "relu")])
    front.compile(None, "mse", batch_size=1, seed=1)
    front.calibrate(np.load(str(tmp_path / "r.npy"))["x"].copy())
    teacher = teach.Teacher(front, classes=2, budget=200)
    for x, label in made:
        teacher.learn(x, label)
    assert [teacher.count(label) for label in made.labels] == [2, 3]
    made.path = str(tmp_path / "gone.npy")
    with pytest.raises(OSError):
        next(iter(made))


def test_windows_are_captured_from_a_source_or_as_an_interrupt_brings_them(tmp_path, monkeypatch):
    csv = tmp_path / "played.csv"
    csv.write_text("\n".join("%d,%d" % (2 * k, 2 * k + 1) for k in range(14)))
    made = recorder(str(tmp_path / "r.npy"))
    source = CsvSource(str(csv))
    assert made.capture("wave", 2, source) == 2
    assert made.capture("rest", 9, source) == 1  # one that has nothing of the others; then the file ends
    made.close()
    check(tmp_path / "r.npy", [("wave", 0), ("wave", 4), ("rest", 16)])

    at = [100]

    def interrupt(seconds):
        made.window.push(array("h", [at[0], at[0] + 1]))
        at[0] += 2

    from odt.sensors import record

    made = recorder(str(tmp_path / "s.npy"))
    for _ in range(7):
        interrupt(0)
    monkeypatch.setattr(record.time, "sleep", interrupt)
    assert made.capture("wave", 2) == 2
    made.close()
    starts = np.load(tmp_path / "s.npy")["x"][:, 0, 0].tolist()
    assert starts[0] >= 100 + 2 * 7 and starts[1] == starts[0] + 4
    monkeypatch.setattr(record.time, "sleep", lambda seconds: None)
    with pytest.raises(OSError, match="nothing came 500 times in a row; 0 of 1"):
        made.capture("wave")
    made = recorder(str(tmp_path / "t.npy"), budget=192 + 80, classes=2)
    assert made.capture("wave", 5, CsvSource(str(csv))) == 1


def test_bad_input_is_named_and_leaves_the_file(tmp_path):
    path = str(tmp_path / "r.npy")
    made = recorder(path, rate=50, classes=2)
    made.add(taken(1), "rest")
    made.add(taken(2), "wave")
    before = open(path, "rb").read()
    for error, words, call in (
        (ValueError, "label more than 2: .'rest', 'wave'", lambda: made.add(taken(3), "third")),
        (ValueError, "5 x 2 numbers of typecode 'h', got 18 bytes of 'h'", lambda: made.add(taken(3)[1:], "rest")),
        (ValueError, "got 0 bytes of 'list'", lambda: made.add([1] * 10, "rest")),
        (ValueError, "got 40 bytes of 'f'", lambda: made.add(array("f", [1.0] * 10), "rest")),
        (ValueError, "got 0 bytes of 'ndarray'", lambda: made.add(np.zeros((5, 4), "int16")[:, ::2], "rest")),
        (TypeError, "a text is expected, got 7", lambda: made.add(taken(3), 7)),
        (ValueError, "1 to 19 bytes is expected", lambda: made.add(taken(3), "ä" * 10)),
        (ValueError, "1 to 19 bytes is expected", lambda: made.capture("")),
        (ValueError, "1 to 19 bytes is expected", lambda: made.add(taken(3), "a\0b")),
        (KeyError, "no label 'none'", lambda: made.forget("none")),
        (ValueError, "count is in", lambda: made.capture("rest", 0)),
        (
            ValueError,
            "holds other recordings: .'50 Hz', 'x'., '<i2', .5, 2., expected .'60 Hz'",
            lambda: recorder(path, rate=60),
        ),
        (ValueError, r"expected .'50 Hz', 'x'., '<i2', .6, 2", lambda: Recorder(path, Window(6, 2))),
        (ValueError, "has 2 labels, expected at most 1", lambda: recorder(path, classes=1)),
        (ValueError, "budget 231: .* records of 40 take 232", lambda: recorder(path, budget=231)),
        (TypeError, "a file's name is expected, got 5", lambda: recorder(5)),
        (ValueError, "rate is in", lambda: recorder(path, rate=0)),
    ):
        with pytest.raises(error, match=words):
            call()
        assert open(path, "rb").read() == before and made.labels == ["rest", "wave"] and len(made) == 2
    other = Recorder(str(tmp_path / "f.npy"), Window(2, 1, typecode="f"))
    with pytest.raises(ValueError, match="number 1 of the window is not finite"):
        other.add(array("f", [0, float("nan")]), "x")
    for at, byte in ((0, 1), (192, 1), (192 + 40, 3), (192 + 41, 255)):
        bad = bytearray(before)
        bad[at] = byte
        open(path, "wb").write(bad)
        with pytest.raises(ValueError, match="no file of recordings|record %d is damaged" % (at > 200)):
            recorder(path)
    for size in (0, 5, 100, 191):  # cut within its header: it holds nothing
        for rest in (before[:size], bytes(size)):
            open(path, "wb").write(rest)
            made = recorder(path, rate=50)
            assert len(made) == 0 and made.labels == [] and made.add(taken(1), "rest") and len(recorder(path)) == 1
    for foreign in (b"my notes", bytes(191) + b"x", bytes(400), b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4'"):
        open(path, "wb").write(foreign)
        with pytest.raises(ValueError, match="is no file of recordings"):
            recorder(path)
        assert open(path, "rb").read() == foreign
    np.save(path, np.zeros((3, 40)))
    with pytest.raises(ValueError, match="no file of recordings|other recordings"):
        recorder(path)


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    from odt.sensors import record

    path = str(tmp_path / "r.npy")
    made = recorder(path)
    made.add(taken(1), "rest")
    real = open

    class Full:
        """Writes so many bytes, then none."""

        def __init__(self, name, mode, room):
            self.file, self.room = real(name, mode), room

        def write(self, data):
            data = bytes(data)[: self.room]
            self.room -= len(data)
            self.file.write(data)
            if not self.room:
                raise OSError(28, "No space left on device")

        def __enter__(self):
            return self

        def __exit__(self, *unused):
            self.file.close()

        def __getattr__(self, name):
            return getattr(self.file, name)

    for room in range(1, 40):
        monkeypatch.setattr(record, "open", lambda name, mode, room=room: Full(name, mode, room), raising=False)
        with pytest.raises(OSError):
            made.add(taken(2), "wave")
        monkeypatch.undo()
        assert made.labels == ["rest"] and len(made) == 1
        again = recorder(path)
        assert again.labels == ["rest"] and len(again) == 1
    made.add(taken(3), "up")
    made.close()
    check(path, [("rest", 1), ("up", 3)])

    def full(*unused):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_file", full)
    with pytest.raises(OSError):
        made.remove(0)
    assert len(made) == 2 and made.labels == ["rest", "up"]
    check(path, [("rest", 1), ("up", 3)])
    os.rename(path, path + ".new")  # a remove() on a FAT, cut short after the old file went
    assert len(recorder(path)) == 2
