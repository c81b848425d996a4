// Products of int8 matrices (correlate.h) on a PC with VNNI (wide__x86.h). x + 128 is copied to lines of bytes,
// surrounded by zx + 128, so that the rows of a window are read in place. The other factor is packed in fours. Sums
// wrap, so their order does not matter.

#include "../../core.h"
#include "../correlate.h"

#if ODT_X86

#include <stdlib.h>
#include <string.h>

#include "../../fixed.h"
#include "wide__x86.h"

#if ODT_HAS_VNNI

enum {
    WIDTH = ODT_X86_WIDTH,
    VECTORS = 4,  // the most vectors of filters summed together
    ROWS = 8,     // the most outputs summed together
    BLOCK = 96,   // outputs located together: a multiple of 6 and 8
    LINES = ODT_X86_SMALL ? 320 : 65536,   // the most elements of x
    PANELS = ODT_X86_SMALL ? 4096 : 131072, // the most bytes of the packed factor
    SUMS = VECTORS * BLOCK * WIDTH, // sums before they become outputs
};

// From malloc() for the time of a call: too large for a thread's stack.
typedef struct {
    int8_t *panels;
    uint8_t *lines;
    odt_outputs16_t *outputs; // of 16 filters each
    int32_t *sums;            // SUMS
    uint8_t *usual;           // whether odt_outputs_wide() takes the outputs
} dot_scratch_t;

// --- filters in fours ---------------------------------------------------------------------------

static const int8_t no_weights[WIDTH];

// Packs filters n .. n + 15: fours of KH rows, `step` bytes from row to row. Missing filters are 0, or copies of the
// last. Returns the sums of the weights.
ODT_VNNI static __m512i pack_fours_of_filters(const odt_correlation_t *a, int32_t n, int8_t *to, int32_t step) {
    int32_t length = a->KW * a->C, fours = (length + 3) / 4, count = odt_min(WIDTH, a->N - n);
    const int8_t *w = a->w + n * a->w_n;
    __m512i sums = _mm512_setzero_si512();
    for (int32_t kh = 0; kh < a->KH; kh++, w += a->w_kh, to += fours * step) {
        if (a->w_c == 1 && (a->KW == 1 || a->w_kw == a->C)) {
            const int8_t *rows[WIDTH];
            for (int32_t i = 0; i < WIDTH; i++) {
                rows[i] = w + odt_min(i, count - 1) * a->w_n;
            }
            sums = odt_pack_fours(rows, length, to, step, sums);
            continue;
        }
        int32_t kw = 0, c = 0;
        int8_t *at = to;
        for (int32_t four = 0; four < fours; four++, at += step) {
            const int8_t *rows[4] = {no_weights, no_weights, no_weights, no_weights};
            for (int32_t i = 0; i < 4 && kw < a->KW; i++) {
                rows[i] = w + kw * a->w_kw + c * a->w_c;
                if (++c == a->C) {
                    c = 0;
                    kw++;
                }
            }
            int8_t apart[4][WIDTH];
            if (a->w_n != 1) {
                for (int32_t i = 0; i < 4; i++) {
                    for (int32_t j = 0; j < count; j++) {
                        apart[i][j] = rows[i] == no_weights ? 0 : rows[i][j * a->w_n];
                    }
                    rows[i] = apart[i];
                }
            }
            __m512i v = odt_turn_fours(rows, count);
            _mm512_storeu_si512(at, v);
            sums = odt_add_weights(sums, v);
        }
    }
    return sums;
}

// Packs filters from .. stop - 1 to panels of filters that are summed together.
ODT_VNNI static void pack_all(const odt_correlation_t *a, int32_t from, int32_t stop, const dot_scratch_t *scratch) {
    int32_t panel = (a->KW * a->C + 3) / 4 * a->KH * 64, count = (stop - from + WIDTH - 1) / WIDTH;
    for (int32_t i = 0, n = from; i < count; i++, n += WIDTH) {
        int32_t lane = i % VECTORS, step = 64 * odt_min(count - (i - lane), VECTORS);
        int8_t *to = scratch->panels + (i - lane) * panel + lane * 64;
        const int32_t *bias = a->bias ? a->bias + n : NULL;
        scratch->usual[i] = (uint8_t)odt_prepare_wide(&scratch->outputs[i], a->q + n * a->q_step, a->q_step, bias,
            odt_min(WIDTH, a->N - n), a->zx, a->zy, a->lo, pack_fours_of_filters(a, n, to, step));
    }
}

// --- sums ---------------------------------------------------------------------------------------

// Places of outputs: their windows, and their bytes from y on.
typedef struct {
    const uint8_t *x;
    const int32_t *offsets, *places;
    int32_t count, KH, size, length; // outputs; rows of a window, bytes from row to row, bytes of a row
} dot_block_t;

