"""The packages of `make mip`, from a web server on loopback, by mpremote and on the board.

build/venv/bin/python tests_device/checks/install/test_mip.py      writes the transcript of docs/howto/install.md again
"""

import contextlib
import functools
import http.server
import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests_host" / "helpers"))

import checkout  # noqa: E402, F401
import machines  # noqa: E402
import mpremote.mip as forge  # noqa: E402
import pytest  # noqa: E402
from digests import digest, on_the_pc  # noqa: E402
from packs import PARTS, PICO_W  # noqa: E402

ROOT = machines.ROOT

from odt.host.boards import install  # noqa: E402
from odt.host.boards.capabilities import CAPABILITIES, closed  # noqa: E402
from odt.host.release import mip
from odt.host.release.pieces import FILES  # noqa: E402

MPY = machines.BUILD / "mpy"
PAGE = ROOT / "docs" / "howto" / "install.md"
KERNELS = sorted([name + ".mpy" for name in FILES])


def built_for(arch):
    return [file for file in KERNELS if (MPY / arch / file).exists()]


def base_kernels(*names):
    """Files of the kernels of the base, and of these capabilities."""
    stems = [stem for name, row in CAPABILITIES.items() if name not in ("kernels", *names) for stem in row.kernels]
    return [file for file in KERNELS if file[:-4] not in stems]


LAST = "Copying: ./lib/%s\nDone\n" % base_kernels()[-1]


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
    try:
        yield folder, "http://127.0.0.1:%d" % server.server_port
    finally:  # a thread that runs would keep pytest from ending
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served")) as found:
        yield found


def part(target, base=True):
    """The capability that a file belongs to; None of the base's."""
    of_kernels = {stem: name for name, row in CAPABILITIES.items() for stem in row.kernels}
    name = target.split("/")[1] if target.startswith("odt/") else of_kernels.get(target.rpartition("/")[2][:-4])
    return name if name in CAPABILITIES and not (base and name == "kernels") else None


PACKS = {name + ".pack" for name in ("base", *CAPABILITIES)}


def outside(urls):
    """What a package has outside the folder odt."""
    return [url for url in urls if not url[0].startswith("odt/")]


