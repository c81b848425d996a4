"""`python -m odt record`: what a script's sensor says while a label is asked for is in the file, whatever a serial line
does to it.
"""

import io
import sys
from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odt.host import commands
from odt.host.boards import record
from odt.host.boards.board import BoardError

SENSOR = """
import time
from array import array
from odt.sensors import Window

window, rate = Window(8, 2, hop=4), 50
print("the script's own")


class Counter:
    at = 0
    ended = False

    def readinto(self, buffer):
        time.sleep(0.002)
        count = len(buffer) // 2
        buffer[:] = bytes(array("h", [(self.at + i) % 30000 for i in range(count)]))
        self.at += count
        self.ended = self.at >= END
        return 0 if self.ended else 2 * count


source = Counter()
"""


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    """(exit status, what is printed, the records) of a recording here."""

    def call(*arguments, script=SENSOR, end=10**9, typed=""):
        (tmp_path / "sensor.py").write_text(script.replace("END", str(end)))
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        path = tmp_path / "r.npy"
        status = commands.main(["record", str(tmp_path / "sensor.py"), "--on", "host", "-o", str(path), *arguments])
        assert [each.name for each in tmp_path.glob("*.py")] == ["sensor.py"]
        return status, capfd.readouterr().out, np.load(path) if path.exists() else None

    return call


def whole(records):
    """Every window is numbers that follow one another."""
    flat = records["x"].reshape(len(records), -1)
    assert (flat == flat[:, :1] + np.arange(flat.shape[1])).all()
    return flat[:, 0].tolist()


def test_windows_after_a_label_are_recorded_and_the_file_goes_on(run):
    status, text, found = run("--label", "wave", "--count", "3")
    assert status == 0 and "odt: 8 x 2 of typecode 'h', 50 a second into" in text and "wave: 3, 3 in all" in text
    starts = whole(found)
    assert np.diff(starts).tolist() == [8, 8] and found["label"].tolist() == [b"wave"] * 3
    status, text, found = run("--count", "2", typed="rest\n\n-\n" + "long" * 6 + "\nup\n")
    assert status == 0 and "1 to 19 bytes is expected" in text
    assert found["label"].tolist() == [b"wave"] * 3 + [b"rest"] * 3 + [b"up"] * 2
    assert found["y"].tolist() == [0] * 3 + [1] * 3 + [2] * 2
    starts = whole(found)[3:]
    # Nothing of a window came before its label was given: those of two labels have nothing in common.
    assert starts[2] >= starts[1] + 16 and starts[3] >= starts[2] + 16


def test_what_goes_wrong_is_named(run, monkeypatch):
    status, text, found = run("--label", "wave", "--count", "1000", end=1000)
    assert status == 1 and "odt: the script ended\n    the script's own" in text
    before = len(found)
    status, text, found = run("--label", "wave", "--count", "1000", "--budget", str(192 + 52 * (before + 2)))
    assert status == 1 and "is full: --budget is %d records" % (before + 2) in text and len(found) == before + 2
    status, text, _ = run("--label", "wave", script=SENSOR.replace("Window(8", "Window(9"))
    assert status == 1 and "holds other recordings" in text
    status, text, _ = run(script="import odt.nothing\n")
    assert status == 1 and "odt: host: the script failed" in text
    status, text, _ = run(script="print('nothing of it')\n")
    assert status == 1 and "the script" in text
    monkeypatch.setattr(record, "_PATIENCE", 3)
    status, text, _ = run("--label", "x", script=SENSOR.replace("self.at += count", "time.sleep(60)"))
    assert status == 1 and "no window came in 3 seconds" in text
    assert commands.main(["record", "nowhere.py", "--on", "host"]) == 1


class Text:
    """A process that prints this."""

    def __init__(self, *parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)


def lines():
    """What a board sends of 40 windows, in one text."""
    out = io.StringIO()
    script = SENSOR.replace("END", "360") + record._SENDER
    stdout, sys.stdout = sys.stdout, out
    try:
        exec(compile(script, "sensor.py", "exec"), {"__name__": "__main__"})
    finally:
        sys.stdout = stdout
    return out.getvalue()


SENT = lines()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(SENT)), st.integers(0, 9), st.text(max_size=6)), max_size=8),
    st.integers(1, 400),
)
def test_of_a_line_that_mixes_and_loses_characters_only_whole_windows_are_taken(damage, step):
    text = SENT
    for at, lost, more in damage:
        text = text[:at] + more + text[at + lost :]
    sensor = record.Sensor(Text(*[text[k : k + step] for k in range(0, len(text), step)]))
    found = []
    with pytest.raises(BoardError, match="the script ended"):
        while True:
            found.append(sensor.next())
    assert all(x is None or np.array_equal(x, np.arange(16) + x[0]) for _, x in found)
    assert all(x is None or position == x[0] // 2 + 8 for position, x in found)
    if not damage:
        assert len(found) == 1 + (352 // 2 - 8) // 4 + 1 and not sensor.damaged
    assert len(found) >= 1 + 42 - 2 * (9 + 1) * len(damage) or not sensor.kind


def test_picture_has_each_channel_where_its_numbers_are():
    x = array("h", [0, 10, 5, 10, 10, 10])  # a channel that rises, one that is high
    rows = record.picture(x, 2, "wave 1/2", 40).plain.split("\n")
    assert rows[0] == "wave 1/2" and [float(rows[k].split("|")[0]) for k in (1, 5, 9)] == [10, 5, 0]
    plot = [row.split("|")[1] for row in rows[1:10]]
    assert plot[8][0] == plot[4][14] == "0" and plot[0][0] == plot[0][27] == "1"
    assert record.picture(array("h", [3, 3]), 1, "flat", 40) and record.picture(None, 1, "none", 40).plain == "none"
