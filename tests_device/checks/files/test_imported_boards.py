"""Networks that LiteRT and onnxruntime run give every machine the PC's outputs, to the bit, frozen and where the last
layer learns on.
"""

import re

import machines
import numpy as np
import onnx
import pytest
from digests import on_the_pc
from onnx_networks import quantized, run  # noqa: E402
from quantized_networks import litert  # noqa: E402
from stock_files import give
from tflite_files import FILES  # noqa: E402
from zoo import trained  # noqa: E402

import odt
from odt.host.convert import load

SCRIPT = machines.ROOT / "tests_device" / "scripts" / "imported.py"
NAMES = ["digits", "residual", "learns"]
STOCK = {"stock_qemu_m4hf": "armv7emsp", "stock_rp2040": "armv6m"}
COUNT, STEPS = 40, 4


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(the files, what CPython prints)"""
    folder = tmp_path_factory.mktemp("imported")
    images = (np.moveaxis(trained()[1][1000 : 1000 + COUNT], 1, -1) / 16).astype("float32")
    options = dict(dtype="int8", batch_size=4, input={"dtype": "int8"})
    content, residual = quantized("QDQ", True, True), FILES / "residual_int8.tflite"
    digits = load(onnx.load_from_string(content), train="none", **options)
    frozen = load(residual, train="none", **options)
    learns = load(residual, train="last", calibrate=images, optimizer=odt.Adam(0.01), seed=1, **options)
    expected = [run(content, np.moveaxis(images, -1, 1)), litert(residual.read_bytes(), images)]
    for name, model, outputs in zip(NAMES, (digits, frozen, learns), [*expected, None]):
        x = model.imported.bytes(images)
        if outputs is not None:
            apart = np.abs(model.predict(x) - outputs) / model.imported.graph.output.scale
            assert apart.max() < 1.01
        model.export(folder / (name + ".odt"))
        (folder / (name + ".x")).write_bytes(x.tobytes())
    text = on_the_pc(SCRIPT, {"folder": str(folder) + "/", "files": NAMES, "steps": STEPS})
    assert len(digests(text)) == 6
    return sorted(folder.iterdir()), text


def digests(text):
    return re.findall(r"(\S+) (\w+) digest ([0-9a-f]{8})", text)


def check(machine, made):
    machine.put(made[0])
    text = machine.run(SCRIPT, timeout=600, args={"files": NAMES, "steps": STEPS})
    assert "native" in text
    assert digests(text) == digests(made[1])


@pytest.mark.parametrize("name", ("unix", "qemu_m4", "rp2040"))
def test_boards_with_odt_inside_compute_what_the_pc_does(name, made):
    with machines.open(name) as machine:
        check(machine, made)


@pytest.mark.parametrize("name", STOCK)
def test_stock_firmware_computes_what_the_pc_does(name, made):
    with machines.open(name) as machine:
        give(machine, STOCK[name])
        check(machine, made)


def test_both_executors_of_the_pc_end_with_the_same_bits(made):
    found = []
    before = odt.executor.backend
    for backend in ("reference", "native"):
        odt.executor.use(backend)
        folder = made[0][0].parent
        model = odt.load_model(str(folder / "residual.odt"))
        found.append(bytes(model.predict((folder / "residual.x").read_bytes()[: 64 * 4])))
    odt.executor.use(before)
    assert found[0] == found[1]
