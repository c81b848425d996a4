"""odt.sensors.features ends with the PC's bits on the machines, in C and in Python,
and allocates nothing for a frame.
"""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import give

import odt

SCRIPT = ROOT / "tests_device" / "scripts" / "features.py"


def facts(text):
    return re.findall(
        r"^(\d+ of \d+, \d+ channels: [0-9a-f]{8}|LogMel.*?|refused: .*?|trained: [0-9a-f]{8})\r?$", text, re.M
    )


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 14 == len(set(found))
    return found


@pytest.mark.parametrize("name", ("unix", "unix_float30", "qemu_m3", "qemu_m4", "qemu_m4hf", "qemu_rv32", "rp2040"))
def test_frames_end_with_the_bits_of_the_pc(name, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=300)
    assert facts(text) == expected
    assert "\n4 frames took 0 bytes of heap" in text


@pytest.mark.parametrize(
    "name, folder",
    (
        ("stock_unix", "x64"),
        ("stock_qemu_m3", "armv6m"),
        ("stock_qemu_m3", "armv7m"),
        ("stock_qemu_m4hf", "armv7emsp"),
        ("stock_qemu_rv32", "rv32imc"),
    ),
)
def test_modules_for_stock_firmware_end_with_the_bits_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        text = machine.run(SCRIPT, timeout=300)
        assert facts(text) == expected
        text = machine.exec(
            "import sys\nfrom odt.sensors import LogMel\nLogMel()\n"
            "print([n for n in sys.modules if n[:4] == '_odt' or n == 'odt.sensors.features.tables'])"
        )
        assert "_odt_features" in text and "_odt_conv" not in text and "tables" not in text


def test_python_ends_with_the_bits_of_the_kernels():
    args = {"frames": 1, "executor": "reference"}
    with machines.open("unix") as machine:
        text = machine.run(SCRIPT, args=args, timeout=300)
    expected = facts(on_the_pc(SCRIPT, {"frames": 1}))
    python = facts(on_the_pc(SCRIPT, args))
    odt.executor.use("native")
    assert facts(text) == expected == python
