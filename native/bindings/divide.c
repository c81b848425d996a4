// Signed division for _odt.mpy on cores that have none (armv6m), from the unsigned one of the compiler's library: that
// library's own signed division takes 460 bytes in each piece.

#include <stdint.h>

#include "../core.h"

#if ODT_M0 || defined(ODT_TEST_DIVIDE)

// Quotient and remainder, as r0 and r1.
uint64_t __aeabi_uidivmod(uint32_t dividend, uint32_t divisor);
uint64_t __aeabi_idivmod(int32_t dividend, int32_t divisor);
int32_t __aeabi_idiv(int32_t dividend, int32_t divisor);

static uint32_t negated_if(uint32_t value, int32_t sign) { // -1 or 0
    return (value ^ (uint32_t)sign) - (uint32_t)sign;
}

// Towards 0; the remainder has the dividend's sign.
uint64_t __aeabi_idivmod(int32_t dividend, int32_t divisor) {
    int32_t sign = dividend >> 31, other = divisor >> 31;
    uint64_t both = __aeabi_uidivmod(negated_if((uint32_t)dividend, sign), negated_if((uint32_t)divisor, other));
    return (uint64_t)negated_if((uint32_t)(both >> 32), sign) << 32 | negated_if((uint32_t)both, sign ^ other);
}

int32_t __aeabi_idiv(int32_t dividend, int32_t divisor) {
    return (int32_t)__aeabi_idivmod(dividend, divisor);
}

#endif
