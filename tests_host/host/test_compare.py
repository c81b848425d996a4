"""`python -m odt run` on the PC, and how digests are compared."""

import runpy
import sys

import pytest
from checkout import ROOT

from odt.host import commands, run
from odt.host.boards.board import BoardError

TRAIN = """
import odt
model = odt.Sequential([odt.Input((2,)), odt.Dense(2)])
model.compile(batch_size=2)
model.fit([[0, 1], [1, 0]], open("labels.bin", "rb").read(), verbose=0)
print("digest %08x" % model.digest())
"""


@pytest.fixture
def script(tmp_path):
    def write(text):
        (tmp_path / "script.py").write_text(text)
        return str(tmp_path / "script.py")

    return write


def test_script_runs_in_its_own_folder_with_this_odt(script, tmp_path, capfd):
    (tmp_path / "labels.bin").write_bytes(b"\x00\x01")
    assert commands.main(["run", script(TRAIN), "--on", "host"]) == 0
    assert len(run.DIGEST.findall(capfd.readouterr().out)) == 1


def test_place_whose_digests_agree_with_the_hosts_is_status_0(script, tmp_path, capfd):
    (tmp_path / "labels.bin").write_bytes(b"\x00\x01")
    place = tmp_path / "place"  # called as the unix port is: -X heapsize=4M script
    place.write_text('#!/bin/sh\nexec "%s" "$3"\n' % sys.executable)
    place.chmod(0o755)
    assert commands.main(["run", script(TRAIN), "--on", "unix=%s" % place, "--compare"]) == 0
    text = capfd.readouterr().out
    first, second = run.DIGEST.findall(text)
    assert first == second and text.endswith("--- the same digest on both: %s\n" % first)


@pytest.mark.parametrize(
    ("host", "found", "reason"),
    [
        ([], [], 'the script prints no line with "digest xxxxxxxx"'),
        (["00000001"], [], "the host printed 1, board 0"),
        (["00000001"], ["00000002"], "digest differs: 00000001 on the host, 00000002 on board"),
        (["00000001", "0000000a"], ["00000001", "0000000b"], "digest 2 of 2 differs: 0000000a on the host"),
    ],
)
def test_digests_that_differ_are_an_error(host, found, reason):
    with pytest.raises(BoardError, match=reason):
        run.compare(host, "board", found)


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ("raise ValueError('its own')", ["--on", "host"], "ValueError: its own\nodt: host: the script failed"),
        (
            "print(1)\nwhile True: pass",
            ["--on", "host", "--timeout", "2"],
            "1\nodt: host: the script did not end in 2 seconds",
        ),
        ("", ["--on", "host", "--compare"], "sets a board, or unix=PATH, beside the host"),
        ("", ["--on", "unix"], "--on is board, host or unix=PATH, got 'unix'"),
        ("", ["--on", "moon"], "got 'moon'"),
        ("", ["--on", "unix=/nowhere/micropython"], "/nowhere/micropython: No such file or directory"),
    ],
)
def test_what_fails_is_status_1_with_the_reason(script, capfd, text, options, reason):
    assert commands.main(["run", script(text), *options]) == 1
    assert reason in capfd.readouterr().out


def test_missing_script_is_named(capfd):
    assert commands.main(["run", "nowhere.py", "--on", "host"]) == 1
    assert "nowhere.py: no such script" in capfd.readouterr().out


def test_the_picture_of_make_run_says_that_two_lines_coincide(tmp_path):
    from matplotlib import pyplot

    path = ROOT / "examples" / "digits" / "compare.py"
    compare = runpy.run_path(str(path))
    one = {"label": "CPython", "digest": "05e32263", "loss": [2.0, 1.0], "val_loss": [2.5, 1.5]}
    other = dict(one, label="MicroPython")
    coincide = "CPython and MicroPython: the same bits, so their lines coincide"
    for results, said in (
        ([one], False), ([one, other], True), ([one, dict(other, loss=[2.0, 1.1])], False),
        ([one, dict(other, digest="12345678")], False),
    ):  # fmt: skip
        assert compare["picture"](results, tmp_path / "digits.png")
        axes = pyplot.gcf().axes[0]
        assert (coincide in axes.get_title()) == said
        assert len(axes.lines) == 2 * len(results)
        widths = {line.get_linewidth() for line in axes.lines}
        assert len(results) == 1 or max(widths) > 3 * min(widths)
        pyplot.close("all")
