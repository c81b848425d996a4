"""odt.continual.replay and odt.continual.latents keep, draw and learn on the machines as on the PC, bit for bit."""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import SMALL_FOLDERS, give

import odt

SCRIPT = ROOT / "tests_device" / "scripts" / "replay.py"


def facts(text):
    return re.findall(r"^(\w+ of \w+: digest .*?|\w+: (?:scale|loaded|refused).*?)\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 16 == len(set(found)) and "stale" in found[7] and "stale" in found[15]
    return found


@pytest.mark.parametrize("name", machines.WITH_FLOATS)
def test_learning_with_replay_ends_with_the_digests_of_the_pc(name, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=300)
    assert facts(text) == expected
    taken = [int(found) for found in re.findall(r"heap by batch: (\d+) bytes", text)]
    # Views of 8 samples, of words of 8 or 4 bytes, and of the logits that some have: no batch, and no long integers.
    assert len(taken) == 10
    for number, found in enumerate(taken):
        assert found <= 8 * (112 if name == "unix" else 56) * (1 if number % 5 != 3 else 1.65), taken


@pytest.mark.parametrize("name, folder", SMALL_FOLDERS)
def test_modules_for_stock_firmware_end_with_the_digests_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


def test_python_ends_with_the_digests_of_the_kernels(expected):
    with machines.open("unix") as machine:
        assert facts(machine.run(SCRIPT, args={"executor": "reference"}, timeout=300)) == expected
    python = facts(on_the_pc(SCRIPT, {"executor": "reference"}))
    odt.executor.use("native")
    assert python == expected
