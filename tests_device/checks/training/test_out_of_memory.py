"""A heap that is full leaves the model as it was, whichever allocation is the first that fails."""

import re

import machines
import pytest
from stock_files import give

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
        check(machine.run("tests_device/scripts/allocation.py", timeout=300), OPERATIONS, 20)


@pytest.mark.parametrize("name", ("qemu_m4", "qemu_rv32"))
def test_running_out_of_memory_on_a_board_leaves_the_model(name):
    """Sparser: each attempt is slow there.

    Nothing is mounted: an import asks mpremote for a mounted directory's files, and where memory ends within that, both
    wait forever.
    """
    with machines.open(name) as machine:
        machine.mounts = False
        text = machine.run("tests_device/scripts/allocation.py", args={"step": 512, "grow": 8}, timeout=600)
        check(text, OPERATIONS, 2)


STOCK = """
import gc
import odt

held = bytearray(HELD)  # a person's data
layers = [
    odt.Input((64, 3), dtype="int16", scale=1 / 1024), odt.Conv1D(8, 5, strides=2, activation="relu"), odt.MaxPool1D(2),
    odt.Conv1D(16, 3, activation="relu"), odt.GlobalAvgPool(), odt.Dense(4),
]
model = odt.Sequential(layers)
try:
    model.compile(odt.Adam(0.005), batch_size=16, seed=1)
    x, y = bytes([i % 16 for i in range(2 * 192 * 8)]), bytes([i % 4 for i in range(8)])
    model.fit(x, y, epochs=2, verbose=0)
    print("done")
except MemoryError as error:
    print(error)
"""


@pytest.mark.parametrize("held", (28000, 44000))
def test_compile_on_stock_firmware_leaves_room_for_fit_or_says_what_does(held):
    """Found by a newcomer: compile() took all but 32 KB, and fit() ended within opcodes.py, allocating 136 bytes."""
    with machines.open("stock_rp2040") as machine:
        give(machine, "armv6m")
        text = machine.exec(STOCK.replace("HELD", str(held)), timeout=300)
        if held == 28000:
            assert text == "done\n"
        else:
            assert re.search(
                r"training needs 44000 bytes beside arena and state.*; \d+ are free. Use a model file", text
            ), text
