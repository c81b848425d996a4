# What the QEMU_* boards share: an Arm MPS2 board as QEMU emulates it, with ports/qemu unchanged.
# A board's own file sets QEMU_MACHINE, the name and the compiler's options, then includes this.
#
# The port leaves out what mpremote's `mount` and a training script need (select, time, Ctrl-C);
# mps2_config.h switches it on, mps2_board.c supplies it in place of the port's polled UART.

MPS2_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

QEMU_ARCH = arm
MICROPY_HEAP_SIZE ?= 1048576

CFLAGS += -mthumb -DQEMU_SOC_MPS2 -DMP_CONFIGFILE='"$(MPS2_DIR)/mps2_config.h"'
LDFLAGS += -Wl,--wrap=uart_init -Wl,--wrap=mp_hal_stdin_rx_chr -Wl,--wrap=mp_hal_stdio_poll
LDFLAGS += -L$(MPS2_DIR)
LDSCRIPT ?= $(MPS2_DIR)/mps2.ld

vpath mps2_board.c $(MPS2_DIR)
SRC_C += mps2_board.c
SRC_BOARD_O ?= shared/runtime/gchelper_native.o shared/runtime/gchelper_thumb2.o
QSTR_GLOBAL_DEPENDENCIES += $(MPS2_DIR)/mps2_config.h
