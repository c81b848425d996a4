// Depthwise convolutions of int8 (depthwise.h) on a PC with VNNI (wide__x86.h): 16 channels at a time, four taps of a
// row together. x + 128 is copied to lines of bytes, surrounded by zx + 128. Sums wrap, so their order does not matter.

#include "../../core.h"
#include "../depthwise.h"

#if ODT_X86

#include <stdlib.h>

#include "wide__x86.h"

#if ODT_HAS_VNNI

enum {
    LANES = ODT_X86_WIDTH,
    FOURS = 16,  // the most groups of four taps
    OUTPUTS = 4, // summed together
    BLOCK = 64,  // outputs located together
    LINES = ODT_X86_SMALL ? 640 : 32768, // the most elements of x
};

// 16 filters, or fewer.
typedef struct {
    int8_t w[FOURS][4 * LANES];
    odt_outputs16_t outputs;
} sixteen_t;

// 64 filters, in the order of odt_outputs_of_four().
typedef struct {
    int8_t w[FOURS][4][4 * LANES];
    odt_outputs16_t outputs[4];
} sixty_four_t;

// Offsets of the taps from the window's start.
typedef struct {
    ptrdiff_t taps[FOURS][4];
    int32_t fours;
} fours_t;

// Packs the first `channels` of 16 channels: from n on four, from n + apart on the next four, and so on. Four taps of
// each, then the next four taps, `step` bytes further. Returns 0 for multipliers that odt_outputs_wide() does not take.
ODT_VNNI static int pack_channels(const odt_depthwise_t *a, int32_t n, int32_t apart, int32_t channels, int8_t *to,
    int32_t step, odt_outputs16_t *o) {
    odt_multiplier_t q[LANES];
    int32_t bias[LANES], taps = a->KH * a->KW;
    const int8_t *rows[LANES];
    for (int32_t i = 0; i < LANES; i++) { // a channel that is missing is a copy of the last
        int32_t lane = odt_min(i, channels - 1), channel = n + lane / 4 * apart + lane % 4;
        rows[i] = a->w + channel * a->w_n;
        q[i] = a->q[channel];
        bias[i] = a->bias ? a->bias[channel] : 0;
    }
    __m512i sums = _mm512_setzero_si512();
    if (a->w_kw == 1 && (a->KH == 1 || a->w_kh == a->KW)) {
        sums = odt_pack_fours(rows, taps, to, step, sums);
    } else {
        for (int32_t tap = 0; tap < taps; tap += 4) {
            int8_t *four = to + tap / 4 * step;
            memset(four, 0, 4 * LANES);
            for (int32_t i = 0; i < 4 * channels; i++) {
                int32_t of = tap + i % 4, kh = of / a->KW;
                if (of < taps) {
                    four[i] = rows[i / 4][kh * a->w_kh + (of - kh * a->KW) * a->w_kw];
                }
            }
            sums = odt_add_weights(sums, _mm512_loadu_si512(four));
        }
    }
    return odt_prepare_wide(o, q, 1, bias, channels, a->zx, a->zy, a->lo, sums);
}

// Finds the offsets of taps in lines of `size` bytes. The last tap is repeated, with weights of 0.
static void find_fours(const odt_depthwise_t *a, int32_t size, fours_t *f) {
    int32_t taps = a->KH * a->KW;
    f->fours = (taps + 3) / 4;
    for (int32_t i = 0; i < 4 * f->fours; i++) {
        int32_t tap = odt_min(i, taps - 1), kh = tap / a->KW;
        f->taps[i / 4][i % 4] = kh * size + (tap - kh * a->KW) * a->N;
    }
}

// Loads four taps of 16 channels, ordered by channel.
ODT_VNNI_INLINE __m512i taps_at(const uint8_t *x, const ptrdiff_t *taps) {
    return odt_sixteen_of_four(x + taps[0], x + taps[1], x + taps[2], x + taps[3]);
}

