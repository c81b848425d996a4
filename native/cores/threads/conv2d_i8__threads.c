// Products of int8 matrices (correlate.h) on two cores. Channels are split if they divide evenly, because each core
// then packs its own filters; otherwise images, rows of an image, or positions of a row are split. For a small gradient
// of filters, images are split.

#include "../correlate.h"
#include "../../fixed.h"

#ifdef ODT_THREADS

#include <stddef.h>

enum { ROWS = 4, SUMS = 128 }; // rows of a panel; words of a gradient that fits the stack twice

static void correlate_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    odt_correlation_t a = *(const odt_correlation_t *)arguments;
    a.w += first * a.w_n;
    a.bias = a.bias ? a.bias + first : NULL;
    a.q += first * a.q_step;
    a.y += first * odt_apart(&a);
    a.N = stop - first;
    a.peak = peak;
    odt_correlate_part_i8(&a);
}

static void correlate_images(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    odt_correlation_t a = *(const odt_correlation_t *)arguments;
    a.x += first * a.H * a.W * odt_pixel(a.C, a.x_skip);
    a.y += first * a.y_b;
    a.B = stop - first;
    a.peak = peak;
    odt_correlate_part_i8(&a);
}

static void correlate_rows(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    odt_correlation_t a = *(const odt_correlation_t *)arguments;
    a.top -= first * a.SH;
    a.y += first * a.y_oh;
    a.OH = stop - first;
    a.peak = peak;
    odt_correlate_part_i8(&a);
}

// For a matrix product, x [W, C].
static void correlate_positions(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    odt_correlation_t a = *(const odt_correlation_t *)arguments;
    a.x += first * odt_pixel(a.C, a.x_skip);
    a.y += first * a.y_ow;
    a.W = a.OW = stop - first;
    a.peak = peak;
    odt_correlate_part_i8(&a);
}

void odt_correlate_i8(const odt_correlation_t *given) {
    if (!odt_has_parts()) {
        odt_correlate_part_i8(given);
        return;
    }
    odt_correlation_t a = *given;
    int32_t panels = (a.N + ROWS - 1) / ROWS;
    if (a.N >= 2 * ROWS && (panels % 2 == 0 || panels > ROWS)) {
        odt_split(correlate_channels, &a, a.N, ROWS, a.peak);
    } else if (a.B > 1) {
        odt_split(correlate_images, &a, a.B, 1, a.peak);
    } else if (odt_is_pointwise(&a) && (a.OH == 1 || a.y_oh == a.OW * a.y_ow)) {
        a.W = a.OW = a.OH * a.OW;
        a.H = a.OH = 1;
        odt_split(correlate_positions, &a, a.OW, 1, a.peak);
    } else {
        odt_split(correlate_rows, &a, a.OH, 1, a.peak);
    }
}

static void correlate_dw_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    odt_correlation_dw_t a = *(const odt_correlation_dw_t *)arguments;
    (void)peak;
    a.dw += first * a.KH * a.KW * a.C;
    a.e += first;
    a.N = stop - first;
    odt_correlate_dw_part_i8(&a);
}

// The sums of the second half of the images; they are added at the end.
typedef struct {
    const odt_correlation_dw_t *a;
    int32_t sums[SUMS];
} of_images_t;

static void correlate_dw_images(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    of_images_t *of = (of_images_t *)arguments;
    odt_correlation_dw_t a = *of->a;
    (void)peak;
    a.dw = first ? of->sums : a.dw;
    a.e += first * a.OH * a.OW * a.e_step;
    a.x += first * a.H * a.W * odt_pixel(a.C, a.x_skip);
    a.B = stop - first;
    odt_correlate_dw_part_i8(&a);
}

void odt_correlate_dw_i8(const odt_correlation_dw_t *a) {
    int32_t words = a->N * a->KH * a->KW * a->C;
    if (!odt_has_parts()) {
        odt_correlate_dw_part_i8(a);
    } else if (a->B > 1 && words <= SUMS) { // each core then gathers its own windows
        of_images_t of = {.a = a};
        odt_split(correlate_dw_images, &of, a->B, 1, NULL);
        for (int32_t i = 0; i < words; i++) {
            a->dw[i] = odt_wrap_add(a->dw[i], of.sums[i]);
        }
    } else {
        odt_split(correlate_dw_channels, a, a->N, ROWS, NULL);
    }
}

#endif
