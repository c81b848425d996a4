// Depthwise convolutions of int8 (depthwise.h) on a PC with AVX2: 16 channels at a time, taps in pairs. A tap outside
// the image reads zx. The bias subtracts zx times the sum of the filter. Sums wrap, so their order does not matter.

#include "../../core.h"
#include "../depthwise.h"

#if ODT_X86

#include <string.h>

#include "../../common/window.h"
#include "finish__x86.h"

enum {
    LANES = ODT_X86_WIDTH,
    TAPS = 64, // the most taps of a filter
    RUN = 64,  // outputs summed before they are finished
};

// 16 filters in pairs of taps: eight filters per half of a vector of unpacked channels.
typedef struct {
    int16_t w[TAPS / 2][2 * LANES];
    int8_t outside[LANES];
    odt_outputs16_t outputs;
    int32_t taps;
} lanes_t;

// Addresses of the taps of an output, and distances to those of the next output.
typedef struct {
    const int8_t *from[TAPS + 1];
    int32_t steps[TAPS + 1];
} places_t;

// Packs channels n .. n + 15; returns 0 for multipliers that odt_finish_outputs() does not take.
static int pack_sixteen(const odt_depthwise_t *a, int32_t n, lanes_t *f) {
    if (!odt_outputs16(&f->outputs, a->q + n, 1, a->bias ? a->bias + n : NULL, LANES, a->zy, a->lo)) {
        return 0;
    }
    f->taps = a->KH * a->KW;
    memset(f->w, 0, sizeof(f->w));
    memset(f->outside, a->zx, sizeof(f->outside));
    for (int32_t i = 0; i < LANES; i++) {
        int32_t channel = (i & 3) + 8 * (i >> 2 & 1) + 4 * (i >> 3), sum = 0; // in the order of unpacked vectors
        int16_t *to = f->w[0] + 2 * i;
        const int8_t *row = a->w + (n + channel) * a->w_n;
        for (int32_t kh = 0, tap = 0; kh < a->KH; kh++, row += a->w_kh) {
            for (int32_t kw = 0; kw < a->KW; kw++, tap++) {
                int8_t w = row[kw * a->w_kw];
                to[(tap >> 1) * 2 * LANES + (tap & 1)] = w;
                sum += w;
            }
        }
        f->outputs.offsets[channel] = odt_wrap_sub(f->outputs.offsets[channel], sum * a->zx);
    }
    return 1;
}

ODT_AVX2 static inline __m256i channels_at(const int8_t *x) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)x));
}

ODT_AVX2 static void sum_taps(const lanes_t *f, const places_t *p, int32_t count, int32_t (*sums)[LANES]) {
    for (int32_t i = 0; i < count; i++) {
        __m256i low = _mm256_setzero_si256(), high = low;
        for (int32_t tap = 0; tap < f->taps; tap += 2) {
            const __m256i *w = (const __m256i *)f->w[tap / 2];
            __m256i a = channels_at(p->from[tap] + i * p->steps[tap]);
            __m256i b = channels_at(p->from[tap + 1] + i * p->steps[tap + 1]);
            __m256i first = _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), _mm256_loadu_si256(w));
            __m256i second = _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), _mm256_loadu_si256(w + 1));
            low = _mm256_add_epi32(low, first);
            high = _mm256_add_epi32(high, second);
        }
        _mm256_storeu_si256((__m256i *)sums[i], _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_storeu_si256((__m256i *)(sums[i] + 8), _mm256_permute2x128_si256(low, high, 0x31));
    }
}

// Computes outputs ow .. ow + count - 1 of row oh of image b.
static void sum_outputs(const odt_depthwise_t *a, const lanes_t *f, int32_t n, int32_t b, int32_t oh, int32_t ow,
    int32_t count, int32_t (*sums)[LANES]) {
    int32_t ih = oh * a->SH - a->top;
    odt_taps_t th = odt_taps(ih, a->KH, a->H);
    places_t p;
    while (count) {
        int32_t iw = ow * a->SW - a->left, tap = 0;
        odt_taps_t tw = odt_taps(iw, a->KW, a->W);
        int is_whole = tw.to - tw.from == a->KW; // and so are the next ones
        int32_t same = is_whole ? odt_min((a->W - a->KW - iw) / a->SW + 1, count) : 1;
        for (int32_t kh = 0; kh < a->KH; kh++) {
            int32_t row = ((b * a->H + ih + kh) * a->W + iw) * a->N + n;
            odt_taps_t inside = kh >= th.from && kh < th.to ? tw : (odt_taps_t){0, 0};
            for (int32_t kw = 0; kw < a->KW; kw++, tap++, row += a->N) {
                int is_inside = kw >= inside.from && kw < inside.to;
                p.from[tap] = is_inside ? a->x + row : f->outside;
                p.steps[tap] = is_inside ? a->SW * a->N : 0;
            }
        }
        p.from[tap] = f->outside; // completes an odd number of taps, with weights of 0
        p.steps[tap] = 0;
        sum_taps(f, &p, same, sums);
        ow += same;
        sums += same;
        count -= same;
    }
}

int odt_depthwise_i8__x86(const odt_depthwise_t *a, int32_t first, int32_t stop, int32_t *peak) {
    int32_t taps = a->KH * a->KW, sums[RUN][LANES], places[RUN];
    int is_usual = a->zx == (int8_t)a->zx && a->zy == (int8_t)a->zy && a->lo == (int8_t)a->lo && a->lo <= a->zy;
    if (odt_depthwise_dot_i8__x86(a, first, stop, peak)) {
        return 1;
    }
    if (!odt_has_avx2() || !is_usual || taps < 1 || taps > TAPS || stop - first < LANES) {
        return 0;
    }
    for (int32_t i = 0; i < odt_min(a->OW, RUN); i++) {
        places[i] = i * a->y_ow;
    }
    for (int32_t next = first; next < stop; next += LANES) {
        int32_t n = odt_min(next, stop - LANES); // the last channels overlap if fewer are left
        lanes_t f;
        if (!pack_sixteen(a, n, &f)) {
            return 0;
        }
        for (int32_t row = 0; row < a->B * a->OH; row++) {
            odt_poll();
            int32_t b = row / a->OH, oh = row - b * a->OH;
            int8_t *y = a->y + b * a->y_b + oh * a->y_oh + n;
            for (int32_t ow = 0; ow < a->OW; ow += RUN, y += RUN * a->y_ow) {
                int32_t count = odt_min(a->OW - ow, RUN);
                sum_outputs(a, &f, n, b, oh, ow, count, sums);
                odt_finish_outputs(&f.outputs, sums[0], count, y, places, peak);
            }
        }
    }
    return 1;
}

#endif