ODT_VNNI_INLINE __m512i four_at(const uint8_t *x) {
    int32_t four;
    memcpy(&four, x, sizeof(four));
    return _mm512_set1_epi32(four);
}

// Stores the outputs of odt_outputs_of_four(): of each vector at one of four places, `vectors` vectors per place.
ODT_VNNI_INLINE void store_four(__m512i v, int32_t vectors, int8_t *const *to) {
    __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    v = _mm512_permutexvar_epi32(order, v);
    if (vectors == 4) {
        _mm512_storeu_si512(to[0], v);
    } else if (vectors == 2) {
        _mm256_storeu_si256((__m256i *)to[0], _mm512_castsi512_si256(v));
        _mm256_storeu_si256((__m256i *)to[2], _mm512_extracti64x4_epi64(v, 1));
    } else {
        _mm_storeu_si128((__m128i *)to[0], _mm512_castsi512_si128(v));
        _mm_storeu_si128((__m128i *)to[1], _mm512_extracti32x4_epi32(v, 1));
        _mm_storeu_si128((__m128i *)to[2], _mm512_extracti32x4_epi32(v, 2));
        _mm_storeu_si128((__m128i *)to[3], _mm512_extracti32x4_epi32(v, 3));
    }
}

// Computes the outputs of `rows` windows for `vectors` times 16 filters. If y is NULL, only sums.
ODT_VNNI_INLINE void dot_rows(const dot_block_t *b, int32_t first, const int8_t *panel, int32_t rows, int32_t vectors,
    const odt_outputs16_t *o, int8_t *y, odt_extremes_t *e, int32_t *sums) {
    const uint8_t *x[ROWS];
    __m512i s[ROWS * VECTORS];
    ODT_X86_UNROLL
    for (int32_t i = 0; i < rows; i++) {
        x[i] = b->x + b->offsets[first + i];
        for (int32_t j = 0; j < vectors; j++) {
            s[i * vectors + j] = _mm512_loadu_si512(o[j].offsets);
        }
    }
    for (ptrdiff_t row = 0, end = (ptrdiff_t)b->KH * b->size; row < end; row += b->size) {
        for (ptrdiff_t k = row; k < row + b->length; k += 4, panel += 64 * vectors) {
            __m512i w[VECTORS];
            for (int32_t j = 0; j < vectors; j++) {
                w[j] = _mm512_loadu_si512(panel + 64 * j);
            }
            ODT_X86_UNROLL
            for (int32_t i = 0; i < rows; i++) {
                __m512i v = four_at(x[i] + k);
                for (int32_t j = 0; j < vectors; j++) {
                    s[i * vectors + j] = _mm512_dpbusd_epi32(s[i * vectors + j], v, w[j]);
                }
            }
        }
    }
    int is_cut = o->lo == o->zy;
    if (y && o[vectors - 1].filters == WIDTH && first + rows <= b->count) {
        ODT_X86_UNROLL
        for (int32_t i = 0; i < rows * vectors; i += 4) {
            const odt_outputs16_t *of[4];
            int8_t *to[4];
            for (int32_t j = 0; j < 4; j++) {
                of[j] = &o[(i + j) % vectors];
                to[j] = y + b->places[first + (i + j) / vectors] + (i + j) % vectors * WIDTH;
            }
            store_four(odt_outputs_of_four(s + i, of, is_cut, e), vectors, to);
        }
        return;
    }
    int32_t all[ROWS * VECTORS * WIDTH];
    ODT_X86_UNROLL
    for (int32_t i = 0; i < rows * vectors; i++) {
        _mm512_storeu_si512(all + i * WIDTH, s[i]);
    }
    for (int32_t i = 0, j = 0; i < odt_min(rows, b->count - first); j = j + 1 < vectors ? j + 1 : 0, i += j == 0) {
        __m512i v = _mm512_loadu_si512(all + (i * vectors + j) * WIDTH);
        if (!y) {
            _mm512_storeu_si512(sums + (j * BLOCK + first + i) * WIDTH, v);
            continue;
        }
        int8_t *to = y + b->places[first + i] + j * WIDTH;
        odt_store_outputs(to, odt_outputs_wide(v, &o[j], is_cut, e), o[j].filters);
    }
}

#define DOT_BLOCK(rows, vectors) \
    for (int32_t i = 0; i < b->count; i += rows) { \
        dot_rows(b, i, panel, rows, vectors, o, y, &found, sums); \
    } \
    break

