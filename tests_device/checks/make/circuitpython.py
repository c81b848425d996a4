"""odt on CircuitPython itself, its unix port: make test-circuitpython CPY_DIR=<checkout>."""

import ast
import os
from pathlib import Path

import machines
import pytest
from circuitpython_layout import lacks_nothing, simpletest
from digests import DIGITS, digest, on_the_pc

from odt.host.boards import board, install
from odt.host.release import circuitpython, mip

CPY_DIR = Path(os.environ["CPY_DIR"]).resolve()


class CircuitPython(machines.Unix):
    name = "circuitpython"
    make = "make -C ports/unix VARIANT=standard (in CPY_DIR)"
    image = CPY_DIR / "ports" / "unix" / "build-standard" / "micropython"


@pytest.fixture
def machine(tmp_path):
    circuitpython.main(tmp_path, CPY_DIR / "mpy-cross" / "build" / "mpy-cross")
    with CircuitPython() as opened:
        opened.put(tmp_path / "lib")
        yield opened


def test_it_is_circuitpython_and_has_all_that_odt_uses(machine):
    print(machine.exec("import sys\nprint(sys.implementation)"))
    assert machine.exec("import sys\nprint(sys.implementation[0])") == "circuitpython\n"
    lacks_nothing(machine)


def test_install_and_mip_refuse_it_with_the_reason(machine):
    found = ast.literal_eval(machine.exec(board.PROBE).rpartition("odt-probe ")[2].strip())
    with pytest.raises(
        board.BoardError, match="the board runs circuitpython, whose compiled files differ: copy the folder odt"
    ):
        install.check(found, machines.BUILD / "mpy" / "python" / "odt", 1)
    machine.put([mip.KERNELS])
    text = machine.exec("import odt_kernels\nprint(odt_kernels.refusal())")
    assert text == "the board runs circuitpython, whose compiled files differ\n"


def test_bundle_layout_of_mpy_files_trains_to_the_digest_of_the_pc(machine, tmp_path):
    simpletest(machine, tmp_path)


@pytest.mark.parametrize("args", [{"steps": 3, "train": 64}, {"steps": 1, "train": 32, "dtype": "float32"}], ids=str)
def test_digits_end_with_the_digest_of_the_pc(machine, args):
    text = machine.run(DIGITS / "train.py", cwd_files=DIGITS, args=args, timeout=300)
    assert "ran on circuitpython with the reference executor" in text
    assert digest(text) == digest(on_the_pc(DIGITS / "train.py", args))
