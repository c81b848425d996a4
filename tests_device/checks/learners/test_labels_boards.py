"""odt.continual.labels chooses the same samples on every machine, whatever its floats are."""

import machines
import pytest
from digests import ROOT, on_the_pc


@pytest.mark.parametrize("name", machines.WITH_FLOAT30)
def test_every_machine_asks_about_the_same_samples(name):
    script = ROOT / "tests_device" / "scripts" / "asking.py"
    with machines.open(name) as machine:
        text = machine.run(script, timeout=600)
    expected = on_the_pc(script, {})
    assert text.strip() == expected.strip() and len(expected.splitlines()) == 15
