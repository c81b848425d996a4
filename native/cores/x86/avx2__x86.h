// Vectors of 256 and 512 bits on a PC: attributes for functions that use them, and whether the processor has them.

#ifndef ODT_AVX2_X86_H
#define ODT_AVX2_X86_H

#include "../../core.h"

#if ODT_X86

#define ODT_AVX2 __attribute__((target("avx2")))

static inline int odt_has_avx2(void) {
    return ODT_X86_LEVEL >= 1 && __builtin_cpu_supports("avx2") != 0;
}

#if ODT_HAS_VNNI
#define ODT_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#endif

static inline int odt_has_vnni(void) {
    #if ODT_HAS_VNNI
    return ODT_X86_LEVEL >= 2 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    #else
    return 0;
    #endif
}

#endif

#endif
