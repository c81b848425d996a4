"""Machines without odt in their firmware: what most people's boards are.

The QEMU boards have the port's firmware except for start-up and serial port (boards/qemu), without
which mpremote could mount no files. The RP2040 is the port's own RPI_PICO.
"""

import socket
import subprocess
import time

import flash_image
from machine_rp2040 import RP2040
from machines import BOARDS, Emulated, MachineError, Unix, kill_group

MAKE = "make stock mpy"


class StockUnix(Unix):
    name = "stock_unix"
    make = MAKE
    image = "stock_unix/micropython"


class StockQemuM3(BOARDS["qemu_m3"]):
    name = "stock_qemu_m3"
    make = MAKE
    image = "stock_qemu_m3/firmware.elf"


class StockQemuM4HF(BOARDS["qemu_m4hf"]):
    name = "stock_qemu_m4hf"
    make = MAKE
    image = "stock_qemu_m4hf/firmware.elf"


class StockQemuRV32(BOARDS["qemu_rv32"]):
    name = "stock_qemu_rv32"
    make = MAKE
    image = "stock_qemu_rv32/firmware.elf"


class StockRP2040(RP2040):
    name = "stock_rp2040"
    make = MAKE
    image = "stock_rp2040/firmware.uf2"
    files_at = flash_image.STOCK


class Microbit(Emulated):
    """A BBC micro:bit with the firmware that Debian 12 packs: MicroPython 1.9 of 2017, 10 KB of heap, no sys.path."""

    name = "microbit"
    make = "boards/sources.sh microbit"
    image = "src/microbit/firmware.hex"

    def _start(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = ["qemu-system-arm", "-machine", "microbit", "-nographic", "-monitor", "null"]
        # Through a pty it loses what mpremote sends; TCP waits for it.
        command += ["-serial", "tcp:127.0.0.1:%d,server=on,wait=off" % port]
        command += ["-device", "loader,file=%s" % self.image_path]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return process, "socket://127.0.0.1:%d" % port
            except ConnectionRefusedError:
                if process.poll() is not None or time.monotonic() > end:
                    kill_group(process)
                    raise MachineError("microbit: QEMU did not start") from None
                time.sleep(0.02)


MACHINES = {cls.name: cls for cls in (StockUnix, StockQemuM3, StockQemuM4HF, StockQemuRV32, StockRP2040, Microbit)}
