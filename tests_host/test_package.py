"""sdist and wheel: what they hold, and that the installed package trains in an empty environment."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = "import setuptools.build_meta as backend, sys; backend.build_%s(sys.argv[1])"


def build(kind, folder, place):
    done = subprocess.run(
        [sys.executable, "-c", BUILD % kind, str(place)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """(sdist, wheel), the wheel made of the unpacked sdist alone."""
    folder = tmp_path_factory.mktemp("package")
    tree = folder / "tree"
    for name in ("odt", "native"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "manifest.py"):
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
    assert not [name for name in names if name.startswith(("tests", "native"))]


def test_sdist_holds_the_sources_of_the_kernels(built):
    names = {name.split("/", 1)[-1] for name in tarfile.open(built[0]).getnames()}
    for file in ROOT.glob("native/**/*.[ch]"):
        assert file.relative_to(ROOT).as_posix() in names
    assert {"LICENSE", "README.md", "odt/py.typed", "native/bindings/_odt-stubs/__init__.pyi"} <= names


def test_installed_in_an_empty_environment_it_trains_xor_with_the_kernels(built, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, timeout=300)
    python = tmp_path / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", built[1]]
    subprocess.run(install, check=True, timeout=300)
    shutil.copy(ROOT / "examples" / "xor" / "train.py", tmp_path)
    # -I: neither the checkout nor the user's own packages are looked into.
    done = subprocess.run(
        [python, "-I", "train.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert [line.split("= ")[1] for line in done.stdout.splitlines() if " xor " in line] == list("0110")
    where = "import odt; print(odt.backend, odt.__file__)"
    done = subprocess.run([python, "-I", "-c", where], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    backend, file = done.stdout.split()
    assert backend == "native" and file.startswith(str(tmp_path))
    command = subprocess.run([python, "-I", "-m", "odt", "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert command.returncode == 0 and "install" in command.stdout
