# What the QEMU_M* boards share: an Arm MPS2 board as QEMU emulates it.
# A board's own file sets QEMU_MACHINE, the name and the compiler's options, then includes this.

MPS2_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

QEMU_ARCH = arm
QEMU_HZ ?= 25000000

CFLAGS += -mthumb -DQEMU_SOC_MPS2
LDFLAGS += -L$(MPS2_DIR)
LDSCRIPT ?= $(MPS2_DIR)/mps2.ld

vpath mps2_board.c $(MPS2_DIR)
SRC_C += mps2_board.c
SRC_BOARD_O ?= shared/runtime/gchelper_native.o shared/runtime/gchelper_thumb2.o

include $(MPS2_DIR)/../qemu/qemu.mk
