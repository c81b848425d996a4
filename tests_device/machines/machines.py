"""Run scripts on the machines that the top Makefile builds: a unix port, boards on an emulator.

    import machines

    with machines.open("qemu_m4") as m:
        out = m.run("examples/digits/train.py", cwd_files="examples/digits", args={"steps": 200})

Every call ends: after its time-out, a crash or a traceback it raises MachineError with all that the
machine printed. Nothing here touches a real board, and a script never writes into the checkout: it
works on a copy of `cwd_files`.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from checkout import ROOT
from mpremote import romfs

BUILD = Path(os.environ.get("ODT_BUILD", ROOT / "build"))

CRASH = re.compile(rb"(Fault|NMI|SVCall|DebugMonitor|PendSV|Machine) exception caught:|uncaught NLR")


class MachineError(Exception):
    """A script failed on a machine; `output` is everything the machine printed."""

    def __init__(self, message, output=""):
        super().__init__(message + (":\n" + output if output else ""))
        self.output = output


class Machine:
    """One machine, switched on. Use as a context manager.

    `files` is the folder in which scripts run: what they write is found there afterwards.
    """

    name = None
    make = None  # the command that builds the image
    image = None  # what it builds, below build/
    prelude = ""  # what goes before each script

    def __init__(self):
        self.image_path = BUILD / self.image
        if not self.image_path.exists():
            raise MachineError(f"{self.name} is not built ({self.image_path} is missing): run `{self.make}`")
        self._temp = Path(tempfile.mkdtemp(prefix="odt-" + self.name + "-"))
        self.files = self._temp / "files"
        self.files.mkdir()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Switch the machine off and remove `files`."""
        self._stop()
        shutil.rmtree(self._temp, ignore_errors=True)

    def run(self, script, cwd_files=None, timeout=60, args=None):
        """Run a script file and return what it printed.

        script: a path, relative to the repository's root or absolute.
        cwd_files: a folder, or a list of files and folders, copied to where the script runs.
        timeout: seconds of wall time.
        args: a dict that the script finds as its global ODT_ARGS; it must survive repr().
            With it, tracebacks count one line more than the file has.
        """
        self.put(cwd_files)
        path = Path(script)
        return self._run_source((ROOT / path).read_text(), timeout, args, path.name)

    def exec(self, source, timeout=60, args=None):
        """Run source text and return what it printed."""
        return self._run_source(source, timeout, args, "<exec>")

    def install(self, files):
        """As put() of files and folders that modules are imported from.

        A board on QEMU, unless it is on already, has them in its memory as ROMFS: its serial line takes 0.1 ms a byte.
        """
        self.put(files)

    def lay(self, data):
        """Lay bytes where the next script finds them: the lines, to go before it, by which it has f.read() and
        f.seek().

        In the memory of a board on QEMU, unless it is on already, which takes no time; else in a file.
        """
        (self.files / "laid").write_bytes(data)
        return 'f = open("laid", "rb")\n'

    def put(self, files):
        """Copy a folder's contents, or a list of files and folders, to where scripts run."""
        if files is None:
            return
        if isinstance(files, (str, Path)):
            files = sorted((ROOT / files).iterdir())
        for file in files:
            file = ROOT / file
            if file.name == "__pycache__":
                continue
            if file.is_dir():
                shutil.copytree(file, self.files / file.name, dirs_exist_ok=True)
            else:
                shutil.copy(file, self.files)

    def _run_source(self, source, timeout, args, label):
        if args is not None:
            source = f"ODT_ARGS = {args!r}\n{source}"
        source = self.prelude + source
        script = self._temp / "script.py"
        script.write_text(source)
        code, output = self._run_script(script, timeout)
        text = output.decode("utf-8", "replace").replace("\r\n", "\n")
        if code is None:
            raise MachineError(f"{self.name}: {label} did not end in {timeout} s", text)
        if CRASH.search(output):
            raise MachineError(f"{self.name}: {label} crashed the machine", text)
        if code != 0:
            raise MachineError(f"{self.name}: {label} failed", text)
        return text

    def _run_script(self, script, timeout):
        """Return (exit code, or None after a time-out; the output in bytes)."""
        raise NotImplementedError

    def _stop(self):
        pass


def run_process(command, timeout, cwd=None, env=None, stop_at=None):
    """Run a command in a process group of its own: (exit code, or None after a time-out; output).

    Also ends it, as after a failure, when its output matches the pattern `stop_at`.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=env,
        start_new_session=True,
    )
    end = time.monotonic() + timeout
    output = bytearray()
    code = None
    try:
        while True:
            left = end - time.monotonic()
            if left <= 0:
                break
            if select.select([process.stdout], [], [], min(left, 1))[0]:
                chunk = os.read(process.stdout.fileno(), 65536)
                if not chunk:
                    code = process.wait(timeout=max(left, 1))
                    break
                output += chunk
                if stop_at and stop_at.search(output, max(0, len(output) - len(chunk) - 80)):
                    # What is still being printed, the registers, belongs to the report.
                    end = min(end, time.monotonic() + 5)
                    while chunk and time.monotonic() < end:
                        if not select.select([process.stdout], [], [], 0.5)[0]:
                            break
                        chunk = os.read(process.stdout.fileno(), 65536)
                        output += chunk
                    code = 1
                    break
    except subprocess.TimeoutExpired:
        pass
    finally:
        kill_group(process)
        process.stdout.close()
    return code, bytes(output)


def kill_group(process):
    """End a process and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


