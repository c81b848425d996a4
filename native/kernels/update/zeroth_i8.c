// Zeroth-order training, int8: moves weights [N, K] along z and back, and applies the step along z. Only the step
// changes the residuals [N, K].

#include "../../fixed.h"
#include "../../opcodes.h"
#include "apply_i8.h"
#include "zeroth.h"

enum { MOST_STEPS = 31, LIMIT = 32639, FAR = 1 << 30 };

static int32_t steps(int32_t epsilon, int32_t sw) {
    return odt_limit(odt_rescaled(1, odt_multiplier(odt_scale_div(odt_scale(epsilon), odt_scale(sw)))), 1, MOST_STEPS);
}

void odt_room_i8(const odt_room_i8_t *a) {
    if (!odt_moving(a->c)) {
        return;
    }
    for (int32_t n = 0; n < a->N; n++) {
        int32_t most = 127 - steps(a->epsilon, a->sw[n]), is_full = 0;
        const int8_t *w = a->w + n * a->K;
        for (const int8_t *end = w + a->K; w != end; w++) {
            is_full |= (uint32_t)(*w + most) > 2 * (uint32_t)most;
        }
        if (is_full && a->common) {
            odt_halve_rows(a->w, a->r, a->sw, a->K, 0, a->N);
            return;
        }
        if (is_full) {
            odt_halve_rows(a->w, a->r, a->sw, a->K, n, 1);
        }
    }
}

// Moves up to 16 weights. The word has two bits per weight, the first weight's lowest. Bit 0: it moves; bit 1:
// downwards.
static void move(int8_t *w, int32_t count, uint32_t word, int32_t step) {
    for (int8_t *end = w + count; w != end; w++, word >>= 2) {
        if (word & 1) {
            *w = (int8_t)(word & 2 ? *w - step : *w + step);
        }
    }
}

void odt_perturb_i8(const odt_perturb_i8_t *a) {
    if (!odt_moving(a->c)) {
        return;
    }
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), word = 0;
    int32_t left = 0, count; // directions left in the word
    int8_t *w = a->w;
    uint32_t i = 0;
    for (int32_t n = 0; n < a->N; n++) {
        int32_t step = steps(a->epsilon, a->sw[n]);
        step = a->back ? -step : step;
        for (int32_t rest = a->K; rest; rest -= count) {
            if (!left) {
                word = odt_hash32(key, i++);
                left = 16;
            }
            count = odt_min(left, rest);
            move(w, count, word, step);
            w += count;
            left -= count;
            word = left ? word >> 2 * count : 0;
        }
    }
}

void odt_perturb_i32(const odt_perturb_i32_t *a) {
    if (!odt_moving(a->c)) {
        return;
    }
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), word = 0;
    for (int32_t n = 0; n < a->N; n++) {
        a->b[n] = odt_wrap_add(a->b[n], odt_wrap_mul(odt_direction(key, (uint32_t)n, &word), a->epsilon));
    }
}

// odt_rescaled_random(z, q, u), where z is 1 or -1.
static int32_t change(int32_t z, const odt_multiplier_t *q, uint32_t u) {
    int32_t s = q->s;
    if (s > 31) {
        return odt_rescaled_random(z, *q, u);
    }
    uint32_t low = (uint32_t)q->m & ((1u << s) - 1), dither = u >> (32 - s);
    return z > 0 ? (q->m >> s) + (int32_t)((low + dither) >> s) : -(q->m >> s) - (low > dither);
}

void odt_walk_i8(const odt_walk_i8_t *a) {
    if (!a->g[0]) {
        return;
    }
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), i = 0, word = 0;
    uint32_t g = odt_scale(a->g[0]), rounding = odt_rounding(key);
    int32_t sign = a->g[1] > 0 ? 1 : -1, is_limited = 0;
    for (int32_t n = 0; n < a->N; n++) {
        odt_multiplier_t q = odt_multiplier(odt_scale_shift(odt_scale_div(g, odt_scale(a->sw[n])), 8));
        for (int32_t k = 0; k < a->K; k++, i++) {
            int32_t z = odt_direction(key, i, &word) * sign;
            if (!z) {
                continue;
            }
            int32_t W = 256 * a->w[i] + a->r[i];
            W -= odt_limit(change(z, &q, odt_hash32(rounding, i)), -FAR, FAR); // above any value used here
            if (W > LIMIT || W < -LIMIT) {
                W = W > LIMIT ? LIMIT : -LIMIT;
                is_limited = 1;
            }
            a->w[i] = (int8_t)((W + 128) >> 8);
            a->r[i] = (int8_t)(W - 256 * a->w[i]);
        }
        if (is_limited && !a->common) {
            odt_halve_rows(a->w, a->r, a->sw, a->K, n, 1);
            is_limited = 0;
        }
    }
    if (is_limited) {
        odt_halve_rows(a->w, a->r, a->sw, a->K, 0, a->N);
    }
}

void odt_walk_i32(const odt_walk_i32_t *a) {
    if (!a->g[0]) {
        return;
    }
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), rounding = odt_rounding(key), word = 0;
    odt_multiplier_t q = odt_multiplier(odt_scale_shift(odt_scale(a->g[0]), 20));
    for (int32_t n = 0; n < a->N; n++) {
        int32_t z = odt_direction(key, (uint32_t)n, &word) * (a->g[1] > 0 ? 1 : -1);
        if (!z) {
            continue;
        }
        int64_t b = (int64_t)a->b[n] - odt_rescaled_random(z, q, odt_hash32(rounding, (uint32_t)n));
        a->b[n] = b > FAR ? FAR : b < -FAR ? -FAR : (int32_t)b;
    }
}
