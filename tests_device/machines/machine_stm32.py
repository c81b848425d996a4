"""An STM32F405, the Pyboard's chip, on QEMU: MicroPython's stm32 port. Built from a person's MPY_DIR."""

from machines import Qemu


class STM32F405(Qemu):
    """A Cortex-M4F with 128 KB of RAM. Its time.ticks_cpu() is 0; time.ticks_us() counts."""

    name = "stm32f405"
    make = "make test-stm32 MPY_DIR=<MicroPython checkout>"
    image = "stm32f405/firmware.elf"
    qemu_machine = "olimex-stm32-h405"