class Unix(Machine):
    """MicroPython as a process of the host."""

    name = "unix"
    make = "make unix"
    image = "unix/micropython"
    heap = "4M"

    def _run_script(self, script, timeout):
        command = [self.image_path, "-X", "heapsize=" + self.heap, script]
        # Imports find what lies in `files` and what is frozen, and nothing of the user's own.
        env = dict(os.environ, MICROPYPATH=".:.frozen")
        return run_process(command, timeout, cwd=self.files, env=env)


class UnixFloat30(Unix):
    """The same with the 30-bit floats of CircuitPython's boards."""

    name = "unix_float30"
    make = "make unix-float30"
    image = "unix_float30/micropython"


class Emulated(Machine):
    """A board on an emulator, reached with mpremote over a serial line.

    A subclass starts the emulator in _start(), which returns its process and what mpremote
    connects to. After a failure the board is switched off and, for the next script, on again.
    """

    environment = None  # of processes that run mpremote, where it is not ours
    mounts = True  # whether a script finds `files`

    def __init__(self):
        super().__init__()
        self._process = None
        self._port = None
        self._line = None  # holds a pty open between two mpremotes

    def _start(self):
        raise NotImplementedError

    def _stop(self):
        if self._process is not None:
            kill_group(self._process)
            self._process = None
        if self._line is not None:
            os.close(self._line)
            self._line = None

    def mpremote(self, *command, timeout=60):
        """Run mpremote's commands on the board: (exit code, or None; output in bytes)."""
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._process, self._port = self._start()
        # -u: what mpremote says itself comes before what the board prints, not at the end.
        command = [sys.executable, "-u", "-m", "mpremote", "connect", self._port, *command]
        code, output = run_process(command, timeout, env=self.environment, stop_at=CRASH)
        if code != 0:
            self._stop()
        return code, output

    def _run_script(self, script, timeout):
        mount = ("mount", self.files) if self.mounts else ()
        code, output = self.mpremote(*mount, "run", script, timeout=timeout)
        return code, re.sub(rb"\ALocal directory .* is mounted at /remote\r?\n", b"", output)


# piece(): the bytes that bytearray() gets at most.
PIECE = """
import gc
def piece():
    gc.collect()
    low, high = 0, gc.mem_free()
    while high - low > 16:
        size = (low + high) // 2
        try:
            bytearray(size)
            low = size
        except MemoryError:
            high = size
        gc.collect()
    return low
"""

# On QEMU's boards: start() and executed(), the instructions since. TIMER1 counts 32 bits down, from a tick's begin on;
# the clock of RISC-V's counts up.
COUNTER = """
import sys
from machine import mem32
timer, tick = (0x50001000, 50) if "an505" in sys.implementation._machine else (0x40001000, 40)
def start():
    mem32[timer] = 0
    mem32[timer + 8] = mem32[timer + 4] = 0xFFFFFFFF
    mem32[timer] = 1
def executed():
    return tick * (0xFFFFFFFF - mem32[timer + 4] & 0xFFFFFFFF)
if "RV32" in sys.implementation._machine:
    def start():
        global started
        started = mem32[0x200BFF8]
    def executed():
        return 100 * (mem32[0x200BFF8] - started & 0xFFFFFFFF)
"""


PSRAM = 0x21000000  # of an MPS2 board: 16 MB that the firmware does not use
ROOM = 1 << 22  # of what is installed, before what is laid
LAID = """
import uctypes
class f:
    begin = at = %d
    def seek(at):
        f.at = f.begin + at
    def read(count):
        f.at += count
        return bytes(uctypes.bytearray_at(f.at - count, count))
"""
MOUNT_ROM = """
import sys, uctypes, vfs
vfs.mount(vfs.VfsRom(uctypes.bytearray_at(%d, %d)), "/rom")
sys.path.append("/rom")
"""


def add_to_rom(made, file):
    """A file, or a folder with what is in it, to a VfsRomWriter."""
    if file.is_dir():
        made.opendir(file.name)
        for inner in sorted(file.iterdir()):
            add_to_rom(made, inner)
        made.closedir()
    else:
        made.mkfile(file.name, file.read_bytes())


