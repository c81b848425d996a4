"""Callbacks, batches, slices, readers and checkpoints end with one digest on every machine."""

import os
import re

import machines
import pytest
from test_training import ROOT, on_the_pc

NAMES = ("unix", "qemu_m4", "rp2040")
HERE = ROOT / "tests_device"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Scripts write files to where they run, on the PC too."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("habits"))
    yield
    os.chdir(before)


def digests(text):
    return re.findall(r"(\w+) digest ([0-9a-f]{8})", text)


@pytest.mark.parametrize("name", NAMES)
def test_callbacks_batches_and_slices_change_no_bit(name):
    with machines.open(name) as machine:
        text = machine.run(HERE / "habits.py", timeout=900)
    assert digests(text) == digests(on_the_pc(HERE / "habits.py", {})) and len(digests(text)) == 11
    assert "while others ran" in text
    assert "\nsteps took 0 bytes of heap" in text and "\nwatched steps took 0 bytes of heap" in text
