"""odt.ZerothOrder ends with the PC's bits on the machines, in C and in Python."""

import re
from pathlib import Path

import machines
import odt
import pytest
from test_mpy import give
from test_training import on_the_pc

SCRIPT = Path(__file__).with_name("zeroth.py")


def facts(text):
    return re.findall(r"^(\w+ \w+[\w ]*: \d+ steps, digest [0-9a-f]{8}, arena \d+)\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 8 == len(set(found))
    return found


@pytest.mark.parametrize("name", ("unix", "unix_float30", "qemu_m4", "qemu_m4hf", "rp2040"))
def test_steps_end_with_the_digest_of_the_pc(name, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=300)
    assert facts(text) == expected
    taken = re.findall(r"^a step took (\d+) bytes of heap, of SGD (\d+)", text, re.M)
    assert len(taken) == 8 and all(int(found) <= int(plain) for found, plain in taken), taken


@pytest.mark.parametrize(
    "name, folder", (("stock_unix", "x64"), ("stock_qemu_m3", "armv6m"), ("stock_qemu_m4hf", "armv7emsp"))
)
def test_modules_for_stock_firmware_end_with_the_digest_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


def test_python_ends_with_the_digest_of_the_kernels():
    args = {"steps": 3, "executor": "reference"}
    with machines.open("unix") as machine:
        text = machine.run(SCRIPT, args=args, timeout=300)
    expected = facts(on_the_pc(SCRIPT, {"steps": 3}))
    python = facts(on_the_pc(SCRIPT, args))
    odt.executor.use("native")
    assert facts(text) == expected == python
