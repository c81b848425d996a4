// Functions that conv2d_i8__m4.c and conv2d_dx_i8__m4.c share.

#ifndef ODT_CONV2D_I8_M4_H
#define ODT_CONV2D_I8_M4_H

#include "../../core.h"
#include "../correlate.h"
#include "../../fixed.h"
#include "rows_i8__m4.h"

// The gradient of the input: zx = 0, no bias, one q for all channels, and filters with adjacent channels (w_n = 1).
// Updates `bounds` like odt_finish_rows().
void odt_correlate_dx_i8(const odt_correlation_t *a, int32_t *bounds);

// Packs depths from .. to - 1, counted from column kw of row kh on, of filters n .. n + 3 (the last is repeated) of
// such a gradient, padded with zeros to a multiple of four.
void odt_pack_dx_i8(const odt_correlation_t *a, int32_t n, int32_t kh, int32_t kw, int32_t from, int32_t to,
    int16_t *panel);

// The forward pass, for outputs of at most ODT_FEW_DEPTH products, if odt_is_few(). Updates `bounds`.
int odt_is_few(const odt_correlation_t *a);
void odt_correlate_few_i8(const odt_correlation_t *a, int32_t *bounds);

// The first of the four filters of a group.
static inline int32_t odt_first_of(const odt_correlation_t *a, int32_t group) {
    return odt_max(odt_min(group * 4, a->N - 4), 0);
}

// Convolutions with a single filter, if odt_is_one(). Updates `bounds`.
#if ODT_MPY
static inline int odt_is_one(const odt_correlation_t *a) {
    (void)a;
    return 0;
}

static inline void odt_correlate_one_i8__m4(const odt_correlation_t *a, int32_t *bounds) {
    (void)a, (void)bounds;
}
#else
int odt_is_one(const odt_correlation_t *a);
void odt_correlate_one_i8__m4(const odt_correlation_t *a, int32_t *bounds);
#endif

// The same for either, by tiles, if odt_is_tile(). Updates `bounds`.
#if ODT_MPY
static inline int odt_is_tile(const odt_correlation_t *a) {
    (void)a;
    return 0;
}

static inline void odt_correlate_tile_i8(const odt_correlation_t *a, int32_t *bounds) {
    (void)a, (void)bounds;
}
#else
int odt_is_tile(const odt_correlation_t *a);
void odt_correlate_tile_i8(const odt_correlation_t *a, int32_t *bounds);
#endif

// About how many instructions the gradient of the input takes without tiles, if filters are one line; else INT64_MAX.
int64_t odt_cost_of_lines(const odt_correlation_t *a);

// The same for any sizes: the forward pass, and the gradient of the input.
void odt_correlate_all_i8(const odt_correlation_t *a, int32_t *bounds);
void odt_correlate_blocks_i8(const odt_correlation_t *a, int32_t *bounds);

// Like odt_finish_rows(), for any scales: sum i of row j, up to `sums` sums, belongs to filter n + j * n_row + i * (1 -
// n_row). Updates the peak.
void odt_finish_slowly(const odt_correlation_t *a, int32_t n, int32_t n_row, const odt_row_t *rows, int32_t count,
    int8_t *const *y, int32_t step, int32_t sums);

#endif
