// Sums of int8 tensors, rounded once (add_once_i8.c), 16 at a time on a PC with AVX2.

#ifndef ODT_ADD_ONCE_X86_H
#define ODT_ADD_ONCE_X86_H

#include "../../core.h"
#include "../../opcodes.h"
#include "finish__x86.h"
#include "wide__x86.h"

#if ODT_X86

enum { ODT_X86_SUMS = 16 }; // sums computed before they become bytes

// Prepares the conversion of bytes, shifted up by `up` bits, to summands; returns 0 for multipliers that would exceed
// 32 bits.
static inline int odt_summand16(odt_outputs16_t *o, odt_multiplier_t q, int32_t zero, int32_t *up) {
    int32_t more = odt_max(33 - q.s, 0);
    q.s += more;
    *up = 16 + more;
    if (more > 6 || zero != (int8_t)zero || !odt_outputs16(o, &q, 0, NULL, ODT_X86_WIDTH, 0, 0)) {
        return 0;
    }
    for (int32_t i = 0; i < ODT_X86_WIDTH; i++) {
        o->offsets[i] = -zero * (1 << *up);
    }
    return 1;
}

ODT_AVX2 static inline __m256i odt_summands(const int8_t *x, const odt_outputs16_t *o, int32_t up) {
    __m256i v = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)x));
    return odt_scaled_sums(_mm256_sll_epi32(v, _mm_cvtsi32_si128(up)), o, 0);
}

#if ODT_HAS_VNNI

// Computes groups of 16 elements; returns the number of elements.
ODT_VNNI static inline int32_t odt_add_all_wide(const odt_add_once_i8_t *a, const odt_outputs16_t *of_a, int32_t up_a,
    const odt_outputs16_t *of_b, int32_t up_b, int32_t *peak) {
    __m128i move_a = _mm_cvtsi32_si128(up_a), move_b = _mm_cvtsi32_si128(up_b);
    __m512i zy = _mm512_set1_epi32(a->zy), lo = _mm512_set1_epi32(a->lo), half = _mm512_set1_epi32(1 << 13);
    __m512i za = _mm512_set1_epi32(a->za), zb = _mm512_set1_epi32(a->zb);
    odt_extremes_t e = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    int32_t done = 0;
    for (; done + ODT_X86_WIDTH <= a->N; done += ODT_X86_WIDTH) {
        __m512i first = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(a->a + done)));
        __m512i second = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(a->b + done)));
        first = odt_rescale_wide(_mm512_sll_epi32(_mm512_sub_epi32(first, za), move_a), of_a);
        second = odt_rescale_wide(_mm512_sll_epi32(_mm512_sub_epi32(second, zb), move_b), of_b);
        __m512i s = _mm512_srai_epi32(_mm512_add_epi32(first, second), 2); // / 65,536, to nearest, in two steps
        s = _mm512_srai_epi32(_mm512_add_epi32(s, half), 14);
        e.max = _mm512_max_epi32(e.max, s);
        e.min = _mm512_min_epi32(e.min, s);
        s = _mm512_max_epi32(_mm512_add_epi32(s, zy), lo);
        _mm_storeu_si128((__m128i *)(a->y + done), _mm512_cvtsepi32_epi8(s));
    }
    odt_raise_peak(&e, a->lo == a->zy, peak);
    return done;
}

#endif

// Returns how many elements were computed, from the first on; raises the peak.
ODT_AVX2 static inline int32_t odt_add_once_i8__x86(
    const odt_add_once_i8_t *a, odt_multiplier_t qa, odt_multiplier_t qb, int32_t *peak) {
    odt_outputs16_t of_a, of_b, of_y;
    int32_t up_a, up_b, done = 0;
    odt_multiplier_t q = {1 << 30, 46}; // 1 / 65,536
    int is_usual = a->zy == (int8_t)a->zy && a->lo == (int8_t)a->lo && a->lo <= a->zy;
    if (!odt_has_avx2() || !is_usual || !odt_summand16(&of_a, qa, a->za, &up_a)
        || !odt_summand16(&of_b, qb, a->zb, &up_b) || !odt_outputs16(&of_y, &q, 0, NULL, ODT_X86_WIDTH, a->zy, a->lo)) {
        return 0;
    }
    #if ODT_HAS_VNNI
    if (odt_has_vnni()) {
        done = odt_add_all_wide(a, &of_a, up_a, &of_b, up_b, peak);
    }
    #endif
    while (done + ODT_X86_WIDTH <= a->N) {
        int32_t sums[ODT_X86_SUMS * ODT_X86_WIDTH], places[ODT_X86_SUMS], count = 0;
        for (; count < ODT_X86_SUMS && done + ODT_X86_WIDTH <= a->N; count++) {
            places[count] = done;
            for (int32_t i = 0; i < ODT_X86_WIDTH; i += 8, done += 8) {
                __m256i first = odt_summands(a->a + done, &of_a, up_a);
                __m256i second = odt_summands(a->b + done, &of_b, up_b);
                _mm256_storeu_si256((__m256i *)(sums + count * ODT_X86_WIDTH + i), _mm256_add_epi32(first, second));
            }
        }
        odt_finish_outputs(&of_y, sums, count, a->y, places, peak);
    }
    return done;
}

#endif

#endif
