// The steps of GRU, LSTM and SimpleRNN, int8. Preactivations are in Q16 of log2(e), gates and a GRU's state in Q14, an
// LSTM's cell in Q12; outputs and gates that are kept are int8.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/inner_i8.h"
#include "../../cores/correlate.h"
#include "cell_i8.h"

#if ODT_SMALL

typedef rescaler_t widener_t;

static inline widener_t widener(const odt_multiplier_t *q) {
    return q;
}

static inline int32_t widened_within(const widener_t *r, int32_t v, int32_t bits) {
    return rescaled_within(v, r, bits);
}

static inline int32_t rescaled_once(int32_t v, const odt_multiplier_t *q, int32_t bits) {
    return odt_rescaled_within(v, q, bits);
}

#else

// odt_rescaled(v, q) of v from -255 to 255, mostly in 32 bits: what results has more bits than v.
typedef struct {
    odt_multiplier_t q; // (high * 4096 + low) / 2^down, if down is not 0
    int32_t high, low, up, down;
} widener_t;

static widener_t widener(const odt_multiplier_t *given) {
    odt_multiplier_t q = odt_checked(given);
    widener_t r = {q, q.m >> 19, q.m >> 7 & 4095, 19 - q.s, q.s - 7};
    if (q.m < 0 || q.m % 128 || q.s < 11 || q.s > 19) {
        r.down = 0;
    }
    return r;
}

static inline int32_t widened_within(const widener_t *r, int32_t v, int32_t bits) {
    if (r->down) {
        return odt_bounded(v * r->high * (1 << r->up) + ((v * r->low + (1 << (r->down - 1))) >> r->down), bits);
    }
    return odt_bounded(odt_rescaled(v, r->q), bits);
}

static inline int32_t rescaled_once(int32_t v, const odt_multiplier_t *q, int32_t bits) {
    return odt_bounded(odt_rescale_once(v, q), bits);
}

#endif

// Sums of the recurrent weights times the last outputs.
static void sum_gates(const odt_recur_i8_t *a) {
    int32_t H = a->H, G = a->G, g = 0;
    #if ODT_PANEL && !ODT_SMALL
    if (G >= 4) {
        odt_dot4_i8(a->p, a->w, H, H, 0, a->d, G >> 2);
        g = G & ~3;
    }
    #endif
    for (; g < G; g++) {
        a->d[g] = odt_dot_i8(a->p, a->w + g * H, H);
    }
}

// A step of one sample.
typedef struct {
    const int8_t *x;
    int8_t *v, *u; // what is kept of it, if it is
    int32_t kind, count, zero, is_kept;
    widener_t qa;
    rescaler_t qu;
} forward_t;

// Unit j one step further. Sums of inputs and outputs need no limits: beyond 16 the curves are flat.
static void step_cell(const odt_recur_i8_t *a, const forward_t *s, int32_t j) {
    int32_t H = a->H, held = 0, gates[MOST], *cell = &a->c[j];
    for (int32_t n = 0, g = j; n < s->count; n++, g += H) {
        int32_t v = a->d[g];
        if (s->kind == GRU && n == 2) {
            held = v;
            v = (((gates[1] + 32) >> 6) * v + 128) >> 8;
        }
        v += widened_within(&s->qa, s->x[g] - s->zero, 22);
        gates[n] = n == 2 || s->kind == SIMPLE ? cell_curve(v) : odt_sigmoid_of(v);
    }
    int32_t y = gates[0];
    if (s->kind == GRU) {
        int32_t c = odt_bounded(*cell, 14); // of a program that goes on it may be any number
        y = *cell = c + (((16384 - y) * (gates[2] - c) + 8192) >> 14);
    } else if (s->kind == LSTM) {
        int32_t c = odt_bounded(*cell, 16);
        held = *cell = odt_bounded(((gates[1] * c + 8192) >> 14) + ((y * gates[2] + 32768) >> 16), 16);
        y = (gates[3] * curve_of_cell(held) + 8192) >> 14;
    }
    a->p[j] = round_signed(y);
    if (s->is_kept) {
        for (int32_t n = 0, g = j; n < s->count; n++, g += H) {
            s->v[g] = n == 2 ? round_signed(gates[n]) : round_unsigned(gates[n]);
        }
        s->u[j] = odt_clamp(rescaled_by(held, &s->qu), 0, -127, a->peak);
    }
}

void odt_recur_i8(const odt_recur_i8_t *a) {
    int32_t H = a->H, G = a->G, T = a->T, kind = cell_of(a->kind);
    forward_t s = {
        .x = a->a, .v = a->v, .u = a->u, .kind = kind, .count = gates_of(kind, G, H, T, a->R, a->K),
        .zero = odt_limit(a->za, -128, 127), .qa = widener(a->qa), .qu = rescaler(a->qu),
    };
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B && s.count; b++) {
        if (kind == a->kind) {
            memset(a->p, 0, (size_t)H);
            memset(a->c, 0, (size_t)H * sizeof(int32_t));
        }
        for (int32_t t = 0; t < T; t++, s.x += G) {
            s.is_kept = kind != SIMPLE && t >= T - a->K;
            odt_poll();
            sum_gates(a);
            for (int32_t g = 0; g < G; g++) {
                a->d[g] = rescaled_once(odt_wrap_add(a->b[g], a->d[g]), &a->q[g], 22);
            }
            for (int32_t j = 0; j < H; j++) {
                step_cell(a, &s, j);
            }
            if (s.is_kept) {
                s.v += G;
                s.u += H;
            }
            if (t >= T - a->R) {
                memcpy(y, a->p, (size_t)H);
                y += H;
            }
        }
    }
}
