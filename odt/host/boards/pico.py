"""python -m odt pico: an emulated Raspberry Pi Pico on a serial port of this PC.

    python -m odt pico                  a REPL on it: Ctrl-X leaves it and switches the board off
    python -m odt pico --no-repl        keeps running until Ctrl-C, for mpremote and odt in another terminal
    python -m odt pico --stock          MicroPython without odt: to try install

The chip and its firmware are a Node process (tests_device/rp2040js), whose serial port is a TCP port of this PC; here
stands a pseudo-terminal before it, as mpremote and other programs know serial ports. `make pico` builds what it needs.
"""

import contextlib
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ..files import CHECKOUT, IN_CHECKOUT
from ..text import say
from .board import BoardError, mpremote

BUILD = CHECKOUT / "build"
_STARTING = 60  # seconds
_ENDING = 10

_WORDS = """\
An emulated Raspberry Pi Pico, %(firmware)s, on %(port)s
    %(mpremote)s connect %(port)s
    %(odt)s run SCRIPT --port %(port)s      (install, monitor, devices: as with any board)
Times there are cycles at 125 MHz as the manuals count them (tests_device/rp2040js/core.mjs), not measured on a board
%(leave)s"""


def command(options):
    """Returns 0 once the board is switched off, or mpremote's status; BoardError where it does not start or crashes."""
    if not hasattr(os, "openpty"):
        raise BoardError("the emulated Pico needs pseudo-terminals, which this system does not have")
    build = Path(options.build).resolve()
    folder, made_by = ("stock_rp2040", "make pico-stock") if options.stock else ("rp2040", "make pico")
    firmware = Path(options.firmware or build / folder / "firmware.uf2").resolve()
    if options.firmware and not firmware.is_file():
        raise BoardError("%s: no such firmware" % options.firmware)
    check(build, firmware, made_by)
    flash = ["--flash", Path(options.flash).resolve()] if options.flash else []
    if flash and not flash[1].parent.is_dir():
        raise BoardError("%s: there is no folder %s" % (options.flash, flash[1].parent))
    repl = not options.no_repl and sys.stdin.isatty()
    with contextlib.ExitStack() as stack:
        temp = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="odt-pico-")))
        for name in ("SIGTERM", "SIGHUP"):
            before = signal.signal(getattr(signal, name), _interrupt)
            stack.callback(signal.signal, getattr(signal, name), before)
        try:
            process, number = start(build, firmware, temp / "log", *flash)
            stack.callback(_end, process)
            link = stack.enter_context(socket.create_connection(("127.0.0.1", number)))
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or a second short write waits 40 ms
            master, port = stack.enter_context(_terminal())
            stack.enter_context(_registered(port))
            what = "firmware %s" % firmware if options.firmware else "MicroPython %s odt" % (
                "without" if options.stock else "with"
            )  # fmt: skip
            leave = "The REPL has the port until Ctrl-X, which switches the board off (--no-repl leaves it to others)"
            words = {"firmware": what, "port": port, "odt": program(), "mpremote": _called("mpremote")}
            say(_WORDS % dict(words, leave=leave if repl else "Ctrl-C switches it off"), keep="\n", flush=True)
            user = None
            if repl:
                user = subprocess.Popen([*mpremote(), "connect", port, "repl"])
                stack.callback(_end, user)
            status = _carry(master, link, user)
        except KeyboardInterrupt:
            say("odt: the board is switched off")
            return 0
        if status is None:
            raise BoardError("the emulated board has stopped: %s" % _reason(process, temp / "log"))
        return status


def program():
    """How the person has called odt."""
    return "odt" if Path(sys.argv[0]).stem == "odt" else _called("odt")


def _called(module):
    """What to type for a module of this Python."""
    if module == "mpremote" and shutil.which(module):
        return module
    names = [name for name in ("python3", "python") if shutil.which(name) == sys.executable]
    python = names[0] if names else os.path.relpath(sys.executable)
    return "%s -m %s" % (sys.executable if python.startswith("..") else python, module)


# --- the emulator -------------------------------------------------------------------------------


def check(build, firmware, made_by):
    """BoardError where the emulator or the firmware is not built."""
    for file in (firmware, build / "rp2040" / "bootrom.bin", build / "rp2040" / "js" / ".complete"):
        if file.exists():
            continue
        if build == BUILD.resolve() and not IN_CHECKOUT:
            raise BoardError(
                "the emulated Pico is built in a clone of odt's repository: run `%s` there, and this in its folder "
                "or with --build <its folder build> (%s is missing)" % (made_by, file)
            )
        raise BoardError("the emulated Pico is not built: run `%s` (%s is missing)" % (made_by, file))