ODT_VNNI static void dot_block(const dot_block_t *b, const int8_t *panel, int32_t vectors, const odt_outputs16_t *o,
    int8_t *y, odt_extremes_t *e, int32_t *sums) {
    odt_extremes_t found = *e; // in registers, as y may be anywhere
    switch (vectors) {
        case 1:
            DOT_BLOCK(8, 1);
        case 2:
            DOT_BLOCK(8, 2);
        case 3:
            DOT_BLOCK(8, 3);
        default:
            DOT_BLOCK(6, 4);
    }
    *e = found;
}

// Computes all outputs of filters from .. stop - 1, which are packed.
ODT_VNNI static void dot_filters(const odt_correlation_t *a, const odt_x86_windows_t *w, const odt_x86_tile_t *all,
    int32_t from, int32_t stop, const dot_scratch_t *scratch) {
    int32_t length = w->KW * w->C, panel = w->KH * ((length + 3) / 4) * 64;
    odt_extremes_t e = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    odt_correlation_t without = *a; // usual filters have the bias in their sums
    without.bias = NULL;
    odt_x86_tile_t next = *all;
    do {
        odt_x86_tile_t t = odt_cut_tile(w, &next);
        odt_x86_position_t place = {0, 0, 0};
        int32_t offsets[BLOCK], places[BLOCK];
        dot_block_t b = {scratch->lines, offsets, places, 0, w->KH, odt_line_size(w, &t), length};
        odt_copy_lines(w, &t, scratch->lines);
        while ((b.count = odt_next_outputs(w, &t, &place, BLOCK, offsets, a, places)) != 0) {
            for (int32_t i = b.count; i < BLOCK && (i % 6 || i % 8); i++) {
                offsets[i] = offsets[b.count - 1];
            }
            for (int32_t n = from, i = 0; n < stop; n += VECTORS * WIDTH, i += VECTORS) {
                int32_t vectors = odt_min((stop - n + WIDTH - 1) / WIDTH, VECTORS), is_usual = 1;
                for (int32_t j = 0; j < vectors; j++) {
                    is_usual = is_usual && scratch->usual[i + j];
                }
                if (is_usual) {
                    dot_block(&b, scratch->panels + i * panel, vectors, scratch->outputs + i, a->y + n, &e, NULL);
                    continue;
                }
                int32_t *sums = scratch->sums;
                dot_block(&b, scratch->panels + i * panel, vectors, scratch->outputs + i, NULL, &e, sums);
                for (int32_t j = 0; j < vectors; j++) {
                    int32_t filter = n + j * WIDTH;
                    const odt_correlation_t *of = scratch->usual[i + j] ? &without : a;
                    odt_finish_any(of, filter, sums + j * BLOCK * WIDTH, b.count, a->y + filter, places);
                }
            }
        }
    } while (odt_next_tile(w, &next));
    odt_raise_peak(&e, a->lo == a->zy, a->peak);
}

int odt_correlate_dot_i8__x86(const odt_correlation_t *a) {
    odt_x86_windows_t w = odt_windows(a);
    if (odt_is_pointwise(a) && odt_is_dense(a)) {
        w.W = w.OW = w.B * w.OH * w.OW;
        w.B = w.H = w.OH = 1;
    }
    int64_t panel = (int64_t)a->KH * (((int64_t)a->KW * a->C + 3) / 4) * 64;
    odt_x86_tile_t first;
    if (!odt_has_vnni() || a->x_skip || !odt_takes_bytes(a) || !odt_tile_of(&w, LINES, INT32_MAX, &first)
        || panel > PANELS) {
        return 0;
    }
    odt_poll(); // this may exit: not while scratch is allocated
    int32_t blocks = odt_min((a->N + WIDTH - 1) / WIDTH, (int32_t)(PANELS / panel));
    if (blocks > VECTORS) {
        blocks = blocks / VECTORS * VECTORS;
    }
    size_t panels = (size_t)blocks * (size_t)panel, each = sizeof(odt_outputs16_t) + 1;
    size_t lines = (size_t)(odt_line_size(&w, &first) * odt_image_lines(&w, &first) * first.images) + ODT_BEYOND_LINES;
    char *memory = malloc(63 + SUMS * sizeof(int32_t) + panels + (size_t)blocks * each + lines);
    if (!memory) {
        return 0;
    }
    dot_scratch_t scratch = {.outputs = odt_line_from(memory)};
    scratch.sums = (int32_t *)(scratch.outputs + blocks);
    scratch.panels = (int8_t *)(scratch.sums + SUMS);
    scratch.lines = (uint8_t *)scratch.panels + panels;
    scratch.usual = scratch.lines + lines;
    for (int32_t from = 0; from < a->N; from += blocks * WIDTH) {
        int32_t stop = odt_min(from + blocks * WIDTH, a->N);
        pack_all(a, from, stop, &scratch);
        dot_filters(a, &w, &first, from, stop, &scratch);
    }
    free(memory);
    return 1;
}

#endif

#endif