class Qemu(Emulated):
    """A board on QEMU, a Cortex-M unless a subclass says otherwise.

    One executed instruction is one nanosecond of the board's time (-icount). time.ticks_cpu() counts
    25 MHz, so 40 instructions a tick, on a Cortex-M33 20 MHz, on RISC-V 10 MHz; COUNTER gets the same number in every
    run.
    """

    make = "make qemu"
    emulator = "qemu-system-arm"
    options = ()
    qemu_machine = None
    free = PSRAM  # the address of 16 MB that the firmware does not use
    loaded = ()  # (file, address) of what lies in memory beside the firmware

    def install(self, files):
        if self._process is not None:
            super().install(files)
            return
        made = romfs.VfsRomWriter()
        for file in files:
            add_to_rom(made, file)
        image = made.finalise()
        self._load("romfs.img", image, self.free)
        self.prelude = MOUNT_ROM % (self.free, len(image))

    def lay(self, data):
        if self._process is not None:
            return super().lay(data)
        self._load("laid", data, self.free + ROOM)
        return LAID % (self.free + ROOM)

    def _load(self, name, data, address):
        """Have bytes in memory when the board is switched on."""
        path = self._temp / name
        path.write_bytes(data)
        self.loaded += ((path, address),)

    def _start(self):
        log = (self._temp / "qemu.log").open("wb")
        command = [self.emulator, "-machine", self.qemu_machine, "-nographic", *self.options]
        command += [
            "-monitor",
            "null",
            "-serial",
            "pty",
            "-semihosting",
            "-icount",
            "shift=0",
        ]
        command += ["-kernel", str(self.image_path)]
        for file, address in self.loaded:
            command += ["-device", "loader,file=%s,addr=%#x,force-raw=on" % (file, address)]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise MachineError(f"{self.emulator} is missing: run `{self.make}`") from None
        finally:
            log.close()
        return process, self._find_pty(process)

    def _find_pty(self, process):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            text = (self._temp / "qemu.log").read_text(errors="replace")
            match = re.search(r"redirected to (/dev/pts/\d+)", text)
            if match:
                # QEMU looks only once a second whether anyone has opened a closed pty.
                self._line = os.open(match.group(1), os.O_RDWR | os.O_NOCTTY)
                return match.group(1)
            if process.poll() is not None:
                break
            time.sleep(0.02)
        kill_group(process)
        raise MachineError(f"{self.name}: QEMU did not start", text)


def _boards():
    """{name: its machine}, of each folder boards/QEMU_.. whose mpconfigboard.mk is of ports/qemu."""
    found = {}
    for path in sorted((ROOT / "boards").glob("QEMU_*/mpconfigboard.mk")):
        text = path.read_text()
        if re.search(r"(mps2|qemu)\.mk", text):
            name = path.parent.name.lower()
            about = re.match(r"# (.*)", text)[1]
            board = re.search(r"^QEMU_MACHINE = (\S+)$", text, re.M)[1]
            attributes = {"__doc__": about, "name": name, "image": name + "/firmware.elf", "qemu_machine": board}
            if "QEMU_ARCH = riscv32" in text:
                attributes.update(emulator="qemu-system-riscv32", options=("-bios", "none"), free=0x82000000)
            found[name] = type(path.parent.name, (Qemu,), attributes)
    return found


BOARDS = _boards()


def _rp2040(core):
    def machine():
        import machine_rp2040  # needs node, which no other machine does

        return getattr(machine_rp2040, core)()

    return machine


QEMU = tuple(BOARDS)
UNIX = ("unix", "unix_float30")
# Lists for tests that are the same on each machine: one of each set of kernels (a PC's, M4, M0); these and 30-bit
# floats; these and a board with an FPU; all with C kernels in their firmware.
CORES = ("unix", "qemu_m4", "rp2040")
WITH_FLOAT30 = (*UNIX, "qemu_m4", "rp2040")
WITH_FLOATS = (*UNIX, "qemu_m4", "qemu_m4hf", "rp2040")
NATIVE = ("unix", *QEMU, "rp2040")

_MACHINES = {cls.name: cls for cls in (Unix, UnixFloat30, *BOARDS.values())}
_MACHINES.update(
    rp2040=_rp2040("RP2040"),
    rp2040_base=_rp2040("RP2040Base"),
    rp2040_cached=_rp2040("RP2040Cached"),
    rp2040_interpreted=_rp2040("RP2040Interpreted"),
    rp2040js=_rp2040("RP2040Plain"),
)


def _stock(name):
    def machine():
        import machine_stock

        return machine_stock.MACHINES[name]()

    return machine


# Without odt in their firmware, which finds _odt.mpy and odt/*.mpy among the files.
STOCK = ("stock_unix", "stock_qemu_m3", "stock_qemu_m4hf", "stock_qemu_rv32", "stock_rp2040")
_MACHINES.update((name, _stock(name)) for name in (*STOCK, "microbit"))
NAMES = tuple(_MACHINES)


def open(name):
    """Switch the machine of that name on. One whose image is not built is an error, never skipped."""
    if name not in _MACHINES:
        raise ValueError("no machine {!r}; there are {}".format(name, ", ".join(NAMES)))
    return _MACHINES[name]()
