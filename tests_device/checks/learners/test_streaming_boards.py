"""odt.sensors.stream hears on the machines what it hears on the PC, and its feed allocates nothing, as an interrupt
must not.
"""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import FOLDERS, give

SCRIPT = ROOT / "tests_device" / "scripts" / "streaming.py"


def facts(text):
    return re.findall(r"^(?:\w+Source \w+ \d+/1024|digest [0-9a-f]{8}|lost \d+ \d+)(?=\r?$)", text, re.M)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("streaming"))  # where the script writes its files
        found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 10 and found[:4] == [line.replace("Wav", "Csv") for line in found[4:8]]
    return found


def check(text, expected):
    assert facts(text) == expected
    assert "\na feed took 0 and 0 bytes of heap" in text and "\nso in an interrupt: lost 126" in text
    assert int(re.search(r"an update took (\d+) bytes", text)[1]) <= 64
    assert "\nlines are read in a heap of small pieces" in text  # MicroPython's readline(n) reserves n bytes


@pytest.mark.parametrize("name", machines.WITH_FLOAT30)
def test_a_recording_is_heard_as_on_the_pc(name, expected):
    with machines.open(name) as machine:
        check(machine.run(SCRIPT, timeout=300), expected)


@pytest.mark.parametrize("name", machines.WITH_FLOAT30)
def test_a_model_file_says_how_its_stream_is_made(name, tmp_path, monkeypatch):
    script = ROOT / "tests_device" / "scripts" / "hearing.py"
    monkeypatch.chdir(tmp_path)  # where the script writes its file
    expected = on_the_pc(script, {})
    assert "\n[('low', " in expected and expected.count("digest") == 2
    with machines.open(name) as machine:
        assert machine.run(script, timeout=300).replace("\r", "") == expected


@pytest.mark.parametrize("name, folder", FOLDERS)
def test_stock_firmware_hears_it_too(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        check(machine.run(SCRIPT, timeout=300), expected)
