# The kernels for stock firmware, one architecture: _odt.mpy, the module _odt, and the pieces that it imports:
#
#   make -C native -f bindings/natmod.mk MPY_DIR=<checkout> ARCH=armv6m BUILD=<folder>
#
# needs mpy-cross (MPY_CROSS=) and Python's pyelftools (PYTHON=). Leaves BUILD/_odt*.mpy.
#
# A board holds all of them that it loads in RAM, so only the int8 kernels' inner loops are compiled for speed: on an
# armv6m they are assembly, and gcc's work on the other loops (-1.9 KB without) is not worth its room.

MOD = _odt
PIECES := $(shell sed -n 's/^    X("\(_odt\w*\)").*/\1/p' opcodes.h)
# Of an RP2040, which have kernels of others compiled for speed (fast.h).
FASTER := $(if $(filter armv6m,$(ARCH)),_odt_fast _odt_fast_conv)
ALONE := online knn $(sort $(shell sed -n 's|.*/\* _odt_\([a-z]*\): .*|\1|p' bindings/entry_points.h))
NUMBERS = $(shell seq 0 $$(($(words $(PIECES)) - 1)))
SRC = bindings/mod_mpy.c bindings/divide.c bindings/softfloat.c $(filter-out opcodes.c,$(wildcard *.c)) $(wildcard common/*.c kernels/*/*.c cores/*/*.c)
LD_EMULATION = $(if $(filter rv32imc,$(ARCH)),-m elf32lriscv)
FAST = $(if $(filter armv6m,$(ARCH)),,$(filter-out %/group_conv2d_i8.c %/transposed2d_i8.c,$(wildcard kernels/linear/*_i8.c cores/panel/*_i8.c)))
CFLAGS_EXTRA = -I. -fwrapv -ffp-contract=off -ffunction-sections -fdata-sections \
    $(if $(filter armv6m,$(ARCH)),-fno-tree-loop-optimize)

include $(MPY_DIR)/py/dynruntime.mk

.DEFAULT_GOAL := pieces
.PHONY: pieces
pieces: $(PIECES:%=$(BUILD)/%.mpy) $(FASTER:%=$(BUILD)/%.mpy) $(ALONE:%=$(BUILD)/_odt_%.mpy)

$(FAST:%.c=$(BUILD)/%.o): CFLAGS += -O2

# Each piece has its own part of the table of instructions, and copies of what else it needs but for what it calls in the
# base (mod_piece.c).
KERNELS_O = $(filter-out $(BUILD)/bindings/mod_mpy.o,$(SRC_O))
IN_BASE = panel/panel_i8 m4/conv2d_i8__m4 m4/conv2d_dx_i8__m4 m4/conv2d_dw_i8__m4
TABLES_O = $(NUMBERS:%=$(BUILD)/opcodes_%.o)

$(TABLES_O): $(BUILD)/opcodes_%.o: opcodes.c $(CONFIG_H)
	$(Q)$(CROSS)gcc $(CFLAGS) -DODT_PIECE=$* -o $@ -c $<

PIECE_CONFIG_H = $(BUILD)/piece.config.h
$(PIECE_CONFIG_H): bindings/mod_piece.c | $(BUILD_DIRS)
	$(Q)$(MPY_LD) --arch $(ARCH) --preprocess -o $@ $<

$(BUILD)/mod_piece.o: bindings/mod_piece.c $(PIECE_CONFIG_H)
	$(Q)$(CROSS)gcc $(CFLAGS) -UMP_CONFIGFILE -DMP_CONFIGFILE='<$(PIECE_CONFIG_H)>' -o $@ -c $<

# Links the compiler's own functions (64-bit division, float sums of cores without floats), drops
# what nothing calls. mpy_ld could take libraries by itself, with a package that is hard to get.
LINK = $(CROSS)ld $(LD_EMULATION) -r --gc-sections -e mpy_init -o $@ $^ \
    $$($(CROSS)gcc $(CFLAGS_ARCH) -print-libgcc-file-name)

$(BUILD)/linked_0.o: $(BUILD)/bindings/mod_mpy.o $(BUILD)/opcodes_0.o $(KERNELS_O)
	$(LINK)

$(BUILD)/linked_%.o: $(BUILD)/mod_piece.o $(BUILD)/opcodes_%.o $(filter-out $(IN_BASE:%=$(BUILD)/cores/%.o),$(KERNELS_O))
	$(LINK)

# odt.online's and odt.sensors.features' own, which need none of the others. Of these objects the linker leaves what the
# module calls.
ALONE_O = $(patsubst %.c,$(BUILD)/%.o,$(wildcard kernels/features/*.c kernels/online/*.c)) $(BUILD)/fixed.o \
    $(BUILD)/float32.o $(BUILD)/bindings/softfloat.o

$(ALONE:%=$(BUILD)/%.config.h): $(BUILD)/%.config.h: bindings/mod_%.c | $(BUILD_DIRS)
	$(Q)$(MPY_LD) --arch $(ARCH) --preprocess -o $@ $<

$(ALONE:%=$(BUILD)/mod_%.o): $(BUILD)/mod_%.o: bindings/mod_%.c $(BUILD)/%.config.h
	$(Q)$(CROSS)gcc $(CFLAGS) -UMP_CONFIGFILE -DMP_CONFIGFILE='<$(BUILD)/$*.config.h>' -o $@ -c $<

$(ALONE:%=$(BUILD)/linked_%.o): $(BUILD)/linked_%.o: $(BUILD)/mod_%.o $(ALONE_O)
	$(LINK)

$(ALONE:%=$(BUILD)/_odt_%.mpy): $(BUILD)/_odt_%.mpy: $(BUILD)/linked_%.o $(BUILD)/%.config.h
	cd $(BUILD) && $(MPY_LD) --arch $(ARCH) --qstrs $*.config.h -o $(@F) $(<F)

# A module has the name in itself by which mpy_ld was called.
$(BUILD)/linked/_odt.mpy: $(BUILD)/linked_0.o
	mkdir -p $(@D)
	cd $(@D) && $(MPY_LD) --arch $(ARCH) --qstrs $(CONFIG_H) -o $(@F) $<

$(BUILD)/natmod.mpy: bindings/natmod.py | $(BUILD_DIRS)
	$(MPY_CROSS) $(MPY_CROSS_FLAGS) -O3 -s natmod.py -o $@ $<

$(BUILD)/_odt.mpy: $(BUILD)/linked/_odt.mpy $(BUILD)/natmod.mpy
	$(MPY_TOOL) --merge -o $@ $^

define piece
$(BUILD)/$(word $(shell echo $$(($(1) + 1))),$(PIECES)).mpy: $(BUILD)/linked_$(1).o $(PIECE_CONFIG_H)
	cd $(BUILD) && $(MPY_LD) --arch $(ARCH) --qstrs $(PIECE_CONFIG_H) -o $$(@F) $$(<F)
endef
$(foreach number,$(filter-out 0,$(NUMBERS)),$(eval $(call piece,$(number))))

FAST_SRC = bindings/divide.c bindings/softfloat.c fixed.c float32.c data.c $(wildcard common/*.c kernels/*/*_i8.c kernels/*/*_i16.c kernels/*/*_i32.c kernels/step/*.c cores/*/*.c)
FAST_O = $(patsubst %.c,$(BUILD)/fast/%.o,$(FAST_SRC))
FAST_FLAGS = $(CFLAGS) -UMP_CONFIGFILE -DMP_CONFIGFILE='<$(PIECE_CONFIG_H)>' -Wno-unused-function

