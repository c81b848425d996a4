# An emulated Raspberry Pi Pico: the firmware of a real one, a boot ROM, and rp2040js to run them.
# Included by boards.mk, whose variables it uses.
#
#   make rp2040                 build/rp2040/: firmware.uf2, bootrom.bin, js/
#   make rp2040-firmware        firmware.uf2 alone, for a real board: copy it to the RPI-RP2 drive

RP2040 := $(BUILD)/rp2040
RP2040_CMAKE ?= $(ODT_NATIVE)/bindings/micropython.cmake
RP2040_MANIFEST ?= $(CURDIR)/boards/RPI_PICO/manifest.py
UF2_FAMILY_RPI_PICO := 0xe48bff56
UF2_FAMILY_RPI_PICO_W := $(UF2_FAMILY_RPI_PICO)
UF2_FAMILY_RPI_PICO2 := 0xe48bff59# RP2350's Arm cores
UF2_FAMILY_RPI_PICO2_RISCV := 0xe48bff5a

.PHONY: rp2040 rp2040-firmware rp2040-emulator rp2040-sources
rp2040: rp2040-firmware rp2040-emulator
rp2040-emulator: $(RP2040)/bootrom.bin $(RP2040)/js/.complete
rp2040-firmware: $(RP2040)/firmware.uf2

rp2040-sources: sources
	@$(SOURCES) cmake arm-gcc pico-sdk tinyusb mbedtls

# A compiler by the name that the SDK looks for, of Debian's package.
HAZARD3 := $(BUILD)/hazard3
COMPILER_RPI_PICO2_RISCV := $(HAZARD3)/riscv32-unknown-elf-gcc
$(COMPILER_RPI_PICO2_RISCV): boards/RPI_PICO2_RISCV/gcc | sources-riscv
	@mkdir -p $(@D)
	cp $< $@
	ln -sf $(@F) $(@D)/riscv32-unknown-elf-g++
	for tool in objcopy objdump size; do \
	    ln -sf $$(command -v riscv64-unknown-elf-$$tool) $(@D)/riscv32-unknown-elf-$$tool || exit 1; done

# A board of the port's own. picotool would be fetched and built to make the UF2: uf2conv does.
# A build/ that came from another folder is begun anew: CMake keeps absolute paths. What is frozen is, too: CMake does not see
# that a manifest has changed.
# $(1): the board; $(2): CMake's options
VARIANT_RPI_PICO2_RISCV := -DMICROPY_BOARD_VARIANT=RISCV -DPICO_CLIB=picolibc -DPICO_TOOLCHAIN_PATH=$(HAZARD3)
define rp2_firmware
@mkdir -p $(@D)
@grep -qsx 'CMAKE_CACHEFILE_DIR:INTERNAL=$(@D)/cmake' $(@D)/cmake/CMakeCache.txt || rm -rf $(@D)/cmake
@rm -f $(@D)/cmake/frozen_content.c
MICROPY_MPYCROSS=$(MPYCROSS) cmake -S $(MPY)/ports/rp2 -B $(@D)/cmake \
    -DMICROPY_BOARD=$(1:%_RISCV=%) $(VARIANT_$(1)) -DPICO_NO_PICOTOOL=1 -DPICO_BUILD_DOCS=0 $(2) \
    >$(@D)-cmake.log || { cat $(@D)-cmake.log >&2; exit 1; }
+MICROPY_MPYCROSS=$(MPYCROSS) $(MAKE) $(JOBS) --no-print-directory -s -C $(@D)/cmake
python3 $(MPY)/tools/uf2conv.py -b 0x10000000 -f $(UF2_FAMILY_$(1)) -c -o $@ $(@D)/cmake/firmware.bin
endef

# The port gives a Pico 1408 KB of files and 640 KB of code. All of odt needs more: this board gives it 256 KB of the files.
$(BUILD)/board_RPI_PICO/mpconfigboard.h: boards/rp2040.mk | rp2040-sources
	@mkdir -p $(@D)
	cp $(MPY)/ports/rp2/boards/RPI_PICO/* $(@D)
	grep -q '(1408 \* 1024)' $@
	sed -i 's/(1408 \* 1024)/(1152 * 1024)/' $@
ROOMY_RPI_PICO := -DMICROPY_BOARD_DIR=$(BUILD)/board_RPI_PICO

$(RP2040)/bootrom.bin: $(wildcard boards/bootrom/*) | rp2040-sources
	@mkdir -p $(RP2040)
	arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb -Os -std=c99 -ffreestanding \
	    -fno-tree-loop-distribute-patterns -Wall -Wextra -Werror -Wno-cast-function-type \
	    -nostdlib -Wl,--fatal-warnings -T boards/bootrom/bootrom.ld \
	    boards/bootrom/start.S boards/bootrom/memory.c boards/bootrom/float.c -lgcc \
	    -o $(RP2040)/bootrom.elf
	arm-none-eabi-objcopy -O binary $(RP2040)/bootrom.elf $@

# The emulator and what drives it, side by side, so that Node finds the package.
$(RP2040)/js/.complete: $(wildcard tests_device/rp2040js/*.mjs tests_device/rp2040js/package*.json)
	@$(SOURCES) node
	@mkdir -p $(@D)
	cp tests_device/rp2040js/*.mjs tests_device/rp2040js/package*.json $(@D)
	cd $(@D) && npm ci --no-audit --no-fund --silent
	@touch $@
