// Rows of adam_i16.c on a PC whose processor has AVX2: eight elements at a time, with the same bits. Quotients below 2^21 are
// those of floats, put right by one where they are not exact; others those of doubles, which are: of integers of 32 bits,
// one that is not whole is at least 2^-32 from the next that is.

#ifndef ODT_ADAM_I16_X86_H
#define ODT_ADAM_I16_X86_H

#include "../common/avx2__x86.h"

// Unsigned a / b, b not 0, of four.
ODT_AVX2 static inline __m128i divide_four(__m128i a, __m128i b) {
    const __m128i sign = _mm_set1_epi32(INT32_MIN);
    const __m256d half = _mm256_set1_pd(2147483648.0);
    __m256d x = _mm256_add_pd(_mm256_cvtepi32_pd(_mm_xor_si128(a, sign)), half);
    __m256d y = _mm256_add_pd(_mm256_cvtepi32_pd(_mm_xor_si128(b, sign)), half);
    __m256d whole = _mm256_floor_pd(_mm256_div_pd(x, y));
    return _mm_xor_si128(_mm256_cvttpd_epi32(_mm256_sub_pd(whole, half)), sign);
}

ODT_AVX2 static inline __m256i divide_eight(__m256i a, __m256i b) {
    __m128i low = divide_four(_mm256_castsi256_si128(a), _mm256_castsi256_si128(b));
    __m128i high = divide_four(_mm256_extracti128_si256(a, 1), _mm256_extracti128_si256(b, 1));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// a / b towards 0, signed, b not 0 or -1.
ODT_AVX2 static inline __m256i divide_signed(__m256i a, __m256i b) {
    __m256d low = _mm256_div_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(a)), _mm256_cvtepi32_pd(_mm256_castsi256_si128(b)));
    __m256d high = _mm256_div_pd(_mm256_cvtepi32_pd(_mm256_extracti128_si256(a, 1)), _mm256_cvtepi32_pd(_mm256_extracti128_si256(b, 1)));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm256_cvttpd_epi32(low)), _mm256_cvttpd_epi32(high), 1);
}

// a / b of 0 .. 2^31 - 1, b not 0, where they are below 2^21.
ODT_AVX2 static inline __m256i divide_short(__m256i a, __m256i b) {
    __m256i q = _mm256_cvttps_epi32(_mm256_div_ps(_mm256_cvtepi32_ps(a), _mm256_cvtepi32_ps(b)));
    __m256i rest = _mm256_sub_epi32(a, _mm256_mullo_epi32(q, b));
    q = _mm256_add_epi32(q, _mm256_srai_epi32(rest, 31));
    return _mm256_sub_epi32(q, _mm256_cmpgt_epi32(rest, _mm256_sub_epi32(b, _mm256_set1_epi32(1))));
}

ODT_AVX2 static inline int is_any(__m256i mask) {
    return _mm256_movemask_epi8(mask) != 0;
}

// The lower 16 bits of eight numbers to `low`, and eight of 0 .. 65535 to `high`.
ODT_AVX2 static inline void store_words(__m256i a, __m256i b, __m128i *low, __m128i *high) {
    __m256i words = _mm256_packus_epi32(_mm256_and_si256(a, _mm256_set1_epi32(65535)), b);
    words = _mm256_permute4x64_epi64(words, 0xD8);
    _mm_storeu_si128(low, _mm256_castsi256_si128(words));
    _mm_storeu_si128(high, _mm256_extracti128_si256(words, 1));
}

// The lower 8 bits of eight numbers each.
ODT_AVX2 static inline void store_bytes(__m256i a, __m256i b, __m128i *low, __m128i *high) {
    const __m256i byte = _mm256_set1_epi32(255);
    __m256i words = _mm256_packus_epi32(_mm256_and_si256(a, byte), _mm256_and_si256(b, byte));
    __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(words, words), _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
    __m128i both = _mm256_castsi256_si128(bytes);
    _mm_storel_epi64(low, both);
    _mm_storel_epi64(high, _mm_unpackhi_epi64(both, both));
}

