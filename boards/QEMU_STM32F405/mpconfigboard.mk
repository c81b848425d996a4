# An STM32F405, the Pyboard's chip, as QEMU's olimex-stm32-h405 emulates it: for the emulator only.
# All of the flash holds code. A real board's definition is the port's own.
MCU_SERIES = f4
CMSIS_MCU = STM32F405xx
AF_FILE = boards/stm32f405_af.csv
LD_FILES = boards/stm32f405.ld boards/common_basic.ld
TEXT0_ADDR = 0x08000000