// Computes 16 channels of `count` outputs, whose windows begin at offsets from x.
ODT_VNNI static void sum_sixteen(const sixteen_t *f, const fours_t *t, const uint8_t *x, const int32_t *offsets,
    int32_t count, int8_t *y, const int32_t *places, odt_extremes_t *e) {
    int is_cut = f->outputs.lo == f->outputs.zy;
    for (int32_t i = 0; i < count; i += OUTPUTS) {
        const uint8_t *from[OUTPUTS];
        __m512i s[OUTPUTS];
        for (int32_t j = 0; j < OUTPUTS; j++) {
            s[j] = _mm512_loadu_si512(f->outputs.offsets);
            from[j] = x + offsets[i + j];
        }
        for (int32_t four = 0; four < t->fours; four++) {
            __m512i w = _mm512_loadu_si512(f->w[four]);
            for (int32_t j = 0; j < OUTPUTS; j++) {
                s[j] = _mm512_dpbusd_epi32(s[j], taps_at(from[j], t->taps[four]), w);
            }
        }
        if (f->outputs.filters == LANES && i + OUTPUTS <= count) {
            for (int32_t j = 0; j < OUTPUTS; j++) {
                __m128i v = odt_outputs_wide(s[j], &f->outputs, is_cut, e);
                _mm_storeu_si128((__m128i *)(y + places[i + j]), v);
            }
            continue;
        }
        for (int32_t j = 0; j < OUTPUTS && i + j < count; j++) {
            __m128i v = odt_outputs_wide(s[j], &f->outputs, is_cut, e);
            odt_store_outputs(y + places[i + j], v, f->outputs.filters);
        }
    }
}

// The same for 64 channels.
ODT_VNNI static void sum_sixty_four(const sixty_four_t *f, const fours_t *t, const uint8_t *x, const int32_t *offsets,
    int32_t count, int8_t *y, const int32_t *places, odt_extremes_t *e) {
    const odt_outputs16_t *o[4] = {&f->outputs[0], &f->outputs[1], &f->outputs[2], &f->outputs[3]};
    int is_cut = f->outputs[0].lo == f->outputs[0].zy;
    for (int32_t i = 0; i < count; i++) {
        const uint8_t *from = x + offsets[i];
        __m512i s[4];
        for (int32_t j = 0; j < 4; j++) {
            s[j] = _mm512_loadu_si512(o[j]->offsets);
        }
        for (int32_t four = 0; four < t->fours; four++) {
            const ptrdiff_t *taps = t->taps[four];
            __m512i a = _mm512_loadu_si512(from + taps[0]), b = _mm512_loadu_si512(from + taps[1]);
            __m512i c = _mm512_loadu_si512(from + taps[2]), d = _mm512_loadu_si512(from + taps[3]);
            __m512i ab = _mm512_unpacklo_epi8(a, b), cd = _mm512_unpacklo_epi8(c, d);
            s[0] = _mm512_dpbusd_epi32(s[0], _mm512_unpacklo_epi16(ab, cd), _mm512_loadu_si512(f->w[four][0]));
            s[1] = _mm512_dpbusd_epi32(s[1], _mm512_unpackhi_epi16(ab, cd), _mm512_loadu_si512(f->w[four][1]));
            ab = _mm512_unpackhi_epi8(a, b), cd = _mm512_unpackhi_epi8(c, d);
            s[2] = _mm512_dpbusd_epi32(s[2], _mm512_unpacklo_epi16(ab, cd), _mm512_loadu_si512(f->w[four][2]));
            s[3] = _mm512_dpbusd_epi32(s[3], _mm512_unpackhi_epi16(ab, cd), _mm512_loadu_si512(f->w[four][3]));
        }
        _mm512_storeu_si512(y + places[i], odt_outputs_of_four(s, o, is_cut, e));
    }
}

