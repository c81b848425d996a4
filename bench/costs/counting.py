"""What both bench/costs/kernels.py and bench/costs/steps.py need: machines that count, and the head of a file of
results.

A measured script calls begin() and end() around what is to be counted, first around nothing:

    machine = counting.open("qemu_m4")
    count, = machine.run("begin()\nend()\nbegin()\nwork()\nend()\n")

rp2040: cycles of an RP2040 that rp2040js emulates, its instructions run and counted by odt's own interpreter;
stock_rp2040: the same with MicroPython's firmware, odt's base and kernels in files; rp2040_both: by both of its cores,
odt.set_num_threads(2); rp2040_cached: by one, with the flash's cache, 60 cycles a miss, which is an assumption;
rp2040js: by that emulator's own core, which counts other cycles, mostly for the divider:
tests_device/rp2040js/README.md says which and who is right. qemu_*: instructions executed by QEMU, 40 a tick of its
counter, 50 of the M33's. pc: nanoseconds.
"""

import gc
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
import machines  # noqa: E402
import stock_files  # noqa: E402
import written  # noqa: E402

UNITS = dict.fromkeys(machines.QEMU, "instructions")
COUNTERS = {
    "rp2040": "cycles, counted by odt's own interpreter (tests_device/rp2040js/README.md)",
    "stock_rp2040": "cycles, the same with MicroPython's firmware, odt's base and kernels in files",
    "stock_rp2040_fast": "cycles, the same with the capability fast",
    "rp2040_both": "cycles, the same by both cores, without contention (tests_device/rp2040js/second.mjs)",
    "rp2040_cached": "cycles, the same with the flash's cache, 60 of a miss (tests_device/rp2040js/cached.mjs)",
    "rp2040js": "cycles, counted by rp2040js's own core (tests_device/rp2040js/README.md)",
}
UNITS.update(dict.fromkeys(COUNTERS, "cycles"), pc="ns")
BOTH = "rp2040_both"
STOCK = {"stock_rp2040": (), "stock_rp2040_fast": ("fast",)}  # their capabilities
MARKED = tuple(COUNTERS)  # machines whose cycles are read at marks

MARKS = """
from machine import mem32
def begin():
    mem32[0x4005800C] = 1
def end():
    mem32[0x4005800C] = 2
"""
COUNTS = (
    machines.COUNTER
    + """
counts = []
begin = start
def end():
    counts.append(executed())
"""
)
OF_FILE = """%s
import gc
x, y = bytes(%d), bytes(%d)
%s
gc.collect()
begin()
end()
begin()
%s
end()
print("digest %%08x" %% model.digest())
"""


class Board:
    repeats = 1  # it counts the same every time

    def __init__(self, name):
        self.name, self.said = name, ""  # what a script printed
        self.machine = machines.open({BOTH: "rp2040", "stock_rp2040_fast": "stock_rp2040"}.get(name, name))
        if name in STOCK:
            self.machine.lay_flash(stock_files.on_a_pico(*STOCK[name]))
        self.files = self.machine.files

    def run(self, script, args=None):
        """What lay between each begin() and end() of a script, less what lay between the first."""
        threads = "import odt\nodt.set_num_threads(2)\n" if self.name == BOTH else ""
        script = (MARKS if self.name in MARKED else COUNTS) + threads + script
        if self.name in MARKED:
            before = len(self.machine.marks())
            self.said = self.machine.exec(script, timeout=500, args=args)
            cycles = [mark[1] for mark in self.machine.marks()[before:]]
            counts = [b - a for a, b in zip(cycles[::2], cycles[1::2])]
        else:
            self.said = self.machine.exec(script + "print('counts', *counts)\n", timeout=500, args=args)
            counts = [int(word) for word in self.said.rpartition("counts")[2].split()]
        return [count - counts[0] for count in counts[1:]]

    def close(self):
        self.machine.close()


class PC:
    repeats = 50  # of which the shortest counts

    def __init__(self):
        self.name = "pc"
        self.folder = tempfile.TemporaryDirectory()
        self.files = Path(self.folder.name)

    def run(self, script, args=None):
        times = []
        clock = time.perf_counter_ns
        scope = {
            "ODT_ARGS": dict(args or {}, folder=str(self.files) + "/"),
            "begin": lambda: times.append(clock()),
            "end": lambda: times.append(clock()),
        }
        exec(script, scope)
        gc.enable()
        counts = [b - a for a, b in zip(times[::2], times[1::2])]
        return [count - counts[0] for count in counts[1:]]

    def close(self):
        self.folder.cleanup()


def opening(board, path):
    """What opens a model file on a machine, as ``model``. An RP2040 reads it where it lies in its flash."""
    if board.name not in MARKED:
        board.machine.put([path])
        return "import odt\nmodel = odt.load_model(%r)\n" % path.name
    laid, size = board.machine.lay(path.read_bytes()), path.stat().st_size
    return laid + "import odt, uctypes\nmodel = odt.load_model(uctypes.bytearray_at(f.begin, %d))\n" % size


def of_file(name, path, x, y=None):
    """(what a model file takes on a machine, its digest there): the second step on zeros, x and y bytes of them;
    without y the second prediction.
    """
    path, work = Path(path), "model.predict(x)" if y is None else "model.train_step(x, y)"
    board = Board(name)
    try:
        count = board.run(OF_FILE % (opening(board, path), x, y or 0, work, work))[0]
        return count, board.said.rpartition("digest ")[2].split()[0]
    finally:
        board.close()


def heading(name):
    """What a file of results says of a machine's figures."""
    return "%s: %s" % (name, COUNTERS.get(name, UNITS[name]))


def open(name):
    return PC() if name == "pc" else Board(name)


def shell(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def head(title):
    """The lines with which a file of results begins."""
    return [
        title,
        "commit " + written.git("rev-parse", "--short=7", "HEAD") + ("-dirty" if written.is_changed() else ""),
        shell("arm-none-eabi-gcc", "--version").split("\n")[0],
        "boards: -O2 -fwrapv -ffp-contract=off (native/bindings/micropython.mk)",
        "pc: %s, %s, -O3 -fwrapv -ffp-contract=off (setup.py)" % (
            shell("gcc", "--version").split("\n")[0], platform.machine()),
        "",
    ]  # fmt: skip
