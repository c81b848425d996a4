"""odt.noise ends with the PC's bits on the machines, in C and in Python, and measures the same accuracies."""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import FOLDERS, give

import odt

SCRIPT = ROOT / "tests_device" / "scripts" / "noise.py"


def facts(text):
    return re.findall(r"^(\w+ \w+[\w ]*: \d+ steps, digest [0-9a-f]{8}, hits [\d ]+, arena \d+)\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 6 == len(set(found))
    return found


@pytest.mark.parametrize("name", machines.WITH_FLOATS)
def test_steps_under_noise_end_with_the_digest_of_the_pc(name, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=300)
    assert facts(text) == expected
    taken = re.findall(r"^a step took (\d+) bytes of heap, of Adam (\d+)", text, re.M)
    assert len(taken) == 6 and all(int(found) <= int(plain) for found, plain in taken), taken


@pytest.mark.parametrize("name, folder", FOLDERS)
def test_modules_for_stock_firmware_train_under_noise_to_the_digest_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


def test_python_trains_under_noise_to_the_digest_of_the_kernels():
    args = {"steps": 2, "executor": "reference"}
    with machines.open("unix") as machine:
        text = machine.run(SCRIPT, args=args, timeout=300)
    expected = facts(on_the_pc(SCRIPT, {"steps": 2}))
    python = facts(on_the_pc(SCRIPT, args))
    odt.executor.use("native")
    assert facts(text) == expected == python
