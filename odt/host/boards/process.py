"""A script that runs in another process, here or on a board, and what it prints, as it comes."""

import codecs
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from .board import BoardError, mpremote, only_port

_PACKAGE = Path(__file__).resolve().parents[3]
_GRACE = 10  # seconds that an interrupted script has to end by itself


def commands(script, on, connect, host):
    """(place's name, its command) for --on; ``host`` is the command for a script on this PC."""
    name, _, path = on.partition("=")
    if name not in ("host", "board", "unix") or bool(path) != (name == "unix"):
        raise BoardError("--on is board, host or unix=PATH, got %r" % on)
    if not script.is_file():
        raise BoardError("%s: no such script" % script)
    if name == "host":
        return name, host
    if name == "unix":
        return name, [str(Path(path).resolve()), "-X", "heapsize=4M", str(script)]
    return name, [*mpremote(), "connect", connect or only_port(), "mount", str(script.parent), "run", str(script)]


class Process:
    """Iterate over it for the text that it prints; then it has ended, or BoardError says why it failed.

    What mpremote itself has to say, of a line that breaks for one, is no part of the text but of the error.
    """

    def __init__(self, place, words, folder, timeout=None):
        self.place = place
        self.timeout = timeout
        self.interrupted = False
        self._late = False
        self._errors = tempfile.TemporaryFile() if place == "board" else None
        paths = [str(_PACKAGE), os.environ.get("PYTHONPATH", "")]
        env = dict(os.environ, PYTHONUNBUFFERED="1", PYTHONPATH=os.pathsep.join(filter(None, paths)))
        try:
            # A session of its own: Ctrl-C comes by interrupt(), once.
            self._process = subprocess.Popen(
                words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=self._errors or subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise BoardError("%s: %s" % (words[0], error.strerror)) from None

    def __iter__(self):
        timer = threading.Timer(self.timeout or 0, self._end)
        if self.timeout:
            timer.start()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        try:
            while True:
                chunk = os.read(self._process.stdout.fileno(), 65536)
                if not chunk:
                    break
                yield decode(chunk)
            yield decode(b"", True)
            status = self._process.wait()
        finally:
            timer.cancel()
            self.kill()
        if self._late:
            raise BoardError("%s: the script did not end in %g seconds (--timeout)" % (self.place, self.timeout))
        if status and not self.interrupted:
            raise BoardError("%s: %s" % (self.place, self._reason()))

    def interrupt(self):
        """What Ctrl-C does to a script; the second time, or after ten seconds, it is ended."""
        if self.interrupted or self.place == "board" or sys.platform == "win32":
            self.interrupted = True
            self._process.kill()
            return
        self.interrupted = True
        self._process.send_signal(signal.SIGINT)
        timer = threading.Timer(_GRACE, self._process.kill)
        timer.daemon = True
        timer.start()

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def _end(self):
        self._late = True
        self._process.kill()

    def _reason(self):
        if self._errors:
            self._errors.seek(0)
            lines = self._errors.read().decode("utf-8", "replace").split("\n")
            lines = [line.strip() for line in lines if line.strip()]
            if lines:
                # The name of the exception is mpremote's own business.
                return re.sub(r"^(mpremote|[\w.]*(Error|Exception)): ", "", lines[-1])
        return "the script failed"
