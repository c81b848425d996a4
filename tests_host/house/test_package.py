"""sdist and wheel: what they hold, and that the installed package trains in an empty environment."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from checkout import ROOT

from odt.host.boards.install import _example

pytestmark = pytest.mark.slow
BUILD = "import setuptools.build_meta as backend, sys; backend.build_%s(sys.argv[1])"


def build(kind, folder, place, **env):
    done = subprocess.run(
        [sys.executable, "-c", BUILD % kind, str(place)],
        cwd=folder, env=dict(os.environ, **env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """(sdist, wheel), the wheel made of the unpacked sdist alone."""
    folder = tmp_path_factory.mktemp("package")
    tree = folder / "tree"
    for name in ("odt", "native", "examples"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "manifest.py"):
        shutil.copy(ROOT / name, tree)
    build("sdist", tree, folder)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked")
    (unpacked,) = (folder / "unpacked").iterdir()
    build("wheel", unpacked, folder)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def test_wheel_holds_every_module_and_the_types(built):
    names = set(zipfile.ZipFile(built[1]).namelist())
    for file in ROOT.glob("odt/**/*.py*"):
        if "__pycache__" not in file.parts:
            assert file.relative_to(ROOT).as_posix() in names
    assert {"odt/py.typed", "_odt-stubs/__init__.pyi"} <= names
    assert not [name for name in names if name.startswith(("tests", "native")) or name.endswith(".mpy")]


def test_every_wheel_holds_the_examples_that_install_copies(built):
    names = set(zipfile.ZipFile(built[1]).namelist())
    folders = [folder for folder in ROOT.glob("examples/*/") if (folder / "README.md").exists()]
    data = {file for folder in folders for file in _example(folder.name)}
    data.update(file for folder in folders for file in [*folder.glob("README.md"), *folder.glob("LICENSE")])
    by_hand = "personalise/teach.py", "personalise/life.py", "backbones/nets.py"
    data |= {ROOT / "examples" / name for name in by_hand}
    assert len(data) > 20
    assert {file.relative_to(ROOT).as_posix() for file in data} == {
        name.partition("odt/host/")[2] for name in names if name.startswith("odt/host/examples/")
    }


def test_the_wheel_of_a_release_holds_what_boards_get_and_nothing_of_the_build_before(built, tmp_path):
    """A build in the same tree with ODT_MPY, without, and with one where nothing was built."""
    (tree,) = (built[0].parent / "unpacked").iterdir()
    mpy = tmp_path / "mpy"
    names = ("armv6m/_odt.mpy", "armv6m/_odt_conv.mpy", "python/odt/run/fit.mpy")
    for name in (*names, "armv6m/build.log", "x64/_odt.mpy"):
        (mpy / name).parent.mkdir(parents=True, exist_ok=True)
        (mpy / name).write_bytes(name.encode())

    def held(place, **env):
        place.mkdir()
        build("wheel", tree, place, **env)
        (wheel,) = place.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return {
                name: archive.read(name).decode() for name in archive.namelist() if name.startswith("odt/host/mpy/")
            }

    assert held(tmp_path / "with", ODT_MPY=str(mpy)) == {"odt/host/mpy/" + name: name for name in names}
    assert held(tmp_path / "without", ODT_MPY="") == {}
    with pytest.raises(AssertionError, match="ODT_MPY=.*nothing that `make mpy` built"):
        held(tmp_path / "empty", ODT_MPY=str(tmp_path / "empty"))


def test_sdist_holds_the_sources_of_the_kernels(built):
    names = {name.split("/", 1)[-1] for name in tarfile.open(built[0]).getnames()}
    for file in ROOT.glob("native/**/*.[ch]"):
        assert file.relative_to(ROOT).as_posix() in names
    assert {"LICENSE", "README.md", "odt/py.typed", "native/bindings/_odt-stubs/__init__.pyi"} <= names


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The python of an empty environment: what a test installs there replaces what the one before did."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=300)
    return folder / "bin" / "python"


def install(python, package, *arguments, **env):
    """With pip; ``env`` is added to this process's own, None takes a name away."""
    env = {name: value for name, value in dict(os.environ, **env).items() if value is not None}
    command = [
        python,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-index",
        "--no-deps",
        "--force-reinstall",
        *arguments,
        package,
    ]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:]


