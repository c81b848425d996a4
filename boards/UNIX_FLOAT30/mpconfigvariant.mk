# The unix port with the Python floats of CircuitPython's boards: 32-bit objects whose floats have
# 30 bits. Needs gcc-multilib.

MICROPY_FORCE_32BIT = 1

# x87 registers would keep more bits than a float has, and C here must compute as everywhere else.
CFLAGS += -msse2 -mfpmath=sse
