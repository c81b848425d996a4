# A 32-bit RISC-V without floats in hardware: the instructions of an ESP32-C3, C6 or H2, and of an RP2350's Hazard3.
# QEMU's machine "virt". Its clock has 10 MHz.
QEMU_ARCH = riscv32
QEMU_MACHINE = virt
QEMU_HZ = 10000000

# Debian's compiler has no libraries for rv32imac_zicsr; before misa-spec 20191213 the control registers are rv32i's.
RV32_ARCH = rv32imac
AFLAGS += -misa-spec=2.2
CFLAGS += -DQEMU_SOC_VIRT -DMICROPY_HW_MCU_NAME='"RV32IMAC"'
MPY_CROSS_FLAGS += -march=rv32imc
LDSCRIPT = $(BOARD_DIR)/virt.ld

vpath virt_board.c $(BOARD_DIR)
SRC_C += virt_board.c
SRC_BOARD_O += shared/runtime/gchelper_native.o shared/runtime/gchelper_rv32i.o

include $(BOARD_DIR)/../qemu/qemu.mk
