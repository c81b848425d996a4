"""A model has one thread at a time on MicroPython, too: without a GIL, as the unix port and a Pico have none."""

import machines
import pytest
from digests import ROOT

SESSIONLESS = {"summary", "disassemble", "draw"}  # read the plan alone, which a fit leaves as it is


def check(text):
    refused, taken, *rest = [set(line.split()[1:]) for line in text.splitlines()[-4:]]
    assert taken <= SESSIONLESS and len(refused | taken) == 19 and not refused & taken, text
    assert text.splitlines()[-2:] == ["digest True", "afterwards any thread may True"]


@pytest.mark.parametrize("name", machines.UNIX)
def test_a_fit_in_one_thread_refuses_all_calls_of_another(name):
    with machines.open(name) as machine:
        check(machine.run(ROOT / "tests_device" / "scripts" / "owner.py", timeout=120))
