"""An RP2040 on rp2040js, with the firmware of a real Pico, a boot ROM of our own and USB serial."""

import os
import sys

import flash_image
from machines import BUILD, LAID, ROOT, Emulated, MachineError

sys.path.insert(0, str(ROOT))  # not the copy that is installed in build/venv

from odt.host.boards import pico
from odt.host.boards.board import BoardError


class RP2040(Emulated):
    """A Raspberry Pi Pico, emulated.

    Time on the board is time in cycles of its core: the same in every run. After a mark, a write of
    the watchdog's SCRATCH0 (0x4005800c), marks() knows the cycle at which it was written.
    Flash starts empty at every start; machine.reset() and soft resets keep it.
    Instructions and cycles are those of rp2040js/core.mjs, of odt's own: rp2040js/README.md.
    """

    name = "rp2040"
    core = "odt"
    make = "make rp2040"
    image = "rp2040/firmware.uf2"
    options = ()  # of bridge.mjs, more of them
    files_at = 896 * 1024  # where the file system begins in the flash
    configuration = str(ROOT / "tests_device" / "config")  # mpremote's, for which nothing is waited for in vain
    environment = dict(os.environ, XDG_CONFIG_HOME=configuration)

    def __init__(self):
        for file in ("rp2040/bootrom.bin", "rp2040/js/.complete"):
            if not (BUILD / file).exists():
                raise MachineError(f"rp2040 is not built ({BUILD / file} is missing): run `{self.make}`")
        super().__init__()

    def install(self, files):
        """As put(); a board that is not on yet has them in its flash, in /lib."""
        if self._process is not None:
            super().install(files)
            return
        self.lay_flash(flash_image.in_lib([ROOT / file for file in files]))

    def lay_flash(self, files, left=-1):
        """What the flash has when the board is switched on: flash_image.write()."""
        flash_image.write(self._temp / "flash", files, self.files_at, left)
        self.options += ("--flash", self._temp / "flash")

    def lay(self, data):
        """As Emulated.lay(): in flash beyond a Pico's 2 MB, unless the board is on already."""
        if self._process is not None:
            return super().lay(data)
        file = self._temp / "flash"
        if not file.exists():
            self.lay_flash(())
        file.write_bytes(file.read_bytes().ljust(flash_image.END, b"\xff") + data)
        return LAID % (0x10000000 + flash_image.END)

    def marks(self):
        """The marks since the board was last switched on: a list of (value, cycles, ...), see bridge.mjs."""
        file = self._temp / "marks"
        if not file.exists():
            return []
        return [tuple(int(part) for part in line.split()) for line in file.read_text().splitlines()]

    def serial(self):
        """What went over the serial line: a list of ("in" or "out", nanoseconds since the last reset, bytes)."""
        lines = (self._temp / "serial").read_text().splitlines()
        parts = [line.split(" ") for line in lines if line.count(" ") == 2]
        return [(part[0], int(part[1]), bytes.fromhex(part[2])) for part in parts]

    def log(self):
        """What the emulator itself printed: the reason of a crash, for one."""
        file = self._temp / "bridge.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def _start(self):
        options = ["--core", self.core, "--marks", self._temp / "marks", "--serial", self._temp / "serial"]
        try:
            process, port = pico.start(BUILD, self.image_path, self._temp / "bridge.log", *options, *self.options)
        except BoardError as error:
            raise MachineError("rp2040: %s" % error, self.log()) from None
        return process, f"socket://127.0.0.1:{port}"

    def _run_script(self, script, timeout):
        code, output = super()._run_script(script, timeout)
        if code:
            output += self.log().encode()
        return code, output


class RP2040Base(RP2040):
    """The same with the base of odt in MicroPython's own layout: what `make firmware BOARD=RPI_PICO` builds."""

    name = "rp2040_base"
    make = "make machines"
    image = "RPI_PICO/firmware.uf2"
    files_at = flash_image.STOCK


class RP2040Interpreted(RP2040):
    """The same without rp2040js/translate.mjs: the same cycles, half as fast."""

    name = "rp2040_interpreted"
    core = "interpreted"


class RP2040Cached(RP2040):
    """The same with the flash's cache, and 60 cycles for what is not in it, an assumption: rp2040js/cached.mjs."""

    name = "rp2040_cached"
    core = "cached"


class RP2040Plain(RP2040):
    """The same by rp2040js's own core, several times slower. Marks have a third number, the cycles by the manuals."""

    name = "rp2040js"
    core = "rp2040js"
