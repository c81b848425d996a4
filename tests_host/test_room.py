"""What `odt install` and `odt deploy` copy to a board, and what they refuse before the first file."""

import ast
import re
import subprocess
import zlib
from pathlib import Path

import pytest
from house import ROOT
from probed_boards import board as probed

from odt.host import commands, install, room
from odt.host.board import HELD, Board, BoardError
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


def run(files, *words):
    return commands.main(["install", "--port", "p", "--files", str(files), *words])


def test_once_more_copies_only_what_is_missing_or_differs(files, monkeypatch, capsys):
    flash = Flash(1000, monkeypatch)
    assert run(files) == 0
    assert len(flash.copies) == len(board_modules()) + 5
    before = dict(flash.files)
    flash.copies.clear()
    assert run(files) == 0 and flash.copies == []
    said = capsys.readouterr().out
    assert (
        "Copying 0 modules to /lib, %d are there" % len(board_modules()) in said
        and "in 5 files, 5 of them are there" in said
    )
    flash.files["/lib/odt/model.mpy"] = flash.files["/lib/odt/model.mpy"][:-1] + b"?"  # of the same size
    flash.files["/lib/_odt_conv.mpy"] += b"?"
    del flash.files["/lib/odt/plan/graph.mpy"]
    assert run(files) == 0
    assert sorted(flash.copies) == ["_odt_conv.mpy", "graph.mpy", "model.mpy"] and flash.files == before


@pytest.mark.parametrize("block", (512, 4096))
def test_what_does_not_fit_is_refused_before_the_first_file_and_what_would_fit_is_offered(
    block, files, monkeypatch, capsys
):
    whole = Flash(10**6, monkeypatch, block)
    assert run(files) == 0
    for fraction in (0.97, 0.85, 0.75, 0.3):
        flash = Flash(int((10**6 - whole.free()) * fraction), monkeypatch, block)
        capsys.readouterr()
        assert run(files) == 1
        said = capsys.readouterr().out
        room_for, need = map(
            int,
            re.search(
                r"room for (\d+) blocks of %d bytes, (\d+) are needed: nothing was copied" % block, said
            ).groups(),
        )
        assert room_for < need and not flash.copies and flash.folders == {"", "/lib"}
        offered = re.search(r"--without (\S+)", said)
        if fraction == 0.3:
            assert not offered and "Nothing that can be left out is enough" in said
            continue
        assert run(files, "--without", offered[1]) == 0  # without running full: Flash.copy asserts it
        for name in offered[1].split(","):
            kernels, _ = room.PARTS[name]
            assert not [path for path in flash.files if "/odt/%s/" % name in path or Path(path).stem in kernels]


@pytest.mark.parametrize("at", (0, 1, 60, 150, 203))
def test_an_installation_that_fails_leaves_nothing_half_done(at, files, monkeypatch, capsys):
    flash = Flash(1000, monkeypatch)
    flash.fails = at
    assert run(files) == 1 and "odt: unplugged" in capsys.readouterr().out
    assert [path for path in flash.files if "/odt/" in path and at < len(board_modules())] == []
    flash.fails = None
    assert run(files) == 0
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


def test_parts_that_are_no_parts_and_the_executor_that_is_needed(files, monkeypatch, capsys):
    Flash(1000, monkeypatch)
    for words, said in (
        (("--without", "conv"), "--without: there is no part 'conv'; there are reference, sensors, online, continual"),
        (("--without", "reference", "--python-only"), "without kernels (as you asked) odt needs the Python executor"),
    ):
        assert run(files, *words) == 1 and said in capsys.readouterr().out


def test_what_imports_a_part_that_may_be_left_out_is_named_with_it():
    """At its top: what asks for one at work is of that part, or has kernels' functions for it."""
    for name, (_, about) in room.PARTS.items():
        assert (ROOT / "odt" / name).is_dir()
        for module in board_modules():
            if module.parts[0] in (name, "reference"):
                continue
            for node in ast.parse((ROOT / "odt" / module).read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ImportFrom) and node.level == len(module.parts):
                    words = "%s.%s" % (node.module, node.names[0].name)
                    needs = re.match(r"%s\b" % name, words)
                    assert not needs or re.search(r"\b%s\b" % module.stem, about), (name, module)


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
