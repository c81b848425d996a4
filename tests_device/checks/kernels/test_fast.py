"""The capability fast on an emulated Pico with stock firmware: kernels compiled for speed come where the heap has room,
and compute what the others do.
"""

import random
import re
import zlib

import instructions
import machines
import pytest
import stock_files
from digests import digest, on_the_pc
from kernel_cases import draw_medium, run

LISTS = machines.ROOT / "native" / "bindings" / "fast.h"
NAMES = re.findall(r"^    X\(\w+, (\w+)\)", LISTS.read_text(), re.M)
LAYERS = {
    "dense": "odt.Flatten(), odt.Dense(32, 'relu')",
    "conv": "odt.Conv2D(8, 3, padding='same', activation='relu'), odt.MaxPool2D(), odt.Conv2D(8, 3), odt.Flatten()",
}
TRAINED = """
import gc, sys
import odt
image = odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)
model = odt.Sequential([image, %s, odt.Dense(10)])
model.compile(odt.Adam(0.004), dtype="%s", batch_size=8, seed=7)
taken = [bytearray(1000) for _ in range(%d)]
for step in range(4):
    model.train_step(bytes([(7 * i + step) %% 17 for i in range(512)]), bytes([i %% 10 for i in range(8)]))
gc.collect()
print("fast", *sorted([name for name in sys.modules if name.startswith("_odt_fast")]))
print("digest %%08x" %% model.digest(), "free", gc.mem_free() if hasattr(gc, "mem_free") else 0)
"""


@pytest.fixture(scope="module")
def pico():
    with machines.open("stock_rp2040") as machine:
        machine.lay_flash(stock_files.on_a_pico("fast"))
        yield machine


def trained(machine, path, taken, layers, dtype="int8"):
    """(the fast pieces that came, the bytes that are free)"""
    path.write_text(TRAINED % (LAYERS[layers], dtype, taken))
    assert machine.mpremote("soft-reset")[0] == 0
    text = machine.run(path, timeout=300)
    assert digest(text) == digest(on_the_pc(path, {})), text
    return re.search(r"fast ?(.*)", text)[1].split(), int(re.search(r"free (\d+)", text)[1])


@pytest.mark.parametrize("layers", LAYERS)
def test_they_come_where_20_kb_stay_free(pico, tmp_path, layers):
    script = tmp_path / "trained.py"
    came, free = trained(pico, script, 0, layers)
    assert came == ["_odt_fast", "_odt_fast_conv"]
    came, left = trained(pico, script, (free - 14000) // 1016, layers)  # no room for both
    assert len(came) == 1 and left >= 20480
    assert trained(pico, script, 0, layers, "float32")[0] == []


def test_none_comes_where_less_would_stay_free(pico):
    assert pico.mpremote("soft-reset")[0] == 0
    assert pico.exec(LITTLE) == "False True\n"


def test_a_model_file_brings_them_too(pico):
    assert pico.mpremote("soft-reset")[0] == 0
    pico.exec(SAVED)
    assert pico.mpremote("soft-reset")[0] == 0
    assert pico.exec(LOADED) == "['_odt_fast', '_odt_fast_conv']\n"


SAVED = """
import odt
model = odt.Sequential([odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Flatten(), odt.Dense(10)])
model.compile(odt.Adam(0.004), batch_size=8, seed=7)
model.train_step(bytes([i % 17 for i in range(512)]), bytes(8))
model.export("model.odt")
"""
LOADED = """
import odt, sys
model = odt.load_model("model.odt")
print(sorted([name for name in sys.modules if name.startswith("_odt_fast")]))
"""
LITTLE = """
import gc, sys, _odt
gc.collect()
taken = bytearray(gc.mem_free() - 24000)
_odt.hasten()
some = "_odt_fast" in sys.modules
taken = None
_odt.hasten()
print(some, "_odt_fast" in sys.modules)
"""


def test_each_computes_what_the_pc_does(pico, monkeypatch):
    native = pytest.importorskip("_odt")
    assert len(NAMES) == len(set(NAMES)) > 10
    assert pico.mpremote("soft-reset")[0] == 0
    cases = [
        draw_medium(random.Random("fast %s %d" % (name, seed)), name, monkeypatch)
        for seed in range(6)
        for name in NAMES
    ]
    cases = [case for case in cases if sum([len(region or b"") for region in case.regions]) < 12000]
    assert {case.name for case in cases} == set(NAMES)
    first = instructions.draw(random.Random(1), "conv2d_i8")  # brings the piece whose rows they take
    pico.exec("import _odt\n_odt.load(%r)\nimport _odt_fast, _odt_fast_conv" % bytes(first.program))
    lines = run(pico, cases, 0)
    assert len(lines) == len(cases)
    for case, line in zip(cases, lines):
        assert [int(word) for word in line.split()] == [zlib.crc32(r) for r in case.run(native)[:3]], case.name
