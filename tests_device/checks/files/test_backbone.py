"""A network of 300 kB, most of it frozen in flash, trains on the machines within 128 KB and to the PC's bits."""

import re
import struct

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc
from machine_rp2040 import RP2040

import odt
from odt.files import frozen

SCRIPT = ROOT / "tests_device" / "scripts" / "backbone.py"
ADDRESS = 0x101A0000  # in the last 384 KB of a Pico's flash, which its empty file system does not use


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The file of the frozen weights."""
    import runpy

    script = runpy.run_path(str(SCRIPT))
    model = script["network"]()
    assert len([node for node in model.nodes if node.layer.kernel_shape]) >= 15
    script["policy"](model)
    model.compile(odt.SGD(0.05, 0.9), batch_size=1, seed=1)
    assert sum(len(values) for values in model.get_weights()) > 300000
    file = tmp_path_factory.mktemp("backbone") / "backbone.bin"
    file.write_bytes(frozen.pack(model))
    return file


def figures(text):
    return re.search(r"arena (\d+), state (\d+), program (\d+), flash (\d+)\s+digest (\w+)", text).groups()


@pytest.fixture(scope="module")
def expected(data):
    found = figures(on_the_pc(SCRIPT, {"file": str(data)}))
    assert sum(int(size) for size in found[:3]) < 128 * 1024
    return found


@pytest.mark.parametrize("name", ("unix",))
def test_it_trains_from_a_file_in_ram(name, data, expected):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, cwd_files=[data], args={"file": data.name}, timeout=300)
    assert figures(text) == expected


def test_it_trains_in_an_rp2040_from_flash(data, expected, tmp_path):
    machine = RP2040()
    image = tmp_path / "firmware.uf2"
    image.write_bytes(machine.image_path.read_bytes() + uf2(data.read_bytes()))
    machine.image_path = image
    with machine:
        args = {"address": ADDRESS, "size": data.stat().st_size}
        text = machine.run(SCRIPT, args=args, timeout=600)
    assert figures(text) == expected


def uf2(data):
    """The bytes at ADDRESS as UF2 blocks (github.com/microsoft/uf2), the family that of the RP2040."""
    blocks = []
    count = -(-len(data) // 256)
    for number in range(count):
        part = data[256 * number : 256 * (number + 1)].ljust(476, b"\0")
        head = struct.pack(
            "<8I", 0x0A324655, 0x9E5D5157, 0x2000, ADDRESS + 256 * number, 256, number, count, 0xE48BFF56
        )
        blocks.append(head + part + struct.pack("<I", 0x0AB16F30))
    return b"".join(blocks)
