"""python -m odt install, on emulated boards with stock firmware."""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import figures
import machines
import pytest
from digests import digest, on_the_pc
from installing import run
from stock_files import base

from odt.host.boards import install, room
from odt.host.boards.board import Board, BoardError
from odt.host.release.pieces import beside

MPY = machines.BUILD / "mpy"


@pytest.fixture(scope="module")
def pico():
    with machines.open("stock_rp2040") as machine:
        machine.lay_flash(base("reference"))  # the first installation brings kernels alone
        yield machine


def test_kernels_that_load_and_compute_wrongly_are_caught_and_taken_away(pico, tmp_path):
    shutil.copytree(MPY / "python", tmp_path / "python")
    shutil.copytree(MPY / "armv6m", tmp_path / "armv6m")
    kernels = (MPY / "armv6m" / "_odt.mpy").read_bytes()
    table = bytes.fromhex("6410b71d")  # of CRC-32: the digests come out wrong, nothing else
    assert kernels.count(table) == 1
    (tmp_path / "armv6m" / "_odt.mpy").write_bytes(kernels.replace(table, bytes(4)))
    status, text = run(pico, "--files", tmp_path)
    assert status == 1
    assert "They fail the self-test: int8 computes wrongly: digest" in text
    assert "Without kernels (no kernels passed the self-test)" in text
    assert "Self-test passed: the PC's digest in int8;" in text
    listing = pico.mpremote("exec", "import os; print(os.listdir('/lib'))")[1]
    assert listing == b"['odt']\r\n"
    assert pico.mpremote("exec", "from odt.reference import program")[0] == 0  # which computes in place of kernels


def test_stock_pico_gets_kernels_and_an_example_that_ends_with_the_digest_of_the_pc(pico):
    assert pico.mpremote("exec", REMOVE)[0] == 0
    status, text = run(pico, "--example", "xor")
    assert status == 0, text
    lines = text.splitlines()
    figures.check("installation", "\n".join(lines[:4]) + "\n")
    assert lines[0].startswith("Found Raspberry Pi Pico with RP2040, micropython 1.25.0 (.mpy 6.3, armv6m), ")
    assert "Self-test passed: the PC's digests in int8 and float32;" in text
    assert lines[-1] == 'Run it with: mpremote connect %s exec "import xor.train"' % pico._port
    code, output = pico.mpremote("exec", "import xor.train\n" + LARGEST, timeout=300)
    assert code == 0, output
    script = machines.ROOT / "examples" / "xor" / "train.py"
    assert digest(output.decode()) == digest(on_the_pc(script, {}))
    piece = int(re.search(r"in one piece (\d+)", output.decode()).group(1))
    assert piece > 16000  # its 100 epochs' losses and accuracies, each a float of its own, left pieces below 1 KB


LARGEST = """
import gc
low, high = 0, gc.mem_free()
while high - low > 256:
    block = None
    gc.collect()
    try:
        block = bytearray((low + high) // 2)
        low = len(block)
    except MemoryError:
        high = (low + high) // 2
print("in one piece", low)
"""


def test_the_wheel_of_a_release_installs_as_a_clone_does(tmp_path):
    """From an environment that has the wheel, and mpremote by links to this one's. The board has a clone's base."""
    with machines.open("stock_rp2040") as pico:
        pico.lay_flash(base())
        assert pico.mpremote("exec", "pass")[0] == 0  # switches it on
        install_from_wheel(pico, tmp_path)


