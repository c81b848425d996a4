// Vectors of 256 bits on a PC: functions that use them, and whether the processor has them.

#ifndef ODT_AVX2_X86_H
#define ODT_AVX2_X86_H

#include "../../core.h"

#if ODT_X86

#include <immintrin.h>

#define ODT_AVX2 __attribute__((target("avx2")))

static inline int odt_has_avx2(void) {
    return __builtin_cpu_supports("avx2") != 0;
}

#endif

#endif
