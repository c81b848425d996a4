"""Frozen weights of a frozen module, and of files and modules on a ROMFS, are read where they lie, not copied."""

import runpy
import subprocess

import machines
from mpremote import romfs

import odt

SCRIPT = machines.ROOT / "tests_device" / "scripts" / "in_place.py"
WEIGHTS = machines.ROOT / "tests_device" / "scripts" / "frozen_weights.py"


def network(**options):
    script = runpy.run_path(str(SCRIPT))
    model = script["network"]()
    model.compile(odt.SGD(0.05), batch_size=2, seed=1, **options)
    return model, script["four"]


def test_the_module_that_the_images_freeze_is_the_networks():
    model, four = network()
    found = runpy.run_path(str(WEIGHTS))["FOUR"]
    assert found == four(odt.files.frozen.pack(model)), "run `build/venv/bin/python tests_device/scripts/in_place.py`"


def check(lines, name):
    """That a copy takes the weights' bytes more, to a block of the heap, and that the model reads the original."""
    (words,) = [line.split() for line in lines if line.startswith(name + " ")]
    size, more = int(words[1]), int(words[2])
    assert size == len(odt.files.frozen.pack(network()[0])) and size <= more <= size + 64
    assert words[3:5] == ["True", "True"] and words[5] == words[6] == on_the_pc()


def on_the_pc():
    model, _ = network(frozen=odt.files.frozen.pack(network()[0]))
    model.train_step(bytes(range(64)), bytes([0, 2]))
    return "%08x" % model.digest()


def test_frozen_module_of_the_unix_port_is_read_in_place():
    with machines.open("unix") as machine:
        check(machine.run(SCRIPT).splitlines(), "frozen")


def rom(folder):
    """(image, the file's name): by which the weights lie at a multiple of 4, as docs/explanation/memory.md says."""
    data = odt.files.frozen.pack(network()[0])
    mpy = folder / "weights.mpy"
    subprocess.run([machines.BUILD / "mpy-cross" / "mpy-cross", WEIGHTS, "-o", mpy], check=True)
    for number in range(8):  # mpremote makes an image's length even, so that what follows counts, too
        length, more = number // 2, number % 2
        made = romfs.VfsRomWriter()
        made.mkfile("weights" + "_" * length, data)
        made.mkfile("weights.mpy", mpy.read_bytes())
        made.mkfile("more", bytes(more))
        image = made.finalise()
        if image.index(data) % 4 == 0:
            return image, "weights" + "_" * length
    raise AssertionError("no name moves the weights to a multiple of 4")


def test_frozen_module_and_romfs_of_a_cortex_m3_are_read_in_place(tmp_path):
    image, file = rom(tmp_path)
    (tmp_path / "romfs.img").write_bytes(image)
    with machines.open("qemu_m3") as machine:
        machine.loaded = ((tmp_path / "romfs.img", machines.PSRAM),)
        text = machine.run(SCRIPT, args={"rom": (machines.PSRAM, len(image)), "file": file, "module": "weights"})
    for name in ("frozen", "file", "module"):
        check(text.splitlines(), name)
    assert text.splitlines().count("True") == 2  # file and module lie in the ROMFS
