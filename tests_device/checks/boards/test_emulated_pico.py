"""python -m odt pico: mpremote and odt's commands on it, and that nothing of it stays."""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import flash_image
import machines
import pytest
from stock_files import base

from odt.host.run import DIGEST

XOR = machines.ROOT / "examples" / "xor" / "train.py"


class Pico:
    """`python -m odt pico`, running; other boards that run here are not seen."""

    def __init__(self, temp, *arguments, **files):
        # The installed package may be another one; TMPDIR: where emulated boards are listed.
        paths = os.pathsep.join(filter(None, (str(machines.ROOT), os.environ.get("PYTHONPATH"))))
        self.env = dict(os.environ, TMPDIR=str(temp), PYTHONPATH=paths)
        words = [sys.executable, "-m", "odt", "pico", "--build", machines.BUILD, *arguments]
        options = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        options.update(files)
        # A shell's background job ignores Ctrl-C, and what it starts does: not what is tested here.
        options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        self.process = subprocess.Popen([str(word) for word in words], env=self.env, cwd=machines.ROOT, **options)

    def wait_for_port(self):
        text = ""
        for line in iter(self.process.stdout.readline, b""):
            text += line.decode()
            if "switches" in text:
                break
        self.port = re.search(r" on (\S+)\n", text)[1]
        self.text = text
        self.children = [int(number) for number in self._children().split()]
        assert self.children
        return self

    def _children(self):
        return Path("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)).read_text()

    def call(self, *words, timeout=300):
        """(exit status, what a module of Python printed)"""
        done = subprocess.run(
            [sys.executable, "-m", *map(str, words)],
            cwd=machines.ROOT, env=self.env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=timeout,
        )  # fmt: skip
        return done.returncode, done.stdout

    def mpremote(self, *words):
        status, text = self.call("mpremote", "connect", self.port, *words)
        assert status == 0, text
        return text

    def end(self, number):
        """Send a signal: (exit status, what it printed last)."""
        self.process.send_signal(number)
        text = self.process.communicate(timeout=60)[0]
        return self.process.returncode, text.decode()

    def gone(self):
        """Whether all that it started has ended, within 20 seconds."""
        end = time.monotonic() + 20
        while any(map(alive, self.children)) and time.monotonic() < end:
            time.sleep(0.05)
        return not any(map(alive, self.children))


def alive(number):
    try:
        return Path("/proc/%d/stat" % number).read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextlib.contextmanager
def running(temp, *arguments):
    pico = Pico(temp, "--no-repl", *arguments)
    try:
        yield pico.wait_for_port()
    finally:
        pico.process.kill()
        pico.process.wait()
        pico.process.stdout.close()


@pytest.fixture(scope="module")
def pico(tmp_path_factory):
    with running(tmp_path_factory.mktemp("pico")) as board:
        yield board


def test_mpremote_reaches_it_and_the_line_to_do_so_is_printed(pico):
    assert " connect %s\n" % pico.port in pico.text and "core.mjs" in pico.text
    assert pico.mpremote("exec", "import sys; print(sys.implementation._machine)") == "Raspberry Pi Pico with RP2040\n"


def test_devices_lists_it_and_run_takes_it_where_it_is_the_only_board(pico):
    status, text = pico.call("odt", "devices")
    if len(text.splitlines()) > 1:
        pytest.skip("real boards are plugged in")
    assert status == 0 and text.startswith(pico.port + ": Raspberry Pi Pico with RP2040, micropython 1.25.0 ")
    assert text.endswith(", odt in its firmware\n")
    for port in ((), ("--port", pico.port)):
        status, text = pico.call("odt", "run", XOR, "--compare", *port)
        assert status == 0, text
        host, board = text.split("--- board\n")
        assert DIGEST.findall(host) == DIGEST.findall(board)[:1]
        assert "--- the same digest on both: " in board


def test_all_bytes_come_through_both_ways(pico, tmp_path):
    data = bytes(range(256)) * 200
    (tmp_path / "sent").write_bytes(data)
    pico.mpremote("cp", tmp_path / "sent", ":kept")
    pico.mpremote("cp", ":kept", tmp_path / "received")
    assert (tmp_path / "received").read_bytes() == data
    script = "import sys\nfor _ in range(200):\n    sys.stdout.buffer.write(bytes(range(32, 127)))"
    assert pico.mpremote("exec", script) == 200 * "".join(map(chr, range(32, 127)))


def test_what_is_printed_with_nobody_there_holds_nothing_up(pico):
    pico.mpremote("exec", "--no-follow", "for i in range(3000):\n    print('-' * 60)\nprint('the end')")
    assert pico.mpremote("exec", "print(5)") == "5\n"


def test_port_that_another_program_holds_is_status_1(pico):
    import serial

    with serial.Serial(pico.port, exclusive=True):
        status, text = pico.call("odt", "run", XOR, "--port", pico.port)
    assert status == 1 and text.startswith("odt: board: failed to access %s" % pico.port)
    assert pico.mpremote("exec", "print(6)") == "6\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_it_however_it_ends(number, tmp_path):
    with running(tmp_path) as board:
        status, text = board.end(number)
        assert (status, text) == ((-9, "") if number == signal.SIGKILL else (0, "odt: the board is switched off\n"))
        assert board.gone()
        assert board.port not in board.call("odt", "devices")[1]
        assert not list(tmp_path.glob("odt-pico-%d/*" % os.getuid()))


def test_board_that_crashes_is_status_1_with_the_reason(tmp_path):
    with running(tmp_path) as board:
        assert board.call("mpremote", "connect", board.port, "exec", "import machine; machine.mem32[0x60000000]")[0]
        text = board.process.communicate(timeout=60)[0].decode()
        assert board.process.returncode == 1
        assert text.startswith("odt: the emulated board has stopped: rp2040: hard fault: load from 0x60000000")
        assert board.gone()


def test_files_stay_in_the_flash_that_is_given(tmp_path):
    for script, answer in (("with open('kept', 'w') as f: f.write('7')", ""), ("print(open('kept').read())", "7\n")):
        with running(tmp_path, "--flash", tmp_path / "flash") as board:
            assert board.mpremote("exec", script) == answer
            assert board.end(signal.SIGINT)[0] == 0


def test_stock_firmware_gets_odt_by_install(tmp_path):
    """Its modules are there already: tests_device/checks/install/test_mip.py brings them all."""
    files = machines.BUILD / "mpy"
    flash_image.write(tmp_path / "flash", base())
    with running(tmp_path, "--stock", "--flash", tmp_path / "flash") as board:
        status, text = board.call("odt", "install", "--port", board.port, "--files", files, "--example", "xor")
        assert status == 0, text
        assert "Self-test passed: the PC's digests in int8 and float32;" in text
        host = board.call("odt", "run", XOR, "--on", "host")[1]
        assert DIGEST.findall(board.mpremote("exec", "import xor.train")) == DIGEST.findall(host)


def test_firmware_that_is_none_is_an_error(tmp_path):
    (tmp_path / "none.uf2").write_bytes(bytes(512))
    board = Pico(tmp_path, "--no-repl", "--firmware", tmp_path / "none.uf2")
    text = board.process.communicate(timeout=60)[0].decode()
    assert board.process.returncode == 1
    assert text.startswith("odt: the firmware did not start: ") and "none.uf2 is no UF2 file: block 0" in text


def test_repl_takes_what_is_typed_and_ctrl_x_switches_the_board_off(tmp_path):
    ours, theirs = os.openpty()
    board = Pico(tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)

    def until(words, seconds=60):
        text = b""
        end = time.monotonic() + seconds
        while words not in text:
            assert select.select([ours], [], [], max(0, end - time.monotonic()))[0], text
            text += os.read(ours, 4096)
        return text.decode()

    try:
        text = until(b"to exit this shell")
        assert "Ctrl-X" in text
        board.children = [int(number) for number in board._children().split()]
        assert len(board.children) == 2
        for _ in range(30):  # an Enter before mpremote has its terminal in raw mode is none
            os.write(ours, b"\r6 * 7\r")
            with contextlib.suppress(AssertionError):
                until(b"\r\n42\r\n", 2)
                break
        else:
            raise AssertionError("no answer")
        os.write(ours, b"while True: print('on')\r\r")
        until(b"\r\non\r\n")
        os.write(ours, b"\x03")
        until(b"KeyboardInterrupt")
        os.write(ours, b"\x18")
        assert board.process.wait(60) == 0
        assert board.gone()
    finally:
        board.process.kill()
        board.process.wait()
        os.close(ours)
