"""python -m odt run: a script on the PC, on a board or on MicroPython's unix port, and whether the digests agree.

    python -m odt run train.py                              on the board that is plugged in
    python -m odt run train.py --compare                    on this PC too: each "digest xxxxxxxx" must be the same
    python -m odt run train.py --on unix=build/unix/micropython --compare

The script runs in its own folder, which a board has mounted: files that it writes are on the PC.
"""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

from .board import BoardError, mpremote, only_port

DIGEST = re.compile(r"\bdigest ([0-9a-f]{8})\b")
_PACKAGE = Path(__file__).resolve().parent.parent.parent


def command(options):
    """Returns 0 when the script ended well and, with --compare, the digests agree; BoardError otherwise."""
    script = Path(options.script).resolve()
    if not script.is_file():
        raise BoardError("%s: no such script" % options.script)
    name, _, path = options.on.partition("=")
    if options.compare and name == "host":
        raise BoardError("--compare sets a board, or unix=PATH, beside the host: give one of them with --on")
    places = {"host": lambda: [sys.executable, str(script)], "board": lambda: _on_board(options, script),
              "unix": lambda: [str(Path(path).resolve()), "-X", "heapsize=4M", str(script)]}  # fmt: skip
    if name not in places or bool(path) != (name == "unix"):
        raise BoardError("--on is board, host or unix=PATH, got %r" % options.on)
    commands = {place: places[place]() for place in (["host"] if options.compare else []) + [name]}
    digests = {}
    for place, words in commands.items():
        if options.compare:
            print("--- %s" % place, flush=True)
        digests[place] = DIGEST.findall(_run(place, words, script.parent, options.timeout))
    if options.compare:
        print("---", compare(digests["host"], name, digests[name]))
    return 0


def compare(host, place, found):
    """What to say of equal digests; BoardError for others."""
    if not host and not found:
        raise BoardError('nothing to compare: the script prints no line with "digest xxxxxxxx"')
    if len(host) != len(found):
        raise BoardError("digests: the host printed %d, %s %d" % (len(host), place, len(found)))
    for number, (ours, theirs) in enumerate(zip(host, found)):
        if ours != theirs:
            which = "digest" if len(host) == 1 else "digest %d of %d" % (number + 1, len(host))
            raise BoardError("%s differs: %s on the host, %s on %s" % (which, ours, theirs, place))
    return "the same digest%s on both: %s" % ("s" if len(host) > 1 else "", ", ".join(host))


def _on_board(options, script):
    port = options.connect or only_port()
    return [*mpremote(), "connect", port, "mount", str(script.parent), "run", str(script)]


def _run(place, words, folder, timeout):
    """Run a command, its output printed as it comes; returns it. BoardError where it fails."""
    paths = [str(_PACKAGE), os.environ.get("PYTHONPATH", "")]
    env = dict(os.environ, PYTHONUNBUFFERED="1", PYTHONPATH=os.pathsep.join(filter(None, paths)))
    try:
        process = subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        raise BoardError("%s: %s" % (words[0], error.strerror)) from None
    late = threading.Event()

    def end():
        late.set()
        process.kill()

    timer = threading.Timer(timeout, end)
    timer.start()
    lines = []
    try:
        for line in process.stdout:
            lines.append(line.decode("utf-8", "replace").replace("\r\n", "\n"))
            print(lines[-1], end="", flush=True)
        status = process.wait()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
    if late.is_set():
        raise BoardError("%s: the script did not end in %g seconds (--timeout)" % (place, timeout))
    if status:
        raise BoardError("%s: the script failed" % place)
    return "".join(lines)
