// Clocks of the board, for ST's library: Hz and milliseconds.

#ifndef ODT_STM32F4XX_HAL_CONF_H
#define ODT_STM32F4XX_HAL_CONF_H

#define HSE_VALUE            (8000000)
#define LSE_VALUE            (32768)
#define EXTERNAL_CLOCK_VALUE (12288000)
#define HSE_STARTUP_TIMEOUT  (100)
#define LSE_STARTUP_TIMEOUT  (5000)

#include "boards/stm32f4xx_hal_conf_base.h"

#endif // ODT_STM32F4XX_HAL_CONF_H
