// Only what QEMU's olimex-stm32-h405 has: a serial port. Its flash controller, RTC, USB and SD card
// are missing or do nothing. Without a random number generator the port would ask the RTC: it is
// left on, times out and gives 0.

#define MICROPY_HW_BOARD_NAME "QEMU olimex-stm32-h405"
#define MICROPY_HW_MCU_NAME   "STM32F405RG"

#define MICROPY_HW_ENABLE_INTERNAL_FLASH_STORAGE (0)
#define MICROPY_HW_ENABLE_RNG                    (1)
#define MICROPY_HW_ENABLE_RTC                    (0)
#define MICROPY_HW_ENABLE_USB                    (0)
#define MICROPY_HW_ENABLE_SDCARD                 (0)
#define MICROPY_HW_HAS_FLASH                     (0)

// 8 MHz crystal / M * N / P = 168 MHz: QEMU runs the core at that.
#define MICROPY_HW_CLK_PLLM (8)
#define MICROPY_HW_CLK_PLLN (336)
#define MICROPY_HW_CLK_PLLP (RCC_PLLP_DIV2)
#define MICROPY_HW_CLK_PLLQ (7)

#define MICROPY_HW_UART1_TX       (pin_A9)
#define MICROPY_HW_UART1_RX       (pin_A10)
#define MICROPY_HW_UART_REPL      PYB_UART_1
#define MICROPY_HW_UART_REPL_BAUD 115200
