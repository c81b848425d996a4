"""`python -m odt pico` where the emulated board cannot start: what is said.

tests_device/checks/boards/test_emulated_pico.py has it running.
"""

import os
import shutil
import subprocess
import sys

import pytest
from checkout import ROOT


def pico(*arguments, package=ROOT, folder=ROOT, **env):
    """(exit status, what it printed)"""
    path = os.pathsep.join(filter(None, (str(package), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "odt", "pico", "--no-repl", *map(str, arguments)],
        cwd=folder, env=dict(os.environ, PYTHONPATH=path, **env), text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stdout


def built(build):
    """The files of an emulator, all empty."""
    for name in ("rp2040/firmware.uf2", "rp2040/bootrom.bin", "rp2040/js/.complete"):
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).touch()
    return build


@pytest.mark.parametrize(
    "arguments, target, file",
    [((), "make pico", "rp2040/firmware.uf2"), (("--stock",), "make pico-stock", "stock_rp2040/firmware.uf2")],
)
def test_what_is_not_built_is_named_with_the_target_that_builds_it(arguments, target, file, tmp_path):
    text = "odt: the emulated Pico is not built: run `%s` (%s is missing)\n" % (target, tmp_path / file)
    assert pico("--build", tmp_path, *arguments) == (1, text)


def test_an_emulator_that_is_not_built_is_named(tmp_path):
    (built(tmp_path) / "rp2040/js/.complete").unlink()
    status, text = pico("--build", tmp_path)
    assert status == 1 and "run `make pico` (%s is missing)" % (tmp_path / "rp2040/js/.complete") in text


def test_an_installed_package_names_the_checkout_that_it_needs(tmp_path):
    shutil.copytree(ROOT / "odt", tmp_path / "site" / "odt", ignore=shutil.ignore_patterns("__pycache__"))
    status, text = pico(package=tmp_path / "site", folder=tmp_path)
    assert status == 1
    assert text.startswith("odt: the emulated Pico is built in a clone of odt's repository: run `make pico` there, ")


def test_without_node_the_target_that_installs_it_is_named(tmp_path):
    status, text = pico("--build", built(tmp_path), PATH=str(tmp_path))
    assert (status, text) == (1, "odt: node is missing: `make pico` installs it where there is apt\n")


def test_firmware_and_folders_that_are_not_there_are_named(tmp_path):
    assert pico("--firmware", tmp_path / "a.uf2") == (1, "odt: %s: no such firmware\n" % (tmp_path / "a.uf2"))
    flash = tmp_path / "no" / "flash"
    status, text = pico("--build", built(tmp_path), "--flash", flash)
    assert (status, text) == (1, "odt: %s: there is no folder %s\n" % (flash, flash.parent))
