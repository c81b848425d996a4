// Softmax of rows [M, N] and its gradient, which needs only y, int8.

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "../../cores/m0/softmax__rp2040.h"

void odt_softmax_dx_i8(const odt_softmax_dx_i8_t *a) {
    int32_t N = a->N;
    odt_multiplier_t q = odt_checked(a->q);
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *e = a->e + m * N, *y = a->y + m * N;
        int8_t *dx = a->dx + m * N;
        uint32_t mean = 0; // of e, in 1/256; it wraps
        for (int32_t i = 0; i < N; i++) {
            mean += (uint32_t)(e[i] * (y[i] + 128));
        }
        for (int32_t i = 0; i < N; i++) {
            uint32_t v = (uint32_t)(y[i] + 128) * ((uint32_t)(256 * e[i]) - mean);
            dx[i] = odt_output(&outputs, odt_rescaled((int32_t)v, q));
        }
    }
    *a->peak = outputs.peak;
}

ODT_BESIDE_ASSEMBLY

#if !ODT_SMALL
#define KEPT 16 // outputs of a row whose powers are kept for the second pass
#endif

// exp(-v) for v in steps.
static uint32_t power(int32_t v, const odt_multiplier_t *q) {
    return odt_exp2n(ODT_SMALL ? odt_rescaled(v * 65536, *q) : odt_rescaled_byte(v, q));
}

#if !ODT_M0

enum { MANY = 128 }; // the most outputs of a row

// Whether 32 bits are enough for odt_rescaled_byte().
static int is_short(const odt_multiplier_t *q) {
    return q->s >= 25 && q->s <= 55 && ((uint32_t)q->m & 0x8000007F) == 0;
}

// odt_exp2n(odt_rescaled_byte(top - x, q)) of a row; returns their sum.
static uint32_t list_powers(const int8_t *x, const int8_t *end, int32_t top, const odt_multiplier_t *q, uint32_t *to) {
    uint32_t factor = (uint32_t)q->m >> 7, shift = (uint32_t)q->s - 24, sum = 0;
    while (x != end) {
        uint32_t t = (((uint32_t)(top - *x++) * factor >> shift) + 1) >> 1, n = t >> 16, f = t & 65535, r = 0;
        if (n <= 16) {
            r = 3491 - (449 * f >> 16);
            r = 15696 - (r * f >> 16);
            r = 45421 - (r * f >> 16);
            r = 65536 - (r * f >> 16);
            r = (r + (1u << n >> 1)) >> n;
        }
        *to++ = r;
        sum += r;
    }
    return sum;
}

// Rows whose powers are all kept.
static void softmax_rows(const odt_softmax_i8_t *a, const odt_multiplier_t *q) {
    const int8_t *x = a->x;
    int8_t *y = a->y;
    uint32_t powers[MANY];
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *end = x + a->N;
        int32_t top = -128;
        for (const int8_t *from = x; from != end; from++) {
            top = odt_max(top, *from);
        }
        uint32_t sum = list_powers(x, end, top, q, powers);
        const uint32_t *p = powers;
        for (; x != end; x++) {
            *y++ = (int8_t)odt_min((int32_t)((512 * *p++ + sum) / (2 * sum)) - 128, 127);
        }
    }
}

#endif

void odt_softmax_i8(const odt_softmax_i8_t *a) {
    uint32_t scale = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx));
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(scale, ODT_LOG2E));
    int32_t N = a->N;
    #if ODT_RP2040
    odt_softmax_t rows;
    if (a->M > 0 && odt_begin_softmax(&rows, N, &q, 512, -128)) {
        odt_softmax_rows(&rows, a->x, a->y, a->M);
        return;
    }
    #endif
    #if !ODT_M0
    if (N <= MANY && is_short(&q)) {
        softmax_rows(a, &q);
        return;
    }
    #endif
    for (int32_t m = 0; m < a->M; m++) {
        const int8_t *x = a->x + m * N;
        int8_t *y = a->y + m * N;
        int32_t top = -128;
        for (int32_t i = 0; i < N; i++) {
            top = odt_max(top, x[i]);
        }
        uint32_t sum = 0;
        #ifdef KEPT
        uint32_t powers[KEPT];
        #endif
        for (int32_t i = 0; i < N; i++) {
            uint32_t p = power(top - x[i], &q);
            sum += p;
            sum = sum < 1u << 30 ? sum : 1u << 30;
            #ifdef KEPT
            if (i < KEPT) {
                powers[i] = p;
            }
            #endif
        }
        for (int32_t i = 0; i < N; i++) {
            #ifdef KEPT
            uint32_t p = i < KEPT ? powers[i] : power(top - x[i], &q);
            #else
            uint32_t p = power(top - x[i], &q);
            #endif
            y[i] = (int8_t)odt_min((int32_t)odt_divide(512 * p + sum, 2 * sum) - 128, 127);
        }
    }
}
