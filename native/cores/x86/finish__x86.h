// Converts sums of 16 filters to bytes on a PC with AVX2.

#ifndef ODT_FINISH_X86_H
#define ODT_FINISH_X86_H

#include <stddef.h>

#include "../../core.h"
#include "../../fixed.h"
#include "avx2__x86.h"

#if ODT_X86

#include <immintrin.h>

enum { ODT_X86_WIDTH = 16 }; // filters whose sums become outputs together

// How sums of 16 filters become outputs; aligned to lines of the cache.
typedef struct {
    int32_t offsets[ODT_X86_WIDTH] __attribute__((aligned(64)));
    int32_t m[ODT_X86_WIDTH], half[ODT_X86_WIDTH], shift[ODT_X86_WIDTH];
    int32_t zy, lo, filters;
} odt_outputs16_t;

// Rescales the sums s of filters j .. j + 7.
ODT_AVX2 static inline __m256i odt_scaled_sums(__m256i s, const odt_outputs16_t *o, int32_t j) {
    s = _mm256_add_epi32(s, _mm256_loadu_si256((const __m256i *)(o->offsets + j)));
    __m256i m = _mm256_loadu_si256((const __m256i *)(o->m + j));
    __m256i low = _mm256_srli_epi64(_mm256_mul_epi32(s, m), 32);
    __m256i high = _mm256_mul_epi32(_mm256_srli_epi64(s, 32), _mm256_srli_epi64(m, 32));
    __m256i upper = _mm256_blend_epi32(low, high, 0xAA);
    upper = _mm256_add_epi32(upper, _mm256_loadu_si256((const __m256i *)(o->half + j)));
    return _mm256_srav_epi32(upper, _mm256_loadu_si256((const __m256i *)(o->shift + j)));
}

// The largest number of a vector.
ODT_AVX2 static inline int32_t odt_greatest(__m256i v) {
    int32_t all[8], found;
    _mm256_storeu_si256((__m256i *)all, v);
    found = all[0];
    for (int32_t i = 1; i < 8; i++) {
        found = odt_max(found, all[i]);
    }
    return found;
}

ODT_AVX2 static inline void odt_finish_outputs(
    const odt_outputs16_t *o, const int32_t *sums, int32_t count, int8_t *y, const int32_t *places, int32_t *peak) {
    __m256i zy = _mm256_set1_epi32(o->zy), lo = _mm256_set1_epi32(o->lo), hi = _mm256_set1_epi32(127);
    __m256i max = _mm256_setzero_si256(), min = max, beyond = _mm256_set1_epi32(256);
    for (int32_t i = 0; i < count; i++, sums += ODT_X86_WIDTH) {
        __m256i a = odt_scaled_sums(_mm256_loadu_si256((const __m256i *)sums), o, 0), b = _mm256_setzero_si256();
        if (o->filters > 8) {
            b = odt_scaled_sums(_mm256_loadu_si256((const __m256i *)(sums + 8)), o, 8);
        }
        max = _mm256_max_epi32(max, _mm256_max_epi32(a, b));
        min = _mm256_min_epi32(min, _mm256_min_epi32(a, b));
        a = _mm256_max_epi32(_mm256_add_epi32(_mm256_min_epi32(a, beyond), zy), lo);
        b = _mm256_max_epi32(_mm256_add_epi32(_mm256_min_epi32(b, beyond), zy), lo);
        __m256i words = _mm256_packs_epi32(_mm256_min_epi32(a, hi), _mm256_min_epi32(b, hi));
        words = _mm256_permute4x64_epi64(words, 0xD8);
        __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        int8_t *to = y + places[i];
        if (o->filters == ODT_X86_WIDTH) {
            _mm_storeu_si128((__m128i *)to, bytes);
        } else if (o->filters == 8) {
            _mm_storel_epi64((__m128i *)to, bytes);
        } else {
            int8_t all[ODT_X86_WIDTH];
            _mm_storeu_si128((__m128i *)all, bytes);
            for (int32_t j = 0; j < o->filters; j++) {
                to[j] = all[j];
            }
        }
    }
    *peak = odt_max(*peak, odt_greatest(max));
    if (o->lo != o->zy) {
        *peak = odt_max(*peak, odt_greatest(_mm256_sub_epi32(_mm256_setzero_si256(), min)));
    }
}

// Prepares the conversion of sums of `filters` filters to outputs; returns 0 for multipliers that odt_finish_outputs()
// does not take.
static inline int odt_outputs16(odt_outputs16_t *o, const odt_multiplier_t *q, int32_t q_step, const int32_t *bias,
    int32_t filters, int32_t zy, int32_t lo) {
    *o = (odt_outputs16_t){.zy = zy, .lo = lo, .filters = filters};
    for (int32_t j = 0; j < filters; j++, q += q_step) {
        if (q->s < 33 || q->s > 62 || q->m < 0) {
            return 0;
        }
        o->offsets[j] = bias ? bias[j] : 0;
        o->m[j] = q->m;
        o->shift[j] = q->s - 32;
        o->half[j] = 1 << (o->shift[j] - 1);
    }
    return 1;
}

#endif

#endif
