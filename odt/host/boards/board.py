"""A board on a serial port, reached with mpremote."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .capabilities import CAPABILITIES, IN_FILES

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
path = getattr(sys, "path", [])  # some have none
found = {
    "name": i[0], "version": tuple(i[1])[:3], "machine": getattr(i, "_machine", sys.platform),
    "mpy": getattr(i, "_mpy", 0), "free": gc.mem_free() if hasattr(gc, "mem_free") else 0,
    "libs": [p for p in path if p.endswith("/lib") and not p.startswith("/rom")], "disk": -1, "block": 4096,
}
try:
    s = os.statvfs(found["libs"][0][:-3] or "/")
    found["disk"], found["block"] = s[0] * s[3], s[0]
except (AttributeError, IndexError, OSError):
    pass
found["deflate"] = has("deflate")
path[:] = [".frozen"]
found["frozen"] = has("odt") and has("_odt")
found["odt"] = __import__("odt").__version__ if found["frozen"] else ""
found["without"] = getattr(__import__("_odt"), "WITHOUT", "").split() if found["frozen"] else []
print("\\nodt-probe", found)
"""

# Prints the files of odt in a folder: one line per file, with its path, size and CRC-32.
HELD = """
import binascii, os
buffer = bytearray(4096)
def see(path, kind):
    if kind == 0x4000:
        for entry in os.ilistdir(path):
            see(path + "/" + entry[0], entry[1])
        return
    crc = size = 0
    with open(path, "rb") as file:
        while True:
            count = file.readinto(buffer)
            if not count:
                break
            size += count
            crc = binascii.crc32(memoryview(buffer)[:count], crc)
    print("odt-held", size, crc & 0xFFFFFFFF, path)
try:
    entries = list(os.ilistdir(lib))
except OSError:
    entries = []
for entry in entries:
    if entry[0] == "odt" or entry[0][:4] == "_odt":
        see(lib + "/" + entry[0], entry[1])
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
    "libs": (list, str), "disk": (int, int), "block": (int, int), "frozen": (bool, bool),
    "odt": (str, str), "without": (list, str), "deflate": (bool, bool),
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
    if not 0 < found["block"] <= 1 << 20:
        raise BoardError("%s: a damaged answer: blocks of %d bytes" % (port, found["block"]))
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
            names = [name for name in CAPABILITIES if name in found["without"] and name not in IN_FILES]
            return "odt in its firmware" + (", without " + ", ".join(names) if names else "")
        try:
            text = self.call(
                "exec",
                "try:\n    import odt\n    print('odt-is', odt.__version__)\n"
                "except ImportError:\n    print('odt-is', 0)",
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

    def held(self, lib):
        """{path: (size, CRC-32)} of odt's files in a folder."""
        found = {}
        for line in self.call("exec", "lib = %r" % lib, "exec", HELD, timeout=300).splitlines():
            words = line.split(" ", 3)
            if words[0] == "odt-held" and len(words) == 4 and words[1].isdecimal() and words[2].isdecimal():
                found[words[3]] = int(words[1]), int(words[2])
        return found

    def copy(self, sources, folder):
        """Copy files and folders into a folder of the board. What is there already is not written again."""
        files = [source for source in sources if not Path(source).is_dir()]
        if files:
            self.call("fs", "cp", *files, ":%s/" % folder, timeout=600)
        for source in sources:
            if source not in files:
                self.call("fs", "cp", "-r", source, ":%s/" % folder, timeout=600)

    def remove(self, *paths, folders=()):
        """Remove files, then folders that are empty, those that are there."""
        if not paths and not folders:
            return
        script = "import os\nfor path in %r:\n    try:\n        os.%s(path)\n    except OSError:\n        pass\n"
        self.call("exec", script % (paths, "remove"), "exec", script % (tuple(folders), "rmdir"))


def stop(port):
    """End what runs on the board: mpremote leaves it running. Returns what to say."""
    try:
        Board(port).call("exec", "pass", timeout=20)
    except BoardError:
        return "the board does not answer: its script may still run"
    return "the script on the board was stopped"
