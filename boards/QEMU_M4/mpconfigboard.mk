# A Cortex-M4 whose FPU is not used: DSP instructions, floats from libgcc.
QEMU_MACHINE = mps2-an386
CFLAGS += -mcpu=cortex-m4 -mfloat-abi=soft -DMICROPY_HW_MCU_NAME='"Cortex-M4"'
MPY_CROSS_FLAGS += -march=armv7em

include $(BOARD_DIR)/../mps2/mps2.mk
