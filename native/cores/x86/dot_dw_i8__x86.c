// Gradients of filters (correlate.h) on a PC with VNNI (wide__x86.h): 16 columns of a filter's row at a time, four
// positions together. x + 128 is copied to lines of bytes, surrounded by zx + 128; errors are packed in fours. Sums
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
    COLUMNS = ODT_X86_WIDTH,
    FILTERS = 16, // the most filters summed together
    POSITIONS = ODT_X86_SMALL ? 24 : 1024,  // the most positions of a tile: a multiple of 4
    CHANNELS = ODT_X86_SMALL ? 16 : 64,     // the most channels whose errors are packed: a multiple of FILTERS
    LINES = ODT_X86_SMALL ? 320 : 131072,   // the most elements of x
};

// From malloc() for the time of a call: too large for a thread's stack.
typedef struct {
    int32_t errors[POSITIONS / 4 * CHANNELS]; // each of four positions
    int32_t offsets[POSITIONS];
    int32_t sums[CHANNELS];                   // of each filter's errors
    uint8_t lines[];
} dot_dw_scratch_t;

// Packs the errors of filters n .. n + count - 1 at the tile's positions, in fours, CHANNELS apart. Positions after the
// last, and missing filters, have errors of 0.
ODT_VNNI static void pack_errors_in_fours(
    const odt_correlation_dw_t *a, const odt_x86_tile_t *t, int32_t n, int32_t count, dot_dw_scratch_t *s) {
    static const int8_t none[CHANNELS];
    const int8_t *rows[4];
    int32_t positions = t->images * t->rows * t->columns, image = t->image, row = t->row, column = t->column;
    int32_t *to = s->errors;
    __m512i all[CHANNELS / FILTERS];
    for (int32_t j = 0; j < CHANNELS / FILTERS; j++) {
        all[j] = _mm512_setzero_si512();
    }
    for (int32_t i = 0; i < positions; i += 4, to += CHANNELS) {
        for (int32_t k = 0; k < 4; k++) {
            rows[k] = none;
            if (i + k >= positions) {
                continue;
            }
            rows[k] = a->e + ((image * a->OH + row) * a->OW + column) * a->e_step + n;
            if (++column == t->column + t->columns) {
                column = t->column;
                if (++row == t->row + t->rows) {
                    row = t->row;
                    image++;
                }
            }
        }
        for (int32_t j = 0; j < count; j += FILTERS) {
            const int8_t *of[4] = {rows[0] + j, rows[1] + j, rows[2] + j, rows[3] + j};
            __m512i v = odt_turn_fours(of, odt_min(count - j, FILTERS));
            _mm512_storeu_si512(to + j, v);
            all[j / FILTERS] = odt_add_weights(all[j / FILTERS], v);
        }
    }
    for (int32_t j = 0; j < CHANNELS / FILTERS; j++) {
        _mm512_storeu_si512(s->sums + j * FILTERS, all[j]);
    }
}

// Computes dw for `filters` filters, `filter` apart, and 16 columns, of which `columns` are used, from the errors of
// `rows` filters. x points to the columns of the window at offset 0.
ODT_VNNI_INLINE void add_fours(const dot_dw_scratch_t *s, const uint8_t *x, int32_t positions, int32_t first,
    int32_t zero, int32_t rows, int32_t filters, int32_t *dw, int32_t filter, int32_t columns, int is_first) {
    __m512i sums[FILTERS];
    const int32_t *e = s->errors + first;
    ODT_X86_UNROLL
    for (int32_t i = 0; i < rows; i++) {
        sums[i] = _mm512_set1_epi32(odt_wrap_mul(-zero, s->sums[first + i]));
    }
    for (int32_t p = 0; p < positions; p += 4, e += CHANNELS) {
        const int32_t *at = s->offsets + p;
        __m512i v = odt_sixteen_of_four(x + at[0], x + at[1], x + at[2], x + at[3]);
        ODT_X86_UNROLL
        for (int32_t i = 0; i < rows; i++) {
            sums[i] = _mm512_dpbusd_epi32(sums[i], v, _mm512_set1_epi32(e[i]));
        }
    }
    __mmask16 mask = (__mmask16)(columns < COLUMNS ? (1 << columns) - 1 : -1);
    ODT_X86_UNROLL
    for (int32_t i = 0; i < rows; i++, dw += filter) {
        if (i < filters) {
            __m512i before = is_first ? _mm512_setzero_si512() : _mm512_maskz_loadu_epi32(mask, dw);
            _mm512_mask_storeu_epi32(dw, mask, _mm512_add_epi32(before, sums[i]));
        }
    }
}

// Adds the tile's part of dw for filters from .. from + count - 1, whose errors are packed.
ODT_VNNI static void add_tile(const odt_correlation_dw_t *a, const dot_dw_scratch_t *s, int32_t size,
    int32_t positions, int32_t from, int32_t count, int is_first) {
    int32_t length = a->KW * a->C, filter = a->KH * length, zero = a->zx + 128;
    for (int32_t kh = 0; kh < a->KH; kh++) {
        for (int32_t c = 0; c < length; c += COLUMNS) {
            const uint8_t *x = s->lines + kh * size + c;
            for (int32_t n = 0; n < count; n += FILTERS) {
                int32_t *dw = a->dw + (from + n) * filter + kh * length + c, filters = odt_min(count - n, FILTERS);
                if (filters > 8) {
                    add_fours(s, x, positions, n, zero, 16, filters, dw, filter, length - c, is_first);
                } else if (filters > 4) {
                    add_fours(s, x, positions, n, zero, 8, filters, dw, filter, length - c, is_first);
                } else {
                    add_fours(s, x, positions, n, zero, 4, filters, dw, filter, length - c, is_first);
                }
            }
        }
    }
}

int odt_correlate_dw_dot_i8__x86(const odt_correlation_dw_t *a) {
    odt_x86_windows_t w = {
        a->x, a->B, a->H, a->W, a->C, a->KH, a->KW, a->SH, a->SW, a->top, a->left, a->OH, a->OW, a->zx};
    odt_x86_tile_t first;
    if (!odt_has_vnni() || a->x_skip || a->zx != (int8_t)a->zx || !odt_tile_of(&w, LINES, POSITIONS, &first)) {
        return 0;
    }
    odt_poll(); // this may exit: not while scratch is allocated
    int32_t size = odt_line_size(&w, &first) * odt_image_lines(&w, &first) * first.images;
    dot_dw_scratch_t *s = malloc(sizeof(*s) + (size_t)size + ODT_BEYOND_LINES);
    if (!s) {
        return 0;
    }
    odt_x86_tile_t next = first;
    do {
        odt_x86_tile_t t = odt_cut_tile(&w, &next);
        odt_x86_position_t place = {0, 0, 0};
        int is_first = t.image == 0 && t.row == 0 && t.column == 0;
        odt_copy_lines(&w, &t, s->lines);
        int32_t count = odt_next_outputs(&w, &t, &place, POSITIONS, s->offsets, NULL, NULL), positions = count;
        for (; positions % 4; positions++) {
            s->offsets[positions] = s->offsets[count - 1];
        }
        for (int32_t from = 0; from < a->N; from += CHANNELS) {
            int32_t filters = odt_min(CHANNELS, a->N - from);
            pack_errors_in_fours(a, &t, from, filters, s);
            add_tile(a, s, odt_line_size(&w, &t), positions, from, filters, is_first);
        }
    } while (odt_next_tile(&w, &next));
    free(s);
    return 1;
}

#endif

#endif
