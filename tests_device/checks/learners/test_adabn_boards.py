"""odt.continual.adabn moves statistics, and odt.continual.tent adapts, on the machines as on the PC, bit for bit."""

import re
from pathlib import Path

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import SMALL_FOLDERS, give

import odt

REFUSED = {"adabn": "alike", "tent": "of one class"}  # a script, and why it has been refused twice


class Script:
    """A script beside this file, and what it ends with on the PC."""

    def __init__(self, name):
        self.path, self.file = ROOT / "tests_device" / "scripts" / (name + ".py"), Path(name + ".odt")
        self.expected = self.on_the_pc({})
        found = self.expected
        assert len(found) == 8 == len(set(found))
        assert all(REFUSED[name] in found[i] and "True" in found[i] for i in (2, 6))

    def on_the_pc(self, args):
        found = facts(on_the_pc(self.path, args))
        self.file.unlink()
        return found


def facts(text):
    return re.findall(r"^\w+: (?:by|of a file|refused).*?(?=\r?$)", text, re.M)


@pytest.fixture(scope="module", params=REFUSED)
def script(request):
    return Script(request.param)


@pytest.mark.parametrize("name", machines.WITH_FLOATS)
def test_models_end_with_the_digests_of_the_pc(name, script):
    with machines.open(name) as machine:
        assert facts(machine.run(script.path, timeout=300)) == script.expected


@pytest.mark.parametrize("name, folder", SMALL_FOLDERS)
def test_modules_for_stock_firmware_end_with_the_digests_of_the_pc(name, folder, script):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(script.path, timeout=300)) == script.expected


def test_python_ends_with_the_digests_of_the_kernels(script):
    with machines.open("unix") as machine:
        assert facts(machine.run(script.path, args={"executor": "reference"}, timeout=300)) == script.expected
    python = script.on_the_pc({"executor": "reference"})
    odt.executor.use("native")
    assert python == script.expected
