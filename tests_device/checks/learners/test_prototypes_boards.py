"""odt.continual.prototypes decides on the machines as on the PC."""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import SMALL_FOLDERS, give

import odt

SCRIPT = ROOT / "tests_device" / "scripts" / "prototypes.py"


def facts(text):
    return re.findall(r"^(\w+ \w+: (?:digest|without|again) .*?)\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 12 == len(set(found))
    for digest, without, again in zip(found[::3], found[1::3], found[2::3]):
        assert again[-8:] in digest and again[-8:] not in without and "-" in digest and "5" in digest
    return found


@pytest.mark.parametrize("name", machines.WITH_FLOATS)
def test_prototypes_decide_as_on_the_pc(name, expected):
    with machines.open(name) as machine:
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


@pytest.mark.parametrize("name, folder", SMALL_FOLDERS)
def test_modules_for_stock_firmware_decide_as_on_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


def test_python_decides_as_the_kernels(expected):
    with machines.open("unix") as machine:
        assert facts(machine.run(SCRIPT, args={"executor": "reference"}, timeout=300)) == expected
    python = facts(on_the_pc(SCRIPT, {"executor": "reference"}))
    odt.executor.use("native")
    assert python == expected
