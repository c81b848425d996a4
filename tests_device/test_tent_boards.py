"""odt.tent adapts on the machines as on the PC, bit for bit."""

import re
from pathlib import Path

import machines
import odt
import pytest
from test_mpy import give
from test_training import on_the_pc

SCRIPT = Path(__file__).with_name("tent.py")


def facts(text):
    return re.findall(r"^\w+: (?:by|of a file|refused).*?(?=\r?$)", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    Path("tent.odt").unlink()
    assert len(found) == 8 == len(set(found)) and all("of one class" in found[i] and "True" in found[i] for i in (2, 6))
    return found


@pytest.mark.parametrize("name", ("unix", "unix_float30", "qemu_m4", "qemu_m4hf", "rp2040"))
def test_adapted_models_end_with_the_digests_of_the_pc(name, expected):
    with machines.open(name) as machine:
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


@pytest.mark.parametrize("name, folder", (("stock_unix", "x64"), ("stock_qemu_m3", "armv6m")))
def test_modules_for_stock_firmware_end_with_the_digests_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


def test_python_ends_with_the_digests_of_the_kernels(expected):
    with machines.open("unix") as machine:
        assert facts(machine.run(SCRIPT, args={"executor": "reference"}, timeout=300)) == expected
    python = facts(on_the_pc(SCRIPT, {"executor": "reference"}))
    Path("tent.odt").unlink()
    odt.executor.use("native")
    assert python == expected
