// Sums of products of bytes, and their conversion to outputs, with vectors of 512 bits on a PC. VNNI multiplies bytes 0
// .. 255 by -128 .. 127 and adds four products to each of 16 sums, which wrap. Inputs are increased by 128. Sums are
// then larger by 128 times the weights' sum, which the offset subtracts.

#ifndef ODT_WIDE_X86_H
#define ODT_WIDE_X86_H

#include <stdint.h>
#include <string.h>

#include "../../core.h"
#include "finish__x86.h"
#include "windows__x86.h"

#if ODT_HAS_VNNI

#define ODT_X86_UNROLL _Pragma("GCC unroll 32")
#define ODT_VNNI_INLINE ODT_VNNI static inline __attribute__((always_inline))

// The first address from `memory` on that is aligned to cache lines.
static inline void *odt_line_from(void *memory) {
    return (void *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
}

enum { ODT_BEYOND_LINES = 64 }; // bytes that may be read after the lines, and written after a part of a line

ODT_VNNI_INLINE void odt_fill_wide(uint8_t *to, int32_t count, __m512i bytes) {
    for (int32_t i = 0; i < count; i += 64) {
        _mm512_storeu_si512(to + i, bytes);
    }
}

// Copies `count` bytes of x + 128.
ODT_VNNI_INLINE void odt_copy_wide(const int8_t *x, int32_t count, uint8_t *to) {
    __m512i sign = _mm512_set1_epi8(-128);
    int32_t i = 0;
    for (; i + 64 <= count; i += 64) {
        _mm512_storeu_si512(to + i, _mm512_xor_si512(_mm512_loadu_si512(x + i), sign));
    }
    if (i < count) {
        __m512i last = _mm512_maskz_loadu_epi8(~(__mmask64)0 >> (64 - (count - i)), x + i);
        _mm512_storeu_si512(to + i, _mm512_xor_si512(last, sign));
    }
}

// Copies the part of x that a tile's windows read, each line over what the one before has written after its end.
ODT_VNNI static inline void odt_copy_lines(const odt_x86_windows_t *w, const odt_x86_tile_t *t, uint8_t *to) {
    int32_t size = odt_line_size(w, t), height = odt_image_lines(w, t), C = w->C, start = t->column * w->SW - w->left;
    int32_t from = odt_limit(-start * C, 0, size), stop = odt_limit((w->W - start) * C, from, size);
    __m512i zero = _mm512_set1_epi8((int8_t)(w->zx ^ -128));
    for (int32_t b = t->image; b < t->image + t->images; b++) {
        int32_t ih = t->row * w->SH - w->top;
        for (const uint8_t *end = to + height * size; to != end; to += size, ih++) {
            if (ih < 0 || ih >= w->H || from == stop) {
                odt_fill_wide(to, size, zero);
                continue;
            }
            odt_fill_wide(to, from, zero);
            odt_copy_wide(w->x + ((b * w->H + ih) * w->W + start) * C + from, stop - from, to + from);
            odt_fill_wide(to + stop, size - stop, zero);
        }
    }
    memset(to, 0, ODT_BEYOND_LINES);
}

// The largest and the smallest results so far.
typedef struct {
    __m512i max, min;
} odt_extremes_t;

// Rescales 16 sums, which started from the offsets: as odt_rescaled(), for magnitudes of at most 2^30.
ODT_VNNI_INLINE __m512i odt_rescale_wide(__m512i s, const odt_outputs16_t *o) {
    __m512i m = _mm512_loadu_si512(o->m);
    __m512i low = _mm512_mul_epi32(s, m), odd = _mm512_shuffle_epi32(s, (_MM_PERM_ENUM)0xF5);
    __m512i high = _mm512_mul_epi32(odd, _mm512_shuffle_epi32(m, (_MM_PERM_ENUM)0xF5));
    s = _mm512_mask_shuffle_epi32(high, 0x5555, low, (_MM_PERM_ENUM)0xF5);
    s = _mm512_add_epi32(s, _mm512_loadu_si512(o->half));
    return _mm512_srav_epi32(s, _mm512_loadu_si512(o->shift));
}

// Converts 16 sums to outputs. If is_cut, the smallest is not needed.
ODT_VNNI_INLINE __m128i odt_outputs_wide(__m512i s, const odt_outputs16_t *o, int is_cut, odt_extremes_t *e) {
    s = odt_rescale_wide(s, o);
    e->max = _mm512_max_epi32(e->max, s);
    if (!is_cut) {
        e->min = _mm512_min_epi32(e->min, s);
    }
    s = _mm512_add_epi32(s, _mm512_set1_epi32(o->zy));
    return _mm512_cvtsepi32_epi8(_mm512_max_epi32(s, _mm512_set1_epi32(o->lo)));
}

// Converts four times 16 sums s to outputs, with o[0] .. o[3] or all with o[0]. Their order: the first four of each
// vector, the next four of each, and so on.
ODT_VNNI_INLINE __m512i odt_outputs_of_four(
    const __m512i *s, const odt_outputs16_t *const *o, int is_cut, odt_extremes_t *e) {
    __m512i v[4], zy = _mm512_set1_epi16((int16_t)o[0]->zy);
    for (int32_t i = 0; i < 4; i++) {
        v[i] = odt_rescale_wide(s[i], o[i]);
        e->max = _mm512_max_epi32(e->max, v[i]);
        if (!is_cut) {
            e->min = _mm512_min_epi32(e->min, v[i]);
        }
    }
    __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(v[0], v[1]), zy);
    __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(v[2], v[3]), zy);
    return _mm512_max_epi8(_mm512_packs_epi16(low, high), _mm512_set1_epi8((int8_t)o[0]->lo));
}