def imported(python, folder):
    """
    The backend of the odt that was installed; -I: neither the checkout nor the user's own packages are looked into.
    """
    where = "import odt; print(odt.backend, odt.__file__)"
    done = subprocess.run([python, "-I", "-c", where], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    backend, file = done.stdout.split()
    assert file.startswith(str(python.parent.parent))
    return backend


def trained(python, folder):
    """What the XOR example prints from its last line of training on."""
    shutil.copy(ROOT / "examples" / "xor" / "train.py", folder)
    done = subprocess.run([python, "-I", "train.py"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout[done.stdout.index("loss ") :]


def test_installed_in_an_empty_environment_it_trains_xor_with_the_kernels(built, python, tmp_path):
    install(python, built[1])
    assert imported(python, tmp_path) == "native"
    assert [line.split("= ")[1] for line in trained(python, tmp_path).splitlines()[1:]] == list("0110")
    command = subprocess.run(
        [python, "-I", "-m", "odt", "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert command.returncode == 0 and "install" in command.stdout
    assert command.stdout.startswith("usage: python -m odt ")


def odt(python, folder, *words):
    """(exit status, what the command odt of the environment printed)"""
    done = subprocess.run(
        [python.with_name("odt"), *words],
        cwd=folder, env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_the_command_odt_is_python_m_odt(built, python, tmp_path):
    install(python, built[1])
    assert odt(python, tmp_path, "--help")[1].startswith("usage: odt ")
    wanted = trained(python, tmp_path)
    status, text = odt(python, tmp_path, "run", "train.py", "--on", "host")
    assert status == 0 and text.endswith(wanted)
    status, text = odt(python, tmp_path, "pico")
    assert status == 1 and "run `make pico` there" in text
    assert odt(python, tmp_path, "run", "none.py")[0] == 1


def test_install_of_a_wheel_without_files_for_boards_says_where_they_come_from(built, python, tmp_path):
    install(python, built[1])
    script = """
import sys
from odt.host import commands
from odt.host.boards import install
found = {
    "name": "micropython", "version": (1, 25, 0), "machine": "Board", "mpy": 4870, "free": 240000, "libs": ["/lib"],
    "deflate": True,
    "disk": 800000, "frozen": False, "odt": "", "without": [],
}
install.Board.probe = lambda self: found
sys.exit(commands.main(["install", "--port", "p", "--example", "xor"]))
"""
    done = subprocess.run([python, "-I", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    said = done.stdout.splitlines()[-1]
    assert done.returncode == 1
    assert re.fullmatch(
        "odt: .*/odt/host/mpy has nothing to install: install the wheel of a release, which has it, "
        "or give what `make mpy` built in a clone of odt's repository: --files <its folder build/mpy>",
        said,
    ), done


@pytest.mark.parametrize("compiler", ["missing", "broken"])
def test_the_sdist_installs_without_a_compiler_and_trains_in_python(built, python, tmp_path, compiler):
    """pip install of the sdist, in an environment whose PATH has no compiler, or with one that fails."""
    # What pip would fetch to build with, from here: a test needs no network.
    setuptools = Path(importlib.util.find_spec("setuptools").origin).parent.parent
    for name in ("setuptools", "_distutils_hack"):
        (tmp_path / name).symlink_to(setuptools / name)
    env = {
        "PATH": str(python.parent),
        "PYTHONPATH": str(tmp_path),
        "CC": "/bin/false" if compiler == "broken" else None,
    }
    install(python, built[0], "--no-build-isolation", **env)
    assert imported(python, tmp_path) == "reference"
    assert trained(python, tmp_path) in (ROOT / "examples" / "xor" / "README.md").read_text()  # the digest among it


# pip installs the wheel as if on the PC it was built for; the example then runs without its kernels.
NEWEST = """
import { loadPyodide } from "pyodide";
const [wheel, pip, example] = process.argv.slice(1);
const python = await loadPyodide();
for (const [index, path] of [wheel, pip, example].entries()) {
  python.mountNodeFS("/mnt" + index, path);
}
python.runPython(`
import glob, pathlib, runpy, sys, warnings
sys.path.insert(0, "/mnt1")
from pip._internal.cli.main import main
words = "install -q --no-index --no-deps --root-user-action ignore --target /site --platform linux_x86_64".split()
(wheel,) = glob.glob("/mnt0/*.whl")
version = wheel.split("-")[2][2:]  # the kernels' in it are of this one
words += ["--only-binary", ":all:", "--abi", "cp" + version, "--python-version", version, "--implementation", "cp"]
assert main([*words, wheel]) == 0
sys.meta_path[:] = [finder for finder in sys.meta_path if "pip." not in type(finder).__module__]
sys.path[0] = "/site"
warnings.simplefilter("error")
print(*sys.version_info[:2])
runpy.run_path("/mnt2/train.py")
`);
"""


def test_a_python_of_3_14_installs_the_wheel_and_trains_in_python(built, tmp_path):
    """CPython 3.14 of WebAssembly, from npm: neither Debian nor pip has one for this machine."""
    shutil.copytree(Path(importlib.util.find_spec("pip").origin).parent, tmp_path / "pip")
    command = ["node", "--input-type=module", "-e", NEWEST, "--", built[1].parent, tmp_path, ROOT / "examples" / "xor"]
    done = subprocess.run(
        list(map(str, command)), cwd=ROOT / "build" / "page_js", capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    version, printed = done.stdout.split("\n", 1)
    assert version == "3 14"
    assert printed[printed.index("loss ") :] in (ROOT / "examples" / "xor" / "README.md").read_text()


def test_what_make_mpy_builds_does_not_depend_on_what_else_is_installed(tmp_path):
    """Debian's compiler for RISC-V was enough for package.json to outgrow a Pico, and for two tests to fail."""
    for name in ("riscv64-unknown-elf-gcc", "xtensa-esp32-elf-gcc"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    printed = []
    for path, more in (("", ()), (str(tmp_path) + os.pathsep, ()), ("", ("MORE_ARCHS=xtensawin",))):
        command = ["make", "-s", "--eval", "archs: ; @echo $(MPY_ARCHS)", "archs", *more]
        env = dict(os.environ, PATH=path + os.environ["PATH"])
        printed.append(
            subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout.split()
        )
    assert printed[0] == printed[1] == ["x64", "armv6m", "armv7m", "armv7emsp", "armv7emdp", "rv32imc"]
    assert printed[2] == [*printed[0], "xtensawin"]
