"""Machines without odt in their firmware: what most people's boards are.

The QEMU boards have the port's firmware but for start-up and serial port (boards/mps2), without
which mpremote could mount no files. The RP2040 is the port's own RPI_PICO.
"""

from machine_rp2040 import RP2040
from machines import QemuM3, QemuM4HF, Unix

MAKE = "make stock mpy"


class StockUnix(Unix):
    name = "stock_unix"
    make = MAKE
    image = "stock_unix/micropython"


class StockQemuM3(QemuM3):
    name = "stock_qemu_m3"
    make = MAKE
    image = "stock_qemu_m3/firmware.elf"


class StockQemuM4HF(QemuM4HF):
    name = "stock_qemu_m4hf"
    make = MAKE
    image = "stock_qemu_m4hf/firmware.elf"


class StockRP2040(RP2040):
    name = "stock_rp2040"
    make = MAKE
    image = "stock_rp2040/firmware.uf2"


MACHINES = {cls.name: cls for cls in (StockUnix, StockQemuM3, StockQemuM4HF, StockRP2040)}