def start(build, firmware, log, *options):
    """Start Node with a firmware, and wait until its USB serial port is up.

    Its own messages go to the file ``log``, ``options`` are those of bridge.mjs. Returns (process, TCP port); the
    process, of a session of its own, also ends when this one does, however that is. BoardError with the reason.
    """
    words = ["node", "bridge.mjs", "--stdin", "--port", "0", "--bootrom", build / "rp2040" / "bootrom.bin"]
    words += ["--firmware", firmware, *options]
    with open(log, "wb") as errors:
        try:
            process = subprocess.Popen(
                [str(word) for word in words], cwd=build / "rp2040" / "js", stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
            )  # fmt: skip
        except FileNotFoundError:
            raise BoardError("node is missing: `make pico` installs it where there is apt") from None
    text = b""
    end = time.monotonic() + _STARTING
    try:
        while b"ready\n" not in text:
            left = end - time.monotonic()
            chunk = b""
            if left > 0 and select.select([process.stdout], [], [], left)[0]:
                chunk = os.read(process.stdout.fileno(), 4096)
            if not chunk:
                late = process.poll() is None and left <= 0
                process.kill()
                raise BoardError(
                    "the firmware did not start%s: %s"
                    % (" in %d seconds" % _STARTING if late else "", _reason(process, log))
                )
            text += chunk
    except BaseException:
        _end(process)
        raise
    return process, int(text.split(b"port ")[1].split()[0])


def _reason(process, log):
    """The last words of a Node that has ended."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING)
    lines = [line.strip() for line in Path(log).read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"\w*Error\b.*: ", line)]  # JavaScript's; its stack is below
    return (errors or lines or ["no reason given"])[0 if errors else -1]


def _end(process):
    """End a process; what Node has of the flash is in its file then."""
    process.terminate()
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _interrupt(*unused):
    raise KeyboardInterrupt


# --- the serial port ------------------------------------------------------------------------------


@contextlib.contextmanager
def _terminal():
    """(our end, name of the other) of a new pseudo-terminal that passes all bytes as they are."""
    import tty

    master, slave = os.openpty()
    try:
        name = os.ttyname(slave)
        tty.setraw(slave)
        os.set_blocking(master, False)
    finally:
        os.close(slave)  # so that it is seen whether anyone has the port open
    try:
        yield master, name
    finally:
        os.close(master)


def _carry(master, link, user):
    """Carry bytes between terminal and emulator until ``user`` ends: its status; None when the emulator does.

    What the board prints while nobody has the port open is lost, as on USB; to one that reads slowly it waits.
    """
    to_board = to_pc = b""
    while user is None or user.poll() is None:
        reads = ([] if to_board else [master]) + ([] if to_pc else [link])
        writes = ([link] if to_board else []) + ([master] if to_pc else [])
        readable, writable, _ = select.select(reads, writes, [], 0.1)
        if link in readable:
            to_pc = link.recv(65536)
            if not to_pc:
                return None
        if link in writable:
            to_board = to_board[link.send(to_board) :]
        if master in readable:
            to_board = _read(master)
            if not to_board:  # nobody has it open
                to_pc = b""
                time.sleep(0.01)
        if to_pc and master in writable:
            with contextlib.suppress(BlockingIOError):
                to_pc = to_pc[os.write(master, to_pc) :]
    return user.returncode


def _read(master):
    try:
        return os.read(master, 4096)
    except OSError:  # Linux; others read nothing
        return b""


# --- the boards that run ----------------------------------------------------------------------------


def _list():
    """The folder that lists this user's emulated boards: a file each, locked while its board runs."""
    return Path(tempfile.gettempdir()) / ("odt-pico-%d" % os.getuid())


@contextlib.contextmanager
def _registered(port):
    """Within it, running() knows the port."""
    import fcntl

    folder = _list()
    folder.mkdir(mode=0o700, exist_ok=True)
    name = folder / str(os.getpid())
    with open(name, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(port)
        file.flush()
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                name.unlink()


def running():
    """The ports of this user's emulated boards."""
    try:
        import fcntl

        folder = _list()
        files = sorted(folder.iterdir()) if folder.stat().st_uid == os.getuid() else []
    except (ImportError, AttributeError, OSError):  # Windows, or none was ever started
        return []
    ports = []
    for name in files:
        try:
            with open(name) as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    name.unlink()  # of one that was killed
                except BlockingIOError:
                    ports.append(file.read())
        except OSError:
            pass
    return ports
