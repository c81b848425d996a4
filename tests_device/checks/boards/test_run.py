"""python -m odt run: on the emulated Pico, over its serial port, and on the unix port."""

import subprocess
import sys

import machines
import pytest

from odt.host.run import DIGEST

XOR = machines.ROOT / "examples" / "xor" / "train.py"


def run(*arguments):
    """(exit status, what `python -m odt run` printed)."""
    done = subprocess.run(
        [sys.executable, "-m", "odt", "run", *map(str, arguments)],
        cwd=machines.ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def connect():
    with machines.open("rp2040") as machine:
        assert machine.mpremote("exec", "pass")[0] == 0  # switches it on
        yield ["--connect", machine._port]


def test_example_ends_with_the_same_digest_on_the_pico_and_on_the_pc(connect):
    status, text = run(XOR, "--compare", *connect)
    assert status == 0, text
    host, board = text.split("--- board\n")
    assert DIGEST.findall(host) == DIGEST.findall(board)[:1] and " xor " in board
    assert text.endswith("--- the same digest on both: %s\n" % DIGEST.findall(host)[0])


def test_example_ends_with_the_same_digest_on_the_unix_port():
    status, text = run(XOR, "--on", "unix=%s" % (machines.BUILD / "unix" / "micropython"), "--compare")
    assert status == 0 and "--- unix\n" in text and "--- the same digest on both: " in text


def test_script_finds_the_files_of_its_folder_and_other_digests_are_status_1(connect, tmp_path):
    (tmp_path / "name.txt").write_text("board")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nprint(open('name.txt').read(), 'digest %08x' % (sys.implementation.name == 'cpython'))\n"
    )
    status, text = run(script, *connect)
    assert status == 0 and "board digest 00000000\n" in text
    status, text = run(script, "--compare", *connect)
    assert status == 1
    assert text.endswith("odt: digest differs: 00000001 on the host, 00000000 on board\n")


def test_script_that_fails_on_the_board_is_status_1_with_its_traceback(connect, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("print(5)\nraise ValueError('its own')\n")
    status, text = run(script, *connect)
    assert status == 1
    assert "5\n" in text and "ValueError: its own\n" in text and text.endswith("odt: board: the script failed\n")


def test_port_where_nothing_answers_is_status_1():
    status, text = run(XOR, "--connect", "socket://127.0.0.1:9")
    assert status == 1 and text.startswith("odt: board: failed to access ")
