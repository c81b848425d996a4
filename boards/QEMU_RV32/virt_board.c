// Interrupts, serial input and clock of QEMU's RISC-V machine "virt".
// Drives no hardware that it lacks; never runs on a real board.

#include <stdio.h>
#include <stdlib.h>

#include "py/mphal.h"
#include "console.h"
#include "uart.h"

#define CLINT_TIME ((volatile uint32_t *)0x0200bff8) // low word, high word

#define UART_IRQ (10)
#define UART_RX ((volatile uint8_t *)0x10000000)
#define UART_INTERRUPTS ((volatile uint8_t *)0x10000001)
#define UART_FIFO ((volatile uint8_t *)0x10000002)
#define UART_STATE ((volatile uint8_t *)0x10000005)
#define UART_INT_RX (1 << 0)
#define UART_STATE_RX (1 << 0)

#define PLIC_PRIORITY ((volatile uint32_t *)0x0c000000) // one for each interrupt
#define PLIC_ENABLE ((volatile uint32_t *)0x0c002000)
#define PLIC_THRESHOLD ((volatile uint32_t *)0x0c200000)
#define PLIC_CLAIM ((volatile uint32_t *)0x0c200004)

#define MSTATUS_MIE (8)
#define MIE_EXTERNAL (1 << 11)

uint32_t qemu_irq_disable(void) {
    uint32_t state;
    __asm volatile ("csrrci %0, mstatus, 8" : "=r" (state) : : "memory");
    return state;
}

void qemu_irq_restore(uint32_t state) {
    __asm volatile ("csrs mstatus, %0" : : "r" (state & MSTATUS_MIE) : "memory");
}

// --- clock ---------------------------------------------------------------------------------

// Under `-icount shift=0` a tick is 100 executed instructions, the same number in every run.
uint64_t qemu_ticks(void) {
    uint32_t high, low;
    do {
        high = CLINT_TIME[1];
        low = CLINT_TIME[0];
    } while (high != CLINT_TIME[1]);
    return (uint64_t)high << 32 | low;
}

mp_uint_t mp_hal_ticks_cpu(void) {
    return CLINT_TIME[0];
}

// --- serial input --------------------------------------------------------------------------

int qemu_uart_get(void) {
    return *UART_STATE & UART_STATE_RX ? *UART_RX : -1;
}

void qemu_uart_interrupt(bool on) {
    *UART_INTERRUPTS = on ? UART_INT_RX : 0;
}

bool qemu_uart_interrupts(void) {
    return *UART_INTERRUPTS & UART_INT_RX;
}

__attribute__((interrupt("machine"), used)) static void virt_external(void) {
    uint32_t irq = *PLIC_CLAIM;
    if (irq == UART_IRQ) {
        qemu_take_input();
    }
    *PLIC_CLAIM = irq;
}

// --- exceptions ----------------------------------------------------------------------------

// Printed without a C library: the port's own handler needs its stdout.
__attribute__((used)) static void virt_exception(uint32_t cause, uint32_t at, uint32_t address, uint32_t stack) {
    char line[120];
    int length = snprintf(line, sizeof(line),
        "\nMachine exception caught: cause %lu, pc %08lx, address %08lx, sp %08lx\n",
        (unsigned long)cause, (unsigned long)at, (unsigned long)address, (unsigned long)stack);
    uart_tx_strn(line, length);
    exit(1);
}

__attribute__((naked, used)) static void virt_on_exception(void) {
    __asm volatile (
        "csrr a0, mcause\n"
        "csrr a1, mepc\n"
        "csrr a2, mtval\n"
        "mv a3, sp\n"
        "la sp, _estack\n" // the stack may be what has failed
        "j virt_exception\n"
        );
}

// By cause: 0 all exceptions, 11 the machine's external interrupt. No other is enabled.
__attribute__((naked, aligned(64))) static void virt_vectors(void) {
    __asm volatile (
        ".option push\n"
        ".option norvc\n"
        "j virt_on_exception\n"
        ".skip 40\n"
        "j virt_external\n"
        ".option pop\n"
        );
}

void __wrap_uart_init(void) {
    *UART_FIFO = 1;
    *UART_INTERRUPTS = UART_INT_RX;
    PLIC_PRIORITY[UART_IRQ] = 1;
    *PLIC_ENABLE = 1u << UART_IRQ;
    *PLIC_THRESHOLD = 0;
    __asm volatile ("csrw mtvec, %0" : : "r" ((uintptr_t)virt_vectors | 1));
    __asm volatile ("csrs mie, %0" : : "r" (MIE_EXTERNAL));
    __asm volatile ("csrs mstatus, %0" : : "r" (MSTATUS_MIE));
}
