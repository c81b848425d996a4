"""Traces, ranges and profiles are the same on every machine, but for the time."""

import re

import machines
import pytest
from digests import ROOT, on_the_pc
from working_folder import folder  # noqa: F401  scripts write files to where they run


def lines(text):
    """All but times: digests, MACs, bytes, and the table of ranges."""
    return [line for line in text.splitlines() if re.match(r"int8 |float32 |\w+.*%$", line)]


@pytest.mark.parametrize("name", machines.CORES)
def test_what_is_seen_within_a_step_is_what_the_pc_sees(name):
    script = ROOT / "tests_device" / "scripts" / "looking.py"
    with machines.open(name) as machine:
        text = machine.run(script, timeout=600)
    expected = lines(on_the_pc(script, {}))
    assert lines(text) == expected and len(expected) > 14
    assert "float32 took time" in text
    assert "times in us, of a step of 8 samples" in text
    printed = [line for line in text.splitlines() if not re.match("int8 |float32 ", line)]
    assert all(len(line) < 80 for line in printed)
