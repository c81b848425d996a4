"""The packages of `make mip`, from a web server on loopback, by mpremote and on the board."""

import functools
import http.server
import json
import threading

import machines
import pytest
from odt.host import mip
from test_training import digest, on_the_pc

ROOT = machines.ROOT
MPY = machines.BUILD / "mpy"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """The address of a server of what `make mip` makes."""
    folder = tmp_path_factory.mktemp("served") / "odt"
    mip.main(MPY, folder)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder.parent)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, "http://127.0.0.1:%d/odt" % server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


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


def test_mpremote_installs_a_package_that_trains_on_a_stock_pico(index):
    _, address = index
    with machines.open("stock_rp2040") as machine:
        code, output = machine.mpremote("mip", "install", address + "/armv6m_6.3.json", timeout=300)
        assert code == 0, output
        code, output = machine.mpremote("run", ROOT / "examples" / "xor" / "train.py", timeout=300)
    assert code == 0, output
    text = output.decode()
    assert [line.split("= ")[1] for line in text.splitlines() if " xor " in line] == list("0110")
    assert digest(text) == digest(on_the_pc(ROOT / "examples" / "xor" / "train.py", {}))
