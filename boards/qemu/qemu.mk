# What all QEMU_* boards share, with ports/qemu unchanged. A board's own file sets QEMU_MACHINE, the name, the
# compiler's options and QEMU_HZ, then includes this.
#
# The port leaves out what mpremote's `mount` and a training script need (select, time, Ctrl-C); config.h switches it
# on, console.c supplies it in place of the port's polled UART.

QEMU_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

MICROPY_HEAP_SIZE ?= 1048576

CFLAGS += -DMP_CONFIGFILE='"$(QEMU_DIR)/config.h"' -DQEMU_HZ=$(QEMU_HZ) -I$(QEMU_DIR)
LDFLAGS += -Wl,--wrap=uart_init -Wl,--wrap=mp_hal_stdin_rx_chr -Wl,--wrap=mp_hal_stdio_poll

vpath console.c $(QEMU_DIR)
SRC_C += console.c
QSTR_GLOBAL_DEPENDENCIES += $(QEMU_DIR)/config.h
