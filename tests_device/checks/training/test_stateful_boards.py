"""Stateful recurrent layers train and predict to the PC's bits on the machines; a step allocates its result alone."""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import FOLDERS, give

import odt

SCRIPT = ROOT / "tests_device" / "scripts" / "stateful.py"
MOST = 200  # bytes of the loss that a step returns, and what it is made from


def facts(text):
    return re.findall(r"^(\w+ \w+: digest [0-9a-f]{8}, outputs [0-9a-f]{8})\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 8 == len(set(found))
    return found


@pytest.mark.parametrize("name", machines.WITH_FLOATS)
def test_stateful_layers_end_with_the_digest_of_the_pc(name, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=300)
    if name == "unix_float30":
        assert [line for line in facts(text) if line.startswith("int8")] == expected[:4]
    else:
        assert facts(text) == expected
    assert max(map(int, re.findall(r"heap (-?\d+)", text))) < MOST, text


@pytest.mark.parametrize("name, folder", FOLDERS)
def test_modules_for_stock_firmware_end_with_the_digest_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


def test_python_ends_with_the_digest_of_the_kernels(expected):
    python = facts(on_the_pc(SCRIPT, {"executor": "reference"}))
    odt.executor.use("native")
    assert python == expected