$(BUILD)/fast/cores/panel/panel_i8.o: FAST_FLAGS += -O2 # the loops around the assembly
$(FAST_O): $(BUILD)/fast/%.o: %.c $(PIECE_CONFIG_H)
	@mkdir -p $(@D)
	$(Q)$(CROSS)gcc $(FAST_FLAGS) -DODT_FAST=1 -o $@ -c $<

define faster
$(BUILD)/mod_$(1).o: bindings/mod_piece.c $(PIECE_CONFIG_H)
	$(Q)$(CROSS)gcc $$(FAST_FLAGS) -DODT_FAST=$(2) -o $$@ -c $$<

$(BUILD)/linked_$(1).o: $(BUILD)/mod_$(1).o $$(FAST_O)
	$$(LINK)

$(BUILD)/$(1).mpy: $(BUILD)/linked_$(1).o $(PIECE_CONFIG_H)
	cd $(BUILD) && $(MPY_LD) --arch $(ARCH) --qstrs $(PIECE_CONFIG_H) -o $$(@F) $$(<F)
endef
$(foreach number,$(shell seq $(words $(FASTER))),$(eval $(call faster,$(word $(number),$(FASTER)),$(number))))

# The headers that dynruntime.mk does not know of; and the name by which it calls this file.
$(SRC_O) $(TABLES_O) $(FAST_O) $(BUILD)/mod_piece.o $(FASTER:%=$(BUILD)/mod_%.o) $(ALONE:%=$(BUILD)/mod_%.o): $(wildcard *.h bindings/*.h common/*.h kernels/*/*.h cores/*.h cores/*/*.h cores/*/*.inc)
.PHONY: Makefile
Makefile: ;
