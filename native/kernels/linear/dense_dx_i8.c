// Dense layers, int8: the gradient of the input. w is [N, K], e [M, N], dx [M, K].

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "../../common/inner_i8.h"
#include "../../cores/correlate.h"

#if ODT_PANEL && !ODT_SMALL

#if ODT_M4

#include "../../cores/m4/dense_dx_i8__m4.h"

#else

#if ODT_M0

#include "../../cores/m0/sum_columns_i8__m0.h"

typedef odt_listed_t error_t;

static inline void sum_columns(
    int32_t *sums, const int32_t *sums_end, const error_t *list, const error_t *end, const int8_t *w) {
    odt_columns_t c = {.sums = sums, .list = list, .end = end, .w = w,
        .fours = (int32_t)((const char *)sums_end - (const char *)sums), .rows = 1};
    odt_sum_columns(&c);
}

#else

// An error, and the address of its row of weights.
typedef struct {
    int32_t offset, e;
} error_t;

#endif

#if ODT_M0

static inline error_t *list_errors(error_t *list, const int8_t *e, int32_t N, int32_t K) {
    odt_scan_t scan = {.step = 1, .apart = K, .count = N, .rows = 1, .images = 1};
    return odt_list_errors(list, e, 0, &scan);
}

#else

static error_t *list_errors(error_t *list, const int8_t *e, int32_t N, int32_t K) {
    for (int32_t n = 0, offset = 0; n < N; n++, offset += K) {
        if (e[n]) {
            list->offset = offset;
            list->e = e[n];
            list++;
        }
    }
    return list;
}

#endif

static error_t *list_wide(error_t *list, const int16_t *e, int32_t N, int32_t K) {
    for (int32_t n = 0, offset = 0; n < N; n++, offset += K) {
        if (e[n]) {
            list->offset = offset;
            list->e = e[n];
            list++;
        }
    }
    return list;
}

static inline int32_t sum_column(const error_t *list, const error_t *end, const int8_t *w, int32_t sum) {
    for (; list != end; list++) {
        sum = odt_wrap_add(sum, list->e * w[list->offset]);
    }
    return sum;
}

#if !ODT_M0

static __attribute__((noinline)) void sum_columns(
    int32_t *sums, const int32_t *sums_end, const error_t *list, const error_t *end, const int8_t *w) {
    for (; sums != sums_end; sums += 4, w += 4) {
        int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
        for (const error_t *at = list; at != end; at++) {
            const int8_t *from = w + at->offset;
            int32_t e = at->e;
            s0 = odt_wrap_add(s0, e * from[0]);
            s1 = odt_wrap_add(s1, e * from[1]);
            s2 = odt_wrap_add(s2, e * from[2]);
            s3 = odt_wrap_add(s3, e * from[3]);
        }
        sums[0] = s0;
        sums[1] = s1;
        sums[2] = s2;
        sums[3] = s3;
    }
}

#endif

#endif

enum {
    LIST = 48,
    ERRORS = ODT_M4 ? 2 * LIST : LIST, // in a list
    SUMS = 128, // at a time; a multiple of 4
};

// Converts the sums of a sample to outputs.
static void finish_dense_dx(int32_t *sums, int32_t count, const odt_multiplier_t *q, int8_t *dx, int32_t *peak) {
    #if ODT_M0
    odt_finish_errors_i8(sums, q, count, dx, peak);
    #else
    int32_t i = 0;
    #if ODT_M4
    i = finish_fours(sums, count, q, dx, peak);
    #endif
    odt_rescaler_t r = odt_rescaler(odt_checked(q));
    odt_outputs_t o = odt_outputs_from(0, -127, *peak);
    for (; i < count; i++) {
        dx[i] = odt_output(&o, odt_rescale_by(&r, sums[i]));
    }
    *peak = o.peak;
    #endif
}

#if ODT_M0

#include "../../cores/m0/dense_dx_i8__m0.inc"

#else

// Whether samples have a single error, within the limits of dense_dx_narrow().
static int is_narrow(const odt_dense_dx_i8_t *a) {
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    return a->N == 1 && a->K > 0 && odt_is_within(&q, 15);
}

// The largest and the smallest of K > 0 weights.
static void find_range(const int8_t *w, int32_t K, int32_t *most, int32_t *least) {
    const int8_t *end = w + K;
    #if ODT_M4
    if (K >= 4) {
        uint32_t high = odt_word(end - 4), low = high; // some are met twice
        for (const int8_t *whole = w + (K & ~3); w != whole; w += 4) {
            uint32_t word = odt_word(w);
            high = odt_larger_bytes(high, word);
            low = odt_smaller_bytes(low, word);
        }
        high = odt_larger_bytes(high, high >> 16 | high << 16);
        low = odt_smaller_bytes(low, low >> 16 | low << 16);
        *most = odt_max((int8_t)high, (int8_t)(high >> 8));
        *least = odt_min((int8_t)low, (int8_t)(low >> 8));
        return;
    }
    #endif
    *most = -128;
    *least = 127;
    for (; w != end; w++) {
        *most = odt_max(*most, *w);
        *least = odt_min(*least, *w);
    }
}

