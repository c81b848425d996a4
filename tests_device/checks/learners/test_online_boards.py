"""odt.online ends with the PC's bits on the machines, in C and in Python, and allocates nothing as it learns."""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import FOLDERS, give

import odt

SCRIPT = ROOT / "tests_device" / "scripts" / "online.py"


def facts(text):
    return re.findall(r"^(\w+: \d+ learned, digest [0-9a-f]{8}[ \d]*|labels .*?)\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 21 == len(set(found))
    return found


@pytest.mark.parametrize("name", machines.WITH_FLOATS)
def test_1000_samples_end_with_the_digest_of_the_pc(name, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=300)
    assert facts(text) == expected
    assert "\n20 samples took 0 bytes of heap" in text


@pytest.mark.parametrize("name, folder", FOLDERS)
def test_modules_for_stock_firmware_end_with_the_digest_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        text = machine.run(SCRIPT, timeout=300)
        assert facts(text) == expected
        text = machine.exec(
            "import sys\nfrom odt.online import OSELM\nOSELM(2)\nprint([n for n in sys.modules if n[:4] == '_odt'])"
        )
        assert "_odt_online" in text and "_odt_f32" not in text


def test_python_ends_with_the_digest_of_the_kernels():
    args = {"steps": 100, "executor": "reference"}
    with machines.open("unix") as machine:
        text = machine.run(SCRIPT, args=args, timeout=300)
    expected = facts(on_the_pc(SCRIPT, {"steps": 100}))
    python = facts(on_the_pc(SCRIPT, args))
    odt.executor.use("native")
    assert facts(text) == expected == python
