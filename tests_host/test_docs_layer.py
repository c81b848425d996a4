"""docs/howto/add_a_layer.md, done: its blocks are put into a copy of the tree, which is built, and its tests pass."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from odt.base import opcodes

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.M | re.S)


@pytest.mark.slow
def test_the_layer_of_the_page_is_built_and_passes_its_tests(tmp_path):
    for name in ("odt", "native", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tests_host").mkdir()
    shutil.copy(ROOT / "tests_host" / "test_generated.py", tmp_path / "tests_host")
    blocks = BLOCK.findall((ROOT / "docs" / "howto" / "add_a_layer.md").read_text())
    assert len(blocks) == 9
    for name, text in blocks:
        file = tmp_path / name
        before = file.read_text() if file.exists() else ""
        if name == "odt/base/opcodes.py":  # the next numbers, at the end of the section, which normalisation's follows
            count = len(opcodes.TABLE.splitlines())
            text = re.sub(r'b"90(\d) ', lambda match: 'b"%d ' % (count + int(match[1])), text)
            after = before.replace("    # norm: ", text + "    # norm: ")
        else:
            after = before + ("\n\n" if before and name != "odt/__init__.py" else "") + text
        assert after != before
        file.write_text(after)
    python = [sys.executable, "-B"]
    env = dict(os.environ, PYTHONPATH=str(tmp_path))

    def run(*command):
        done = subprocess.run(
            command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode == 0, done.stdout

    run(*python, "-m", "odt.host.generate")
    module = tmp_path / ("_odt" + sysconfig.get_config_var("EXT_SUFFIX"))
    sources = [
        *[path for path in tmp_path.glob("native/**/*.c") if path.parent.name != "bindings"],
        tmp_path / "native/bindings/cpython.c",
    ]
    flags = ["-O1", "-std=c99", "-ffp-contract=off", "-fwrapv", "-Wall", "-Werror", "-fPIC", "-shared"]
    run("cc", *flags, "-I", tmp_path / "native", "-I", sysconfig.get_path("include"), *sources, "-o", module)
    run(*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests_host")
