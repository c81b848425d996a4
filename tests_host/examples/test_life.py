"""examples/personalise/life.py ends with one digest, wherever the power fails and how often, and each of its stages
helps.
"""

import contextlib
import io
import re
import runpy
import shutil
import subprocess
import sys

import pytest
from checkout import ROOT
from filesystem import Disk

from odt.files import checkpoint
from odt.host import files

EXAMPLE = ROOT / "examples" / "personalise"
FILES = ("person.bin", "warm.odt", "learn.odt")
SHORT = {"seen": 40, "passes": 2, "epochs": 2}


def life(args):
    """What life.py prints in the current folder."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(EXAMPLE / "life.py"), {"ODT_ARGS": args})
    return out.getvalue()


def digests(text):
    return re.search(r"^digest (\w{8} \w{8})$", text, re.M).group(1)


class Watched(Disk):
    """Notes before each call what may be found if the power fails now; ``found`` has each once."""

    def __init__(self, kind):
        super().__init__(kind)
        self.found = []

    def call(self, name):
        super().call(name)
        for outcome in self.outcomes():
            # What a PC writes has another name each time until it is whole; nothing reads that.
            state = {path: data for path, data in outcome.items() if not path.startswith(".")}
            if state not in self.found:
                self.found.append(state)


@pytest.mark.parametrize("kind", ("pc", "littlefs", "fat"))
def test_wherever_the_power_fails_and_fails_again_a_life_ends_with_one_digest(kind, tmp_path, monkeypatch):
    for name in FILES:
        shutil.copy(EXAMPLE / name, tmp_path)
    data = (tmp_path / "person.bin").read_bytes()
    (tmp_path / "person.bin").write_bytes(data[: 64 * 240] + data[64 * (len(data) // 65) :][:240])
    monkeypatch.chdir(tmp_path)
    disk = Watched(kind)
    disk.install(monkeypatch, checkpoint, files)
    expected = digests(life(SHORT))
    assert len(disk.found) > 7  # none, and each of the seven checkpoints
    begun = resumed = 0
    for state in disk.found:  # it grows: of each state those that a second failure leaves
        disk.set(state)
        text = life(SHORT)
        assert digests(text) == expected, sorted(state)
        begun += "as it came" in text
        resumed += "goes on from" in text
    assert begun and resumed >= 7 and begun + resumed == len(disk.found)


def stages(text):
    return [[float(share) for share in row] for row in re.findall(r"the eight ([\d.]+) %, 3 and 7 ([\d.]+) %", text)]


@pytest.mark.parametrize("seed", (None, 1, 2))
def test_each_stage_of_a_life_helps_and_the_eight_are_not_forgotten(seed, tmp_path, monkeypatch):
    """Of the example's own files, and of another training and other writers."""
    if seed is None:
        for name in FILES:
            shutil.copy(EXAMPLE / name, tmp_path)
    else:
        command = [sys.executable, EXAMPLE / "pretrain.py", tmp_path, str(seed)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=EXAMPLE.parent.parent)
    monkeypatch.chdir(tmp_path)
    came, light, own, three, seven, end = stages(life({}))
    assert came[0] + 20 < light[0] < own[0] and came[1] < 20 and own[1] < 20
    assert three[1] > own[1] + 20 and seven[1] > three[1] + 20
    assert end == seven and end[0] > own[0] - 6 and end[1] > 60
