"""The packages of `make mip`, from a web server on loopback, by mpremote and on the board.

    build/venv/bin/python tests_device/test_mip.py      writes the transcript of docs/pico.md anew
"""

import contextlib
import functools
import http.server
import json
import re
import tempfile
import threading
from pathlib import Path

import machines
import pytest
from odt.host import mip

ROOT = machines.ROOT
MPY = machines.BUILD / "mpy"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *unused):
        pass


@contextlib.contextmanager
def served(folder):
    """(the folder, its address): a server of what `make mip` makes."""
    mip.main(MPY, folder)
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, "http://127.0.0.1:%d" % server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served")) as found:
        yield found


def test_packages_name_every_module_and_the_kernels_of_each_architecture(index):
    folder, _ = index
    modules = {"odt/" + file.name for file in (MPY / "python" / "odt").iterdir()}
    for file in sorted(folder.glob("*.json")):
        urls = json.loads(file.read_text())["urls"]
        assert all((folder / source).is_file() for _, source in urls)
        extra = "odt_kernels.py" if file.stem == "package" else "_odt.mpy"
        assert {target for target, _ in urls} == modules | {extra}
    assert (folder / "armv7em_6.3.json").read_bytes() == (folder / "armv7m_6.3.json").read_bytes()
    for arch in ("armv6m", "armv7m", "armv7emsp", "armv7emdp", "x64"):
        served = folder / (arch + "_6.3") / "_odt.mpy"
        assert served.read_bytes() == (MPY / arch / "_odt.mpy").read_bytes()


def test_board_names_its_own_package():
    script = """
import sys
class mip:
    def install(url):
        print(url)
sys.modules["mip"] = mip
import odt_kernels
odt_kernels.install("http://host/odt/")
"""
    for machine_name, package in (("stock_unix", "x64_6.3"), ("stock_qemu_m3", "armv7em_6.3")):
        with machines.open(machine_name) as machine:
            machine.put([mip.CHOOSER])
            assert machine.exec(script) == "http://host/odt/%s.json\n" % package


def test_board_that_is_not_supported_is_refused_with_the_reason():
    script = """
import odt_kernels
class Implementation:
    _mpy = 6
    name = "micropython"
    def __getitem__(self, index):
        return self.name
class Module:
    implementation = Implementation()
    free = 240000
    def collect(self):
        pass
    def mem_free(self):
        return self.free
board = odt_kernels.sys = odt_kernels.gc = Module()
def attempt():
    try:
        odt_kernels.install("http://host/odt")
    except RuntimeError as error:
        print(error)
    except ImportError:
        print("no mip here")
attempt()
board.free = 125999
attempt()
board.implementation._mpy = 5
attempt()
board.implementation.name = "circuitpython"
attempt()
"""
    with machines.open("stock_unix") as machine:
        machine.put([mip.CHOOSER])
        assert machine.exec(script).splitlines() == [
            "no mip here",
            "too little RAM: 125999 bytes of heap are free, odt needs 126000 from files",
            "this MicroPython reads .mpy files of version 5, these are of version 6",
            "the board runs circuitpython, whose compiled files differ",
        ]


PAGE = ROOT / "docs" / "pico.md"
BLOCK = re.compile(r"(<!-- written by tests_device/test_mip.py -->\n```text\n)(.*?)(^```$)", re.M | re.S)
COMMANDS = (
    "mip install http://localhost:8000/armv6m_6.3.json",
    "cp examples/digits/digits.bin :",
    "run examples/digits/first.py",
)


def transcript(address):
    """From a stock Pico to the first accuracy; of the packages' files the first and the last, of times and ports none."""
    lines = []
    with machines.open("stock_rp2040") as machine:
        for command in COMMANDS:
            lines.append("$ mpremote " + command)
            command = command.replace("http://localhost:8000", address).replace("examples/", str(ROOT / "examples") + "/")
            code, output = machine.mpremote(*command.split(), timeout=300)
            assert code == 0, output
            text = output.decode().replace(address, "http://localhost:8000").replace(str(ROOT) + "/", "")
            # A line that is rewritten is what a terminal shows in the end.
            printed = [line.rpartition("\r")[2].rstrip() for line in text.replace("\r\n", "\n").strip("\n").split("\n")]
            lines += printed if len(printed) < 10 else printed[:2] + ["..."] + printed[-2:]
    return "\n".join(lines) + "\n"


def steady(text):
    return re.sub(r"[\d.]+ ms/step", "- ms/step", re.sub(r"\d+:\d\d left", "- left", text))


def test_three_commands_lead_from_a_stock_pico_to_an_accuracy_as_the_page_says(index):
    text = transcript(index[1])
    assert steady(text) == steady(BLOCK.search(PAGE.read_text())[2])
    first = ROOT / "examples" / "digits" / "first.py"
    assert len(first.read_text().splitlines()) <= 15 and "accuracy" in text
    assert "```python\n%s```" % first.read_text() in PAGE.read_text()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "mip") as (_, address):
        text = transcript(address)
    PAGE.write_text(BLOCK.sub(lambda match: match[1] + text + match[3], PAGE.read_text()))
