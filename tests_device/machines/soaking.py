"""What the heap of a board is while tests_device/scripts/soak.py runs there."""

import re

import machines
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
        text = machine.run("tests_device/scripts/soak.py", timeout=timeout, args=arguments)
    assert "imported PageHinkley" in text
    return [tuple(map(int, (done, free, int(piece) * _BLOCK))) for done, free, piece in _ROUND.findall(text)]
