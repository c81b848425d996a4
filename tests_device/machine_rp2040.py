"""An RP2040 on rp2040js, with the firmware of a real Pico, a boot ROM of our own and USB serial."""

import os
import select
import subprocess
import time

from machines import BUILD, Emulated, MachineError, kill_group


class RP2040(Emulated):
    """A Raspberry Pi Pico, emulated.

    Time on the board is time in cycles of its core: the same in every run. After a mark, a write of
    the watchdog's SCRATCH0 (0x4005800c), marks() knows the cycle at which it was written.
    Flash starts empty at every start; machine.reset() and soft resets keep it.
    Instructions and cycles are those of rp2040js/core.mjs, an interpreter of odt's own: rp2040js/README.md.
    """

    name = "rp2040"
    core = "odt"
    make = "make rp2040"
    image = "rp2040/firmware.uf2"

    def __init__(self):
        for file in ("rp2040/bootrom.bin", "rp2040/js/.complete"):
            if not (BUILD / file).exists():
                raise MachineError(f"rp2040 is not built ({BUILD / file} is missing): run `{self.make}`")
        super().__init__()

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
        command = ["node", "bridge.mjs", "--core", self.core, "--port", "0", "--marks", self._temp / "marks"]
        command += [
            "--serial",
            self._temp / "serial",
            "--bootrom",
            BUILD / "rp2040/bootrom.bin",
            "--firmware",
            self.image_path,
        ]
        with (self._temp / "bridge.log").open("wb") as log:
            try:
                process = subprocess.Popen(
                    [str(part) for part in command],
                    cwd=BUILD / "rp2040/js",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    start_new_session=True,
                )
            except FileNotFoundError:
                raise MachineError(f"node is missing: run `{self.make}`") from None
        return process, f"socket://127.0.0.1:{self._read_port(process)}"

    def _read_port(self, process):
        end = time.monotonic() + 30
        text = b""
        while b"ready\n" not in text:
            left = end - time.monotonic()
            chunk = b""
            if left > 0 and select.select([process.stdout], [], [], left)[0]:
                chunk = os.read(process.stdout.fileno(), 4096)
            if not chunk:
                kill_group(process)
                raise MachineError("rp2040: the firmware did not start", self.log())
            text += chunk
        return int(text.split(b"port ")[1].split()[0])

    def _run_script(self, script, timeout):
        code, output = super()._run_script(script, timeout)
        if code:
            output += self.log().encode()
        return code, output


class RP2040Plain(RP2040):
    """The same by rp2040js's own core, several times slower. Marks have a third number, the cycles by the manuals."""

    name = "rp2040js"
    core = "rp2040js"
