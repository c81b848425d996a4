"""odt.recurrent.Steps ends with the PC's bits on the machines, which are those of the window, and allocates nothing."""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import FOLDERS, give

import odt

SCRIPT = ROOT / "tests_device" / "scripts" / "stepping.py"


def facts(text):
    return re.findall(r"^(\w+ \w+: \w+, outputs [0-9a-f]{8}, model [0-9a-f]{8})\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 8 == len(set(found)) and all(": equal," in line for line in found)
    return found


@pytest.mark.parametrize("name", machines.WITH_FLOATS)
def test_steps_end_with_the_outputs_of_the_pc(name, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=300)
    if name == "unix_float30":
        assert [line for line in facts(text) if line.startswith("int8")] == expected[:4]
    else:
        assert facts(text) == expected
    assert set(re.findall(r"heap (-?\d+)", text)) == {"0"}, text


@pytest.mark.parametrize("name, folder", FOLDERS)
def test_modules_for_stock_firmware_step_to_the_outputs_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


def test_python_steps_to_the_outputs_of_the_kernels(expected):
    args = {"executor": "reference"}
    python = facts(on_the_pc(SCRIPT, args))
    odt.executor.use("native")
    assert python == expected
