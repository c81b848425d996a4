# The unix port under the address and undefined-behaviour sanitizers, to run one script: tests_device/checks/make/sanitize.py.

FROZEN_MANIFEST =
MICROPY_PY_THREAD = 0
MICROPY_PY_TERMIOS = 0
MICROPY_PY_SOCKET = 0
MICROPY_USE_READLINE = 0
MICROPY_VFS_FAT = 0
MICROPY_VFS_LFS1 = 0
MICROPY_VFS_LFS2 = 0

CFLAGS += -Wno-unused-label -DMP_CONFIGFILE='"$(VARIANT_DIR)/without_gc.h"' -fsanitize=address,undefined
LDFLAGS += -fsanitize=address,undefined
