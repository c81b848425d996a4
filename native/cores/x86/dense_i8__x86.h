// Dense layers for few samples on a PC with VNNI (wide__x86.h): weights are read once, in place.

#ifndef ODT_DENSE_I8_X86_H
#define ODT_DENSE_I8_X86_H

#include "../../core.h"
#include "../../opcodes.h"
#include "wide__x86.h"

#if ODT_HAS_VNNI

enum { ODT_X86_INPUTS = 1024 }; // the most inputs of a sample

// The sums of four vectors, as one vector.
ODT_VNNI_INLINE __m128i odt_sums_of_four(__m512i a, __m512i b, __m512i c, __m512i d) {
    __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

// Returns whether the layer was computed.
ODT_VNNI static inline int odt_dense_dot_i8__x86(const odt_dense_i8_t *a) {
    if (!odt_has_vnni() || a->K > ODT_X86_INPUTS || a->zx != (int8_t)a->zx || a->zy != (int8_t)a->zy
        || a->lo != (int8_t)a->lo || a->lo > a->zy) {
        return 0;
    }
    __m512i x[ODT_X86_INPUTS / 64], zero = _mm512_setzero_si512(), sign = _mm512_set1_epi8(-128);
    int32_t K = a->K, last = (K - 1) / 64;
    __mmask64 rest = ~(__mmask64)0 >> (63 - (K - 1) % 64);
    odt_extremes_t e = {zero, zero};
    for (int32_t m = 0; m < a->M; m++) {
        for (int32_t k = 0; k <= last; k++) { // 0 after the end, like the weights
            const int8_t *from = a->x + m * K + 64 * k;
            x[k] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(k < last ? ~(__mmask64)0 : rest, from), sign);
        }
        for (int32_t n = 0; n < a->N; n += ODT_X86_WIDTH) {
            int32_t filters = odt_min(ODT_X86_WIDTH, a->N - n), sums[ODT_X86_WIDTH], weights[ODT_X86_WIDTH];
            odt_outputs16_t o;
            for (int32_t j = 0; j < filters; j += 4) {
                __m512i s[4] = {zero, zero, zero, zero}, all[4] = {zero, zero, zero, zero};
                for (int32_t i = 0; i < 4; i++) {
                    const int8_t *w = a->w + odt_min(n + j + i, a->N - 1) * K;
                    for (int32_t k = 0; k <= last; k++) {
                        __m512i v = _mm512_maskz_loadu_epi8(k < last ? ~(__mmask64)0 : rest, w + 64 * k);
                        s[i] = _mm512_dpbusd_epi32(s[i], x[k], v);
                        all[i] = odt_add_weights(all[i], v);
                    }
                }
                _mm_storeu_si128((__m128i *)(sums + j), odt_sums_of_four(s[0], s[1], s[2], s[3]));
                _mm_storeu_si128((__m128i *)(weights + j), odt_sums_of_four(all[0], all[1], all[2], all[3]));
            }
            __m512i s = _mm512_maskz_loadu_epi32((__mmask16)(0xFFFF >> (ODT_X86_WIDTH - filters)), sums);
            __m512i all_weights = _mm512_loadu_si512(weights);
            int8_t *y = a->y + m * a->N + n;
            if (odt_prepare_wide(&o, a->q + n, 1, a->b + n, filters, a->zx, a->zy, a->lo, all_weights)) {
                s = _mm512_add_epi32(s, _mm512_loadu_si512(o.offsets));
                odt_store_outputs(y, odt_outputs_wide(s, &o, 0, &e), filters);
                continue;
            }
            for (int32_t j = 0; j < filters; j++) {
                int32_t v = odt_wrap_add(odt_wrap_add(sums[j], o.offsets[j]), a->b[n + j]);
                y[j] = odt_clamp(odt_rescaled(v, odt_checked(&a->q[n + j])), a->zy, a->lo, a->peak);
            }
        }
    }
    odt_raise_peak(&e, a->lo == a->zy, a->peak);
    return 1;
}

#endif

#endif
