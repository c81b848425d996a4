"""The base of odt in a Pico's firmware, capabilities beside it as files: what is missing, what comes, what each costs.

build/venv/bin/python tests_device/checks/install/test_capabilities.py   writes the table of docs/reference/costs.md
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests_host" / "helpers"))

import checkout  # noqa: E402, F401
import machines
import pytest
from digests import digest, on_the_pc
from figures import near
from installing import run
from packs import PICO_W

from odt.host.boards import room
from odt.host.boards.capabilities import BASE_BLOCKS, CAPABILITIES, RESERVE, closed
from odt.host.release.pieces import beside

MPY = machines.BUILD / "mpy"
PAGE = machines.ROOT / "docs" / "reference" / "costs.md"
BLOCK = re.compile(
    r"(<!-- written by tests_device/checks/install/test_capabilities.py -->\n)(.*?)(<!-- end of capabilities -->)", re.S
)
# What a program names first of each.
NAMED = {
    "adapt": "update", "attention": "MultiHeadAttention", "continual": "Replay", "data": "CsvReader",
    "embedding": "Embedding", "fleet": "Node", "generative": "Sampling", "inspect": "Ranges", "noise": "Noisy",
    "online": "OSELM", "recurrent": "GRU", "sensors": "LogMel", "slots": "Bytes",
}  # fmt: skip


def files(name):
    """What `odt install --with` this one alone copies beside the base, or the base itself."""
    kernels = beside(MPY / "armv6m" / "_odt.mpy")
    names = [name] if name in CAPABILITIES else []
    return room.wanted("/lib", MPY / "python" / "odt", kernels, names, base=not names)


def blocks(name):
    return room.needed({}, files(name), 4096)


@pytest.mark.parametrize("name", ["base", *CAPABILITIES])
def test_each_keeps_within_its_budget_of_flash(name):
    budget = CAPABILITIES[name].blocks if name in CAPABILITIES else BASE_BLOCKS
    assert blocks(name) <= budget * (1 - RESERVE), "odt/host/boards/capabilities.py has the budgets"


def test_the_base_in_firmware_takes_capabilities_from_files_and_says_what_is_missing(tmp_path):
    """Every capability, imported in each way, computes what the PC does."""
    with machines.open("rp2040_base") as base:
        text = base.exec(MISSING)
        for name in ("sensors", "online", "continual", "generative", "adapt"):
            assert "ImportError: odt.%s is not on this board: odt install --with %s" % (name, name) in text, text
        assert "ImportError: _odt_rare.mpy, kernels that this program needs: " in text and "--with kernels" in text
        assert "computed" not in text
        status, text = run(base, "--with", "all")
        assert status == 0 and ", which the firmware is without: " in text and "Self-test passed" in text, text
        assert run(base, "--with", "all")[1].count("nothing to install") == 0
        script = tmp_path / "capabilities.py"
        script.write_text(CAPABLE)
        for _ in range(2):  # once more after a soft reset, which forgets the kernels' files
            assert base.mpremote("soft-reset")[0] == 0
            text = base.run(script, timeout=600)
            assert digest(text) == digest(on_the_pc(script, {})), text
        assert "/lib/odt/sensors/stream/__init__.mpy .frozen/odt" in text


def test_a_pico_w_has_room_for_every_capability_in_packs():
    """Its file system has 848 KB: what a Pico's has more is filled. As files of their own the modules do not fit."""
    with machines.open("stock_rp2040") as pico:
        pico.lay_flash([], PICO_W)
        status, text = run(pico, "--with", "all")
        assert status == 0 and "packs of modules, as files of their own do not fit, to /lib" in text, text
        assert "Self-test passed: the PC's digests in int8 and float32" in text
        assert int(pico.exec("import os; print(os.statvfs('/')[3])")) * 4096 >= 300 * 1024
        status, text = run(pico)
        packs = len(CAPABILITIES) - 3 + 1  # none for kernels, fast and the reference executor; the base's
        assert status == 0 and ", %d are there" % (packs + 2) in text, text  # __init__.mpy, packs.mpy


