// Applies directions [N, K] to weights [N, K] and their residuals, rounded with a hash of KEY, the parameter's id and
// the element.

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/rescale.h"
#include "../../common/axis_part.h"
#include "apply_i8.h"

#if ODT_RP2040
#include "../../cores/m0/apply_i8__rp2040.h"

ODT_BESIDE_ASSEMBLY
#endif

void odt_halve_rows(int8_t *w, int8_t *r, int32_t *sw, int32_t K, int32_t first, int32_t count) {
    for (int32_t i = first * K; i < (first + count) * K; i++) {
        int32_t W = (256 * w[i] + r[i] + 1) >> 1;
        w[i] = (int8_t)((W + 128) >> 8);
        r[i] = (int8_t)(W - 256 * w[i]);
    }
    for (int32_t n = first; n < first + count; n++) {
        sw[n] = (int32_t)odt_scale_shift(odt_scale(sw[n]), 1);
    }
}

// A part of a row of apply_i8: `count` elements from d, w, r on; the first has the hash counter i.
typedef struct {
    odt_rescaler_t q;
    const int32_t *d;
    int8_t *w, *r;
    int32_t count;
    uint32_t key, i;
} apply_row_t;

enum { LIMIT = 32639 }; // (127 + 127 / 256) * 256

// Returns whether a weight was limited.
static int apply_row(const apply_row_t *row) {
    odt_rescaler_t q = row->q;
    const int32_t *d = row->d, *end = d + row->count;
    int8_t *w = row->w, *r = row->r;
    uint32_t key = row->key, i = row->i;
    int is_limited = 0;
    for (; d != end; d++, w++, r++, i++) {
        int32_t change = odt_rescale_random_by(&q, *d, odt_hash32(key, i));
        if (odt_magnitude(change) > 1 << 30) { // above any value used here
            change = change < 0 ? -(1 << 30) : 1 << 30;
        }
        int32_t W = 256 * *w + *r - change;
        if (W > LIMIT || W < -LIMIT) {
            W = W > LIMIT ? LIMIT : -LIMIT;
            is_limited = 1;
        }
        *w = (int8_t)((W + 128) >> 8);
        *r = (int8_t)(W - 256 * *w);
    }
    return is_limited;
}

#if ODT_RP2040

static int apply_row_rp2040(const apply_row_t *all) {
    apply_row_t one = *all; // for elements at which odt_apply_row() stops
    odt_apply_row_t row = {.second = ODT_HASH_SECOND, .third = ODT_HASH_THIRD, .golden = ODT_HASH_GOLDEN,
        .high = all->q.high, .low = all->q.low, .shift = all->q.shift, .rest = 32 - all->q.shift,
        .end = all->d + all->count, .d = all->d, .w = all->w, .apart = all->r - all->w,
        .u = all->key + all->i * ODT_HASH_GOLDEN};
    one.count = 1;
    while (row.d != row.end) {
        odt_apply_row(&row);
        if (row.d != row.end) {
            one.d = row.d++;
            one.i = all->i + (uint32_t)(one.d - all->d);
            one.w = row.w++;
            one.r = one.w + row.apart;
            row.is_limited |= apply_row(&one);
            row.u += ODT_HASH_GOLDEN;
        }
    }
    return row.is_limited != 0;
}

#endif

void odt_apply_i8(const odt_apply_i8_t *a) {
    int32_t K = a->K;
    if (*a->rate == 0 || !odt_within(a->at, a->R, a->N)) {
        return;
    }
    apply_row_t row = {.d = a->d, .w = a->w + a->at * K, .r = a->r + a->at * K, .count = K,
        .key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), .i = (uint32_t)a->at * (uint32_t)K};
    uint32_t rate = odt_scale(*a->rate), ds_before = 0, sw_before = 0; // 0 is not a scale
    int32_t is_limited = a->common && a->at ? *a->limited != 0 : 0;
    for (int32_t n = a->at; n < a->at + a->R; n++) {
        uint32_t ds = odt_scale(a->ds[n - a->at]), sw = odt_scale(a->sw[n]);
        if (ds != ds_before || sw != sw_before) {
            uint32_t step = odt_scale_div(odt_scale_mul(rate, ds), sw);
            row.q = odt_rescaler(odt_multiplier(odt_scale_shift(step, 8)));
            ds_before = ds;
            sw_before = sw;
        }
        #if ODT_RP2040
        if (row.q.has_short) {
            is_limited |= apply_row_rp2040(&row);
        } else
        #endif
        is_limited |= apply_row(&row);
        row.d += K;
        row.w += K;
        row.r += K;
        row.i += (uint32_t)K;
        if (is_limited && !a->common) {
            odt_halve_rows(a->w, a->r, a->sw, K, n, 1);
            is_limited = 0;
        }
    }
    if (is_limited && a->at + a->R == a->N) {
        odt_halve_rows(a->w, a->r, a->sw, a->K, 0, a->N);
        is_limited = 0;
    }
    *a->limited = is_limited;
}

void odt_settle_i8(const odt_settle_i8_t *a) {
    if (*a->limited) {
        odt_halve_rows(a->w, a->r, a->sw, a->K, 0, a->N);
    }
}