// For one error per sample. The largest and the smallest weight show whether an output is clamped, and give the peak.
static __attribute__((noinline)) void dense_dx_narrow(const odt_dense_dx_i8_t *a) {
    const odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    int32_t most, least, K = a->K;
    find_range(a->w, K, &most, &least);
    for (int32_t m = 0; m < a->M; m++) {
        int32_t e = a->e[m], first = odt_rescale_within(q, e * most), last = odt_rescale_within(q, e * least);
        int32_t factor = (int32_t)((uint32_t)e << q.up), multiplier = q.q.m, shift = q.shift, half = q.half;
        int8_t *dx = a->dx + m * K, *end = dx + K;
        const int8_t *w = a->w;
        odt_poll();
        (void)odt_output(&outputs, first);
        (void)odt_output(&outputs, last);
        if (odt_max(first, last) > 127 || odt_min(first, last) < -127) {
            while (dx != end) {
                *dx++ = odt_output(&outputs, odt_rescale_within(q, e * *w++));
            }
        }
        #if ODT_M4
        int32_t fours = rescale_fours(dx, w, (int32_t)(end - dx), e, q.q);
        dx += fours;
        w += fours;
        #endif
        #pragma GCC unroll 4
        while (dx != end) {
            *dx++ = (int8_t)(odt_add_upper(half, *w++ * factor, multiplier) >> shift);
        }
    }
    *a->peak = outputs.peak;
}

#endif

void odt_add_columns_i8(int32_t *sums, const int16_t *e, const int8_t *w, int32_t N, int32_t K) {
    error_t list[LIST];
    for (int32_t n = 0; n < N; n += ERRORS, w += ERRORS * K) {
        const error_t *end = list_wide(list, e + n, odt_min(N - n, ERRORS), K);
        int32_t k = K & ~3;
        if (k && end != list) {
            sum_columns(sums, sums + k, list, end, w);
        }
        for (; k < K; k++) {
            sums[k] = sum_column(list, end, w + k, sums[k]);
        }
    }
}

// Sample by sample, from one nonzero error to the next.
#if ODT_M0
ODT_COMPACT
#endif
static void dense_dx_by_errors(const odt_dense_dx_i8_t *a) {
    error_t list[LIST];
    int32_t sums[SUMS], K = a->K, N = a->N, peak = *a->peak;
    for (int32_t m = 0; m < a->M; m++) {
        for (int32_t k = 0; k < K; k += SUMS) {
            int32_t count = odt_min(K - k, SUMS);
            odt_poll();
            memset(sums, 0, (size_t)count * sizeof(*sums));
            if (K == 1) {
                sums[0] = odt_dot_i8(a->e + m * N, a->w, N);
            }
            for (int32_t n = 0; n < N && K > 1; n += ERRORS) {
                const int8_t *w = a->w + n * K + k;
                const error_t *end = list_errors(list, a->e + m * N + n, odt_min(N - n, ERRORS), K);
                int32_t i = count & ~3;
                if (i && end != list) {
                    sum_columns(sums, sums + i, list, end, w);
                }
                for (; i < count; i++) {
                    sums[i] = sum_column(list, end, w + i, sums[i]);
                }
            }
            finish_dense_dx(sums, count, a->q, a->dx + m * K + k, &peak);
        }
    }
    *a->peak = peak;
}

#endif

#if ODT_M0
ODT_COMPACT
#endif
void odt_dense_dx_i8(const odt_dense_dx_i8_t *a) {
    #if ODT_PANEL && !ODT_SMALL
    if (is_narrow(a)) {
        dense_dx_narrow(a);
        return;
    }
    #endif
    int32_t samples = ODT_MANY_ERRORS;
    #if ODT_M0 && !ODT_SMALL
    // Of fewer inputs for a sample, to pack the weights takes no longer.
    int is_turned = a->M > 2 && a->M <= odt_min(a->K / 2, ODT_TURNED_SAMPLES) && a->N <= ODT_TURNED_ERRORS;
    if (is_turned) {
        int32_t more = ((a->M + 3) & -4) * (ODT_TURNED_PRODUCT * a->N + ODT_TURNED_FOUR) - ODT_TURNED_SAMPLE * a->M;
        for (int32_t i = a->M * a->N; i > 0; i -= ODT_TURNED_STEP) {
            more -= a->e[i - 1] ? ODT_TURNED_ERROR * ODT_TURNED_STEP : 0;
        }
        samples = more < 0 ? 0 : ODT_TURNED_SAMPLES + 1;
    }
    #endif
    if (odt_has_products() && a->M >= samples) {
        odt_correlation_t c = {.x = a->e, .w = a->w, .q = a->q, .y = a->dx, .peak = a->peak,
            .B = 1, .H = 1, .W = a->M, .C = a->N, .N = a->K, .KH = 1, .KW = 1, .SH = 1, .SW = 1, .OH = 1,
            .OW = a->M, .lo = -127, .w_n = 1, .w_c = a->K, .y_ow = a->K};
        #if ODT_M0 && !ODT_SMALL
        if (is_turned) {
            c.x = a->w, c.w = a->e, c.N = a->M, c.W = c.OW = c.turned = a->K, c.x_skip = 1 - a->N, c.w_n = a->N;
            c.w_c = c.y_ow = 1;
        }
        #endif
        odt_correlate_i8(&c);
        return;
    }
    #if ODT_PANEL && !ODT_SMALL
    dense_dx_by_errors(a);
    #else
    int32_t M = a->M, K = a->K, N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t m = 0; m < M; m++) {
        odt_poll();
        for (int32_t k = 0; k < K; k += ODT_BLOCK) {
            int32_t block = odt_min(K - k, ODT_BLOCK);
            int32_t acc[ODT_BLOCK] = {0};
            for (int32_t n = 0; n < N; n++) {
                int32_t e = a->e[m * N + n];
                if (e) {
                    odt_axpy_i8(acc, e, a->w + n * K + k, 0, block);
                }
            }
            for (int32_t i = 0; i < block; i++) {
                a->dx[m * K + k + i] = odt_clamp(odt_rescaled(acc[i], q), 0, -127, &peak);
            }
        }
    }
    *a->peak = peak;
    #endif
}
