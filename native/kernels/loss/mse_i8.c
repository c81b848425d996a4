// Mean squared error, int8. x and e are [B, N], e may lie in x; padding rows have no error and no loss.

#include <string.h>

#include "../../core.h"
#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "targets_i8.h"

#if !ODT_SMALL

enum { ELEMENTS = 128 }; // per call; they may lie in several rows

// Errors (e points to the next) and the sum of squared differences, without the differences from d on.
typedef struct {
    odt_rescaler_t q;
    odt_outputs_t outputs;
    int32_t *d, *end;
    int8_t *e;
    uint64_t loss;
    #if ODT_M0
    int32_t minus_top, twice_top, plus; // of store_usual
    #endif
    int32_t differences[ELEMENTS];
} errors_t;

#if ODT_M0
#include "../../cores/m0/mse_i8__m0.inc"
#endif

static __attribute__((noinline)) void store_errors(errors_t *a) {
    #if ODT_M0
    int is_usual = a->q.has_short && odt_is_usual(&a->outputs);
    #endif
    a->d = a->differences;
    #if ODT_32_BIT && !ODT_M0
    if (odt_is_within(&a->q, 24)) { // a difference has at most 24 bits
        const odt_rescaler_t q = a->q;
        odt_outputs_t outputs = a->outputs;
        int64_t loss = (int64_t)a->loss;
        int8_t *e = a->e;
        for (const int32_t *d = a->d, *end = a->end; d != end; d++) {
            loss += (int64_t)*d * *d;
            *e++ = odt_output(&outputs, odt_rescale_within(q, *d));
        }
        a->loss = (uint64_t)loss;
        a->outputs = outputs;
        a->e = e;
        a->d = a->end;
    }
    #endif
    while (a->d != a->end) {
        #if ODT_M0
        if (is_usual) { // outputs of 17 bits times 24 bits are below 2^(28 - shift) + 1
            int32_t shift = a->q.shift, top = odt_min(a->outputs.top, ((1 << 28) >> shift) + 1);
            a->minus_top = -top;
            a->twice_top = 2 * top;
            a->plus = (1 << shift >> 1) + (top << shift);
            store_usual(a);
            if (a->d == a->end) {
                break;
            }
        }
        #endif
        int32_t d = *a->d++;
        uint32_t size = odt_magnitude(d);
        a->loss += size < 1u << 16 ? size * size : (uint64_t)size * size;
        *a->e++ = odt_output(&a->outputs, odt_rescale_by(&a->q, d));
    }
    a->end = a->differences;
}

#endif

void odt_mse_i8(const odt_mse_i8_t *a) {
    int32_t N = a->N;
    uint32_t sx = odt_scale(*a->sx), se = odt_scale(*a->se);
    odt_multiplier_t q = odt_multiplier(odt_scale_div(odt_scale_shift(sx, -8), se));
    odt_targets_i8_t t = odt_targets_i8(a->c, a->target, N, 8, sx);
    #if ODT_SMALL
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    uint64_t loss = 0;
    #else
    errors_t errors;
    errors.q = odt_rescaler(q);
    errors.outputs = odt_outputs_from(0, -127, *a->peak);
    errors.end = errors.differences;
    errors.e = a->e;
    errors.loss = 0;
    #endif
    *a->so = (int32_t)odt_mean_scale(odt_scale_shift(se, 1), N, a->c, a->B);
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            #if !ODT_SMALL
            store_errors(&errors);
            errors.e = a->e + (b + 1) * N;
            #endif
            memset(a->e + b * N, 0, (size_t)N);
            continue;
        }
        #if ODT_SMALL
        int8_t *e = a->e + b * N;
        for (int32_t i = 0; i < N; i++) {
            int32_t d = odt_difference_i8(&t, sample, i, x[i], a->z);
            e[i] = odt_output(&outputs, odt_rescaled(d, q));
            loss += (uint64_t)((int64_t)d * d);
        }
        #else
        for (int32_t i = 0, count; i < N; i += count) {
            count = odt_min(N - i, (int32_t)(errors.differences + ELEMENTS - errors.end));
            odt_differences_i8(&t, sample, i, x + i, count, a->z, errors.end);
            errors.end += count;
            if (errors.end == errors.differences + ELEMENTS) {
                store_errors(&errors);
            }
        }
        #endif
    }
    #if ODT_SMALL
    odt_add_loss_i8(a->c, loss);
    *a->peak = outputs.peak;
    #else
    store_errors(&errors);
    odt_add_loss_i8(a->c, errors.loss);
    *a->peak = errors.outputs.peak;
    #endif
}
