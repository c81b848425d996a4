"""Callbacks, batches, slices, readers and checkpoints end with one digest on every machine."""

import re

import machines
import pytest
from digests import ROOT, on_the_pc
from working_folder import folder  # noqa: F401

import odt

HERE = ROOT / "tests_device" / "scripts"


def digests(text):
    return re.findall(r"(\w+) digest ([0-9a-f]{8})", text)


@pytest.mark.parametrize("name", machines.CORES)
def test_callbacks_batches_and_slices_change_no_bit(name):
    with machines.open(name) as machine:
        text = machine.run(HERE / "habits.py", timeout=900)
    assert digests(text) == digests(on_the_pc(HERE / "habits.py", {})) and len(digests(text)) == 12
    assert "while others ran" in text
    assert "\nsteps took 0 bytes of heap" in text and "\nwatched steps took 0 bytes of heap" in text


@pytest.mark.parametrize("name, executor", (("unix", "native"), ("unix", "reference"), ("unix_float30", "reference")))
def test_memoryviews_and_labels_of_any_width_are_what_they_are_without_kernels_too(name, executor):
    """As on CircuitPython, whose memoryviews do not tell their elements either."""
    with machines.open(name) as machine:
        text = machine.run(HERE / "views.py", args={"executor": executor}, timeout=300)
    expected = digests(on_the_pc(HERE / "views.py", {}))
    odt.executor.use("native")
    if name == "unix_float30":  # whose floats are shorter: only of integers are the bits the same
        text, expected = (
            [each for each in digests(text) if "int" in each[0]],
            [each for each in expected if "int" in each[0]],
        )
    else:
        text = digests(text)
    assert text == expected and len(text) >= 4
