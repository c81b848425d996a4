"""odt on stock firmware: the kernels and the package from .mpy files, with the bits of the PC."""

import re

import machines
import pytest
from digests import DIGITS, digest, on_the_pc
from stock_files import MPY, give

from odt.host.boards import room
from odt.host.release.pieces import beside

STOCK = ["stock_unix x64", "stock_qemu_m3 armv7m", "stock_qemu_m4hf armv7emsp", "stock_qemu_rv32 rv32imc"]


@pytest.fixture(scope="module", params=STOCK)
def stock(request):
    name, arch = request.param.split()
    with machines.open(name) as machine:
        give(machine, arch)
        machine.put(DIGITS)
        yield machine


def check(machine, args, script=DIGITS / "train.py"):
    text = machine.run(script, args=args, timeout=300)
    assert "native executor" in text
    assert digest(text) == digest(on_the_pc(script, args))


def test_stock_firmware_has_no_odt(stock):
    script = """
import sys
sys.path[:] = [".frozen"]
for name in ("odt", "_odt"):
    try:
        __import__(name)
    except ImportError:
        print("no", name)
"""
    assert stock.exec(script) == "no odt\nno _odt\n"


def test_int8_steps_end_with_the_digest_of_the_pc(stock):
    check(stock, {"steps": 200 if stock.name == "stock_unix" else 20, "train": 400})


def test_float32_steps_end_with_the_digest_of_the_pc(stock):
    check(stock, {"steps": 8, "train": 96, "dtype": "float32"})


def test_first_script_of_15_lines_ends_with_the_accuracy_and_digest_of_the_pc(stock, monkeypatch):
    text = stock.run(DIGITS / "first.py", timeout=300)
    monkeypatch.chdir(DIGITS)
    assert "accuracy" in text and text.splitlines()[-1] == on_the_pc("first.py", {}).splitlines()[-1]


def test_callbacks_and_ctrl_c_come_in_between_instructions():
    script = """
import micropython, odt
model = odt.Sequential([odt.Input((2,)), odt.Dense(3)])
model.compile(batch_size=2)
model.train_step([[0, 1], [1, 0]], [0, 2])
log, run, (start, stop) = [], model.session.engine.run, model.session.sections["train"]
def interrupt(code):
    log.append("callback")
    if code:
        raise KeyboardInterrupt
micropython.schedule(interrupt, 0); run(model.session.loaded, model.session.regions, start, stop); log.append("ran")
print(log)
"""
    with machines.open("stock_unix") as machine:
        give(machine, "x64")
        assert machine.exec(script) == "['callback', 'ran']\n"


def test_bad_programs_are_refused_with_the_words_of_the_firmwares_module():
    script = """
import _odt
def attempt(function, *args):
    try:
        function(*args)
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
attempt(_odt.load, 5)
attempt(_odt.load, b"123")
attempt(_odt.load, bytes(8))
attempt(_odt.load, bytes(48))
import odt
model = odt.Sequential([odt.Input((2,)), odt.Dense(3)])
model.compile(batch_size=2)
attempt(_odt.run, 5, (), 12, 12)
attempt(_odt.run, model.session.loaded, model.session.regions, 3, 12)
attempt(_odt.run, model.session.loaded, (None,) * 6, 12, 12)
attempt(_odt.run, model.session.loaded, (None,) * 5, 12, 12)
"""
    output = []
    for name in ("unix", "stock_unix"):
        with machines.open(name) as machine:
            if name == "stock_unix":
                give(machine, "x64")
            output.append(machine.exec(script))
    assert output[1] == output[0]
    assert len(output[1].splitlines()) == 8


def test_step_allocates_nothing():
    with machines.open("stock_unix") as machine:
        give(machine, "x64")
        text = machine.run("tests_device/scripts/steady.py")
    assert "100 steps took 0 bytes of heap" in text


def test_module_for_cores_without_floats_computes_them_bit_for_bit():
    with machines.open("stock_qemu_m3") as machine:  # which loads modules of smaller cores too
        give(machine, "armv6m")
        machine.put(DIGITS)
        check(machine, {"steps": 3, "train": 48, "dtype": "float32"})
        check(machine, {"steps": 10, "train": 96})


def test_module_of_another_architecture_is_refused_by_the_loader():
    with machines.open("stock_qemu_m3") as machine:
        give(machine, "armv7emsp")
        assert "incompatible .mpy" in machine.exec(
            "try:\n    import _odt\nexcept ValueError as error:\n    print(error)"
        )


def test_import_with_kernels_of_another_architecture_says_so_and_computes_in_python():
    with machines.open("stock_unix") as machine:
        give(machine, "armv6m")
        text = machine.exec("import odt\nprint(odt.backend)")
    assert re.match(
        r"odt: _odt.mpy is not for this machine or MicroPython \(incompatible .mpy.*\); computing in "
        r"Python\nreference\n",
        text,
    )


def test_stock_pico_trains_the_digits_from_its_flash(tmp_path):
    args = {"steps": 20, "train": 96, "test": 0, "batch": 2}
    script = tmp_path / "train.py"
    others = "others = [bytes(90) for _ in range(20)]\n"  # 2 KB of the user's own: it is not a matter of luck
    script.write_text(f"ODT_ARGS = {args}\n" + others + (DIGITS / "train.py").read_text())
    with machines.open("stock_rp2040") as machine:
        files = room.wanted("/lib", MPY / "python" / "odt", beside(MPY / "armv6m" / "_odt.mpy"), [])  # as installed
        pairs = [(file.source, file.target) for file in files]
        machine.lay_flash([*pairs, (DIGITS / "digits.bin", "/digits.bin")])
        code, output = machine.mpremote("run", script, timeout=200)  # mounted files would take 12 KB of the heap
        assert code == 0, output.decode()
    text = output.decode()
    assert "native executor" in text
    assert digest(text) == digest(on_the_pc(DIGITS / "train.py", args))
    assert int(re.search(r"(\d+) free", text).group(1)) > 12000  # for the user's program
