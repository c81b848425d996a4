"""What Python code does while the extension reads its arguments, or runs,
does it no harm (native/bindings/cpython.c).
"""

import importlib.util
import os
import signal
import subprocess
import sys
import sysconfig
from array import array

import pytest

from odt.base import opcodes
from odt.base.opcodes import CONTROL_WORDS

_odt = pytest.importorskip("_odt")

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the module of exporter.c is."""
    folder = tmp_path_factory.mktemp("exporter")
    path = str(folder / ("exporter" + sysconfig.get_config_var("EXT_SUFFIX")))
    include = sysconfig.get_paths()["include"]
    subprocess.run(
        ["gcc", "-O1", "-shared", "-fPIC", "-I", include, os.path.join(HERE, "exporter.c"), "-o", path], check=True
    )
    return folder


@pytest.fixture(scope="module")
def exporter(folder):
    spec = importlib.util.spec_from_file_location("exporter", str(next(folder.iterdir())))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Exporter


def clears(count):
    """A program that clears its arena's words one after the other."""
    words = [0x3154444F, opcodes.VERSION, 12 + 3 * count, 4 * count, 0, 0] + [12, 12 + 3 * count] * 3
    for i in range(count):
        words += [1, 4 * i, 1]
    return array("i", words).tobytes()


# In a process of its own: it may crash, as it did.
CHANGED = """
import gc, sys
sys.path[:0] = %r
from array import array
import _odt
from exporter import Exporter
from test_bindings import clears
from odt.base.regions import CONTROL_WORDS

loaded = _odt.load(clears(1))
for at in range(6):
    for name, change in (
        ("shrinks", lambda: (regions.clear(), gc.collect())),
        ("grows", lambda: regions.extend([None] * 1000)),
        ("is replaced", lambda: regions.__setitem__(slice(None), [bytes(1) for _ in range(6)])),
    ):
        arena, control = array("i", [7]), array("i", [0] * CONTROL_WORDS)
        regions = [arena, None, control, None, None, None]
        regions[at] = Exporter(regions[at] or bytes(4), change)
        _odt.run(loaded, regions, 12, 15)
        assert list(arena) == [0], (at, name)
print("held")
"""


def test_a_list_of_regions_may_change_while_its_buffers_are_fetched(folder):
    script = CHANGED % [str(folder), HERE, *sys.path]
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "held\n"), done.stderr


def test_a_buffer_that_fails_leaves_the_others_free(exporter):
    def fail():
        raise LookupError("no buffer")

    control = bytearray(4 * CONTROL_WORDS)
    regions = [array("i", [7]), None, control, exporter(b"", fail), None, None]
    counts = lambda: [sys.getrefcount(region) for region in regions if region is not None]  # noqa: E731
    before = counts()
    with pytest.raises(LookupError, match="no buffer"):
        _odt.run(_odt.load(clears(1)), regions, 12, 15)
    assert counts() == before
    regions[0].append(1)  # a BufferError if a view of it were left
    control.append(1)


def test_a_signal_ends_a_run_after_the_instruction_in_which_it_comes(exporter):
    class Ended(Exception):
        pass

    def end(number, frame):
        raise Ended

    before = signal.signal(signal.SIGUSR1, end)
    try:
        loaded, arena = _odt.load(clears(3)), array("i", [5, 6, 7])
        with pytest.raises(Ended):
            _odt.run(
                loaded, [exporter(arena, signal.SIGUSR1), None, bytearray(4 * CONTROL_WORDS), None, None, None], 12, 21
            )
        assert list(arena) == [0, 6, 7]
        signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
        seen = []
        _odt.run(
            loaded, [exporter(arena, signal.SIGUSR1), None, bytearray(4 * CONTROL_WORDS), None, None, None], 12, 21
        )
        assert list(arena) == [0, 0, 0] and seen == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, before)


class Number:
    """Moves a buffer as it says what it is."""

    def __init__(self, value, buffer):
        self.value, self.buffer = value, buffer

    def __index__(self):
        self.buffer.extend(bytes(100000))
        return self.value


def test_numbers_that_move_the_buffer_come_before_it():
    data = bytearray(b"\x01" * 8)
    assert _odt.crc32(data, Number(0, data)) == _odt.crc32(bytes(data))
    _odt.draw(data, Number(1, data), Number(2, data))
    assert data[-2:] != b"\0\0"
    _odt.draw_bytes(data, len(data), 150000, Number(1, data), Number(2, data), False)
    assert any(data[-200000:-199900]) and any(data[-50100:-50000]) and not any(data[-50000:])
    kind = tuple(Number(value, data) for value in (ord("B"), 1, 1, 0))
    assert _odt.count_samples(data, kind) == len(data) == 8 + 9 * 100000


def test_bytes_drawn_are_those_of_the_numbers_drawn():
    numbers = array("h", bytes(200))
    _odt.draw(numbers, 0x12345678, 7)
    data = bytearray(b"\x55" * 210)
    _odt.draw_bytes(data, 3, 100, 0x12345678, 7, False)
    _odt.draw_bytes(data, 103, 60, 0x12345678, 47, True)
    upper, lower = [(value + 128 >> 8) & 255 for value in numbers], [value & 255 for value in numbers]
    assert list(data) == [0x55] * 3 + upper + lower[40:] + [0x55] * 47
    for at, count in ((-1, 2), (0, 211), (210, 1), (211, 0), (5, -1)):
        with pytest.raises(ValueError, match="the buffer does not have these bytes"):
            _odt.draw_bytes(data, at, count, 1, 0, False)
