"""A first step in micro-batches ends with the bits of the PC, also where callbacks come in between instructions."""

import machines
import pytest
from digests import ROOT, on_the_pc

SCRIPT = ROOT / "tests_device" / "scripts" / "first_steps.py"


@pytest.fixture(scope="module")
def expected():
    lines = on_the_pc(SCRIPT, {}).splitlines()
    assert len(lines) == 2 and lines[0] == lines[1]
    return lines[0]


@pytest.mark.parametrize("name", ("unix", "qemu_m4", "rp2040"))
def test_micro_batches_begin_as_on_the_pc(name, expected):
    with machines.open(name) as machine:
        assert machine.run(SCRIPT, timeout=300).splitlines() == [expected, expected, "callbacks came in"]
