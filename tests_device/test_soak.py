"""A board's heap stays in one piece, whatever a model does: tests_device/soak.py. bench/soak.py runs it for longer."""

import re

import machines
import pytest
from stock_files import give

# name of a machine: whether its heap has room for a Teacher, too.
MACHINES = {"rp2040": True, "stock_rp2040": False}
_ROUND = re.compile(r"after (\d+) epochs: free (\d+)\n(?:.*\n){2} No\. of 1-blocks: .*, max free sz: (\d+)")
_BLOCK = 16  # bytes, of MicroPython's heap on 32 bits


def soak(name, rounds, epochs, timeout):
    """(epochs, bytes free, bytes of the largest free piece) after compile, and after each round."""
    with machines.open(name) as machine:
        if name.startswith("stock"):
            give(machine, "armv6m")
        arguments = {"rounds": rounds, "epochs": epochs, "teach": MACHINES[name]}
        text = machine.run("tests_device/soak.py", timeout=timeout, args=arguments)
    assert "imported PageHinkley" in text
    return [tuple(map(int, (done, free, int(piece) * _BLOCK))) for done, free, piece in _ROUND.findall(text)]


@pytest.mark.parametrize("name", MACHINES)
def test_what_stays_of_training_prediction_teaching_and_saving_lies_at_the_start_of_the_heap(name):
    (_, free, piece), *rounds = soak(name, 2, 20, 300)
    assert len(rounds) == 2
    for _, later, largest in rounds:
        assert largest > 0.9 * (piece - (free - later)), "%d of %d bytes are in one piece" % (largest, later)
    assert rounds[1][2] > 0.99 * rounds[0][2]
