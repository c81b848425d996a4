"""ruff: the layout of every file, and the faults it knows (pyproject.toml says which). Lines of documents wrap."""

import re
import subprocess
import sys

import pytest
from checkout import ROOT


@pytest.mark.parametrize(
    "command", [("check", "--output-format=concise"), ("format", "--diff")], ids=("faults", "layout")
)
def test_ruff_finds_nothing(command):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "."],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:]


def prose(text):
    """Numbered lines of Markdown that an editor wraps: those of tables, code and single long words do not."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("|", "    ")) and " " in line.strip():
            yield number, line


def lines_of_c(text):
    return enumerate(text.split("\n"), 1)


@pytest.mark.parametrize("patterns, folders, lines", [(["*.md"], ["docs"], prose),
    (["*.c", "*.h", "*.inc"], ["native", "boards"], lines_of_c)], ids=["documents", "C"])  # fmt: skip
def test_lines_wrap(patterns, folders, lines):
    files = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.split()
    files = files or [
        str(path.relative_to(ROOT)) for folder in folders for each in patterns for path in (ROOT / folder).rglob(each)
    ]  # of an archive
    assert len(files) > 20
    wide = re.search(r"^line-length = (\d+)$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert wide == "120"
    found = [
        "%s:%d: %d columns" % (file, number, len(line))
        for file in files
        for number, line in lines((ROOT / file).read_text())
        if len(line) > int(wide) and not line.startswith("<!--")
    ]
    assert not found
    assert [number for number, _ in prose("a b\n| c d\n```\ne f\n```\ng h")] == [1, 6]
