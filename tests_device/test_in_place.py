"""Frozen weights of a frozen module, and of files and modules on a ROMFS, are read where they lie, not copied."""

import runpy
import subprocess

import machines
from mpremote import romfs

import odt

SCRIPT = machines.ROOT / "tests_device" / "in_place.py"
WEIGHTS = machines.ROOT / "tests_device" / "frozen_weights.py"
PSRAM = 0x21000000  # of an MPS2 board: 16 MB that the firmware does not use


def data():
    return runpy.run_path(str(WEIGHTS))["DATA"]


def test_the_module_that_the_images_freeze_is_the_networks(tmp_path):
    model = runpy.run_path(str(SCRIPT))["network"]()
    model.compile(odt.SGD(0.05), batch_size=2, seed=1)
    odt.frozen.write_module(tmp_path / "weights.py", model)
    assert (tmp_path / "weights.py").read_text() == WEIGHTS.read_text(), "run `build/venv/bin/python tests_device/in_place.py`"


def check(lines, name):
    """That a copy takes the weights' bytes more, to a block of the heap, and that the model reads the original."""
    (words,) = [line.split() for line in lines if line.startswith(name + " ")]
    size, more = int(words[1]), int(words[2])
    assert size == len(data()) and size <= more <= size + 64
    assert words[3:5] == ["True", "True"] and words[5] == words[6] == on_the_pc()


def on_the_pc():
    model = runpy.run_path(str(SCRIPT))["network"]()
    model.compile(odt.SGD(0.05), batch_size=2, seed=1, frozen=data())
    model.train_step(bytes(range(128)), bytes([0, 2]))
    return "%08x" % model.digest()


def test_frozen_module_of_the_unix_port_is_read_in_place():
    with machines.open("unix") as machine:
        check(machine.run(SCRIPT).splitlines(), "frozen")


def test_frozen_module_and_romfs_of_a_cortex_m3_are_read_in_place(tmp_path):
    (tmp_path / "rom").mkdir()
    (tmp_path / "rom" / "weights.bin").write_bytes(data())
    mpy = tmp_path / "rom" / "weights.mpy"
    subprocess.run([machines.BUILD / "mpy-cross" / "mpy-cross", WEIGHTS, "-o", mpy], check=True)
    image = tmp_path / "romfs.img"
    image.write_bytes(romfs.make_romfs(str(tmp_path / "rom"), mpy_cross=False))
    with machines.open("qemu_m3") as machine:
        machine.loaded = ((image, PSRAM),)
        lines = machine.run(SCRIPT, args={"rom": (PSRAM, image.stat().st_size)}).splitlines()
    for name in ("frozen", "file", "module"):
        check(lines, name)
    assert lines.count("True") == 2  # file and module lie in the ROMFS


