"""Where nodes are: in this process, in another, on a serial line. A link carries bytes; remote.py speaks over it."""

import collections
import contextlib
import os
import select
import socket
import subprocess
import sys
import time
from pathlib import Path

from ...fleet import frames
from ..boards.board import BoardError

_PACKAGE = Path(__file__).resolve().parents[3]
_PLACE = "import sys\nfrom odt.fleet import Node\nsys.modules['odt.fleet'].place = %s, %s\n"  # of files, too
_RUN = _PLACE % ("int(sys.argv[1])", "int(sys.argv[2])") + (
    "exec(compile(open(sys.argv[3]).read(), sys.argv[3], 'exec'), {'__name__': '__main__'})"
)
_PIECE = 256  # bytes of a script at once: a board's buffer is small


class Twin:
    """A node in this process: the PC's twin of a board, with the same bits."""

    def __init__(self, node):
        self.node = node
        self._answers = collections.deque()
        self._rest = b""

    def write(self, data):
        parts = (self._rest + data).split(frames.END)
        self._rest = parts.pop()[-frames.MOST :]
        for part in parts:
            frame = frames.unpack(part)
            if frame:
                self._answers.append(self.node.answer(*frame))

    def read(self, timeout):
        """What came, at most until ``timeout`` seconds have passed: b"" if nothing."""
        return self._answers.popleft() if self._answers else b""

    def restart(self):
        """Begin again after the node has not answered; BoardError where that is impossible."""

    def close(self):
        pass


class Socket:
    """A node at the other end of a TCP connection: a board with a network, or another PC's, see listen.py.

    Nothing is encrypted, and who can connect can answer.
    """

    def __init__(self, host, port):
        self.host, self.port = host, port
        self._line = None
        self.restart()

    def write(self, data):
        self._try(self._line.sendall, data)

    def read(self, timeout):
        if not self._try(select.select, [self._line], [], [], timeout)[0]:
            return b""
        data = self._try(self._line.recv, 65536)
        if not data:
            raise BoardError("%s:%d: the connection has ended" % (self.host, self.port))
        return data

    def restart(self):
        """Connect again; what runs there goes on."""
        self.close()
        self._line = self._try(socket.create_connection, (self.host, self.port), 10)

    def _try(self, call, *given):
        try:
            return call(*given)
        except (OSError, ValueError) as error:
            raise BoardError("%s:%d: %s" % (self.host, self.port, error)) from None

    def close(self):
        if self._line:
            self._line.close()


class Process:
    """A script in a process of its own, by CPython or by the command ``python`` of another interpreter."""

    def __init__(self, script, place=(0, 1), python=None):
        script = Path(script).resolve()
        self._words = [*(python or [sys.executable]), "-c", _RUN, str(place[0]), str(place[1]), str(script)]
        self._folder = script.parent
        self._process = None
        self._ended = True
        self.restart()

    def write(self, data):
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except (OSError, ValueError):
            self._ended = True
            raise BoardError("its process has ended") from None

    def read(self, timeout):
        file = self._process.stdout.fileno()
        if not select.select([file], [], [], timeout)[0]:
            return b""
        data = os.read(file, 65536)
        if not data:
            self._ended = True
            raise BoardError("its process has ended")
        return data

    def restart(self):
        if not self._ended:
            return
        self.close()
        paths = [str(_PACKAGE), os.environ.get("PYTHONPATH", "")]
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, paths)))
        try:
            self._process = subprocess.Popen(
                self._words, cwd=self._folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise BoardError("%s: %s" % (self._words[0], error.strerror)) from None
        self._ended = False

    def close(self):
        if self._process:
            self._process.kill()
            self._process.wait()
            with contextlib.suppress(OSError):  # what was not read
                self._process.stdin.close()
            self._process.stdout.close()


class Serial:
    """A script on a board on a serial port, started by the raw REPL. It must not print what is no text."""

    def __init__(self, port, script, place=(0, 1)):
        self.port = port
        self._source = (_PLACE % place).encode() + Path(script).read_bytes()
        self._line = None
        self.restart()

    def write(self, data):
        import serial

        try:
            self._line.write(data)
        except (serial.SerialException, OSError) as error:
            raise BoardError("%s: %s" % (self.port, error)) from None

    def read(self, timeout):
        import serial

        try:
            self._line.timeout = timeout
            data = self._line.read(1)
            return data + self._line.read(self._line.in_waiting) if data else b""
        except (serial.SerialException, OSError) as error:
            raise BoardError("%s: %s" % (self.port, error)) from None

    def restart(self):
        """Open the port, stop what runs there, and run the script after a soft reset."""
        try:
            import serial
        except ImportError:
            raise BoardError("pyserial is missing: pip install mpremote") from None
        self.close()
        try:
            self._line = serial.serial_for_url(self.port, 115200, timeout=1, write_timeout=10)
        except (serial.SerialException, OSError) as error:
            raise BoardError("%s: %s" % (self.port, error)) from None
        self.write(b"\r\x03\x03")
        self.write(b"\r\x01")
        self._until(b"raw REPL; CTRL-B to exit\r\n>")
        self.write(b"\x04")  # a soft reset: the heap is empty
        self._until(b"raw REPL; CTRL-B to exit\r\n>")
        for at in range(0, len(self._source), _PIECE):
            self.write(self._source[at : at + _PIECE])
            time.sleep(0.01)
        self.write(b"\x04")
        self._until(b"OK")

    def _until(self, end, timeout=20):
        seen, stop = b"", time.monotonic() + timeout
        while not seen.endswith(end):
            data = self.read(0.2)
            seen += data
            if time.monotonic() > stop:
                raise BoardError("%s: there is no MicroPython that answers (%r)" % (self.port, seen[-80:]))

    def close(self):
        if self._line:
            self._line.close()