// sqrt(A^2 + B^2) of hypotenuse().
ODT_AVX2 static inline __m256i hypotenuses(__m256i s, __m256i A, __m256i B) {
    const __m256i sign = _mm256_set1_epi32(INT32_MIN), one = _mm256_set1_epi32(1);
    __m256i fine = _mm256_slli_epi32(s, 6);
    __m256i is_less = _mm256_cmpgt_epi32(_mm256_xor_si256(fine, sign), _mm256_xor_si256(B, sign)); // B is
    __m256i square = _mm256_blendv_epi8(_mm256_mullo_epi32(fine, fine), _mm256_mullo_epi32(B, B), is_less);
    __m256i by = _mm256_blendv_epi8(_mm256_add_epi32(_mm256_srli_epi32(B, 5), one), _mm256_slli_epi32(s, 1), is_less);
    __m256i larger = _mm256_blendv_epi8(_mm256_slli_epi32(B, 10), A, is_less);
    __m256i is_large = _mm256_or_si256(_mm256_srai_epi32(B, 31), _mm256_cmpgt_epi32(B, _mm256_set1_epi32(46340))); // its square
    __m256i quotient = is_any(is_large) ? divide_eight(square, by) : divide_short(square, by); // at most 32 B
    return _mm256_add_epi32(larger, _mm256_slli_epi32(quotient, 4));
}

// Of a row's elements as many as eights hold, to which `row` is moved.
ODT_AVX2 static void step_eights(adam_row_t *row) {
    adam_row_t a = *row;
    const __m256i limit = _mm256_set1_epi32(32639), b1 = _mm256_set1_epi32((int32_t)a.b1), r2 = _mm256_set1_epi32((int32_t)a.r2);
    const __m256i factor = _mm256_set1_epi32((int32_t)a.factor), rate = _mm256_set1_epi32(a.rate);
    const __m256i odd = _mm256_set1_epi64x((a.end - a.w) & 1 ? 0xFFFFFFFF : -0x100000000LL); // which are complements
    const __m256i half = _mm256_xor_si256(_mm256_set1_epi32((int32_t)a.half), _mm256_srli_epi32(odd, 16));
    const __m256i all = _mm256_and_si256(odd, _mm256_set1_epi32((1 << a.shift) - 1)), dither = _mm256_xor_si256(_mm256_set1_epi32(a.dither), all);
    const __m128i before = _mm_cvtsi32_si128(a.before), shift = _mm_cvtsi32_si128(a.shift);
    __m256i limited = _mm256_setzero_si256();
    for (; a.end - a.w >= 8; a.d += 8, a.m += 8, a.w += 8) {
        __m128i *m = (__m128i *)a.m, *v = (__m128i *)(void *)((char *)a.m + a.v_apart);
        __m128i *w = (__m128i *)a.w, *r = (__m128i *)(a.w + a.r_apart);
        __m256i mean = _mm256_mullo_epi32(_mm256_sra_epi32(_mm256_loadu_si256((const __m256i *)a.d), before), factor);
        __m256i first = _mm256_mullo_epi32(_mm256_cvtepi16_epi32(_mm_loadu_si128(m)), b1);
        first = _mm256_srai_epi32(_mm256_add_epi32(_mm256_add_epi32(first, mean), half), 16);
        __m256i s = _mm256_cvtepu16_epi32(_mm_loadu_si128(v)), second = _mm256_xor_si256(mean, _mm256_srai_epi32(mean, 31));
        s = hypotenuses(s, _mm256_mullo_epi32(s, r2), _mm256_srli_epi32(second, FINER));
        s = _mm256_srli_epi32(_mm256_add_epi32(s, half), 16);
        store_words(first, s, m, v);
        __m256i root = _mm256_add_epi32(s, _mm256_set1_epi32(1));
        __m256i moved = _mm256_mullo_epi32(first, rate), size = _mm256_abs_epi32(moved);
        if (is_any(_mm256_cmpgt_epi32(_mm256_srli_epi32(size, 21), s))) {
            moved = divide_signed(moved, root);
        } else {
            moved = _mm256_sign_epi32(divide_short(size, root), moved);
        }
        moved = _mm256_sra_epi32(_mm256_add_epi32(moved, dither), shift);
        __m256i W = _mm256_slli_epi32(_mm256_cvtepi8_epi32(_mm_loadl_epi64(w)), 8);
        W = _mm256_sub_epi32(_mm256_add_epi32(W, _mm256_cvtepi8_epi32(_mm_loadl_epi64(r))), moved);
        __m256i sign = _mm256_srai_epi32(W, 31), beyond = _mm256_cmpgt_epi32(_mm256_xor_si256(W, sign), limit);
        W = _mm256_blendv_epi8(W, _mm256_xor_si256(limit, sign), beyond);
        limited = _mm256_or_si256(limited, beyond);
        store_bytes(_mm256_srai_epi32(_mm256_add_epi32(W, _mm256_set1_epi32(128)), 8), W, w, r);
    }
    a.is_limited |= is_any(limited);
    *row = a;
}

#endif