ODT_VNNI_INLINE void odt_store_outputs(int8_t *y, __m128i bytes, int32_t filters) {
    if (filters == ODT_X86_WIDTH) {
        _mm_storeu_si128((__m128i *)y, bytes);
    } else if (filters == 8) {
        _mm_storel_epi64((__m128i *)y, bytes);
    } else {
        _mm_mask_storeu_epi8(y, (__mmask16)((1 << filters) - 1), bytes);
    }
}

ODT_VNNI_INLINE void odt_raise_peak(const odt_extremes_t *e, int is_cut, int32_t *peak) {
    int32_t max = _mm512_reduce_max_epi32(e->max), min = _mm512_reduce_min_epi32(e->min);
    *peak = max > *peak ? max : *peak;
    if (!is_cut) {
        *peak = -min > *peak ? -min : *peak;
    }
}

// Adds four weights of each of 16 filters to the sums.
ODT_VNNI_INLINE __m512i odt_add_weights(__m512i sums, __m512i w) {
    return _mm512_dpbusd_epi32(sums, _mm512_set1_epi8(1), w);
}

// Interleaves four rows of `count` bytes, byte by byte.
ODT_VNNI static inline __m512i odt_turn_fours(const int8_t *const *rows, int32_t count) {
    __mmask16 mask = (__mmask16)((1 << count) - 1);
    __m128i a = _mm_maskz_loadu_epi8(mask, rows[0]), b = _mm_maskz_loadu_epi8(mask, rows[1]);
    __m128i c = _mm_maskz_loadu_epi8(mask, rows[2]), d = _mm_maskz_loadu_epi8(mask, rows[3]);
    __m128i ab = _mm_unpacklo_epi8(a, b), cd = _mm_unpacklo_epi8(c, d), AB = _mm_unpackhi_epi8(a, b),
            CD = _mm_unpackhi_epi8(c, d);
    __m256i low = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_unpacklo_epi16(ab, cd)), _mm_unpackhi_epi16(ab, cd), 1);
    __m256i high = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_unpacklo_epi16(AB, CD)), _mm_unpackhi_epi16(AB, CD), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// 16 bytes at each of four places, byte by byte in turn.
ODT_VNNI_INLINE __m512i odt_sixteen_of_four(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d) {
    __m512i words = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)a));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)b), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)c), 2);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)d), 3);
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(words, v), bytes);
}

