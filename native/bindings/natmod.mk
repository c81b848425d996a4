# _odt.mpy, the module _odt for stock firmware, for one architecture:
#
#   make -C native -f bindings/natmod.mk MPY_DIR=<checkout> ARCH=armv6m BUILD=<folder>
#
# needs mpy-cross (MPY_CROSS=) and Python's pyelftools (PYTHON=). Leaves BUILD/_odt.mpy.
#
# A board holds all of it in RAM, so only the int8 kernels' inner loops are compiled for speed: on an armv6m they
# are assembly, and gcc's work on the other loops (-1.9 KB without) is not worth its room.

MOD = _odt
SRC = bindings/mod_mpy.c bindings/softfloat.c $(wildcard *.c) $(wildcard kernels/*/*.c)
LD_EMULATION = $(if $(filter rv32imc,$(ARCH)),-m elf32lriscv)
FAST = $(if $(filter armv6m,$(ARCH)),,$(filter-out %/group_conv2d_i8.c %/transposed2d_i8.c,$(wildcard kernels/linear/*_i8.c)))
CFLAGS_EXTRA = -I. -fwrapv -ffp-contract=off -ffunction-sections -fdata-sections \
    $(if $(filter armv6m,$(ARCH)),-fno-tree-loop-optimize)

include $(MPY_DIR)/py/dynruntime.mk

.DEFAULT_GOAL := $(BUILD)/_odt.mpy

$(FAST:%.c=$(BUILD)/%.o): CFLAGS += -O2

# Links the compiler's own functions (64-bit division, float sums of cores without floats), drops
# what nothing calls. mpy_ld could take libraries by itself, with a package that is hard to get.
$(BUILD)/linked.o: $(SRC_O)
	$(CROSS)ld $(LD_EMULATION) -r --gc-sections -e mpy_init -o $@ $^ \
	    $$($(CROSS)gcc $(CFLAGS_ARCH) -print-libgcc-file-name)

$(BUILD)/linked.mpy: $(BUILD)/linked.o
	$(MPY_LD) --arch $(ARCH) --qstrs $(CONFIG_H) -o $@ $<

$(BUILD)/poll.mpy: bindings/poll.py | $(BUILD_DIRS)
	$(MPY_CROSS) $(MPY_CROSS_FLAGS) -s poll.py -o $@ $<

$(BUILD)/_odt.mpy: $(BUILD)/linked.mpy $(BUILD)/poll.mpy
	$(MPY_TOOL) --merge -o $@ $^

# The headers that dynruntime.mk does not know of; and the name by which it calls this file.
$(SRC_O): $(wildcard *.h bindings/*.h kernels/*/*.h)
.PHONY: Makefile
Makefile: ;
