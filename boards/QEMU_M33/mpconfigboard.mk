# A Cortex-M33, that of an RP2350: DSP instructions and single floats in hardware, no security of its own.
QEMU_MACHINE = mps2-an505
QEMU_HZ = 20000000
CFLAGS += -mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16 -DMPS2_AN505=1 -DMICROPY_HW_MCU_NAME='"Cortex-M33"'
LDFLAGS += -Wl,--wrap=uart_tx_strn
LDSCRIPT = $(BOARD_DIR)/an505.ld
SRC_BOARD_O = shared/runtime/gchelper_generic.o # the port's in assembly is of an older architecture
MPY_CROSS_FLAGS += -march=armv7emsp

include $(BOARD_DIR)/../mps2/mps2.mk
