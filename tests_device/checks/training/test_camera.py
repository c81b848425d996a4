"""examples/camera on boards: the file lies in flash, and two steps on what the camera sees end with the PC's digest."""

import re
import sys

import machines
import pytest
from digests import digest, on_the_pc

sys.path.insert(0, str(machines.ROOT / "bench"))

import folders  # noqa: E402, F401
import by_rows  # noqa: E402
import pico_rows  # noqa: E402

FOLDER = machines.ROOT / "examples" / "camera"
RECORD = 289  # bytes of digits.bin that are one image and its label
IN_FLASH = """
import os, rp2
os.chdir("/")
A = ODT_ARGS
size = 4096 * rp2.Flash().ioctl(4, 0)
A["model"] = memoryview(rp2.Flash(start=size - A["from_end"], len=A["length"]))[: A["size"]]
"""


@pytest.mark.parametrize("name", ("rp2040", "qemu_m7"))
def test_two_steps_of_the_camera_end_with_the_digest_of_the_pc(name, tmp_path, monkeypatch):
    model, digits = FOLDER / "camera.odt", tmp_path / "digits.bin"
    digits.write_bytes((FOLDER / "digits.bin").read_bytes()[:RECORD])
    monkeypatch.chdir(tmp_path)
    args = {"learn": 1, "test": 0, "epochs": 2, "model": str(model)}
    expected = on_the_pc(FOLDER / "adapt.py", args)
    source = (FOLDER / "adapt.py").read_text()
    with machines.open(name) as machine:
        if name == "rp2040":
            data = model.read_bytes()
            laid = data + bytes(-len(data) % pico_rows.BLOCK)
            machine.lay_flash([(digits, "/digits.bin")])
            args.update(size=len(data), length=len(laid), from_end=pico_rows.lay(machine, laid))
            source = IN_FLASH + source
        else:
            args.update(model="/rom/" + model.name)
            machine.free = by_rows.MEMORY
            machine.install([model])
            machine.put([digits])
        text = machine.exec(source, args=args, timeout=300)
    assert "executor: native" in text and digest(text) == digest(expected) != "%08x" % 0
    if name == "rp2040":  # program and frozen weights are not in RAM
        assert int(re.search(r"(\d+) free", text)[1]) > 8_000
