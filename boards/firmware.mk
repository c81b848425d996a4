# Firmware with odt inside for a board, and what odt adds to it. Included by boards.mk.
#
#   make firmware BOARD=RPI_PICO2                      build/RPI_PICO2/firmware.uf2
#   make firmware BOARD=RPI_PICO CAPABILITIES="online sensors"     build/RPI_PICO-online-sensors/firmware.uf2
#   make firmware BOARD=PYBV11 MPY_DIR=<checkout>      build/PYBV11/firmware.dfu
#   make firmware BOARD=RPI_PICO2 ULAB_DIR=<clone>     build/RPI_PICO2_ulab/firmware.uf2: ulab beside odt
#
# Each is built a second time without odt, to be compared: build/stock_<board>/. CAPABILITIES: names with blanks
# between, all or none (odt/host/boards/capabilities.py); what is left out can be installed as files.

RP2_BOARDS := RPI_PICO RPI_PICO2 RPI_PICO2_RISCV RPI_PICO_W
STM32_BOARDS := B_L475E_IOT01A NUCLEO_H743ZI PYBV11 STM32F4DISC

# KB that the linker lacked, with MicroPython 1.25, in the part of the flash that the port's board leaves to code.
# All of the chip's flash, without a file system, would lack 130 of them still.
LACKS_NUCLEO_F446RE := 242

# Boards that are the port's own but for these settings.
OPTIONS_B_L475E_IOT01A := LD_FILES="$(CURDIR)/boards/B_L475E_IOT01A/flash.ld boards/common_basic.ld"

# A Pico's default lies in the 640 KB that MicroPython's own layout leaves to code, so that its files stay; with other
# capabilities code takes 256 KB of the files. That with all is the emulated Pico's.
DEFAULT_RPI_PICO := none

# Bytes before the file system: into it the port's linker script lets a firmware run.
ROOM_RPI_PICO := 917504
ROOM_RPI_PICO2 := 1048576
ROOM_RPI_PICO2_RISCV := $(ROOM_RPI_PICO2)
ROOM_RPI_PICO_W := 1228800

# What a board needs that no Debian package has.
NEEDS_RPI_PICO_W := lib/cyw43-driver
$(foreach board,$(STM32_BOARDS),$(eval NEEDS_$(board) := lib/stm32lib))
FIRMWARE_NEEDS = $(NEEDS_$(BOARD))

.PHONY: firmware
ifneq ($(LACKS_$(BOARD)),)
firmware:
	@echo "odt: $(BOARD) has too little flash: MicroPython with odt inside is $(LACKS_$(BOARD)) KB larger than the room for code" >&2
	@exit 1
else ifeq ($(filter $(RP2_BOARDS) $(STM32_BOARDS),$(BOARD)),)
firmware:
	@echo "odt: $(if $(BOARD),no board is known as $(BOARD).,which board?) Those for make firmware BOARD=..." >&2
	@echo "  from Debian's packages:  RPI_PICO RPI_PICO2 RPI_PICO2_RISCV" >&2
	@echo "  with MPY_DIR=...:        RPI_PICO_W $(STM32_BOARDS)" >&2
	@exit 1
else ifneq ($(if $(ULAB_DIR),$(or $(filter-out $(RP2_BOARDS),$(BOARD)),$(if $(wildcard $(ULAB_DIR)/code/micropython.cmake),,none))),)
firmware:
	@echo "odt: ULAB_DIR= is a clone of ulab, for $(RP2_BOARDS), got $(ULAB_DIR) for $(BOARD)" >&2
	@exit 1
