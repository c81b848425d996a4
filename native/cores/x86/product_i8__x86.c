// Products of int8 matrices (correlate.h) on a PC with AVX2: pairs of int16 are multiplied and added, 16 numbers at a
// time. x - zx is copied to lines of int16, surrounded by 0, so that the rows of a window are read in place. The other
// factor is packed in pairs. Sums wrap, so their order does not matter.

#include "../../core.h"
#include "../correlate.h"

#if ODT_X86

#include <stdlib.h>
#include <string.h>

#include "../../fixed.h"
#include "finish__x86.h"
#include "windows__x86.h"

enum {
    WIDTH = ODT_X86_WIDTH, // filters of a panel; columns of a gradient summed together
    ROWS = 4,          // outputs, or errors of a gradient, summed together
    BLOCK = 64,        // outputs summed before they are finished
    POSITIONS = ODT_X86_SMALL ? 24 : 1024, // the most positions of a gradient's tile
    CHANNELS = ODT_X86_SMALL ? 8 : 64,     // the most channels of a gradient that are packed
    LINES = ODT_X86_SMALL ? 320 : 32768,   // the most elements of x
    PANELS = ODT_X86_SMALL ? 2048 : 65536, // the most numbers of the packed factor, or of errors in pairs
};

// 0.2 MB, too large for a thread's stack: from malloc() for the time of a call. A whole vector is read where lines end.
typedef struct {
    int16_t panels[PANELS + 32];
    int16_t lines[LINES + WIDTH];
} product_scratch_t;

// Aligns panels to cache lines.
static inline int16_t *aligned(int16_t *panels) {
    return (int16_t *)(((uintptr_t)panels + 63) & ~(uintptr_t)63);
}

ODT_AVX2 static void widen(const int8_t *x, int32_t zx, int32_t count, int16_t *to) {
    __m256i z = _mm256_set1_epi16((int16_t)zx);
    int32_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m256i v = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(x + i)));
        _mm256_storeu_si256((__m256i *)(to + i), _mm256_sub_epi16(v, z));
    }
    if (i + 8 <= count) {
        __m128i v = _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(x + i)));
        _mm_storeu_si128((__m128i *)(to + i), _mm_sub_epi16(v, _mm256_castsi256_si128(z)));
        i += 8;
    }
    for (; i < count; i++) {
        to[i] = (int16_t)(x[i] - zx);
    }
}

// Copies the part of x that a tile's windows read.
static void fill_lines(const odt_x86_windows_t *w, const odt_x86_tile_t *t, int16_t *to) {
    int32_t size = odt_line_size(w, t), height = odt_image_lines(w, t), C = w->C, start = t->column * w->SW - w->left;
    int32_t from = odt_limit(-start * C, 0, size), stop = odt_limit((w->W - start) * C, from, size);
    for (int32_t b = t->image; b < t->image + t->images; b++) {
        int32_t ih = t->row * w->SH - w->top;
        for (const int16_t *end = to + height * size; to != end; to += size, ih++) {
            if (ih < 0 || ih >= w->H || from == stop) {
                memset(to, 0, (size_t)size * sizeof(*to));
                continue;
            }
            memset(to, 0, (size_t)from * sizeof(*to));
            widen(w->x + ((b * w->H + ih) * w->W + start) * C + from, w->zx, stop - from, to + from);
            memset(to + stop, 0, (size_t)(size - stop) * sizeof(*to));
        }
    }
    memset(to, 0, WIDTH * sizeof(*to));
}

// --- forward, and the gradient of the input -----------------------------------------------------

// Packs rows of 16 filters in pairs of columns; an odd row is completed with 0.
ODT_AVX2 static void pack_rows(const int8_t *const *rows, int32_t length, int16_t *to) {
    int32_t k = 0;
    for (; k + 8 <= length; k += 8, to += 8 * WIDTH) {
        for (int32_t j = 0; j < WIDTH; j += 4) {
            __m128i r[4];
            for (int32_t i = 0; i < 4; i++) {
                r[i] = _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(rows[j + i] + k)));
            }
            __m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpacklo_epi32(r[2], r[3]);
            __m128i c = _mm_unpackhi_epi32(r[0], r[1]), d = _mm_unpackhi_epi32(r[2], r[3]);
            _mm_store_si128((__m128i *)(to + 2 * j), _mm_unpacklo_epi64(a, b));
            _mm_store_si128((__m128i *)(to + 2 * WIDTH + 2 * j), _mm_unpackhi_epi64(a, b));
            _mm_store_si128((__m128i *)(to + 4 * WIDTH + 2 * j), _mm_unpacklo_epi64(c, d));
            _mm_store_si128((__m128i *)(to + 6 * WIDTH + 2 * j), _mm_unpackhi_epi64(c, d));
        }
    }
    for (; k < length; k += 2, to += 2 * WIDTH) {
        for (int32_t j = 0; j < WIDTH; j++) {
            to[2 * j] = rows[j][k];
            to[2 * j + 1] = k + 1 < length ? rows[j][k + 1] : 0;
        }
    }
}