MISSING = """
import odt
def attempt(code):
    try:
        exec(code)
        print("computed", code)
    except ImportError as error:
        print("ImportError:", error)
for code in (
    "from odt.sensors import Stream", "import odt.sensors.stream", "odt.sensors.Stream",
    "from odt import online; online.OSELM",
    "from odt.continual import replay", "odt.Sampling(2)", "odt.ZerothOrder()",
):
    attempt(code)
layers = "[odt.Input((4, 4, 2)), odt.Conv2D(4, 3, groups=2), odt.Flatten(), odt.Dense(2)]"
attempt("odt.Sequential(%s).compile()" % layers)
"""
CAPABLE = """
import odt
from odt.continual import Replay, dark
from odt.adapt import update
from odt import online
import odt.sensors.stream
import odt.inspect

def trained(layers, optimizer, **options):
    model = odt.Sequential([odt.Input((8, 8, 2), dtype="uint8", scale=1 / 16)] + layers + [odt.Flatten(), odt.Dense(3)])
    if options.pop("dynamic", False):
        update.dynamic(model)
    model.compile(optimizer, batch_size=4, **options)
    model.fit(bytes([(7 * i) % 16 for i in range(512)]), bytes([0, 1, 2, 1]), epochs=2, verbose=0)
    return model.digest()

parts = [
    trained([odt.Conv2D(4, 3, groups=2), odt.ELU()], odt.Adam(0.01)),
    trained([odt.Conv2D(4, 3)], odt.ZerothOrder(0.01)),
    trained([odt.Conv2D(4, 3)], odt.Adam(0.01), dynamic=True),
    trained([odt.Flatten(), odt.Dense(4), odt.Sampling()], odt.SGD(0.01)),
    trained([odt.BatchNorm(), odt.ReLU()], odt.SGD(0.01), dtype="float32"),
]
learner = online.OSELM(2, classes=2, seed=1)
for i in range(40):
    learner.learn_one([i % 7 / 7, i % 5 / 5], i % 2)
parts.append(learner.digest())
from odt.sensors import LogMel
heard = LogMel(rate=8000, channels=10)
from array import array
frame = heard(array("h", [(i * i) % 2000 - 1000 for i in range(heard.window)]))
from binascii import crc32
parts.append(crc32(bytes(frame)))
print(getattr(odt.sensors.stream, "__file__", ""), odt.__path__ if type(odt.__path__) is str else "")
print("digest %08x" % crc32(repr(parts).encode()))
"""


def table():
    """Rows of docs/reference/costs.md."""
    rows = ["| | needs | files | bytes | blocks | heap | by |", "|---|---|--:|--:|--:|--:|---|"]
    with machines.open("rp2040_base") as base:
        status, text = run(base, "--with", "all")
        assert status == 0, text
        for name in ["base", *CAPABILITIES]:
            found = files(name)
            heap = ""
            if name in NAMED:
                assert base.mpremote("soft-reset")[0] == 0
                heap = f"{int(base.exec(HEAP % (name, NAMED[name]))):,}"
            others = [each for each in closed([name] if name in CAPABILITIES else []) if each != name]
            values = (name, ", ".join(others), len(found), sum([file.size for file in found]), blocks(name), heap)
            rows.append(
                "| {} | {} | {:,} | {:,} | {:,} | {} | ".format(*values) + ("`%s` |" % NAMED[name] if heap else "|")
            )
    return "\n".join(rows) + "\n"


HEAP = """
import gc, odt
gc.collect()
before = gc.mem_alloc()
from odt.%s import %s
gc.collect()
print(gc.mem_alloc() - before)
"""


def test_the_page_says_what_each_costs():
    assert near(BLOCK.search(PAGE.read_text())[2], table())


if __name__ == "__main__":
    PAGE.write_text(BLOCK.sub(lambda match: match[1] + "\n" + table() + "\n" + match[3], PAGE.read_text()))
