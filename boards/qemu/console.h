// What a board on QEMU gives console.c, and what console.c gives it.

#ifndef ODT_QEMU_CONSOLE_H
#define ODT_QEMU_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

// --- the board's ---------------------------------------------------------------------------

uint32_t qemu_irq_disable(void); // all interrupts; returns what qemu_irq_restore() takes
void qemu_irq_restore(uint32_t state);

uint64_t qemu_ticks(void); // of QEMU_HZ, a macro of the board's .mk

int qemu_uart_get(void); // a byte, or -1: none has come
void qemu_uart_interrupt(bool on);
bool qemu_uart_interrupts(void); // whether they are on

// --- console.c's ---------------------------------------------------------------------------

void qemu_take_input(void); // in the UART's interrupt: all that has come

#endif