// Packs 16 rows of bytes: four bytes of each row, then the next four, `step` bytes further; 0 after the end of the
// rows. Returns the sums of the rows.
ODT_VNNI static inline __m512i odt_pack_fours(
    const int8_t *const *rows, int32_t length, int8_t *to, int32_t step, __m512i sums) {
    for (int32_t k = 0; k < length; k += 16) {
        int32_t count = odt_min(length - k, 16);
        __mmask16 mask = (__mmask16)((1 << count) - 1);
        __m512i r[4];
        for (int32_t i = 0; i < 4; i++) { // rows i, i + 4, i + 8, i + 12
            __m128i a = _mm_maskz_loadu_epi8(mask, rows[i] + k), b = _mm_maskz_loadu_epi8(mask, rows[i + 4] + k);
            __m128i c = _mm_maskz_loadu_epi8(mask, rows[i + 8] + k), d = _mm_maskz_loadu_epi8(mask, rows[i + 12] + k);
            __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
            __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
            r[i] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        }
        // Lane j of r[i] is row i + 4 * j, so that lane j of the results below has rows 4 * j .. 4 * j + 3.
        __m512i a = _mm512_unpacklo_epi32(r[0], r[1]), b = _mm512_unpacklo_epi32(r[2], r[3]);
        __m512i c = _mm512_unpackhi_epi32(r[0], r[1]), d = _mm512_unpackhi_epi32(r[2], r[3]);
        __m512i fours[4] = {_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b), _mm512_unpacklo_epi64(c, d),
            _mm512_unpackhi_epi64(c, d)};
        for (int32_t i = 0; i < (count + 3) / 4; i++, to += step) {
            _mm512_storeu_si512(to, fours[i]);
            sums = odt_add_weights(sums, fours[i]);
        }
    }
    return sums;
}

// Prepares the conversion of sums of `filters` filters, whose weights have these sums, to outputs. Returns 0 for
// multipliers that odt_outputs_wide() does not take: the offsets then lack the bias.
ODT_VNNI static inline int odt_prepare_wide(odt_outputs16_t *o, const odt_multiplier_t *q, int32_t q_step,
    const int32_t *bias, int32_t filters, int32_t zx, int32_t zy, int32_t lo, __m512i weights) {
    __mmask16 used = (__mmask16)(0xFFFF >> (ODT_X86_WIDTH - filters));
    __m512i m = _mm512_set1_epi32(q->m), s = _mm512_set1_epi32(q->s), one = _mm512_set1_epi32(1);
    if (q_step) {
        uint32_t pairs = 0xFFFFFFFF >> (2 * (ODT_X86_WIDTH - filters));
        __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        __m512i first = _mm512_maskz_loadu_epi32((__mmask16)pairs, q);
        __m512i second = _mm512_maskz_loadu_epi32((__mmask16)(pairs >> 16), (const char *)q + 64);
        m = _mm512_permutex2var_epi32(first, even, second);
        s = _mm512_permutex2var_epi32(first, _mm512_add_epi32(even, one), second);
    }
    __m512i shift = _mm512_maskz_sub_epi32(used, s, _mm512_set1_epi32(32));
    __m512i offsets = _mm512_mullo_epi32(weights, _mm512_set1_epi32(-128 - zx));
    int is_usual = !_mm512_mask_cmplt_epi32_mask(used, m, _mm512_setzero_si512())
                   && !_mm512_mask_cmpgt_epu32_mask(used, _mm512_sub_epi32(shift, one), _mm512_set1_epi32(29));
    if (is_usual && bias) {
        offsets = _mm512_add_epi32(offsets, _mm512_maskz_loadu_epi32(used, bias));
    }
    _mm512_storeu_si512(o->offsets, offsets);
    _mm512_storeu_si512(o->m, _mm512_maskz_mov_epi32(used, m));
    _mm512_storeu_si512(o->shift, shift);
    _mm512_storeu_si512(o->half, _mm512_maskz_sllv_epi32(used, one, _mm512_sub_epi32(shift, one)));
    o->zy = zy;
    o->lo = lo;
    o->filters = filters;
    return is_usual;
}

#endif

#endif