// Joins two rows of bytes to pairs.
ODT_AVX2 static void pair_up(const int8_t *first, const int8_t *second, int32_t count, int16_t *to) {
    int32_t i = 0;
    for (; i + 16 <= count; i += 16, to += 32) {
        __m256i a = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(first + i)));
        __m256i b = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(second + i)));
        __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
        _mm256_storeu_si256((__m256i *)to, _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_storeu_si256((__m256i *)(to + 16), _mm256_permute2x128_si256(low, high, 0x31));
    }
    for (; i < count; i++, to += 2) {
        to[0] = first[i];
        to[1] = second[i];
    }
}

static const int8_t zeros[64]; // WIDTH or CHANNELS zeros are read

// Packs filters n .. n + 15; missing filters are copies of the last, or 0.
static void pack_panel(const odt_correlation_t *a, int32_t n, int16_t *panel) {
    int32_t length = a->KW * a->C, pairs = (length + 1) / 2, count = odt_min(WIDTH, a->N - n);
    const int8_t *w = a->w + n * a->w_n;
    for (int32_t kh = 0; kh < a->KH; kh++, w += a->w_kh, panel += 2 * WIDTH * pairs) {
        if (a->w_c == 1 && (a->KW == 1 || a->w_kw == a->C)) {
            const int8_t *rows[WIDTH];
            for (int32_t j = 0; j < WIDTH; j++) {
                rows[j] = w + odt_min(j, count - 1) * a->w_n;
            }
            pack_rows(rows, length, panel);
            continue;
        }
        int16_t *to = panel;
        int32_t kw = 0, c = 0;
        for (int32_t pair = 0; pair < pairs; pair++, to += 2 * WIDTH) {
            const int8_t *both[2] = {zeros, zeros};
            for (int32_t i = 0; i < 2 && kw < a->KW; i++) {
                both[i] = w + kw * a->w_kw + c * a->w_c;
                if (++c == a->C) {
                    c = 0;
                    kw++;
                }
            }
            if (a->w_n == 1) {
                pair_up(both[0], both[1], count, to);
            } else {
                for (int32_t j = 0; j < count; j++) {
                    to[2 * j] = both[0][j * a->w_n];
                    to[2 * j + 1] = both[1] == zeros ? 0 : both[1][j * a->w_n];
                }
            }
            memset(to + 2 * count, 0, (size_t)(2 * (WIDTH - count)) * sizeof(*to));
        }
    }
}

ODT_AVX2 static inline __m256i pair_at(const int16_t *x) {
    int32_t pair;
    memcpy(&pair, x, sizeof(pair));
    return _mm256_set1_epi32(pair);
}

// Sums of four windows by `vectors` times eight filters of a panel.
ODT_AVX2 static inline __attribute__((always_inline)) void multiply(const int16_t *x, const int32_t *offsets,
    int32_t KH, int32_t size, int32_t pairs, const int16_t *panel, int32_t vectors, int32_t *sums) {
    const int16_t *x0 = x + offsets[0], *x1 = x + offsets[1], *x2 = x + offsets[2], *x3 = x + offsets[3];
    __m256i s[ROWS][2];
    for (int32_t i = 0; i < ROWS; i++) {
        s[i][0] = s[i][1] = _mm256_setzero_si256();
    }
    for (; KH; KH--, x0 += size, x1 += size, x2 += size, x3 += size) {
        for (int32_t p = 0; p < 2 * pairs; p += 2, panel += 2 * WIDTH) {
            __m256i v[ROWS] = {pair_at(x0 + p), pair_at(x1 + p), pair_at(x2 + p), pair_at(x3 + p)};
            for (int32_t j = 0; j < vectors; j++) {
                __m256i w = _mm256_load_si256((const __m256i *)(panel + WIDTH * j));
                for (int32_t i = 0; i < ROWS; i++) {
                    s[i][j] = _mm256_add_epi32(s[i][j], _mm256_madd_epi16(v[i], w));
                }
            }
        }
    }
    for (int32_t i = 0; i < ROWS; i++) {
        for (int32_t j = 0; j < 2; j++) {
            _mm256_storeu_si256((__m256i *)(sums + WIDTH * i + 8 * j), s[i][j]);
        }
    }
}

