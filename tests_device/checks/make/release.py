"""odt with another release of MicroPython, on its unix port: odt inside, and 1.25's .mpy files on stock firmware.

Its name keeps pytest from collecting it: `make test-release` asks for it.
"""

import os
import re
from pathlib import Path

import machines
import pytest
from digests import DIGITS, FLOAT32, INT8, ROOT, digest, on_the_pc
from stock_files import give

from odt.host.boards import install

HEADER = (Path(os.environ["MPY_DIR"]) / "py" / "mpconfig.h").read_text()


@pytest.fixture(scope="module", params=["unix", "stock_unix"])
def board(request):
    with machines.open(request.param) as machine:
        if request.param == "stock_unix":
            give(machine, "x64")
        machine.put(DIGITS)
        yield machine


def test_it_is_the_release_of_the_checkout_and_reads_the_kernels(board):
    version = [
        int(re.search(r"MICROPY_VERSION_%s +\(?(\d+)" % part, HEADER)[1]) for part in ("MAJOR", "MINOR", "MICRO")
    ]
    text = board.exec("import sys, odt\nprint(*sys.implementation[1][:3], sys.implementation._mpy, odt.backend)")
    *found, mpy, backend = text.split()
    assert [int(part) for part in found] == version and backend == "native"
    kernels = machines.BUILD / "mpy" / "x64" / "_odt.mpy"
    assert install.header(kernels) == (int(mpy) & 255, int(mpy) >> 8 & 3, int(mpy) >> 10 & 15)


@pytest.mark.parametrize("args", (INT8, FLOAT32), ids=("int8", "float32"))
def test_training_ends_with_the_digest_of_the_pc(board, args):
    text = board.run(DIGITS / "train.py", args=args, timeout=300)
    assert "native executor" in text
    assert digest(text) == digest(on_the_pc(DIGITS / "train.py", args))


def test_the_python_executor_ends_with_the_digest_of_the_kernels(board):
    args = {"steps": 3, "train": 64}
    text = board.run(DIGITS / "train.py", args=dict(args, executor="reference"), timeout=300)
    assert "reference executor" in text and digest(text) == digest(on_the_pc(DIGITS / "train.py", args))


def test_example_trains_as_it_is(board):
    script = ROOT / "examples" / "xor" / "train.py"
    assert digest(board.run(script)) == digest(on_the_pc(script, {}))


def test_step_allocates_nothing(board):
    assert "100 steps took 0 bytes of heap" in board.run(ROOT / "tests_device" / "scripts" / "steady.py", timeout=300)