def install_from_wheel(pico, tmp_path):
    env = {name: value for name, value in pico.environment.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    tree = tmp_path / "tree"
    for name in ("odt", "native", "examples"):
        shutil.copytree(machines.ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "manifest.py"):
        shutil.copy(machines.ROOT / name, tree)
    for file in machines.BUILD.glob("lib.*/_odt*.so"):  # of build/venv: test_package.py compiles what a wheel has
        (tree / "build" / file.parent.name).mkdir(parents=True)
        shutil.copy2(file, tree / "build" / file.parent.name)
    backend = "import setuptools.build_meta as backend, sys; backend.build_wheel(sys.argv[1])"
    command = [sys.executable, "-c", backend, tmp_path]
    subprocess.run(command, cwd=tree, env=dict(env, ODT_MPY=str(MPY)), check=True, stdout=subprocess.DEVNULL)
    (wheel,) = tmp_path.glob("*.whl")
    shutil.rmtree(tree)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    (packages,) = (tmp_path / "venv").glob("lib/*/site-packages")
    for name in ("mpremote", "serial", "platformdirs"):
        folder = Path(importlib.util.find_spec(name).origin).parent
        (packages / name).symlink_to(folder)
    python = tmp_path / "venv" / "bin" / "python"
    command = [python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel]
    subprocess.run(command, env=env, check=True)
    done = subprocess.run(
        [python.with_name("odt"), "install", "--connect", pico._port, "--example", "xor"],
        cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    files = room.wanted("/lib", MPY / "python" / "odt", beside(MPY / "armv6m" / "_odt.mpy"), [])
    modules = len([file for file in files if file.target.startswith("/lib/odt/")])
    kernels = [file.source for file in files[modules:]]
    size = sum([file.stat().st_size for file in kernels])
    lines = done.stdout.splitlines()
    assert lines[1] == "Copying 0 modules to /lib, %d are there" % modules
    assert lines[2] == "Copying the kernels for armv6m, %d bytes in %d files" % (size, len(kernels))
    assert lines[3].startswith("Self-test passed: the PC's digests in int8 and float32;")
    code, output = pico.mpremote("exec", "import xor.train", timeout=300)
    assert code == 0, output
    script = machines.ROOT / "examples" / "xor" / "train.py"
    assert digest(output.decode()) == digest(on_the_pc(script, {}))


REMOVE = """
import os
def remove(path):
    for name, kind, *_ in os.ilistdir(path):
        if kind == 0x4000:
            remove(path + "/" + name)
            os.rmdir(path + "/" + name)
        else:
            os.remove(path + "/" + name)
try:
    remove("/lib")
except OSError:
    pass  # there is none
"""


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_the_heap_that_install_asks_for_is_what_its_self_test_takes(backend, monkeypatch):
    """On boards whose boot.py leaves that much the self-test passes, with 12 KB less it does not."""
    kernels = MPY / "armv6m" / "_odt.mpy"
    need = install.native_heap(kernels) if backend == "native" else install.PYTHON_HEAP
    with machines.open("stock_rp2040") as pico:
        files = (
            [file for file in beside(kernels) if not file.stem.startswith("_odt_fast")] if backend == "native" else []
        )
        pico.install([MPY / "python" / "odt", *files])
        assert pico.mpremote("exec", "pass")[0] == 0  # switches it on
        monkeypatch.setenv("XDG_CONFIG_HOME", pico.configuration)
        board = Board(pico._port)
        free = board.probe()["free"]
        for left in (need, need - 12000):
            line = "open('boot.py', 'w').write('taken = bytearray(%d)')" % (free - left)
            assert pico.mpremote("exec", line)[0] == 0
            found = board.probe()
            assert left - 200 <= found["free"] <= left
            if left == need:
                assert 0 < install.selftest(board, backend, install.expected()) < need
            else:
                with pytest.raises(BoardError, match="MemoryError|no heap"):
                    install.selftest(board, backend, install.expected())


def test_board_with_little_ram_is_refused(pico):
    """A stock Pico whose boot.py keeps half of it."""
    assert pico.mpremote("exec", "open('boot.py', 'w').write('taken = bytearray(130000)')")[0] == 0
    try:
        status, text = run(pico)
    finally:
        assert pico.mpremote("rm", ":boot.py")[0] == 0
    assert status == 1
    found = re.search(
        r", (\d+) bytes of heap free\nodt: too little RAM: (\d+) bytes of heap are free, odt needs %d "
        % install.PYTHON_HEAP,
        text,
    )
    assert found[1] == found[2] and 90_000 < int(found[1]) < install.PYTHON_HEAP


@pytest.mark.skipif(not (machines.BUILD / "src/microbit").exists(), reason="only Debian 12 packs this firmware")
def test_board_with_a_micropython_of_2017_is_refused():
    """A micro:bit: no .mpy files, no sys.path, no os.statvfs, 10 KB of heap."""
    with machines.open("microbit") as machine:
        status, text = run(machine)
    assert status == 1
    assert re.fullmatch(
        r"Found microbit, micropython 1\.9\.2 \(\.mpy 0\.0, no native code\), \d{4} bytes of heap free\n"
        r"odt: MicroPython 1\.9\.2 reads .mpy files of version 0, these are of version 6: the board needs a newer "
        r"MicroPython\n",
        text,
    ), text


def test_board_without_a_file_system_is_refused():
    with machines.open("stock_qemu_m3") as machine:
        status, text = run(machine)
    assert status == 1
    assert text.splitlines()[-1] == "odt: the board has no file system to install to"


def test_firmware_with_odt_inside_is_tested_and_left_as_it_is():
    with machines.open("qemu_m4hf") as machine:
        status, text = run(machine)
    assert status == 0, text
    assert "Its firmware has odt inside: nothing to install\nSelf-test passed;" in text


@pytest.mark.parametrize(
    "name", ["backbones", "digits", "fleet", "gesture", "keyword", "personalise", "room", "series", "vibration", "xor"]
)
def test_examples_start_by_the_line_that_is_printed(name, tmp_path):
    """On a Pico with odt inside, which needs no files of `make mpy`."""
    with machines.open("rp2040") as machine:
        status, text = run(machine, "--files", tmp_path, "--example", name)
        assert status == 0, text
        words = shlex.split(text.splitlines()[-1].partition("Run it with: ")[2])
        assert words[0] == "mpremote"
        process = subprocess.Popen(
            [sys.executable, "-m", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        printed = ""
        try:
            for line in process.stdout:
                printed += line
                if re.search("epoch 1/|before: |digest ", line):
                    break
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
    assert re.search("epoch 1/|before: |digest ", printed), printed


def test_port_where_nothing_answers_is_an_error():
    done = subprocess.run(
        [sys.executable, "-m", "odt", "install", "--connect", "socket://127.0.0.1:9"],
        cwd=machines.ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.startswith("odt: socket://127.0.0.1:9: ")
    assert "Traceback" not in done.stdout