ODT_AVX2 static void multiply_all(const odt_x86_windows_t *w, const int16_t *x, int32_t size, int32_t *offsets,
    int32_t count, const int16_t *panel, int32_t filters, int32_t *sums) {
    int32_t pairs = (w->KW * w->C + 1) / 2;
    for (int32_t i = 0; i < count; i += ROWS, sums += ROWS * WIDTH) {
        if (filters <= 8) {
            multiply(x, offsets + i, w->KH, size, pairs, panel, 1, sums);
        } else {
            multiply(x, offsets + i, w->KH, size, pairs, panel, 2, sums);
        }
    }
}

// Prepares the conversion of sums of filters n .. n + 15 to outputs; returns 0 for multipliers that
// odt_finish_outputs() does not take.
static int outputs_of(const odt_correlation_t *a, int32_t n, odt_outputs16_t *o) {
    const int32_t *bias = a->bias ? a->bias + n : NULL;
    return odt_outputs16(o, a->q + n * a->q_step, a->q_step, bias, odt_min(WIDTH, a->N - n), a->zy, a->lo);
}

// The AVX2 version. Not inlined, so that its frame is not on the stack of other calls: a thread has 16 KB.
__attribute__((noinline)) static int correlate_in_pairs(const odt_correlation_t *a) {
    odt_x86_windows_t w = odt_windows(a);
    int32_t panel = a->KH * ((a->KW * a->C + 1) & ~1) * WIDTH;
    odt_x86_tile_t first;
    if (!odt_has_avx2() || a->x_skip || !odt_takes_bytes(a) || !odt_tile_of(&w, LINES, INT32_MAX, &first)
        || panel > PANELS) {
        return 0;
    }
    odt_poll(); // this may exit: not while scratch is allocated
    product_scratch_t *scratch = malloc(sizeof(*scratch));
    if (!scratch) {
        return 0;
    }
    int16_t *lines = scratch->lines, *panels = aligned(scratch->panels);
    int32_t at_once = PANELS / panel * WIDTH;
    for (int32_t from = 0; from < a->N; from += at_once) {
        int32_t stop = odt_min(from + at_once, a->N);
        for (int32_t n = from; n < stop; n += WIDTH) {
            pack_panel(a, n, panels + (n - from) / WIDTH * panel);
        }
        odt_x86_tile_t next = first;
        do {
            odt_x86_tile_t t = odt_cut_tile(&w, &next);
            odt_x86_position_t place = {0, 0, 0};
            int32_t offsets[BLOCK + ROWS], places[BLOCK], sums[(BLOCK + ROWS) * WIDTH], count;
            fill_lines(&w, &t, lines);
            while ((count = odt_next_outputs(&w, &t, &place, BLOCK, offsets, a, places)) != 0) {
                for (int32_t i = count; i & (ROWS - 1); i++) {
                    offsets[i] = offsets[count - 1];
                }
                for (int32_t n = from; n < stop; n += WIDTH) {
                    odt_outputs16_t o;
                    int is_finished = outputs_of(a, n, &o);
                    multiply_all(&w, lines, odt_line_size(&w, &t), offsets, count, panels + (n - from) / WIDTH * panel,
                        o.filters, sums);
                    if (is_finished) {
                        odt_finish_outputs(&o, sums, count, a->y + n, places, a->peak);
                    } else {
                        odt_finish_any(a, n, sums, count, a->y + n, places);
                    }
                }
            }
        } while (odt_next_tile(&w, &next));
    }
    free(scratch);
    return 1;
}

int odt_correlate_i8__x86(const odt_correlation_t *a) {
    return odt_correlate_dot_i8__x86(a) || correlate_in_pairs(a);
}

// --- the gradient of the filters ----------------------------------------------------------------