// Computes channels first .. stop - 1, with packed filters, tile by tile.
ODT_VNNI static void sum_tiles(const odt_depthwise_t *a, const odt_x86_windows_t *w, const odt_x86_tile_t *all,
    int32_t first, int32_t stop, const sixty_four_t *wide, const sixteen_t *filters, uint8_t *lines, int32_t *peak) {
    odt_correlation_t outputs = {.y_b = a->y_b, .y_oh = a->y_oh, .y_ow = a->y_ow};
    odt_extremes_t e = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    odt_x86_tile_t next = *all;
    do {
        odt_x86_tile_t t = odt_cut_tile(w, &next);
        odt_x86_position_t place = {0, 0, 0};
        int32_t offsets[BLOCK], places[BLOCK], count;
        fours_t fours;
        find_fours(a, odt_line_size(w, &t), &fours);
        odt_copy_lines(w, &t, lines);
        while ((count = odt_next_outputs(w, &t, &place, BLOCK, offsets, &outputs, places)) != 0) {
            for (int32_t i = count; i % OUTPUTS; i++) {
                offsets[i] = offsets[count - 1];
            }
            int32_t n = first;
            for (const sixty_four_t *f = wide; n + 4 * LANES <= stop; n += 4 * LANES) {
                sum_sixty_four(f++, &fours, lines + n, offsets, count, a->y + n, places, &e);
            }
            for (const sixteen_t *f = filters; n < stop; n += LANES) {
                sum_sixteen(f++, &fours, lines + n, offsets, count, a->y + n, places, &e);
            }
        }
    } while (odt_next_tile(w, &next));
    odt_raise_peak(&e, a->lo == a->zy, peak);
}

int odt_depthwise_dot_i8__x86(const odt_depthwise_t *given, int32_t first, int32_t stop, int32_t *peak) {
    odt_depthwise_t a = *given;
    if (a.W == 1 && a.KW == 1 && a.OW == 1 && a.left == 0) { // exchange the axes: rows are longer
        a = odt_turned(&a);
    }
    odt_x86_windows_t w = {a.x, a.B, a.H, a.W, a.N, a.KH, a.KW, a.SH, a.SW, a.top, a.left, a.OH, a.OW, a.zx};
    int is_usual = a.zx == (int8_t)a.zx && a.zy == (int8_t)a.zy && a.lo == (int8_t)a.lo && a.lo <= a.zy;
    odt_x86_tile_t all;
    if (!odt_has_vnni() || !is_usual || (int64_t)a.KH * a.KW > 4 * FOURS
        || !odt_tile_of(&w, LINES, INT32_MAX, &all)) {
        return 0;
    }
    odt_poll(); // this may exit: not while scratch is allocated
    int32_t wide = (stop - first) / (4 * LANES), blocks = ((stop - first) % (4 * LANES) + LANES - 1) / LANES;
    size_t lines = (size_t)(odt_line_size(&w, &all) * odt_image_lines(&w, &all) * all.images) + ODT_BEYOND_LINES;
    void *memory = malloc(63 + (size_t)wide * sizeof(sixty_four_t) + (size_t)blocks * sizeof(sixteen_t) + lines);
    sixty_four_t *wides = odt_line_from(memory);
    sixteen_t *filters = (sixteen_t *)(void *)(wides + wide);
    int is_done = memory != NULL;
    int32_t n = first;
    for (int32_t i = 0; i < 4 * wide && is_done; i++) {
        sixty_four_t *f = &wides[i / 4];
        is_done = pack_channels(
            &a, n + i / 4 * 4 * LANES + i % 4 * 4, LANES, LANES, f->w[0][i % 4], sizeof(f->w[0]), &f->outputs[i % 4]);
    }
    n += wide * 4 * LANES;
    for (int32_t i = 0; i < blocks && is_done; i++, n += LANES) {
        sixteen_t *f = &filters[i];
        is_done = pack_channels(&a, n, 4, odt_min(stop - n, LANES), f->w[0], sizeof(f->w[0]), &f->outputs);
    }
    if (is_done) {
        sum_tiles(&a, &w, &all, first, stop, wides, filters, (uint8_t *)(filters + blocks), peak);
    }
    free(memory);
    return is_done;
}

#endif

#endif
