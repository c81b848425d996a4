"""Programs of read-only buffers run where they lie: a model file of a ROMFS takes no heap for its program."""

import re
from array import array

import machines
import pytest
from mpremote import romfs

import odt
from odt.base import opcodes

HERE = machines.ROOT / "tests_device" / "scripts"


def clears(count):
    """A program of so many clears of two words."""
    stop = 12 + 3 * count
    return array("i", [0x3154444F, opcodes.VERSION, stop, 8, 0, 0] + [12, stop] * 3 + [1, 0, 2] * count).tobytes()


def test_micropython_loads_views_of_bytes_and_nothing_that_can_be_written_to():
    args = {"program": clears(1), "head": clears(2000)[:48], "start": 12, "stop": 15}
    with machines.open("unix") as machine:
        text = machine.run(HERE / "program_in_place.py", args=args)
    assert text.splitlines() == ["aligned 2 refused 6 True", "written 7", "copied False"]


def exported(folder):
    """(the file's bytes, the model) of a network whose program is long."""
    layers = [odt.Dense(8, "relu") for _ in range(24)]
    model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), *layers, odt.Dense(4)])
    model.compile(odt.SGD(0.01), batch_size=2, seed=1)
    model.train_step(bytes(128), bytes(2))
    model.export(folder / "model.odt")
    return (folder / "model.odt").read_bytes(), model


def rom(data):
    """(image, names): the file under two names, such that one begins at a multiple of 4 and the other does not."""
    for length in range(16):
        names = ["a", "b" + "_" * length]
        made = romfs.VfsRomWriter()
        for name in names:
            made.mkfile(name, data)
        image = made.finalise()
        first = image.index(data)
        places = first % 4, image.index(data, first + 1) % 4
        if (places[0] == 0) != (places[1] == 0):
            return image, names if places[0] == 0 else names[::-1]
    raise AssertionError("no names place the two files apart")


UNIX_ROM = """
import vfs
image = open("romfs.img", "rb").read()
vfs.mount(vfs.VfsRom(image), "/rom")
"""


@pytest.mark.parametrize("name", ("unix", "qemu_m3"))
def test_a_model_file_of_a_romfs_takes_no_heap_for_its_program(name, tmp_path):
    data, model = exported(tmp_path)
    image, names = rom(data)
    (tmp_path / "romfs.img").write_bytes(image)
    with machines.open(name) as machine:
        if name == "unix":
            machine.put([tmp_path / "romfs.img"])
            machine.prelude = UNIX_ROM
        else:
            machine.loaded = ((tmp_path / "romfs.img", machines.PSRAM),)
            machine.prelude = machines.MOUNT_ROM % (machines.PSRAM, len(image))
        text = machine.run(HERE / "file_in_place.py", args={"names": names}, timeout=300)
    found = [[int(word) for word in words] for words in re.findall(r"file (\d+) (\d+)", text)]
    assert [each[1] for each in found] == [len(model.program.code)] * 2
    saved = found[1][0] - found[0][0]
    assert abs(saved - len(model.program.code)) < 200, text
    before = "%08x" % model.digest()
    model.train_step(bytes(128), bytes(2))
    assert re.findall(r"[0-9a-f]{8}$", text, re.M) == [before, "%08x" % model.digest()] * 2
