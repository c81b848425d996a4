// Backpropagation through the steps of GRU, LSTM and SimpleRNN, int8. Errors on their way are int32, in 1/256 of a
// step.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "../../cores/correlate.h"
#include "cell_i8.h"

// A step of one sample.
typedef struct {
    const int8_t *e; // errors of its outputs, or NULL
    const int8_t *gates, *held, *earlier; // what this step has kept, and the cells that the step before has
    const int8_t *y;
    int32_t kind;
    rescaler_t up, back, keep;
} step_t;

// Of a sigmoid's output in steps of 1/256, in Q16.
static inline int32_t slope_of(int32_t u) {
    return u * (256 - u);
}

static inline int32_t held_at(const step_t *s, const int8_t *held) {
    return rescaled_within(*held * 4096, &s->keep, 18);
}

static inline int32_t to_steps(const step_t *s, int32_t error) {
    return rescaled_within(error, &s->up, 22);
}

// One for the key and for all.
#if ODT_SMALL
__attribute__((noinline))
#endif
static uint32_t hashed(uint32_t key, uint32_t at) {
    return odt_hash32(key, at);
}

// Of 1/256 of a step, up with the probability of the lost fraction: most errors are smaller than the largest's step.
static inline int32_t round_at_random(int32_t error, uint32_t key, uint32_t at) {
    return (error + (int32_t)(hashed(key, at) >> 24)) >> 8;
}

// The errors of unit j's preactivations, in 1/256 of a step, and that of a GRU's recurrent candidate.
static void step_back(const odt_recur_dx_i8_t *a, const step_t *s, int32_t j, int32_t before, int32_t *errors) {
    int32_t H = a->H, error = odt_bounded(a->s[j] + (s->e ? s->e[j] * 256 : 0), 23), x = to_steps(s, error);
    a->s[j] = error;
    int32_t *further = &a->s[2 * H + j]; // what reaches the step before without the recurrent weights
    *further = 0;
    if (s->kind == SIMPLE) {
        errors[0] = times_long(x, 16384 - s->y[j] * s->y[j], 14);
        return;
    }
    const int8_t *gates = s->gates + j;
    int32_t held = held_at(s, s->held + j), first = gates[0] + 128, second = gates[H] + 128, g = gates[2 * H];
    int32_t flat = 16384 - g * g;
    if (s->kind == GRU) {
        int32_t candidate = times_long(times(x, 256 - first, 8), flat, 14);
        *further = times(error, first, 8);
        errors[0] = times_long(times(x, before - g, 7), slope_of(first), 16);
        errors[1] = times_long(times_long(candidate, slope_of(second), 16), held, 12);
        errors[2] = candidate;
        errors[3] = times(candidate, second, 8);
        return;
    }
    int32_t o = gates[3 * H] + 128;
    int32_t curve = odt_curve_of_cell(odt_bounded(held, 16)), *carried = &a->s[H + j];
    int32_t cell = odt_bounded(*carried + times_long(times(error, o, 8), 16384 - ((curve * curve) >> 14), 14), 23);
    int32_t c = to_steps(s, cell), earlier = held_at(s, s->earlier + j);
    *carried = times(cell, second, 8);
    errors[0] = times_long(times(c, g, 7), slope_of(first), 16);
    errors[1] = times_long(times_long(c, earlier, 12), slope_of(second), 16);
    errors[2] = times_long(times(c, first, 8), flat, 14);
    errors[3] = times_long(times_long(x, curve, 14), slope_of(o), 16);
}

// In 1/64 of a step, as it passes to the step before: in int8 it would be rounded in each.
static inline int16_t to_fine(int32_t error) {
    return (int16_t)odt_limit(error >> 2, -8191, 8191);
}

// An error to what passes to the step before, and to an int8; `at`: of its random number.
#if ODT_SMALL
__attribute__((noinline))
#endif
static void store_error(int16_t *fine, int8_t *to, int32_t *peak, int32_t error, uint32_t key, uint32_t at) {
    *fine = to_fine(error);
    *to = odt_clamp(round_at_random(error, key, at), 0, -127, peak);
}

// Sums of the errors that reach the outputs of the step before.
static void sum_back(const odt_recur_dx_i8_t *a, const step_t *s) {
    int32_t H = a->H, *sums = a->s;
    memset(sums, 0, (size_t)H * sizeof(int32_t));
    #if ODT_PANEL && !ODT_SMALL
    odt_add_columns_i8(sums, a->d, a->w, a->G, H);
    #else
    const int8_t *w = a->w;
    for (int32_t n = 0; n < a->G; n++, w += H) {
        int32_t e = a->d[n];
        for (int32_t k = 0; k < H && e; k++) {
            sums[k] = odt_wrap_add(sums[k], e * w[k]);
        }
    }
    #endif
    for (int32_t k = 0; k < H; k++) {
        sums[k] = odt_bounded(sums[2 * H + k] + rescaled_within(sums[k], &s->back, 23), 23);
    }
}

void odt_recur_dx_i8(const odt_recur_dx_i8_t *a) {
    int32_t H = a->H, G = a->G, T = a->T, kind = cell_of(a->kind), is_first = kind == a->kind;
    int32_t count = gates_of_dx(kind, G, H, T, a->R, a->K, a->E);
    uint32_t key = hashed((uint32_t)a->c[ODT_KEY], (uint32_t)a->id);
    step_t s = {.kind = kind, .up = rescaler(a->qe), .back = rescaler(a->qr), .keep = rescaler(a->qu)};
    for (int32_t b = 0; b < a->B && count; b++) {
        memset(a->s, 0, 3 * (size_t)H * sizeof(int32_t));
        for (int32_t t = T - 1; t >= 0; t--) {
            int32_t at = b * T + t, of_gates = at * G, of_units = at * H;
            int8_t *dx = a->dx + of_gates, *before = a->p + of_units, *other = a->n + of_units;
            uint32_t first = ((uint32_t)a->c[ODT_POSITION] * (uint32_t)T + (uint32_t)at) * (uint32_t)(G + H);
            odt_poll();
            s.y = a->y + of_units;
            s.gates = a->v + of_gates;
            s.held = a->u + of_units;
            s.e = t >= T - a->R ? a->e + (b * a->R + t - (T - a->R)) * H : NULL;
            if (t) {
                memcpy(before, s.y - H, (size_t)H);
                s.earlier = s.held - H;
            } else {
                s.earlier = is_first ? memset(before, 0, (size_t)H) : a->n + b * H;
            }
            for (int32_t j = 0; j < H; j++) {
                int32_t errors[MOST];
                step_back(a, &s, j, before[j], errors);
                int32_t place = j, unseen = 0;
                for (int32_t n = 0; n < count; n++, place += H) {
                    store_error(&a->d[place], dx + place, a->peak, errors[n], key, first + (uint32_t)place);
                }
                if (kind == GRU) {
                    store_error(&a->d[place - H], other + j, &unseen, errors[3], key, first + (uint32_t)place);
                }
            }
            if (t) {
                sum_back(a, &s);
            }
        }
    }
}
