# The machines of tests_device/: MicroPython built with odt inside. Included by the top Makefile.
#
#   make unix unix-float30 qemu rp2040      build/<machine>/...
#   make unix MPY_DIR=<checkout>            from a full MicroPython checkout instead of Debian's
#
# An image depends on native/ and odt/, so it is rebuilt when they change.

BUILD := $(CURDIR)/build
MPY = $(if $(MPY_DIR),$(abspath $(MPY_DIR)),$(BUILD)/src/micropython)
SOURCES = MPY_DIR=$(MPY_DIR) boards/sources.sh

# The modules that boards get: all of odt but what is for PCs.
ODT_PYTHON := $(filter-out odt/host/% odt/__main__.py,$(sort $(shell find odt -name '*.py' 2>/dev/null)))

# What goes into an image: the user C module's folder and the frozen manifest.
ODT_NATIVE ?= $(CURDIR)/native
ODT_MANIFEST ?= $(CURDIR)/boards/manifest.py
ODT_FILES := manifest.py boards/manifest.py boards/boards.mk tests_device/scripts/frozen_weights.py \
    $(wildcard native/*.[ch] \
    native/common/*.[ch] native/kernels/*/*.[ch] native/cores/*.h native/cores/*/* native/bindings/*.[ch] native/bindings/micropython.*) \
    $(ODT_PYTHON)

MPYCROSS = $(BUILD)/mpy-cross/mpy-cross
# Under `make -j` the inner make shares the outer one's jobs; make before 4.4 needs to be told: JOBS=
JOBS = $(if $(filter --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
STOCK_MAKE = $(MAKE) $(JOBS) --no-print-directory MICROPY_MPYCROSS=$(MPYCROSS) \
    MICROPY_MPYCROSS_DEPENDENCY=$(MPYCROSS)
PORT_MAKE = $(STOCK_MAKE) USER_C_MODULES=$(ODT_NATIVE) FROZEN_MANIFEST=$(ODT_MANIFEST)

.PHONY: sources sources-arm sources-riscv sources-qemu sources-multilib sources-clang
sources:
	@$(SOURCES) cc micropython
sources-arm: sources
	@$(SOURCES) arm-gcc
sources-riscv: sources-arm
	@$(SOURCES) riscv-gcc
sources-qemu: sources-riscv
	@$(SOURCES) qemu
sources-multilib: sources
	@$(SOURCES) multilib
sources-clang:
	@$(SOURCES) clang

$(MPYCROSS): | sources
	$(MAKE) $(JOBS) --no-print-directory -C $(MPY)/mpy-cross BUILD=$(BUILD)/mpy-cross

# --- the unix port ----------------------------------------------------------------------------

# ssl, btree and ffi need submodules that Debian's source leaves out; odt needs none of them.
UNIX_OPTIONS = -C $(MPY)/ports/unix MICROPY_PY_SSL=0 MICROPY_PY_BTREE=0 MICROPY_PY_FFI=0
UNIX_MAKE = $(PORT_MAKE) $(UNIX_OPTIONS)

.PHONY: unix unix-float30
unix: $(BUILD)/unix/micropython
unix-float30: $(BUILD)/unix_float30/micropython

$(BUILD)/unix/micropython: $(ODT_FILES) $(MPYCROSS) | sources
	+$(UNIX_MAKE) BUILD=$(@D) VARIANT=standard
	@touch $@

$(BUILD)/unix_float30/micropython: $(ODT_FILES) $(wildcard boards/UNIX_FLOAT30/*) $(MPYCROSS) \
    | sources-multilib
	+$(UNIX_MAKE) BUILD=$(@D) VARIANT_DIR=$(CURDIR)/boards/UNIX_FLOAT30
	@touch $@

# To run one script, tests_device/scripts/arguments.py: without odt's Python, a minute of the compiler's.
$(BUILD)/unix_sanitize/micropython: $(ODT_FILES) $(wildcard boards/UNIX_SANITIZE/*) $(MPYCROSS) | sources
	+$(STOCK_MAKE) USER_C_MODULES=$(ODT_NATIVE) $(UNIX_OPTIONS) BUILD=$(@D) VARIANT_DIR=$(CURDIR)/boards/UNIX_SANITIZE
	@touch $@

# --- Cortex-M and RISC-V on QEMU --------------------------------------------------------------

# Each folder boards/QEMU_.. of ports/qemu is a machine: qemu_m3 and so on.
QEMU_BOARDS := $(patsubst boards/%/mpconfigboard.mk,%,$(shell grep -lE '(mps2|qemu)\.mk' boards/QEMU_*/mpconfigboard.mk))
lower = $(shell echo $(1) | tr A-Z a-z)

.PHONY: qemu
qemu: $(foreach board,$(QEMU_BOARDS),$(BUILD)/$(call lower,$(board))/firmware.elf)

# $(1): the machine's name; $(2): its board folder
define qemu_machine
$(BUILD)/$(1)/firmware.elf: $(ODT_FILES) $(wildcard boards/$(2)/* boards/mps2/* boards/qemu/*) $(MPYCROSS) \
    | sources-qemu
	+$(PORT_MAKE) -C $(MPY)/ports/qemu BUILD=$$(@D) BOARD=$(2) BOARD_DIR=$(CURDIR)/boards/$(2)
	@touch $$@
endef
$(foreach board,$(QEMU_BOARDS),$(eval $(call qemu_machine,$(call lower,$(board)),$(board))))

# --- RP2040 on rp2040js -----------------------------------------------------------------------

include boards/rp2040.mk

# --- odt for stock firmware, and that firmware --------------------------------------------------

include boards/mpy.mk

# --- firmware for real boards -----------------------------------------------------------------

include boards/firmware.mk

# --- the page -----------------------------------------------------------------------------------

include boards/page.mk
