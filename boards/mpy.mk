# odt for stock firmware: the kernels as native modules, the package compiled. Included by boards.mk.
#
#   make mpy            build/mpy/<architecture>/_odt*.mpy, build/mpy/viper/<architecture>/_odt_viper.mpy,
#                       build/mpy/python/odt/**/*.mpy, their sizes
#   make mip            build/mip/: the same as packages for mip, to be served
#   make stock          MicroPython without odt for the unix port, three QEMU boards and the RP2040
#
#   make mpy MORE_ARCHS=xtensawin       this architecture, too, whose compiler has to be installed
#
# What is built does not depend on what else a machine has.

MORE_ARCHS ?=
MPY_ARCHS := x64 armv6m armv7m armv7emsp armv7emdp rv32imc $(MORE_ARCHS)
MPY_KERNELS = $(MPY_ARCHS:%=$(BUILD)/mpy/%/_odt.mpy)
# MicroPython's own compiler needs no other: these loops are for boards that no kernels fit.
VIPER_ARCHS := x64 armv6m armv7m rv32imc xtensawin
MPY_VIPER = $(VIPER_ARCHS:%=$(BUILD)/mpy/viper/%/_odt_viper.mpy)
MPY_PYTHON = $(ODT_PYTHON:%.py=$(BUILD)/mpy/python/%.mpy)
MPY_PACKED = $(BUILD)/mpy/packed/odt
# Left of modules that have moved: they would be installed.
MPY_STALE = $(filter-out $(MPY_PYTHON),$(shell find $(BUILD)/mpy/python -name '*.mpy' 2>/dev/null))

.PHONY: mpy mip
# MicroPython 1.28.0's linker looks for a module's entry before its sections have addresses.
ifneq ($(shell grep -sF 'struct.pack("<BI", 0xE9, entry)' $(MPY)/tools/mpy_ld.py),)
mpy:
	@echo "odt: the tools/mpy_ld.py of this MicroPython links modules that do not start. Build them from 1.25 to 1.27:" >&2
	@echo "  newer firmware reads the same .mpy files" >&2
	@exit 1
else
mpy: $(MPY_KERNELS) $(MPY_VIPER) $(MPY_PYTHON) $(MPY_PACKED)/__init__.mpy $(MPY_PACKED)/packs.mpy
	@rm -f $(MPY_STALE)
	@find $(BUILD)/mpy/python -type d -empty -delete
	@python3 -m odt.host.boards.pack $(BUILD)/mpy
	@python3 -m odt.host.release.sizes $(BUILD)/mpy
endif

mip: mpy
	@python3 -m odt.host.release.mip $(BUILD)/mpy $(BUILD)/mip

# pyelftools, which MicroPython's linker for modules needs. PIP_ONCE: not beside the pip that installs the tests' needs.
$(BUILD)/venv/.mpy: $(BUILD)/venv/.run $(if $(PIP_ONCE),$(BUILD)/venv/.test)
	@$(PIP_INSTALL) '.[mpy]'
	@touch $@

