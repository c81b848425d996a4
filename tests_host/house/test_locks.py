"""The lock files: what the tests run with is what they name, and they name no registry."""

import json
import re
import runpy
import sys
from importlib import metadata

import pytest
from checkout import ROOT

PYTHON = (ROOT / ".ci" / "constraints.txt").read_text()
FLOWER = (ROOT / ".ci" / "flower.txt").read_text()  # of build/venv-flower
NPM = ROOT / "tests_device" / "rp2040js", ROOT / "docs" / "page"
LINE = re.compile(r'([a-z0-9-]+)==([0-9][\w.]*); python_version == "(\d+\.\d+)"')


def test_the_tests_run_with_the_versions_of_the_lock_file():
    lock = runpy.run_path(str(ROOT / ".ci" / "lock.py"), run_name="lock")
    matches = [LINE.fullmatch(line) for line in PYTHON.splitlines()[1:]]
    assert all(matches)
    pinned = {match[1]: match[2] for match in matches}
    found = lock["closure"]()
    assert {"torch", "pytest", "numpy", "mpremote", "hypothesis"} <= set(found)
    assert set(pinned) - {"setuptools"} <= set(found), "no extra needs them any more; run make lock"
    if {match[3] for match in matches} != {"%d.%d" % sys.version_info[:2]}:
        pytest.skip("locked for another Python")
    differ = {name: (version, pinned.get(name)) for name, version in found.items() if pinned.get(name) != version}
    assert not differ, "here and in the lock file; run make lock, or make venv anew"


def test_every_extra_is_locked():
    """Whatever pyproject.toml asks for by name; what only search needs may not be installed here."""
    names = {re.match(r"[\w-]+", text)[0] for text in metadata.requires("odt-train")}
    assert {name.lower().replace("_", "-") for name in names} <= {
        line.partition("==")[0] for text in (PYTHON, FLOWER) for line in text.splitlines()
    }


def test_flowers_lock_file_has_the_version_that_its_extra_names():
    matches = [LINE.fullmatch(line) for line in FLOWER.splitlines()[1:]]
    assert all(matches)
    extra = re.search(r'^flower = \["flwr==([\d.]+)\*"\]', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    assert {match[1]: match[2] for match in matches}["flwr"].startswith(extra)


@pytest.mark.parametrize("folder", NPM, ids=lambda folder: folder.name)
def test_the_lock_file_of_npm_is_that_of_the_package(folder):
    package, lock = (json.loads((folder / name).read_text()) for name in ("package.json", "package-lock.json"))
    assert lock["packages"][""]["dependencies"] == package["dependencies"]
    for name, version in package["dependencies"].items():
        assert lock["packages"]["node_modules/" + name]["version"] == version
    assert all(part["integrity"].startswith("sha512-") for name, part in lock["packages"].items() if name)


def test_lock_files_name_no_registry():
    for text in (PYTHON, FLOWER, *[(folder / "package-lock.json").read_text() for folder in NPM]):
        assert "://" not in text and "resolved" not in text and "--index" not in text


def test_make_installs_by_the_lock_files():
    for name in ("Makefile", *("boards/" + file.name for file in (ROOT / "boards").glob("*.mk"))):
        text = (ROOT / name).read_text()
        lock = text.partition("\nlock:")[2].partition("\n\n")[0]
        for line in text.replace(lock, "").splitlines():
            assert "npm install" not in line, (name, line)
            assert "-m pip install" not in line or line.startswith("PIP_INSTALL =") and line.endswith("-c $(LOCK)"), (
                name,
                line,
            )
