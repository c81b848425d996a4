"""python -m odt devices --test: what a board is and how it trains, as a small JSON that a person can send."""

import json
import re
from pathlib import Path

from ... import __version__
from ..files import write_text
from ..text import say
from .board import BoardError
from .install import ARCHITECTURES, expected, printed, selftest

STEPS = Path(__file__).with_name("ten_steps.py")
FORMAT = 1
_ROW = re.compile(r"odt-steps (\w+) (int8|float32) (\w+) ([0-9a-f]{8}) (\d{1,12}) (\d{1,9}) (\d{1,9}) (\d{1,9})")


def steps(text):
    """What STEPS printed: a dict for each network."""
    found = []
    for line in text.splitlines():
        row = _ROW.fullmatch(line.strip())
        if row:
            found.append({
                "network": row[1], "dtype": row[2], "executor": row[3], "digest": row[4],
                "microseconds": int(row[5]), "arena": int(row[6]), "state": int(row[7]), "heap_free": int(row[8]),
            })  # fmt: skip
    return found


def test(board, found, folder="."):
    """Run the self-test and ten steps of three networks on a board that ``probe`` found; returns the JSON's path.

    BoardError with the reason where odt is missing or does not run; nothing is written then.
    """
    has = board.odt(found)
    if not found["frozen"] and "in its files" not in has:
        raise BoardError("%s: %s" % (board.port, has))
    rows = steps(board.call("run", STEPS, timeout=1800))
    if not rows:
        raise BoardError("%s: the test printed nothing of what it measures" % board.port)
    backend = "native" if rows[0]["executor"] == "native" else "reference"
    left = selftest(board, backend, expected())
    wanted = {(row["network"], row["dtype"]): row["digest"] for row in steps(printed(STEPS))}
    for row in rows:
        row["as_on_the_pc"] = row["digest"] == wanted.get((row["network"], row["dtype"]))
    report = {
        "format": FORMAT,
        "odt": __version__,
        "board": found["machine"],
        "micropython": ".".join(map(str, found["version"])),
        "mpy": "%d.%d" % (found["mpy"] & 255, found["mpy"] >> 8 & 3),
        "architecture": ARCHITECTURES.get(found["mpy"] >> 10 & 15, ""),
        "odt_in": "firmware" if found["frozen"] else "files",
        "heap_free": found["free"] or None,  # None: the port does not tell
        "heap_free_with_odt": left or None,
        "flash_free": found["disk"] if found["disk"] >= 0 else None,
        "networks": rows,
    }
    name = re.sub(r"[^a-z0-9]+", "-", found["machine"].lower()).strip("-")[:60] or "board"
    path = Path(folder) / ("odt-%s.json" % name)
    write_text(path, json.dumps(report, indent=1, ensure_ascii=True) + "\n")
    for row in rows:
        same = "the PC's digest" if row["as_on_the_pc"] else "%s: another digest than the PC's" % row["digest"]
        say("  %s, %s: %d us a step, %s" % (row["network"], row["dtype"], row["microseconds"], same))
    say("  written to %s: docs/reference/boards.md says where to send it" % path)
    return path
