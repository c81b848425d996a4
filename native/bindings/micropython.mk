# The user C module _odt, for ports that build with make:
#
#   make -C ports/<port> USER_C_MODULES=<odt>/native FROZEN_MANIFEST=<odt>/manifest.py
#
# The kernels are compiled for speed whatever the port's default is, and without fused
# multiply-adds, so that floats have the same bits on every machine (docs/reference/numerics.md).

ODT_NATIVE := $(patsubst %/bindings,%,$(USERMOD_DIR))
ODT_SRC := $(wildcard $(ODT_NATIVE)/*.c) $(wildcard $(addprefix $(ODT_NATIVE)/,common/*.c kernels/*/*.c cores/*/*.c))
ODT_BINDING := $(ODT_NATIVE)/bindings/mod_odt.c

# Objects are named by their place under USER_C_MODULES; the port's own files would hide ours.
$(foreach file,$(notdir $(wildcard $(ODT_NATIVE)/*.c)),\
    $(if $(wildcard $(file)),$(error $(ODT_NATIVE)/$(file) has the name of a file of this port)))

SRC_USERMOD_C += $(ODT_BINDING)
SRC_USERMOD_LIB_C += $(ODT_SRC)
CFLAGS_USERMOD += -I$(ODT_NATIVE) -DODT_POLLS
ifeq ($(MICROPY_PY_THREAD),1) # the unix port's
CFLAGS_USERMOD += -DODT_THREADS
endif

# ODT_CAPABILITIES: manifest.py
ifneq ($(ODT_CAPABILITIES),)
ODT_WITHOUT := $(shell python3 $(ODT_NATIVE)/../odt/host/boards/capabilities.py $(ODT_CAPABILITIES))
CFLAGS_USERMOD += -DODT_WITHOUT='"$(ODT_WITHOUT)"' $(foreach name,$(ODT_WITHOUT),-DODT_WITHOUT_$(name))
endif

ODT_OBJ := $(addprefix $(BUILD)/,$(patsubst $(USER_C_MODULES)/%.c,%.o,$(ODT_SRC)))
$(ODT_OBJ): CFLAGS += -O2 -fwrapv -ffp-contract=off
$(filter %/native/calibrate.o,$(ODT_OBJ)): CFLAGS += -Os # it runs once
