// Serial input by interrupt, and the clock, of every emulated board: in place of the port's polled UART.
// Never runs on a real board.

#include "py/mphal.h"
#include "py/runtime.h"
#include "py/stream.h"
#include "shared/runtime/interrupt_char.h"
#include "console.h"

// --- clock ---------------------------------------------------------------------------------

mp_uint_t mp_hal_ticks_us(void) {
    return (mp_uint_t)(qemu_ticks() / (QEMU_HZ / 1000000));
}

mp_uint_t mp_hal_ticks_ms(void) {
    return (mp_uint_t)(qemu_ticks() / (QEMU_HZ / 1000));
}

void mp_hal_delay_us(mp_uint_t us) {
    uint64_t end = qemu_ticks() + (uint64_t)us * (QEMU_HZ / 1000000);
    while (qemu_ticks() < end) {
    }
}

void mp_hal_delay_ms(mp_uint_t ms) {
    uint64_t end = qemu_ticks() + (uint64_t)ms * (QEMU_HZ / 1000);
    while (qemu_ticks() < end) {
        mp_event_handle_nowait();
    }
}

// --- serial input --------------------------------------------------------------------------

// A power of two. When it is full the byte stays in the UART and QEMU holds back the rest: no
// input is lost, however long a script computes.
#define INPUT_SIZE (4096)
static uint8_t input[INPUT_SIZE];
static volatile uint32_t input_head, input_tail;

void qemu_take_input(void) {
    for (;;) {
        if (input_head - input_tail >= INPUT_SIZE) {
            qemu_uart_interrupt(false);
            return;
        }
        int c = qemu_uart_get();
        if (c < 0) {
            return;
        }
        if (c == mp_interrupt_char) {
            mp_sched_keyboard_interrupt();
        } else {
            input[input_head++ % INPUT_SIZE] = (uint8_t)c;
        }
    }
}

static int input_get(void) {
    if (input_head == input_tail) {
        return -1;
    }
    int c = input[input_tail++ % INPUT_SIZE];
    if (!qemu_uart_interrupts()) {
        uint32_t state = qemu_irq_disable();
        qemu_uart_interrupt(true);
        qemu_take_input();
        qemu_irq_restore(state);
    }
    return c;
}

int __wrap_mp_hal_stdin_rx_chr(void) {
    // Turn for a moment before sleeping: within a transfer the next byte is near, and to wake QEMU
    // for each one costs ten times as much. Asleep, an idle prompt costs the host nothing.
    for (uint32_t turns = 0;; turns += 1) {
        int c = input_get();
        if (c >= 0) {
            return c;
        }
        if (turns >= 100000) {
            // With interrupts off, a byte that arrives before the wfi still ends it.
            uint32_t state = qemu_irq_disable();
            if (input_head == input_tail) {
                __asm volatile ("wfi");
            }
            qemu_irq_restore(state);
        }
        mp_event_handle_nowait();
    }
}

uintptr_t __wrap_mp_hal_stdio_poll(uintptr_t poll_flags) {
    uintptr_t ready = poll_flags & MP_STREAM_POLL_WR;
    if (input_head != input_tail) {
        ready |= poll_flags & MP_STREAM_POLL_RD;
    }
    return ready;
}
