// The prologue and epilogue of assembly functions for a Cortex-M0+: they preserve r4 .. r11.

#ifndef ODT_REGISTERS_M0_H
#define ODT_REGISTERS_M0_H

#define ODT_SAVE_REGISTERS \
    "push {r4-r7, lr}\n" \
    "mov r4, r8\n" \
    "mov r5, r9\n" \
    "mov r6, r10\n" \
    "mov r7, r11\n" \
    "push {r4-r7}\n"

// Restores them and returns.
#define ODT_RESTORE_REGISTERS \
    "pop {r4-r7}\n" \
    "mov r8, r4\n" \
    "mov r9, r5\n" \
    "mov r10, r6\n" \
    "mov r11, r7\n" \
    "pop {r4-r7, pc}\n"

#endif
