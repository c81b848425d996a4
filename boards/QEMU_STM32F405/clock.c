// The clock of the emulated STM32F405, in place of the port's own function, which waits for
// oscillators that QEMU has not: its clock registers only keep what is written.

#include "py/mphal.h"
#include "powerctrl.h"

void SystemClock_Config(void) {
    RCC->PLLCFGR = RCC_PLLCFGR_PLLSRC_HSE
        | MICROPY_HW_CLK_PLLM << RCC_PLLCFGR_PLLM_Pos
        | MICROPY_HW_CLK_PLLN << RCC_PLLCFGR_PLLN_Pos
        | (MICROPY_HW_CLK_PLLP / 2 - 1) << RCC_PLLCFGR_PLLP_Pos
        | MICROPY_HW_CLK_PLLQ << RCC_PLLCFGR_PLLQ_Pos;
    // With the bits that say "ready" and "in use", which on a chip the hardware sets.
    RCC->CR |= RCC_CR_HSEON | RCC_CR_HSERDY | RCC_CR_PLLON | RCC_CR_PLLRDY;
    RCC->CFGR = RCC_CFGR_PPRE1_DIV4 | RCC_CFGR_PPRE2_DIV2 | RCC_CFGR_SW_PLL | RCC_CFGR_SWS_PLL;
    SystemCoreClock = HAL_RCC_GetSysClockFreq();
    powerctrl_config_systick();
}
