// Float primitives: float32.h.

#include "core.h"
#include "float32.h"

#if ODT_SQRT_SSE
#include <emmintrin.h>
#endif

int32_t odt_to_int(float x) {
    uint32_t bits = odt_bits(x);
    int32_t e = (int32_t)(bits >> 23 & 255) - 150;
    uint32_t v = (bits & 0x7FFFFF) | 0x800000;
    if (e >= 8) {
        v = e == 105 && (bits & 0x7FFFFF) ? 0 : INT32_MAX;
    } else if (e >= 0) {
        v <<= e;
    } else {
        v = e < -24 ? 0 : v >> -e;
    }
    return bits >> 31 ? -(int32_t)v : (int32_t)v;
}

float odt_sqrtf(float x) {
    uint32_t bits = odt_bits(x);
    if (bits < 0x00800000 || bits >> 31) {
        return 0.0f;
    }
    if (bits >= 0x7F800000) {
        return x;
    }
    #if ODT_SQRT_SSE
    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));
    #elif ODT_SQRT_VFP
    __asm__ ("vsqrt.f32 %0, %1" : "=t" (x) : "t" (x));
    return x;
    #else
    // x = v * 2^(2 * e - 24) with v of 25 or 26 bits; root = isqrt(v << 24), digit by digit.
    int32_t e = (int32_t)(bits >> 23) - 127;
    uint32_t v = ((bits & 0x7FFFFF) | 0x800000) << (1 + (e & 1));
    uint32_t root = 0, twice = 0;
    for (uint32_t digit = 1u << 24; digit; digit >>= 1) {
        // twice + digit is what one more digit takes from the rest v, both shifted as far as v.
        if (twice + digit <= v) {
            v -= twice + digit;
            twice += 2 * digit;
            root |= digit;
        }
        v <<= 1;
    }
    // 25 digits: the last rounds. It is never a tie, as the root of 24 bits is no 25 bits long.
    root = (root + (root & 1)) >> 1;
    return odt_float((uint32_t)((e >> 1) + 127) * 0x800000u + (root - 0x800000u));
    #endif
}

float odt_expf(float x) {
    static const uint32_t terms[] = { // 1/5040, 1/720, 1/120, 1/24, 1/6, 1/2, 1, 1
        0x39500D01, 0x3AB60B61, 0x3C088889, 0x3D2AAAAB, 0x3E2AAAAB, 0x3F000000, 0x3F800000,
        0x3F800000,
    };
    if (!(x >= -35.0f)) {
        return 0.0f;
    }
    int32_t n = odt_to_int(x * odt_float(0x3FB8AA3B) - 0.5f);
    float k = (float)n;
    float r = (x - k * odt_float(0x3F317200)) - k * odt_float(0x35BFBE8E);
    float p = odt_float(terms[0]);
    for (int i = 1; i < 8; i++) {
        p = p * r + odt_float(terms[i]);
    }
    return odt_float(odt_bits(p) + (uint32_t)n * 0x800000u);
}

float odt_logf(float x) {
    uint32_t bits = odt_bits(x);
    int32_t k = (int32_t)(bits >> 23 & 255) - 127;
    float m = odt_float((bits & 0x7FFFFF) | 0x3F800000);
    if (m > odt_float(0x3FB504F3)) {
        m = m * 0.5f;
        k++;
    }
    float f = m - 1.0f;
    float s = f / (2.0f + f);
    float z = s * s;
    float p = 1.0f / 9.0f;
    p = p * z + 1.0f / 7.0f;
    p = p * z + 1.0f / 5.0f;
    p = p * z + 1.0f / 3.0f;
    return (float)k * odt_float(0x3F317218) + ((2.0f * s) * (p * z) + 2.0f * s);
}