else ifeq ($(if $(FIRMWARE_NEEDS),$(wildcard $(MPY)/$(FIRMWARE_NEEDS)/*),none needed),)
firmware:
	@echo "odt: $(BOARD) needs $(FIRMWARE_NEEDS), which $(if $(MPY_DIR),$(MPY_DIR) does not have: its submodules are missing,no Debian package has)." >&2
	@echo "  Clone MicroPython 1.25, fetch its submodules, and give it: make firmware BOARD=$(BOARD) MPY_DIR=<the clone>" >&2
	@exit 1
else ifneq ($(if $(CAPABILITIES),$(shell python3 odt/host/boards/capabilities.py "$(CAPABILITIES)" 2>&1 >/dev/null)),)
firmware:
	@python3 odt/host/boards/capabilities.py "$(CAPABILITIES)"
else

CHOSEN := $(strip $(or $(CAPABILITIES),$(DEFAULT_$(BOARD)),all))
empty :=
FIRMWARE := $(BOARD)$(if $(filter $(or $(DEFAULT_$(BOARD)),all),$(CHOSEN)),,-$(subst $(empty) ,-,$(CHOSEN)))
FIRMWARE := $(if $(ULAB_DIR),$(BOARD)_ulab,$(FIRMWARE:RPI_PICO-all=rp2040))
FIRMWARE_FILE := $(if $(filter $(RP2_BOARDS),$(BOARD)),firmware.uf2,firmware.dfu)
FIRMWARE_ELF := $(if $(filter $(RP2_BOARDS),$(BOARD)),cmake/firmware.elf,firmware.elf)
FIRMWARE_ROOM := $(if $(filter RPI_PICO,$(FIRMWARE)),655360,$(ROOM_$(BOARD)))

STOCK_FIRMWARE := $(BUILD)/stock_$(BOARD:RPI_PICO=rp2040)

firmware: $(BUILD)/$(FIRMWARE)/$(FIRMWARE_FILE) $(STOCK_FIRMWARE)/$(FIRMWARE_FILE)
	@python3 -m odt.host.release.firmware $(BOARD) $(BUILD)/$(FIRMWARE)/$(FIRMWARE_ELF) $(STOCK_FIRMWARE)/$(FIRMWARE_ELF) $(FIRMWARE_ROOM)
	@echo "$<"
endif

# $(1): the build's folder; $(2): the board; $(3): the capabilities; $(4): its layout. The manifest holds what can be
# frozen without micropython-lib.
define rp2_board
$(BUILD)/$(1)/firmware.uf2: export ODT_CAPABILITIES := $(3)
$(BUILD)/$(1)/firmware.uf2: $(if $(4),$(BUILD)/board_$(2)/mpconfigboard.h) $(ODT_FILES) boards/rp2040.mk boards/RPI_PICO/manifest.py $(MPYCROSS) \
    $(COMPILER_$(2)) | rp2040-sources
	$$(call rp2_firmware,$(2),$(4) -DUSER_C_MODULES=$(RP2040_CMAKE) -DMICROPY_FROZEN_MANIFEST=$(RP2040_MANIFEST))
endef
$(foreach board,$(filter-out RPI_PICO,$(RP2_BOARDS)),$(eval $(call rp2_board,$(board),$(board),all)))
$(eval $(call rp2_board,RPI_PICO,RPI_PICO,$(DEFAULT_RPI_PICO)))
$(eval $(call rp2_board,rp2040,RPI_PICO,all,$(ROOMY_RPI_PICO)))
ifneq ($(and $(filter $(BOARD)-%,$(FIRMWARE)),$(filter $(RP2_BOARDS),$(BOARD))),)
$(eval $(call rp2_board,$(FIRMWARE),$(BOARD),$(CHOSEN),$(ROOMY_$(BOARD))))
endif

# $(1): the board
define rp2_stock
$(BUILD)/stock_$(1)/firmware.uf2: $(STOCK_FILES) boards/rp2040.mk $(COMPILER_$(1)) | rp2040-sources
	$$(call rp2_firmware,$(1),-DMICROPY_FROZEN_MANIFEST=$(STOCK)/rp2040.py)
endef
$(foreach board,$(filter-out RPI_PICO,$(RP2_BOARDS)),$(eval $(call rp2_stock,$(board))))

# $(1): the board
define rp2_ulab
$(BUILD)/$(1)_ulab/firmware.uf2: $(if $(ROOMY_$(1)),$(BUILD)/board_$(1)/mpconfigboard.h) $(ODT_FILES) boards/rp2040.mk boards/RPI_PICO/manifest.py $(MPYCROSS) $(COMPILER_$(1)) | rp2040-sources
	$$(call rp2_firmware,$(1),$(ROOMY_$(1)) "-DUSER_C_MODULES=$(RP2040_CMAKE);$(abspath $(ULAB_DIR))/code/micropython.cmake" \
	    -DMICROPY_FROZEN_MANIFEST=$(RP2040_MANIFEST))
endef
$(if $(ULAB_DIR),$(foreach board,$(RP2_BOARDS),$(eval $(call rp2_ulab,$(board)))))

# $(1): the build's folder; $(2): the board; $(3): the capabilities
define stm32_board
$(BUILD)/$(1)/firmware.dfu: export ODT_CAPABILITIES := $(3)
$(BUILD)/$(1)/firmware.dfu: $(ODT_FILES) $(wildcard boards/$(2)/*) $(MPYCROSS) | sources-arm
	+$(PORT_MAKE) -C $(MPY)/ports/stm32 BUILD=$$(@D) BOARD=$(2) $$(OPTIONS_$(2))
	@touch $$@
endef
$(foreach board,$(STM32_BOARDS),$(eval $(call stm32_board,$(board),$(board),)))
ifneq ($(and $(filter $(BOARD)-%,$(FIRMWARE)),$(filter $(STM32_BOARDS),$(BOARD))),)
$(eval $(call stm32_board,$(FIRMWARE),$(BOARD),$(CHOSEN)))
endif

# $(1): the board
define stm32_stock
$(BUILD)/stock_$(1)/firmware.dfu: $(STOCK_FILES) | sources-arm
	+$(STOCK_MAKE) -C $(MPY)/ports/stm32 FROZEN_MANIFEST=$(STOCK)/manifest.py BUILD=$$(@D) BOARD=$(1)
	@touch $$@
endef
$(foreach board,$(STM32_BOARDS),$(eval $(call stm32_stock,$(board))))

# --- the STM32 that QEMU has --------------------------------------------------------------------

STM32F405 := $(BUILD)/stm32f405

.PHONY: test-stm32
ifeq ($(wildcard $(MPY)/lib/stm32lib/*),)
test-stm32:
	@echo "odt: the tests on the emulated STM32F405 need lib/stm32lib, which $(if $(MPY_DIR),$(MPY_DIR) does not have: its submodules are missing,no Debian package has)." >&2
	@echo "  Clone MicroPython 1.25, in it run make -C ports/stm32 submodules, and give it:" >&2
	@echo "  make test-stm32 MPY_DIR=<the clone>" >&2
	@exit 1
else
test-stm32: venv $(STM32F405)/firmware.elf
	$(PYTHON) -m pytest -q tests_device/checks/make/stm32f405.py

$(STM32F405)/firmware.elf: $(ODT_FILES) $(wildcard boards/QEMU_STM32F405/*) $(MPYCROSS) | sources-arm
	+$(PORT_MAKE) -C $(MPY)/ports/stm32 BUILD=$(@D) BOARD_DIR=$(CURDIR)/boards/QEMU_STM32F405
	@touch $@
endif
