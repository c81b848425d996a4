"""odt.continual.teach decides, learns and forgets on the machines as on the PC, bit for bit."""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import FOLDERS, give

import odt

SCRIPT = ROOT / "tests_device" / "scripts" / "teach.py"


def facts(text):
    return re.findall(r"^(\w+ \w+: \d+ learned, digest [0-9a-f]{8} .*?|labels .*?)\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 10 == len(set(found)) and "None/" in found[4] + found[9]
    return found


@pytest.mark.parametrize("name", machines.WITH_FLOATS)
def test_what_is_taught_and_forgotten_ends_with_the_digest_of_the_pc(name, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=300)
    assert facts(text) == expected
    taken = re.findall(r"20 predictions took (\d+) bytes of heap, of the front (\d+)", text)
    # A tuple of two and, where floats lie in heap, a float.
    limit = 20 * (48 if name == "unix" else 16 + 16 * (name != "unix_float30"))
    assert len(taken) == 2 and all(int(found) <= int(front) + limit for found, front in taken), taken


@pytest.mark.parametrize("name, folder", FOLDERS)
def test_modules_for_stock_firmware_end_with_the_digest_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


def test_python_ends_with_the_digest_of_the_kernels(expected):
    with machines.open("unix") as machine:
        assert facts(machine.run(SCRIPT, args={"executor": "reference"}, timeout=300)) == expected
    python = facts(on_the_pc(SCRIPT, {"executor": "reference"}))
    odt.executor.use("native")
    assert python == expected
