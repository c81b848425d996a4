# A Cortex-M7 with single floats in hardware.
QEMU_MACHINE = mps2-an500
CFLAGS += -mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-sp-d16 -DMICROPY_HW_MCU_NAME='"Cortex-M7"'
MPY_CROSS_FLAGS += -march=armv7emsp

include $(BOARD_DIR)/../mps2/mps2.mk
