"""odt.sensors.rules ends with the PC's bits on the machines."""

import re

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from stock_files import give

SCRIPT = ROOT / "tests_device" / "scripts" / "rules.py"


def facts(text):
    return re.findall(r"^((?:rules|said|again): .*?)\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    counts = [int(n) for n in re.findall(r"\d+", found[0].split("]")[0])]
    assert len(found) == 3 and len(counts) == 6 and min(counts) > 2 and found[2] == "again: True"
    return found


@pytest.mark.parametrize("name", ("unix", "qemu_m4", "qemu_rv32", "rp2040", "stock_unix"))
def test_1000_events_end_with_the_digest_of_the_pc(name, expected):
    with machines.open(name) as machine:
        if name == "stock_unix":
            give(machine, "x64")
        text = machine.run(SCRIPT, timeout=300)
    assert facts(text) == expected
    assert "\n100 events took 0 bytes of heap" in text
