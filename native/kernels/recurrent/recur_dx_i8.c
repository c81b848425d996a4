// Backpropagation through the steps of GRU, LSTM and SimpleRNN, int8. Errors on their way are int32, in 1/256 of a
// step.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "../../common/rescale.h"
#include "../../cores/correlate.h"
#include "cell_i8.h"

// A step of one sample.
typedef struct {
    const int8_t *gates, *held; // what this step has kept
    const int8_t *before; // outputs of the step before; NULL at the first
    const int8_t *y;
    odt_rescaler_t up, keep;
} step_t;

// Of a sigmoid's output in steps of 1/256, in Q16.
static inline int32_t slope_of(int32_t u) {
    return u * (256 - u);
}

static int32_t held_at(const step_t *s, const int8_t *held) {
    return bounded(odt_rescale_by(&s->keep, *held * 4096), 18);
}

static inline int32_t to_steps(const step_t *s, int32_t error) {
    return bounded(odt_rescale_by(&s->up, error), 22);
}

// Of 1/256 of a step, up with the probability of the lost fraction: most errors are smaller than the largest's step.
static inline int32_t round_at_random(int32_t error, uint32_t key, uint32_t at) {
    return (error + (int32_t)(odt_hash32(key, at) >> 24)) >> 8;
}

// The errors of unit j's preactivations, in 1/256 of a step; returns that of a GRU's recurrent candidate.
static int32_t step_back(const odt_recur_dx_i8_t *a, const step_t *s, int32_t j, int32_t *errors) {
    int32_t H = a->H, error = a->s[j], x = to_steps(s, error);
    int32_t *further = &a->s[2 * H + j]; // what reaches the step before without the recurrent weights
    *further = 0;
    if (a->kind == SIMPLE) {
        errors[0] = times_long(x, 16384 - s->y[j] * s->y[j], 14);
        return 0;
    }
    const int8_t *gates = s->gates + j;
    int32_t held = held_at(s, s->held + j), g = gates[2 * H];
    if (a->kind == GRU) {
        int32_t z = gates[0] + 128, r = gates[H] + 128, before = s->before ? s->before[j] : 0;
        int32_t candidate = times_long(times(x, 256 - z, 8), 16384 - g * g, 14);
        *further = times(error, z, 8);
        errors[0] = times_long(times(x, before - g, 7), slope_of(z), 16);
        errors[1] = times_long(times_long(candidate, slope_of(r), 16), held, 12);
        errors[2] = candidate;
        return times(candidate, r, 8);
    }
    int32_t i = gates[0] + 128, f = gates[H] + 128, o = gates[3 * H] + 128;
    int32_t curve = curve_of_cell(bounded(held, 16)), *carried = &a->s[H + j];
    int32_t cell = bounded(*carried + times_long(times(error, o, 8), 16384 - ((curve * curve) >> 14), 14), 23);
    int32_t c = to_steps(s, cell), earlier = s->before ? held_at(s, s->held + j - H) : 0;
    *carried = times(cell, f, 8);
    errors[0] = times_long(times(c, g, 7), slope_of(i), 16);
    errors[1] = times_long(times_long(c, earlier, 12), slope_of(f), 16);
    errors[2] = times_long(times(c, i, 8), 16384 - g * g, 14);
    errors[3] = times_long(times_long(x, curve, 14), slope_of(o), 16);
    return 0;
}

// In 1/64 of a step, as it passes to the step before: in int8 it would be rounded in each.
static inline int16_t to_fine(int32_t error) {
    return (int16_t)odt_limit(error >> 2, -8191, 8191);
}

// Sums of the errors that reach the outputs of the step before.
static void sum_back(const odt_recur_dx_i8_t *a) {
    int32_t H = a->H, *sums = a->s;
    odt_rescaler_t back = odt_rescaler(odt_checked(a->qr));
    memset(sums, 0, (size_t)H * sizeof(int32_t));
    #if ODT_PANEL && !ODT_SMALL
    odt_add_columns_i8(sums, a->d, a->w, a->G, H);
    #else
    for (int32_t n = 0; n < a->G; n++) {
        int32_t e = a->d[n];
        const int8_t *w = a->w + n * H;
        for (int32_t k = 0; k < H && e; k++) {
            sums[k] = odt_wrap_add(sums[k], e * w[k]);
        }
    }
    #endif
    for (int32_t k = 0; k < H; k++) {
        sums[k] = bounded(sums[2 * H + k] + bounded(odt_rescale_by(&back, sums[k]), 23), 23);
    }
}

void odt_recur_dx_i8(const odt_recur_dx_i8_t *a) {
    int32_t H = a->H, G = a->G, T = a->T, peak = *a->peak;
    int32_t count = gates_of_dx(a->kind, G, H, T, a->R, a->K, a->E);
    uint32_t key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    step_t s = {.up = odt_rescaler(odt_checked(a->qe)), .keep = odt_rescaler(odt_checked(a->qu))};
    for (int32_t b = 0; b < a->B && count; b++) {
        memset(a->s, 0, 3 * (size_t)H * sizeof(int32_t));
        for (int32_t t = T - 1; t >= 0; t--) {
            int32_t at = b * T + t, given = t - (T - a->R);
            int8_t *dx = a->dx + at * G, *before = a->p + at * H, *other = a->kind == GRU ? a->n + at * H : a->n;
            uint32_t first =
                (((uint32_t)a->c[ODT_POSITION] + (uint32_t)b) * (uint32_t)T + (uint32_t)t) * (uint32_t)(G + H);
            odt_poll();
            s.y = a->y + at * H;
            s.before = t ? s.y - H : NULL;
            s.gates = a->v + (b * a->K + t) * G;
            s.held = a->u + (b * a->K + t) * H;
            for (int32_t j = 0; j < H && given >= 0; j++) {
                a->s[j] = bounded(a->s[j] + a->e[(b * a->R + given) * H + j] * 256, 23);
            }
            for (int32_t j = 0; j < H; j++) {
                int32_t errors[MOST], candidate = step_back(a, &s, j, errors);
                before[j] = t ? s.before[j] : 0;
                for (int32_t n = 0; n < count; n++) {
                    a->d[n * H + j] = to_fine(errors[n]);
                    dx[n * H + j] =
                        odt_clamp(round_at_random(errors[n], key, first + (uint32_t)(n * H + j)), 0, -127, &peak);
                }
                if (a->kind == GRU) {
                    a->d[2 * H + j] = to_fine(candidate);
                    other[j] = (int8_t)odt_limit(round_at_random(candidate, key, first + (uint32_t)(G + j)), -127, 127);
                }
            }
            if (t) {
                sum_back(a);
            }
        }
    }
    *a->peak = peak;
}