// Adds to dw of four filters and 16 columns, of which `columns` are used: products of pairs of errors and of windows.
ODT_AVX2 static void add_products(const int16_t *x, const int32_t *offsets, const int32_t *e, int32_t step,
    int32_t pairs, int32_t filters, int32_t *dw, int32_t filter, int32_t columns, int is_first) {
    __m256i s[ROWS][2], lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i masks[2] = {_mm256_cmpgt_epi32(_mm256_set1_epi32(columns), lanes),
        _mm256_cmpgt_epi32(_mm256_set1_epi32(columns - 8), lanes)};
    for (int32_t i = 0; i < ROWS; i++) {
        s[i][0] = s[i][1] = _mm256_setzero_si256();
    }
    for (int32_t p = 0; p < pairs; p++, e += step) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(x + offsets[2 * p]));
        __m256i b = _mm256_loadu_si256((const __m256i *)(x + offsets[2 * p + 1]));
        __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
        for (int32_t i = 0; i < ROWS; i++) {
            __m256i v = _mm256_set1_epi32(e[i]);
            s[i][0] = _mm256_add_epi32(s[i][0], _mm256_madd_epi16(v, low));
            s[i][1] = _mm256_add_epi32(s[i][1], _mm256_madd_epi16(v, high));
        }
    }
    for (int32_t i = 0; i < filters; i++, dw += filter) {
        __m256i sums[2] = {
            _mm256_permute2x128_si256(s[i][0], s[i][1], 0x20), _mm256_permute2x128_si256(s[i][0], s[i][1], 0x31)};
        for (int32_t j = 0; j < 2; j++) {
            if (!is_first) {
                sums[j] = _mm256_add_epi32(sums[j], _mm256_maskload_epi32(dw + 8 * j, masks[j]));
            }
            _mm256_maskstore_epi32(dw + 8 * j, masks[j], sums[j]);
        }
    }
}

// Packs the errors of the tile's outputs in pairs, `step` filters per pair.
static int32_t pack_errors(
    const odt_correlation_dw_t *a, const odt_x86_tile_t *t, int32_t n, int32_t filters, int32_t step, int32_t *to) {
    const int8_t *before = NULL;
    int32_t count = 0;
    for (int32_t b = t->image; b < t->image + t->images; b++) {
        for (int32_t oh = t->row; oh < t->row + t->rows; oh++) {
            const int8_t *e = a->e + ((b * a->OH + oh) * a->OW + t->column) * a->e_step + n;
            for (int32_t i = 0; i < t->columns; i++, e += a->e_step, count++) {
                if (count & 1) {
                    pair_up(before, e, filters, (int16_t *)to);
                    to += step;
                }
                before = e;
            }
        }
    }
    if (count & 1) {
        pair_up(before, zeros, filters, (int16_t *)to);
    }
    return (count + 1) / 2;
}

// The AVX2 version. Not inlined, so that its frame is not on the stack of other calls.
__attribute__((noinline)) static int correlate_dw_in_pairs(const odt_correlation_dw_t *a) {
    odt_x86_windows_t w = {
        a->x, a->B, a->H, a->W, a->C, a->KH, a->KW, a->SH, a->SW, a->top, a->left, a->OH, a->OW, a->zx};
    int32_t length = a->KW * a->C, filter = a->KH * length;
    odt_x86_tile_t first;
    if (!odt_has_avx2() || a->x_skip || a->zx != (int8_t)a->zx || !odt_tile_of(&w, LINES, POSITIONS, &first)) {
        return 0;
    }
    odt_poll();
    product_scratch_t *scratch = malloc(sizeof(*scratch));
    if (!scratch) {
        return 0;
    }
    int16_t *lines = scratch->lines;
    int32_t *errors = (int32_t *)(void *)aligned(scratch->panels);
    odt_x86_tile_t next = first;
    do {
        odt_x86_tile_t t = odt_cut_tile(&w, &next);
        odt_x86_position_t place = {0, 0, 0};
        int32_t offsets[POSITIONS + 1], size = odt_line_size(&w, &t);
        int is_first = t.image == 0 && t.row == 0 && t.column == 0;
        fill_lines(&w, &t, lines);
        int32_t count = odt_next_outputs(&w, &t, &place, POSITIONS, offsets, NULL, NULL);
        offsets[count] = offsets[count - 1];
        for (int32_t from = 0; from < a->N; from += CHANNELS) {
            int32_t filters = odt_min(CHANNELS, a->N - from), step = (filters + ROWS - 1) & -ROWS;
            int32_t pairs = pack_errors(a, &t, from, filters, step, errors);
            for (int32_t kh = 0; kh < a->KH; kh++) {
                for (int32_t c = 0; c < length; c += WIDTH) {
                    for (int32_t n = 0; n < filters; n += ROWS) {
                        add_products(lines + kh * size + c, offsets, errors + n, step, pairs,
                            odt_min(ROWS, filters - n), a->dw + (from + n) * filter + kh * length + c, filter,
                            length - c, is_first);
                    }
                }
            }
        }
    } while (odt_next_tile(&w, &next));
    free(scratch);
    return 1;
}

int odt_correlate_dw_i8__x86(const odt_correlation_dw_t *a) {
    return odt_correlate_dw_dot_i8__x86(a) || correlate_dw_in_pairs(a);
}

#endif
