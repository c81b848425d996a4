"""odt.ZerothOrder ends with the PC's bits on the machines, in C and in Python."""

import re
import time

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from serial_repl import connect, read_until
from stock_files import FOLDERS, give

import odt

SCRIPT = ROOT / "tests_device" / "scripts" / "zeroth.py"


def facts(text):
    return re.findall(r"^(\w+ \w+[\w ]*: \d+ steps, digest [0-9a-f]{8}, arena \d+)\r?$", text, re.M)


@pytest.fixture(scope="module")
def expected():
    found = facts(on_the_pc(SCRIPT, {}))
    assert len(found) == 8 == len(set(found))
    return found


@pytest.mark.parametrize("name", machines.WITH_FLOATS)
def test_steps_end_with_the_digest_of_the_pc(name, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=300)
    assert facts(text) == expected
    taken = re.findall(r"^a step took (\d+) bytes of heap, of SGD (\d+)", text, re.M)
    assert len(taken) == 8 and all(int(found) <= int(plain) for found, plain in taken), taken


@pytest.mark.parametrize("name, folder", FOLDERS)
def test_modules_for_stock_firmware_end_with_the_digest_of_the_pc(name, folder, expected):
    with machines.open(name) as machine:
        give(machine, folder)
        assert facts(machine.run(SCRIPT, timeout=300)) == expected


def test_python_ends_with_the_digest_of_the_kernels():
    args = {"steps": 3, "executor": "reference"}
    with machines.open("unix") as machine:
        text = machine.run(SCRIPT, args=args, timeout=300)
    expected = facts(on_the_pc(SCRIPT, {"steps": 3}))
    python = facts(on_the_pc(SCRIPT, args))
    odt.executor.use("native")
    assert facts(text) == expected == python


INTERRUPTED = """
import odt
x, y = [[i % 7 / 7, i % 3 / 3] for i in range(24)], [i % 3 for i in range(24)]
model = odt.Sequential([odt.Input((2,)), odt.Dense(32, "relu"), odt.Dense(32, "relu"), odt.Dense(3)])
model.compile(odt.ZerothOrder(1e-6, epsilon=0.5), dtype={dtype!r}, batch_size=24, seed=1)
_ = model.fit(x, y, verbose=0)
before = model.get_weights()
def go():
    print("rea" + "dy")
    while True:
        model.train_step(x, y)
def far():
    return max([max([abs(a - b) for a, b in zip(*pair)]) for pair in zip(model.get_weights(), before)])
"""


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_ctrl_c_on_a_board_leaves_no_weight_moved(dtype):
    """The unix port's Ctrl-C may end within an instruction (MICROPY_ASYNC_KBD_INTR), a board's may not."""
    with machines.open("rp2040") as board:
        board.exec("")
        with connect(board) as line:
            line.sendall(b"\x05")  # paste
            read_until(line, b"=== ")
            line.sendall(INTERRUPTED.format(dtype=dtype).replace("\n", "\r").encode() + b"\x04")
            read_until(line, b"\n>>> ", 120)
            for number in range(12):
                line.sendall(b"go()\r")
                read_until(line, b"ready", 60)
                time.sleep(0.1 + 0.037 * number)
                line.sendall(b"\x03")
                assert b"KeyboardInterrupt" in read_until(line, b">>> ", 60)
                line.sendall(b"far() < 0.02\r")
                assert b"True" in read_until(line, b"\n>>> ", 60), number