def test_packages_name_every_module_and_the_kernels_of_each_architecture(index):
    folder, _ = index
    modules = {file.relative_to(MPY / "python").as_posix() for file in (MPY / "python").rglob("*.mpy")}
    built = {arch + "_6.3" for arch in ("armv6m", "armv7m", "armv7emsp", "armv7emdp", "x64", "rv32imc")}
    found = {file.stem: json.loads(file.read_text()) for file in folder.glob("*.json") if file.stem != "index"}
    assert "xtensawin_6.3" in found
    kinds = {"python", *built}
    every = {"package", *kinds, *CAPABILITIES, *["%s-%s" % (name, kind) for name in CAPABILITIES for kind in kinds]}
    assert set(found) >= every
    for stem, package in found.items():
        assert package["sizes"] == [(folder / source).stat().st_size for _, source in package["urls"]]
        if stem.startswith("packed"):  # only the modules differ
            plain = found[stem.partition("-")[2] or "package"]["urls"]
            assert outside(package["urls"]) == outside(plain)
            packs = {target.rpartition("/")[2] for target, _ in package["urls"]} & PACKS
            names = {part(target) or "base" for target, _ in plain if target.startswith("odt/")}
            assert packs == {name + ".pack" for name in names}, stem
            continue
        of, _, kind = stem.rpartition("-")
        of, kind = (of, kind) if of else (stem, "all") if stem in CAPABILITIES else ("", stem)
        loops = kind == "xtensawin_6.3"  # of the Python executor: there are no kernels
        inside = closed([of]) if of else [None] + ["reference"] * (kind == "python" or loops)
        expected = {file for file in modules if part(file) in inside}
        kernels = {"_odt_viper.mpy"} if loops else {file for file in KERNELS if part(file, base=not of) in inside}
        targets = {target for target, _ in package["urls"]}
        if kind in ("package", "all"):  # for every board, which a PC is not
            names = {arch + "_6.3" for arch in mip.EVERY_BOARD}
            expected |= {
                "_odt_all/%s/%s" % (name, file) for name in names for file in kernels & set(built_for(name[:-4]))
            }
            choosers = {file[:-4] + ".py" for file in kernels} if of else {"_odt.py"}
            expected |= {"odt_kernels.py", *choosers} if kernels else set()
        elif kind != "python":
            expected |= kernels & set(built_for(kind[:-4])) if not loops else kernels
        assert targets == expected, stem
    # A stock Pico's file system: blocks of 4096 bytes, two for each folder.
    package = found["package"]
    folders = {
        tuple(parts[:depth]) for parts in [t.split("/") for t, _ in package["urls"]] for depth in range(1, len(parts))
    }
    assert sum([-(-size // 4096) for size in package["sizes"]]) + 2 * len(folders) < 1408 // 4 - 4
    for name in built:
        for kernels in built_for(name[:-4]):
            assert (folder / name / kernels).read_bytes() == (MPY / name[:-4] / kernels).read_bytes()


def test_boards_name_their_own_kernels_and_those_of_smaller_cores_after_them():
    boards = {
        "stock_unix": "x64_6.3", "unix_float30": "x86_6.3", "stock_qemu_m3": "armv7em_6.3 armv7m_6.3 armv6m_6.3",
        "stock_qemu_m4hf": "armv7emsp_6.3 armv7em_6.3 armv7m_6.3 armv6m_6.3", "stock_qemu_rv32": "rv32imc_6.3",
    }  # fmt: skip
    for name, expected in boards.items():
        with machines.open(name) as machine:
            machine.put([mip.KERNELS])
            assert machine.exec("import odt_kernels\nprint(*odt_kernels.names())").split() == expected.split()


class Folder:
    """mpremote's way to a board, here to a folder."""

    def __init__(self, path):
        self.path = path

    def fs_exists(self, path):
        return (self.path / path).exists()

    def fs_mkdir(self, path):
        (self.path / path).mkdir()

    def fs_writefile(self, path, data, progress_callback):
        (self.path / path).write_bytes(data)


@pytest.mark.parametrize(
    "name, arch",
    [("stock_qemu_m3", "armv7m"), ("stock_qemu_m4hf", "armv7emsp"), ("stock_qemu_rv32", "rv32imc")],
)
def test_all_files_for_one_architecture_come_by_mpremote(name, arch, index, tmp_path):
    """By mpremote's own mip, to a folder, which the machine has in its memory: its serial line takes a minute."""
    forge._install_package(Folder(tmp_path), "%s/%s_6.3.json" % (index[1], arch), "", "lib", None, True)
    with machines.open(name) as machine:
        machine.install(sorted((tmp_path / "lib").iterdir()))
        rows = [line.split() for line in machine.exec(install.SELFTEST.read_text(), timeout=300).splitlines()]
    assert {row[2]: row[3] for row in rows} == install.expected() and {row[1] for row in rows} == {"native"}


# --- on the board, by micropython-lib's own mip and requests, as Debian's source of MicroPython has them
# ----------------

LIB = Path(os.environ.get("MPY_DIR") or machines.BUILD / "src/micropython") / "lib/micropython-lib"
MIP = [next(LIB.glob("*/" + name), None) for name in ("mip/mip", "requests/requests")]
INSTALL = """
import sys
sys.path.insert(0, "./lib")
import odt_kernels
try:
    odt_kernels.install(ODT_ARGS["address"])
except RuntimeError as error:
    print("refused:", error)
"""
with_mip = pytest.mark.skipif(None in MIP, reason="MPY_DIR has no lib/micropython-lib: its submodules are missing")


@contextlib.contextmanager
def networked(name):
    """A machine with a network and mip, and a folder for what is installed."""
    with machines.open(name) as machine:
        machine.put([*MIP, mip.KERNELS])
        (machine.files / "lib").mkdir()
        yield machine


@with_mip
def test_board_with_a_network_brings_the_kernels_that_fit_it_and_computes_what_the_pc_does(index):
    with networked("stock_unix") as machine:
        text = machine.exec(INSTALL, args={"address": index[1] + "/"})
        assert LAST in text
        assert sorted(file.name for file in (machine.files / "lib").iterdir()) == [*base_kernels(), "odt"]
        selftest = install.SELFTEST.read_text()
        text = machine.exec("import sys\nsys.path[:] = ['./lib', '.frozen']\n" + selftest)
    rows = [line.split() for line in text.splitlines()]
    assert [row[1] for row in rows] == ["native"] * 2
    assert {row[2]: row[3] for row in rows} == install.expected()


@with_mip
def test_the_four_lines_of_the_page_install_what_fits(index):
    (lines,) = re.findall(
        r"<!-- run by tests_device/checks/install/test_mip.py -->\n\n((?: {4}.*\n)+)", PAGE.read_text()
    )
    with networked("stock_unix") as machine:
        (machine.files / mip.KERNELS.name).unlink()
        text = machine.exec(
            "import sys\nsys.path.insert(0, './lib')\n" + textwrap.dedent(lines).replace("<address>", index[1])
        )
        assert LAST in text
        kernels = base_kernels("sensors", "online")
        assert sorted(file.name for file in (machine.files / "lib").iterdir()) == [*kernels, "odt", "odt_kernels.py"]
        text = machine.exec("import sys\nsys.path[:] = ['./lib', '.frozen']\n" + CAPABLE)
        assert (
            text
            == "OSELM LogMel\nodt.adapt is not on this board: odt install --with adapt, or mip install adapt.json\n"
        )


@with_mip
def test_packs_come_by_mip_and_a_capability_for_them(index):
    with networked("stock_unix") as machine:
        install_packed = INSTALL.replace('["address"]', '["address"], packed=True')
        said = machine.exec(install_packed, args={"address": index[1]})
        lib = machine.files / "lib"
        assert sorted(file.name for file in lib.iterdir()) == [*base_kernels(), "odt"], said
        assert sorted(file.name for file in (lib / "odt").iterdir()) == ["__init__.mpy", "base.pack", "packs.mpy"]
        more = INSTALL.replace('["address"]', '["address"], "online sensors"')  # in packs, as the base is
        machine.exec(more, args={"address": index[1]})
        assert {file.name for file in (lib / "odt").glob("*.pack")} == {
            "base.pack", "data.pack", "online.pack", "sensors.pack",
        }  # fmt: skip
        path = "import sys\nsys.path[:] = ['./lib', '.frozen']\n"
        text = machine.exec(path + CAPABLE)
        assert text.startswith("OSELM LogMel\nodt.adapt is not on this board")
        text = machine.exec(path + install.SELFTEST.read_text())
        assert machine.exec(path + REFUSED) == "21 [Errno 2] ENOENT ['base', 'data', 'online', 'sensors']\n"
    rows = [line.split() for line in text.splitlines()]
    assert {row[2]: row[3] for row in rows} == install.expected()


def test_a_pico_w_has_room_for_capabilities_in_packs(index, tmp_path):
    with machines.open("stock_rp2040") as pico:
        pico.lay_flash([], PICO_W)
        for name in ("packed", "packed-sensors", "packed-online", "packed-continual"):
            code, output = pico.mpremote("mip", "install", "%s/%s.json" % (index[1], name), timeout=300)
            assert code == 0, output
        script = tmp_path / "capability.py"
        for part in PARTS:
            script.write_text(part)
            text = pico.run(script, timeout=600)
            assert digest(text) == digest(on_the_pc(script, {})) and "/odt.pack" in text, text
        pico.exec("import _odt_online, _odt_features, _odt_own")  # the last to choose among kernels
        assert int(pico.exec("import os; print(os.statvfs('/')[3])")) * 4096 >= 300 * 1024


REFUSED = """
import odt, os
try:
    open(odt.__path__ + "/plan")
except OSError as error:
    folder = error.errno
try:
    open(odt.__path__ + "/nothing.mpy")
except OSError as error:
    print(folder, error, sorted(os.listdir(odt.__path__)))
"""
CAPABLE = """
from odt.online import OSELM
from odt.sensors import LogMel
from _odt_online import rls
print(OSELM.__name__, LogMel.__name__)
try:
    import odt.adapt
    odt.adapt.update
except ImportError as error:
    print(error)
"""


@with_mip
def test_board_whose_kernels_nobody_built_gets_the_executor_in_python(tmp_path):
    with served(tmp_path / "mip") as (folder, address), networked("stock_unix") as machine:
        (folder / "x64_6.3.json").unlink()
        text = machine.exec(INSTALL, args={"address": address})
        assert text.endswith("odt: no kernels for this board (x64_6.3): computing in Python\n")
        assert [file.name for file in (machine.files / "lib").iterdir()] == ["odt"]
        assert (machine.files / "lib" / "odt" / "reference" / "program.mpy").exists()


@with_mip
def test_board_with_odt_in_its_firmware_gets_capabilities_alone(index):
    with networked("unix_float30") as machine:
        text = machine.exec(INSTALL, args={"address": index[1]})
        assert text == "" and not list((machine.files / "lib").iterdir())


@with_mip
def test_file_that_does_not_come_whole_is_an_error_though_mip_only_prints_it(index, tmp_path):
    folder = tmp_path / "mip"
    with served(folder) as (_, address), networked("stock_unix") as machine:
        (folder / "odt" / "base" / "fixed.mpy").unlink()
        size = (folder / "odt" / "files" / "frozen.mpy").stat().st_size
        text = machine.exec(INSTALL, args={"address": address})
        assert text.splitlines()[-1] == "refused: %s/odt/base/fixed.mpy: 0 bytes came of %d" % (
            address, (MPY / "python/odt/base/fixed.mpy").stat().st_size,
        )  # fmt: skip
        shutil.copy(MPY / "python/odt/base/fixed.mpy", folder / "odt" / "base")
        (folder / "odt" / "files" / "frozen.mpy").write_bytes(b"short")
        text = machine.exec(INSTALL, args={"address": address})
        assert text.splitlines()[-1] == "refused: %s/odt/files/frozen.mpy: 5 bytes came of %d" % (address, size)
        (folder / "python.json").unlink()
        (folder / "x64_6.3.json").unlink()
        text = machine.exec(INSTALL, args={"address": address})
        assert text == "refused: %s/python.json: there is no package of odt (status 404)\n" % address


@with_mip
def test_the_index_has_the_packages_by_name(index, monkeypatch):
    """By MicroPython's own mip; a second time, nothing is sent that is there."""
    folder, address = index
    rows = json.loads((folder / "index.json").read_text())["packages"]
    assert len(rows) == len(list(folder.glob("*.json"))) - 1 and {row["name"] for row in rows} >= {"odt", "odt-online"}
    with networked("stock_unix") as machine:
        for _ in range(2):
            text = machine.exec(NAMED, args={"address": address})
        found = {file.relative_to(machine.files / "lib").as_posix() for file in (machine.files / "lib").rglob("*.mpy")}
        assert machine.exec("import sys\nsys.path[:] = ['./lib', '.frozen']\n" + LEARN) == on_this_pc(LEARN)
    urls = [json.loads((folder / (name + "x64_6.3.json")).read_text())["urls"] for name in ("", "online-")]
    assert found == {target for package in urls for target, _ in package}
    assert text.count("Exists:") == len(found) and "Installing:" not in text


def test_a_branch_of_a_forge_can_hold_the_packages(index, tmp_path, monkeypatch):
    """mpremote mip install github:<org>/odt@mip, where the branch has what `make mip` lays out."""
    folder, _ = index
    start = forge._HOSTS["github:"].format("somebody", "odt", "mip", p="")
    asked = []

    def urlopen(url):
        asked.append(url)
        assert url.startswith("https://" + start)
        return open(folder / url[len("https://" + start) :], "rb")

    monkeypatch.setattr(forge.urllib.request, "urlopen", urlopen)
    forge._install_package(Folder(tmp_path), "github:somebody/odt", "", "lib", "mip", True)
    found = {file.relative_to(tmp_path / "lib").as_posix() for file in (tmp_path / "lib").rglob("*") if file.is_file()}
    urls = json.loads((folder / "package.json").read_text())["urls"]
    assert found == {target for target, _ in urls} and len(asked) == len(urls) + 1


NAMED = """
import mip
for name in ("odt-x64", "odt-online-x64"):
    mip.install(name, index=ODT_ARGS["address"], target="lib")
"""


@with_mip
def test_boards_with_little_ram_or_no_lib_are_refused_and_one_with_more_ram_gets_no_kernels(index):
    with networked("stock_unix") as machine:
        machine.heap = "100K"
        text = machine.exec(INSTALL, args={"address": index[1]})
        found = re.fullmatch(
            r"refused: too little RAM: (\d+) bytes of heap are free, odt needs %d from files\n" % install.PYTHON_HEAP,
            text,
        )
        assert found and 60_000 < int(found[1]) < 100_000
        machine.heap = "4M"
        text = machine.exec(INSTALL.replace('"./lib"', '"."'), args={"address": index[1]})
        assert text == "refused: there is no folder lib in sys.path to install to\n"
        machine.heap = "190K"
        text = machine.exec(INSTALL, args={"address": index[1]})
        found = re.match(r"odt: kernels need (\d+) bytes of RAM more, (\d+) are left\n", text)
        assert int(found[1]) == (MPY / "x64" / "_odt.mpy").stat().st_size and int(found[2]) < 190 * 1024 - 139_000
        assert text.endswith("odt: no kernels for this board (x64_6.3): computing in Python\n")


@pytest.mark.parametrize("name", ("stock_rp2040", "rp2040_base"))
def test_a_capability_comes_by_mip_beside_a_base_in_files_or_in_firmware(name, index):
    """By mpremote's mip, with the kernels of every board; the first import chooses."""
    folder, address = index
    with machines.open(name) as machine:
        if name == "stock_rp2040":
            urls = json.loads((folder / "package.json").read_text())["urls"]
            machine.lay_flash([(folder / source, "/lib/" + target) for target, source in urls])
            package = [address + "/online.json"]
        else:
            package = ["--index", address, "odt-online"]
        code, output = machine.mpremote("mip", "install", *package, timeout=300)
        assert code == 0, output
        lines = machine.exec(LEARN + LISTED).splitlines()
    assert lines == [on_this_pc(LEARN).strip(), "['_odt_online.mpy', 'odt', 'odt_kernels.py']"]


def on_this_pc(script):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(script, {})
    return out.getvalue()


LEARN = """
from odt.online import OSELM
learner = OSELM(2, classes=2, seed=1)
for i in range(40):
    learner.learn_one([i % 7 / 7, i % 5 / 5], i % 2)
print("%08x" % learner.digest())
"""
LISTED = """
import os
print(sorted([name for name in os.listdir("/lib") if "online" in name or name[:4] != "_odt" or name[-3:] == ".py"]))
"""


def test_choosing_is_the_same_wherever_the_power_goes():
    script = """
import os, odt_kernels
class Off(BaseException):
    pass
class Power:
    left = 0
    def __getattr__(self, name):
        def call(*args):
            self.left -= 1
            if not self.left:
                raise Off
            return getattr(os, name)(*args)
        return call
def put(*names):
    for name in names:
        with open(name, "w") as file:
            file.write(name)
odt_kernels.names = lambda: ["armv7emsp_6.3", "armv7em_6.3", "armv7m_6.3", "armv6m_6.3"]
power = odt_kernels.os = Power()
others = ["armv6m_6.3", "rv32imc_6.3", "armv7emsp_6.2"]
parts = ["_odt.mpy", "_odt_conv.mpy", "_odt_f32.mpy"]
for best in ["armv7emsp_6.3"], ["armv7m_6.3"], []:
    cuts = 0
    while True:
        os.mkdir("_odt_all")
        put("_odt.mpy", "_odt_conv.mpy", "_odt.py")  # of before
        for name in others[not best :] + best:
            os.mkdir("_odt_all/" + name)
            put(*["_odt_all/%s/%s" % (name, part) for part in parts])
        cuts += 1
        power.left = cuts
        try:
            odt_kernels.choose(".")
        except Off:
            power.left = 0
            odt_kernels.choose(".")
            done = False
        else:
            done = True
        found = sorted(os.listdir("."))
        assert found == (parts if best else parts[:2]) + ["odt_kernels.py"], found
        for part in found[:-1]:
            assert open(part).read() == ("_odt_all/%s/%s" % (best[0], part) if best else part), best
            os.remove(part)
        if done:
            break
    print(best, cuts)
"""
    with machines.open("stock_unix") as machine:
        machine.put([mip.KERNELS])
        lines = [line for line in machine.exec(script).splitlines() if not line.startswith("odt: no kernels")]
        (machine.files / "_odt_all" / "x64_6.3").mkdir(parents=True)
        (machine.files / "_odt_all" / "x64_6.3" / "_odt.mpy").write_bytes(bytes(50000))
        machine.heap = "140K"
        text = machine.exec("import os, odt_kernels\nodt_kernels.choose('.')\nprint(sorted(os.listdir('.')))")
        assert re.match(
            r"odt: kernels need 50000 bytes of RAM more, \d+ are left\nodt: no kernels for this board ", text
        )
        assert text.endswith("\n['odt_kernels.py']\n")
    assert len(lines) == 3 and all(int(line.split()[-1]) > 5 for line in lines), lines


BLOCK = re.compile(r"(<!-- written by tests_device/checks/install/test_mip.py -->\n```text\n)(.*?)(^```$)", re.M | re.S)
COMMANDS = (
    "mip install http://localhost:8000",
    'exec "import odt"',
    "cp examples/digits/digits.bin :",
    "run examples/digits/first.py",
)


def transcript(address):
    """From a stock Pico to the first accuracy; of the packages' files the first and the last,
    of times and ports none.
    """
    lines = []
    with machines.open("stock_rp2040") as machine:
        for command in COMMANDS:
            lines.append("$ mpremote " + command)
            command = command.replace("http://localhost:8000", address).replace(
                "examples/", str(ROOT / "examples") + "/"
            )
            code, output = machine.mpremote(*shlex.split(command), timeout=300)
            assert code == 0, output
            text = output.decode().replace(address, "http://localhost:8000").replace(str(ROOT) + "/", "")
            # A line that is rewritten is what a terminal shows in the end.
            printed = [
                line.rpartition("\r")[2].rstrip() for line in text.replace("\r\n", "\n").strip("\n").split("\n") if line
            ]
            lines += printed if len(printed) < 10 else printed[:2] + ["..."] + printed[-2:]
        # The first import chose the kernels and removed the rest.
        listing = "import os, odt\nprint(odt.backend, *sorted(os.listdir('/lib')))"
        names = machine.mpremote("exec", listing)[1].decode().split()
        assert names == ["native", *base_kernels(), "odt", "odt_kernels.py"]
    return "\n".join(lines) + "\n"


def steady(text):
    return re.sub(r"[\d.]+ ms/step", "- ms/step", re.sub(r"\d+:\d\d left", "- left", text))


def test_four_commands_lead_from_a_stock_pico_to_an_accuracy_as_the_page_says(tmp_path):
    """With all files as they are: the flash has room for the data when the first import has removed other boards'
    kernels.
    """
    with served(tmp_path / "mip") as (_, address):
        text = transcript(address)
    assert steady(text) == steady(BLOCK.search(PAGE.read_text())[2])
    first = ROOT / "examples" / "digits" / "first.py"
    assert len(first.read_text().splitlines()) <= 15 and "accuracy" in text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "mip") as (_, address):
        text = transcript(address)
    PAGE.write_text(BLOCK.sub(lambda match: match[1] + text + match[3], PAGE.read_text()))
