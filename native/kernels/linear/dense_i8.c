// Dense layers, int8: the forward pass. x is [M, K], w [N, K], y [M, N].

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/inner_i8.h"
#include "../../common/rescale.h"
#include "../../cores/correlate.h"
#include "../../cores/panel/dense_i8__c.h"
#include "../../cores/m0/dense_i8__m0.h"
#include "../../cores/m4/dense_i8__m4.h"
#include "../../cores/x86/dense_i8__x86.h"

#if ODT_PANEL && !ODT_M4

enum { AT_ONCE = ODT_SMALL ? 4 : 32 }; // outputs of a sample

// Converts sums to `count` outputs; returns the peak.
static int32_t finish_dense(const int32_t *sums, int32_t count, const int32_t *bias, const odt_multiplier_t *q,
    int32_t zy, int32_t lo, int32_t peak, int8_t *y) {
    for (int32_t i = 0; i < count; i++) {
        #if ODT_M0 && !ODT_SMALL
        if (count >= ODT_FEW_OUTPUTS) { // the loop takes longer to begin than fewer outputs do
            int is_cut = lo == zy;
            finish_t f = {.sums = sums + i,
                .bias = (int32_t)((const char *)bias - (const char *)sums),
                .q = q + i,
                .y = y + i,
                .end = sums + count,
                .top = odt_min(peak, odt_wrap_sub(127, zy)),
                .zy = zy,
                .least = is_cut ? lo : lo + LEAST,
                .bottom = is_cut ? 0 : odt_max(odt_wrap_sub(0, peak), odt_wrap_sub(lo, zy))};
            i = (int32_t)(finish_usual(&f) - sums);
            peak = odt_max(peak, is_cut ? f.top : odt_max(f.top, -f.bottom));
            if (i == count) {
                break;
            }
        }
        #endif
        int32_t v = odt_rescale_once(odt_wrap_add(bias[i], sums[i]), &q[i]);
        if (v < 0 && lo == zy) { // both branches equal odt_clamp_by(), which is slower
            y[i] = (int8_t)lo;
        } else if (v >= 0 && v <= peak && v <= odt_wrap_sub(127, zy)) {
            y[i] = (int8_t)(v + zy);
        } else {
            y[i] = odt_clamp_by(v, zy, lo, &peak);
        }
    }
    return peak;
}

#endif

#if ODT_M0
ODT_COMPACT
#endif
void odt_dense_i8(const odt_dense_i8_t *a) {
    // Run as a convolution of one row of M pixels with filters of one tap.
    if (odt_has_products() && a->M >= ODT_MANY_ROWS) {
        odt_correlation_t c = {.x = a->x, .w = a->w, .bias = a->b, .q = a->q, .y = a->y, .peak = a->peak,
            .B = 1, .H = 1, .W = a->M, .C = a->K, .N = a->N, .KH = 1, .KW = 1, .SH = 1, .SW = 1, .OH = 1,
            .OW = a->M, .zx = a->zx, .zy = a->zy, .lo = a->lo, .w_n = a->K, .w_c = 1, .y_ow = a->N,
            .q_step = 1};
        odt_correlate_i8(&c);
        return;
    }
    #if ODT_HAS_VNNI
    if (odt_dense_dot_i8__x86(a)) {
        return;
    }
    #endif
    int32_t M = a->M, K = a->K, N = a->N, peak = *a->peak, n = 0;
    #if ODT_M4
    n = odt_dense_i8__m4(a, &peak);
    #elif ODT_PANEL
    int32_t last = ODT_SMALL ? N & 3 : N < ODT_FEW_OUTPUTS ? N : 0; // channels left over from groups of four
    for (int32_t m = 0; m < M; m++) {
        #if ODT_M0 && !ODT_SMALL
        if (last) {
            int32_t sums[ODT_FEW_OUTPUTS];
            for (n = 0; n < N; n++) {
                sums[n] = dot_one(a->x + m * K, a->w + n * K, K, a->zx);
            }
            peak = finish_dense(sums, N, a->b, a->q, a->zy, a->lo, peak, a->y + m * N);
            continue;
        }
        #endif
        for (n = 0; n < N - last; n += AT_ONCE) {
            int32_t sums[AT_ONCE], from = ODT_SMALL ? n : odt_min(n, N - 4),
                                   count = ODT_SMALL ? 4 : odt_min(N - from, AT_ONCE);
            if (!ODT_SMALL && count % 4) { // the last four channels; some are computed twice
                odt_dot4_i8(a->x + m * K, a->w + (from + count - 4) * K, K, K, a->zx, sums + count - 4, 1);
            }
            odt_dot4_i8(a->x + m * K, a->w + from * K, K, K, a->zx, sums, count / 4);
            peak = finish_dense(sums, count, a->b + from, a->q + from, a->zy, a->lo, peak, a->y + m * N + from);
        }
    }
    #endif
    for (; n < N && !(ODT_M0 && !ODT_SMALL); n++) {
        const int8_t *w = a->w + n * K;
        odt_multiplier_t q = odt_checked(&a->q[n]);
        int32_t bias = a->b[n];
        if (a->zx) {
            bias = odt_wrap_sub(bias, odt_wrap_mul(a->zx, odt_sum_i8(w, K)));
        }
        for (int32_t m = 0; m < M; m++) {
            int32_t v = odt_rescaled(odt_wrap_add(bias, odt_dot_i8(a->x + m * K, w, K)), q);
            a->y[m * N + n] = odt_clamp(v, a->zy, a->lo, &peak);
        }
    }
    *a->peak = peak;
}