$(MPY_KERNELS): $(BUILD)/mpy/%/_odt.mpy: $(wildcard native/*.[ch] native/common/*.[ch] native/kernels/*/*.[ch] native/cores/*.h native/cores/*/* \
    native/bindings/*) $(MPYCROSS) | sources-riscv $(BUILD)/venv/.mpy
	@mkdir -p $(@D)
	@echo "odt: compiling the kernels for $*"
	@$(MAKE) $(JOBS) -s -C native -f bindings/natmod.mk ARCH=$* BUILD=$(BUILD)/mpy/build/$* \
	    MPY_DIR=$(MPY) MPY_CROSS=$(MPYCROSS) PYTHON=$(abspath $(PYTHON)) >$(@D)/build.log \
	    || { cat $(@D)/build.log; exit 1; }
	@rm -f $(@D)/_odt*.mpy
	@mv $(BUILD)/mpy/build/$*/_odt_*.mpy $(@D)
	@mv $(BUILD)/mpy/build/$*/_odt.mpy $@

$(MPY_VIPER): $(BUILD)/mpy/viper/%/_odt_viper.mpy: native/bindings/viper.py $(MPYCROSS)
	@mkdir -p $(@D)
	@$(MPYCROSS) -march=$* -O3 -s _odt_viper.py -o $@ $<

# As manifest.py freezes it: no docstrings, no assertions. A traceback has the module's name in place of its file's:
# MicroPython keeps both for good, and has the former in any case.
$(BUILD)/mpy/python/odt/%.mpy: odt/%.py boards/mpy.mk $(MPYCROSS)
	@mkdir -p $(@D)
	@$(MPYCROSS) -O3 -s $(patsubst %.__init__,%,odt.$(subst /,.,$*)) -o $@ $<

# What is not packed: the package's first module mounts the packs in its first line.
$(MPY_PACKED)/packs.mpy: odt/host/boards/packs.py $(MPYCROSS)
	@mkdir -p $(@D)
	@$(MPYCROSS) -O3 -s odt.packs -o $@ $<

$(MPY_PACKED)/__init__.mpy: odt/__init__.py boards/mpy.mk $(MPYCROSS)
	@mkdir -p $(@D)
	@{ printf 'from .packs import mount; __path__ = mount(__path__); '; cat $<; } >$(@:.mpy=.py)
	@$(MPYCROSS) -O3 -s odt -o $@ $(@:.mpy=.py)
	@rm $(@:.mpy=.py)

# --- firmware without odt ---------------------------------------------------------------------

STOCK := $(CURDIR)/boards/stock
STOCK_FILES := boards/mpy.mk $(wildcard boards/stock/*) $(MPYCROSS)

.PHONY: stock
stock: $(BUILD)/stock_unix/micropython $(BUILD)/stock_qemu_m3/firmware.elf \
    $(BUILD)/stock_qemu_m4hf/firmware.elf $(BUILD)/stock_qemu_rv32/firmware.elf $(BUILD)/stock_rp2040/firmware.uf2

$(BUILD)/stock_unix/micropython: $(STOCK_FILES) | sources
	+$(STOCK_MAKE) $(UNIX_OPTIONS) FROZEN_MANIFEST=$(STOCK)/manifest.py BUILD=$(@D) VARIANT=standard
	@touch $@

# $(1): the machine's name; $(2): its board folder
define stock_qemu_machine
$(BUILD)/$(1)/firmware.elf: $(STOCK_FILES) $(wildcard boards/$(2)/* boards/mps2/* boards/qemu/*) | sources-qemu
	+$(STOCK_MAKE) -C $(MPY)/ports/qemu FROZEN_MANIFEST=$(STOCK)/manifest.py BUILD=$$(@D) \
	    BOARD=$(2) BOARD_DIR=$(CURDIR)/boards/$(2)
	@touch $$@
endef
$(eval $(call stock_qemu_machine,stock_qemu_m3,QEMU_M3))
$(eval $(call stock_qemu_machine,stock_qemu_m4hf,QEMU_M4HF))
$(eval $(call stock_qemu_machine,stock_qemu_rv32,QEMU_RV32))

$(BUILD)/stock_rp2040/firmware.uf2: $(STOCK_FILES) boards/rp2040.mk | rp2040-sources
	$(call rp2_firmware,RPI_PICO,-DMICROPY_FROZEN_MANIFEST=$(STOCK)/rp2040.py)

# --- another release of MicroPython -----------------------------------------------------------

# Built apart and anew, so that nothing of two releases is mixed.
RELEASE := $(BUILD)/release

.PHONY: test-release
ifeq ($(MPY_DIR),)
# Debian's next.
test-release:
	@$(SOURCES) micropython-next
	@$(MAKE) --no-print-directory $@ MPY_DIR=$(BUILD)/src/micropython-next
else
# The .mpy files are MicroPython 1.25's: newer firmware reads the same version of them.
test-release: venv
	@rm -rf $(RELEASE)
	@mkdir -p $(RELEASE)
	@{ $(MAKE) --no-print-directory MPY_DIR= $(BUILD)/mpy/x64/_odt.mpy $(MPY_PYTHON) && \
	    $(MAKE) --no-print-directory BUILD=$(RELEASE) unix $(RELEASE)/stock_unix/micropython && \
	    ln -s $(BUILD)/mpy $(RELEASE)/mpy; } >$(BUILD)/release.log 2>&1 || { tail -n 40 $(BUILD)/release.log; exit 1; }
	MPY_DIR=$(abspath $(MPY_DIR)) ODT_BUILD=$(RELEASE) $(PYTHON) -m pytest -q tests_device/checks/make/release.py
endif
