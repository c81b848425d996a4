# A Cortex-M3: no DSP instructions, no FPU.
QEMU_MACHINE = mps2-an385
CFLAGS += -mcpu=cortex-m3 -mfloat-abi=soft -DMICROPY_HW_MCU_NAME='"Cortex-M3"'
MPY_CROSS_FLAGS += -march=armv7m

include $(BOARD_DIR)/../mps2/mps2.mk
