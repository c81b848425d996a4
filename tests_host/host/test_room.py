"""What `odt install` and `odt deploy` copy to a board, and what they refuse before the first file."""

import ast
import re
import subprocess
import zlib

import pytest
from house import ROOT
from probed_boards import board as probed

import odt
from odt.host import commands
from odt.host.boards import install, room
from odt.host.boards.board import HELD, Board, BoardError
from odt.host.boards.capabilities import CAPABILITIES, closed, left_out, split
from odt.host.files import board_modules


@pytest.fixture
def files(tmp_path):
    """As `make mpy` leaves it: a file of a block for each module that boards get, kernels of a Cortex-M0+."""
    for module in board_modules():
        file = (tmp_path / "python" / "odt" / module).with_suffix(".mpy")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"M\x06\x00\x1f" + str(module).encode())
    (tmp_path / "armv6m").mkdir()
    for name in ("_odt", "_odt_conv", "_odt_f32", "_odt_features", "_odt_online"):
        (tmp_path / "armv6m" / (name + ".mpy")).write_bytes(
            bytes([77, 6, 4 << 2 | 3, 31]) + bytes(5000) + name.encode()
        )
    return tmp_path


class Flash:
    """A board's file system, as Board's calls see it: the block of each file is counted.

    ``fails``: the copy that does.
    """

    def __init__(self, count, monkeypatch, block=4096):
        self.files, self.folders, self.count, self.block = {}, {"", "/lib"}, count, block
        self.copies, self.fails = [], None
        for name in ("probe", "held", "make_folder", "copy", "remove"):
            monkeypatch.setattr(
                Board, name, lambda _, *given, name=name, **options: getattr(self, name)(*given, **options)
            )
        monkeypatch.setattr(install, "expected", dict)
        monkeypatch.setattr(install, "selftest", lambda *_: 100000)

    def free(self):
        return self.count - sum([-(-len(data) // self.block) for data in self.files.values()]) - 2 * len(self.folders)

    def probe(self):
        return probed(disk=self.free() * self.block, block=self.block)

    def held(self, lib):
        return {path: (len(data), zlib.crc32(data)) for path, data in self.files.items() if path.startswith(lib + "/")}

    def make_folder(self, path):
        for depth in range(1, path.count("/") + 1):
            self.folders.add("/".join(path.split("/")[: depth + 1]))

    def copy(self, sources, folder):
        for source in sources:
            if self.fails == len(self.copies):
                raise BoardError("unplugged")
            assert folder.rstrip("/") in self.folders
            self.files[folder.rstrip("/") + "/" + source.name] = source.read_bytes()
            self.copies.append(source.name)
            assert self.free() >= 0, "the file system is full"

    def remove(self, *paths, folders=()):
        for path in paths:
            self.files.pop(path, None)
        for folder in folders:
            if not [path for path in self.files if path.startswith(folder + "/")]:
                self.folders.discard(folder)


def names_of(*names, base=True):
    """The modules of the base and these capabilities."""
    return [
        module for module in board_modules() if (module.parts[0] in names if module.parts[0] in CAPABILITIES else base)
    ]


def run(files, *words):
    return commands.main(["install", "--port", "p", "--files", str(files), *words])


def test_once_more_copies_only_what_is_missing_or_differs(files, monkeypatch, capsys):
    flash = Flash(1000, monkeypatch)
    assert run(files, "--with", "sensors,online") == 0
    modules = names_of("sensors", "online", "data")
    assert len(flash.copies) == len(modules) + 5
    before = dict(flash.files)
    flash.copies.clear()
    assert run(files) == 0 and flash.copies == []  # what the board has stays
    said = capsys.readouterr().out
    assert "Copying 0 modules to /lib, %d are there" % len(modules) in said
    assert "in 5 files, 5 of them are there" in said
    flash.files["/lib/odt/model.mpy"] = flash.files["/lib/odt/model.mpy"][:-1] + b"?"  # of the same size
    flash.files["/lib/_odt_conv.mpy"] += b"?"
    del flash.files["/lib/odt/plan/graph.mpy"]
    assert run(files) == 0
    assert sorted(flash.copies) == ["_odt_conv.mpy", "graph.mpy", "model.mpy"] and flash.files == before


def test_the_base_is_installed_and_what_is_asked_for_with_what_it_needs(files, monkeypatch):
    flash = Flash(1000, monkeypatch)
    assert run(files) == 0
    assert len(flash.copies) == len(names_of()) + 3 and "_odt_online.mpy" not in flash.copies
    assert run(files, "--with", "continual") == 0
    assert room.present(flash.held("/lib"), "/lib") == ["continual", "online"]
    assert "/lib/_odt_online.mpy" in flash.files and "/lib/_odt_features.mpy" not in flash.files
    flash = Flash(1000, monkeypatch)
    assert run(files, "--python-only") == 0
    assert room.present(flash.held("/lib"), "/lib") == ["reference"]  # nothing else can compute


def test_a_firmware_gets_what_it_is_without_and_nothing_else(files, monkeypatch, capsys):
    flash = Flash(1000, monkeypatch)
    inside = dict(frozen=True, odt=install.__version__, without=["sensors", "online", "kernels", "reference"])
    monkeypatch.setattr(Board, "probe", lambda _: dict(flash.probe(), **inside))
    assert run(files) == 0 and not flash.files and "nothing to install" in capsys.readouterr().out
    assert run(files, "--with", "data,sensors,online,kernels") == 0
    modules = names_of("sensors", "online", base=False)
    kernels = {"/lib/_odt_features.mpy", "/lib/_odt_online.mpy"}
    assert set(flash.files) == {"/lib/odt/" + module.with_suffix(".mpy").as_posix() for module in modules} | kernels
    before = dict(flash.files)
    flash.copies.clear()
    assert run(files, "--with", "sensors") == 0 and not flash.copies and flash.files == before
    inside["odt"] = "0.0.1"
    capsys.readouterr()
    assert run(files, "--with", "sensors") == 1
    assert "the firmware has odt 0.0.1, these files are of %s" % install.__version__ in capsys.readouterr().out


@pytest.mark.parametrize("block", (512, 4096))
def test_what_does_not_fit_is_refused_before_the_first_file_and_what_would_fit_is_offered(
    block, files, monkeypatch, capsys
):
    whole = Flash(10**6, monkeypatch, block)
    assert run(files, "--with", "all") == 0
    for fraction in (0.97, 0.85, 0.75, 0.3):
        flash = Flash(int((10**6 - whole.free()) * fraction), monkeypatch, block)
        capsys.readouterr()
        assert run(files, "--with", "all") == 1
        said = capsys.readouterr().out
        text = r"room for (\d+) blocks of %d bytes, (\d+) are needed: nothing was copied" % block
        room_for, need = map(int, re.search(text, said).groups())
        assert room_for < need and not flash.copies and flash.folders == {"", "/lib"}
        offered = re.search(r"What fits, with \d+: (--with (\S+)|odt without --with)", said)
        if fraction == 0.3:
            assert not offered
            continue
        names = (offered[2] or "").split(",") if offered[2] else []
        assert closed(names) == names
        words = ["--with", offered[2]] if names else []
        assert run(files, *words) == 0  # without running full: Flash.copy asserts it
        assert room.present(flash.held("/lib"), "/lib") == [
            name
            for name in names
            if name not in ("kernels", "fast")  # no modules, and these are no kernels
        ]


def test_a_small_file_system_takes_packs_and_keeps_them(files, monkeypatch, capsys):
    packed = files / "packed" / "odt"
    packed.mkdir(parents=True)
    for name in ("__init__.mpy", "packs.mpy", *[part + ".pack" for part in ("base", *split("all"), "reference")]):
        (packed / name).write_bytes(b"M\x06\x00\x1f" + name.encode())
    flash = Flash(100, monkeypatch)
    flash.fails = 2
    assert run(files) == 1 and not flash.files
    flash.fails = None
    assert run(files) == 0
    assert "Copying 3 packs of modules, as files of their own do not fit, to /lib" in capsys.readouterr().out
    assert set(flash.files) >= {"/lib/odt/" + name for name in ("__init__.mpy", "packs.mpy", "base.pack")}
    flash.count = 1000
    assert run(files, "--with", "sensors") == 0
    assert room.present(flash.held("/lib"), "/lib") == ["data", "sensors"]
    assert {path for path in flash.files if "/odt/" in path and "/features" not in path} == {
        "/lib/odt/" + name for name in ("__init__.mpy", "packs.mpy", "base.pack", "data.pack", "sensors.pack")
    }
    flash = Flash(100, monkeypatch)
    monkeypatch.setattr(Board, "probe", lambda _: dict(flash.probe(), deflate=False))
    assert run(files) == 1 and not flash.files
    flash = Flash(20, monkeypatch)
    capsys.readouterr()
    assert run(files) == 1 and not flash.files
    assert int(re.search(r"(\d+) are needed", capsys.readouterr().out)[1]) < 30  # in packs, which take least


@pytest.mark.parametrize("at", (0, 1, 60, 140, -1))
def test_an_installation_that_fails_leaves_nothing_half_done(at, files, monkeypatch, capsys):
    everything = names_of(*split("all"))
    at %= len(everything) + 5
    flash = Flash(1000, monkeypatch)
    flash.fails = at
    assert run(files, "--with", "all") == 1 and "odt: unplugged" in capsys.readouterr().out
    assert [path for path in flash.files if "/odt/" in path and at < len(everything)] == []
    flash.fails = None
    assert run(files, "--with", "all") == 0
    before = dict(flash.files)
    del flash.files["/lib/odt/model.mpy"]
    flash.fails, flash.copies = 0, []
    assert run(files) == 1
    assert flash.files == {path: data for path, data in before.items() if path != "/lib/odt/model.mpy"}


def test_modules_of_another_version_are_removed(files, monkeypatch):
    flash = Flash(1000, monkeypatch)
    assert run(files) == 0
    before = dict(flash.files)
    flash.files["/lib/odt/replay.mpy"] = flash.files["/lib/odt/old/module.mpy"] = b"of another version"
    flash.files["/lib/own.mpy"] = flash.files["/main.py"] = b"the user's"
    assert run(files) == 0
    assert set(flash.files) == {*before, "/lib/own.mpy", "/main.py"}


def test_a_capability_that_is_none_is_refused_by_commands_and_builds(files, monkeypatch, capsys):
    flash = Flash(1000, monkeypatch)
    assert run(files, "--with", "conv") == 1 and not flash.files
    assert "--with: there is no capability 'conv'; there are adapt, attention, continual" in capsys.readouterr().out
    script = ROOT / "odt" / "host" / "boards" / "capabilities.py"
    for words, printed in (("conv", ""), ("all", "fast reference\n"), ("continual", None), ("all online", "")):
        done = subprocess.run(["python3", script, words], capture_output=True, text=True)
        if printed is None:
            assert (
                done.stdout.split() == left_out(words) == [n for n in CAPABILITIES if n not in ("continual", "online")]
            )
        else:
            assert done.stdout == printed and bool(done.returncode) == (not printed)
        assert printed != "" or "odt: CAPABILITIES: there is no capability" in done.stderr


def needs(name):
    """The capabilities that a capability's modules import, wherever in them."""
    for module in names_of(name, base=False):
        for node in ast.walk(ast.parse((ROOT / "odt" / module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == len(module.parts):
                words = "%s.%s" % (node.module, node.names[0].name) if node.module else node.names[0].name
                yield words.split(".")[0]


def test_rows_of_capabilities_are_folders_and_say_what_these_import():
    folders = {path.name for path in (ROOT / "odt").iterdir() if path.is_dir() and path.name in CAPABILITIES}
    assert folders == set(CAPABILITIES) - {"kernels", "fast"}  # which are no Python
    assert folders == set(odt.HOMES) & {name for name, home in odt.HOMES.items() if home == "capabilities"} | {
        "reference"
    }
    for name in folders - {"reference"}:
        found = {need for need in needs(name) if need in CAPABILITIES and need not in (name, "reference")}
        assert found <= set(CAPABILITIES[name].needs), name  # the executor is imported where it computes, alone


def test_a_capability_can_be_loaded_beside_a_frozen_odt():
    """While its __init__ is, a frozen package's path leads to files: that imports what is there (base/absent.py)."""
    for name in CAPABILITIES:
        file = ROOT / "odt" / name / "__init__.py"
        if name not in ("kernels", "fast", "reference"):
            imported = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ImportFrom)]
            assert [(node.level, node.module) for node in imported] == [(2, "base")], name


def test_no_module_of_the_base_imports_a_capability_at_its_top():
    for module in names_of():
        for node in ast.parse((ROOT / "odt" / module).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level == len(module.parts):
                words = "%s.%s" % (node.module, node.names[0].name)
                assert words.split(".")[0] not in CAPABILITIES or module.stem == "executor", module


def test_the_listing_of_a_board_tells_sizes_and_crcs(tmp_path):
    lib = tmp_path / "lib"
    (lib / "odt" / "run").mkdir(parents=True)
    expected = {}
    for path, size in (("odt/a b.mpy", 0), ("odt/run/c.mpy", 4096), ("_odt.mpy", 10001), ("other.mpy", 5)):
        data = bytes([(7 * i) % 251 for i in range(size)])
        (lib / path).write_bytes(data)
        expected["%s/%s" % (lib, path)] = size, zlib.crc32(data)
    del expected["%s/other.mpy" % lib]
    script = tmp_path / "held.py"
    script.write_text("lib = %r\n%s" % (str(lib), HELD))
    unix = ROOT / "build" / "unix" / "micropython"
    if not unix.exists():
        pytest.skip("build/unix is not built")
    text = subprocess.run([unix, script], capture_output=True, text=True, check=True).stdout

    class Answers(Board):
        def call(self, *commands, timeout=0):
            return text

    assert Answers("p").held(str(lib)) == expected
