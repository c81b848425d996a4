// Start-up, serial input by interrupt and clock of the emulated MPS2 boards.
// Drives no hardware that QEMU's mps2-an385, -an386, -an500 and -an505 lack; never runs on a real board.

#include "py/mphal.h"
#include "console.h"

typedef struct {
    volatile uint32_t data, state, ctrl, intstatus, bauddiv;
} mps2_uart_t;

typedef struct {
    volatile uint32_t ctrl, value, reload, intstatus;
} mps2_timer_t;

#if MPS2_AN505 // addresses of the Secure state
#define UART0 ((mps2_uart_t *)0x50200000)
#define TIMER0 ((mps2_timer_t *)0x50000000)
#define IRQ_UART0_RX (32)
#define IRQ_TIMER0 (3)
#else
#define UART0 ((mps2_uart_t *)0x40004000)
#define TIMER0 ((mps2_timer_t *)0x40000000)
#define IRQ_UART0_RX (0)
#define IRQ_TIMER0 (8)
#endif

#define UART_STATE_TXFULL (1 << 0)
#define UART_STATE_RXFULL (1 << 1)
#define UART_CTRL_TX_EN (1 << 0)
#define UART_CTRL_RX_EN (1 << 1)
#define UART_CTRL_RX_INTEN (1 << 3)
#define UART_INT_RX (1 << 1)

#define TIMER_CTRL_EN (1 << 0)
#define TIMER_CTRL_INTEN (1 << 3)

#define NVIC_ISER ((volatile uint32_t *)0xe000e100)

uint32_t qemu_irq_disable(void) {
    uint32_t state;
    __asm volatile ("mrs %0, primask\n cpsid i" : "=r" (state) : : "memory");
    return state;
}

void qemu_irq_restore(uint32_t state) {
    __asm volatile ("msr primask, %0" : : "r" (state) : "memory");
}

// --- clock ---------------------------------------------------------------------------------

// TIMER0 counts down from 2**32 - 1 at 25 MHz, a Cortex-M33's at 20. Under `-icount shift=0` one tick is 40
// executed instructions, or 50, the same number in every run.
static volatile uint32_t clock_wraps;

static void timer0_handler(void) {
    TIMER0->intstatus = 1;
    clock_wraps += 1;
}

uint64_t qemu_ticks(void) {
    uint32_t state = qemu_irq_disable();
    uint32_t ticks = ~TIMER0->value;
    uint32_t wraps = clock_wraps;
    if (TIMER0->intstatus & 1) {
        // It wrapped after interrupts went off, or before: read the part that belongs to it.
        ticks = ~TIMER0->value;
        wraps += 1;
    }
    qemu_irq_restore(state);
    return (uint64_t)wraps << 32 | ticks;
}

mp_uint_t mp_hal_ticks_cpu(void) {
    return ~TIMER0->value;
}

// --- serial input --------------------------------------------------------------------------

static void uart0_rx_handler(void) {
    UART0->intstatus = UART_INT_RX;
    qemu_take_input();
}

int qemu_uart_get(void) {
    return UART0->state & UART_STATE_RXFULL ? (uint8_t)UART0->data : -1;
}

void qemu_uart_interrupt(bool on) {
    UART0->ctrl = on ? UART0->ctrl | UART_CTRL_RX_INTEN : UART0->ctrl & ~UART_CTRL_RX_INTEN;
}

bool qemu_uart_interrupts(void) {
    return UART0->ctrl & UART_CTRL_RX_INTEN;
}

void __wrap_uart_init(void) {
    UART0->bauddiv = 16;
    UART0->ctrl = UART_CTRL_TX_EN | UART_CTRL_RX_EN | UART_CTRL_RX_INTEN;
    TIMER0->reload = 0xffffffff;
    TIMER0->value = 0xffffffff;
    TIMER0->ctrl = TIMER_CTRL_EN | TIMER_CTRL_INTEN;
    NVIC_ISER[IRQ_UART0_RX / 32] = 1u << IRQ_UART0_RX % 32;
    NVIC_ISER[IRQ_TIMER0 / 32] = 1u << IRQ_TIMER0 % 32;
}

#if MPS2_AN505 // whose UART lies elsewhere than the port's

void __wrap_uart_tx_strn(const char *str, size_t len) {
    for (; len; len--) {
        while (UART0->state & UART_STATE_TXFULL) {
        }
        UART0->data = (uint8_t)*str++;
    }
}

#endif

// --- start-up ------------------------------------------------------------------------------

extern uint32_t _estack;
void Reset_Handler(void);
void NMI_Handler(void);
void HardFault_Handler(void);
void MemManage_Handler(void);
void BusFault_Handler(void);
void UsageFault_Handler(void);
void SVC_Handler(void);
void DebugMon_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);

// The port leaves the FPU off: full access to CP10 and CP11 comes before any other code, which
// the compiler may fill with FPU instructions.
__attribute__((naked)) void mps2_reset(void) {
    #if defined(__ARM_FP)
    __asm volatile (
        "ldr r0, =0xe000ed88\n"
        "ldr r1, [r0]\n"
        "orr r1, r1, #0xf00000\n"
        "str r1, [r0]\n"
        "dsb\n"
        "isb\n"
        );
    #endif
    __asm volatile ("b Reset_Handler");
}

__attribute__((section(".mps2_vectors"), used))
static const void *const mps2_vectors[16 + 64] = {
    &_estack,
    mps2_reset,
    NMI_Handler,
    HardFault_Handler,
    MemManage_Handler,
    BusFault_Handler,
    UsageFault_Handler,
    [11] = SVC_Handler,
    DebugMon_Handler,
    [14] = PendSV_Handler,
    SysTick_Handler,
    [16 + IRQ_UART0_RX] = uart0_rx_handler,
    [16 + IRQ_TIMER0] = timer0_handler,
};
