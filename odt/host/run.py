"""python -m odt run: a script on the PC, on a board or on MicroPython's unix port, and whether the digests agree.

    python -m odt run train.py                              on the board that is plugged in
    python -m odt run train.py --compare                    on this PC too: each "digest xxxxxxxx" must be the same
    python -m odt run train.py --on unix=build/unix/micropython --compare

The script runs in its own folder, which a board has mounted: files that it writes are on the PC.
"""

import re
import sys
from pathlib import Path

from .boards.board import BoardError
from .boards.process import Process, commands
from .text import say

DIGEST = re.compile(r"\bdigest ([0-9a-f]{8})\b")


def command(options):
    """Returns 0 when the script ended well and, with --compare, the digests agree; BoardError otherwise."""
    script = Path(options.script).resolve()
    if options.compare and options.on == "host":
        raise BoardError("--compare sets a board, or unix=PATH, beside the host: give one of them with --on")
    host = [sys.executable, str(script)]
    name, words = commands(script, options.on, options.connect, host)
    places = {"host": host} if options.compare else {}
    places[name] = words
    digests = {}
    for place, words in places.items():
        if options.compare:
            say("--- %s" % place, flush=True)
        text = []
        for part in Process(place, words, script.parent, options.timeout):
            text.append(part)
            say(part, keep="\r\n\t", end="", flush=True)
        digests[place] = DIGEST.findall("".join(text))
    if options.compare:
        say("---", compare(digests["host"], name, digests[name]))
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
