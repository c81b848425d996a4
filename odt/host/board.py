"""A board on a serial port, reached with mpremote."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROBE = """
import gc, os, sys
gc.collect()
i = sys.implementation
def has(name):
    try:
        __import__(name)
        return True
    except ImportError:
        return False
def size(entries, folder):
    return sum([size(os.ilistdir(folder + e[0]), folder + e[0] + "/") if e[1] == 0x4000 else e[3] for e in entries])
path = getattr(sys, "path", [])  # some have none
found = {
    "name": i[0], "version": tuple(i[1])[:3], "machine": getattr(i, "_machine", sys.platform),
    "mpy": getattr(i, "_mpy", 0), "free": gc.mem_free() if hasattr(gc, "mem_free") else 0,
    "libs": [p for p in path if p.endswith("/lib") and not p.startswith("/rom")], "disk": -1,
}
try:
    s = os.statvfs(found["libs"][0][:-3] or "/")
    found["disk"] = s[0] * s[3]
    lib = found["libs"][0] + "/"  # what odt takes there makes room for odt
    found["disk"] += size([e for e in os.ilistdir(lib) if e[0] == "odt" or e[0][:4] == "_odt"], lib)
except (AttributeError, IndexError, OSError):
    pass
path[:] = [".frozen"]
found["frozen"] = has("odt") and has("_odt")
print("\\nodt-probe", found)
"""


class BoardError(Exception):
    """Something that a person must hear of."""


def mpremote():
    """The command that runs mpremote."""
    if importlib.util.find_spec("mpremote"):
        return [sys.executable, "-m", "mpremote"]
    if shutil.which("mpremote"):
        return ["mpremote"]
    raise BoardError("mpremote is missing: pip install mpremote")


def ports():
    """The serial ports that boards are on: those that say who made them, and emulated ones."""
    from .pico import running

    listing = subprocess.run([*mpremote(), "connect", "list"], capture_output=True, text=True)
    rows = [line.split() for line in listing.stdout.splitlines()]
    return [row[0] for row in rows if len(row) > 2 and row[2] != "0000:0000"] + running()


def only_port():
    """The port of the one board there is."""
    found = ports()
    if not found:
        raise BoardError("no board is plugged in (or give its port: --connect PORT)")
    if len(found) > 1:
        raise BoardError("there are several boards: give one of them, --connect " + " | ".join(found))
    return found[0]


# What PROBE prints: of each entry its type, and that of its elements.
_ANSWER = {
    "name": (str, str), "version": (tuple, int), "machine": (str, str), "mpy": (int, int), "free": (int, int),
    "libs": (list, str), "disk": (int, int), "frozen": (bool, bool),
}  # fmt: skip


def parse(port, line):
    """The dict that PROBE printed; BoardError for anything else: a serial line loses bytes, and mixes in others."""
    try:
        found = ast.literal_eval(line.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise BoardError("%s: a damaged answer: %.80r" % (port, line)) from None
    found = found if isinstance(found, dict) else {}
    for name, (kind, element) in _ANSWER.items():
        value = found.get(name)
        if type(value) is not kind or any(
            type(part) is not element for part in (value if kind in (tuple, list) else ())
        ):
            raise BoardError("%s: a damaged answer: %s is %.80r, expected %s" % (port, name, value, kind.__name__))
    return found


class Board:
    """One board. Each call starts an mpremote of its own, and so, but after copy(), with a fresh heap."""

    def __init__(self, port):
        self.port = port

    def call(self, *commands, timeout=120):
        """Run mpremote's commands; returns what it printed. BoardError with its last lines."""
        command = [*mpremote(), "connect", self.port, *[str(part) for part in commands]]
        try:
            done = subprocess.run(command, capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise BoardError("%s: no answer in %d seconds" % (self.port, timeout)) from None
        text = (done.stdout + done.stderr).decode("utf-8", "replace").replace("\r\n", "\n")
        if done.returncode:
            raise BoardError("%s: %s" % (self.port, "\n".join(text.strip().splitlines()[-4:])))
        return text

    def probe(self):
        """What the board is: a dict, see PROBE."""
        text = self.call("exec", PROBE)
        if "odt-probe " not in text:
            raise BoardError("%s: there is no MicroPython that answers" % self.port)
        return parse(self.port, text.rpartition("odt-probe ")[2].partition("\n")[0])

    def odt(self, found):
        """Whether the board that ``probe`` found has odt, in words."""
        if found["frozen"]:
            return "odt in its firmware"
        try:
            text = self.call(
                "exec",
                "try:\n    import odt\n    print('odt-is', odt.__version__)\nexcept ImportError:\n    print('odt-is', 0)",
            )
        except BoardError:
            text = ""
        version = re.search(r"odt-is ([\w.]+)", text)
        if not version:
            return "whether it has odt is not known"
        return "without odt: odt install" if version[1] == "0" else "odt %s in its files" % version[1]

    def make_folder(self, path):
        """Make a folder and those above it."""
        script = "import os\npath = ''\nfor part in %r.strip('/').split('/'):\n    path += '/' + part\n"
        script += "    try:\n        os.mkdir(path)\n    except OSError:\n        pass\n"
        self.call("exec", script % path)

    def copy(self, sources, folder):
        """Copy files and folders into a folder of the board. What is there already is not written again."""
        for source in sources:
            recursive = ["-r"] if Path(source).is_dir() else []
            self.call("fs", "cp", *recursive, source, ":%s/" % folder, timeout=600)

    def remove(self, *paths):
        """Remove files, those that are there."""
        script = "import os\nfor path in %r:\n    try:\n        os.remove(path)\n    except OSError:\n        pass\n"
        self.call("exec", script % (paths,))


def stop(port):
    """End what runs on the board: mpremote leaves it running. Returns what to say."""
    try:
        Board(port).call("exec", "pass", timeout=20)
    except BoardError:
        return "the board does not answer: its script may still run"
    return "the script on the board was stopped"
