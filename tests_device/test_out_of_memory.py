"""A heap that is full leaves the model as it was, whichever allocation is the first that fails."""

import re

import machines
import pytest

OPERATIONS = ["set_weights", "compile", "fit", "first fit", "save", "load"]


class Small(machines.Unix):
    """The unix port with a heap that is quickly filled."""

    heap = "400k"


def check(text, operations, least):
    found = re.findall(r"^(.*): (\d+) times out of memory, then done", text, re.MULTILINE)
    assert [name for name, _ in found] == operations
    assert all(int(count) >= least for _, count in found), text


def test_running_out_of_memory_anywhere_leaves_the_model():
    with Small() as machine:
        check(machine.run("tests_device/allocation.py", timeout=300), OPERATIONS, 20)


@pytest.mark.parametrize("name", ("qemu_m4",))
def test_running_out_of_memory_on_a_board_leaves_the_model(name):
    """Sparser: each attempt is slow there.

    Nothing is mounted: an import asks mpremote for a mounted directory's files, and where memory ends within that, both wait forever.
    """
    with machines.open(name) as machine:
        machine.mounts = False
        text = machine.run("tests_device/allocation.py", args={"step": 512, "grow": 8}, timeout=600)
        check(text, OPERATIONS, 2)
