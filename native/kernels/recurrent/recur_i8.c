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

// The recurrent preactivations: products of the weights and the last outputs.
static void sum_gates(const odt_recur_i8_t *a, const int8_t *p) {
    int32_t H = a->H, G = a->G, done = 0;
    #if ODT_PANEL && !ODT_SMALL
    if (G >= 4) {
        odt_dot4_i8(p, a->w, H, H, 0, a->d, G >> 2);
        done = G & ~3;
    }
    #endif
    for (int32_t g = 0; g < G; g++) {
        int32_t sum = g < done ? a->d[g] : odt_dot_i8(p, a->w + g * H, H);
        a->d[g] = rescaled_once(odt_wrap_add(a->b[g], sum), &a->q[g], 22);
    }
}

// A step of one sample.
typedef struct {
    const int8_t *x;
    int8_t *p; // its outputs and cells
    int32_t *c;
    int8_t *v, *u; // what is kept of it, if it is
    int32_t kind, count, zero, is_kept;
    widener_t qa;
    rescaler_t qu;
} forward_t;

// Unit j one step further. Sums of inputs and outputs need no limits: beyond 16 the curves are flat.
static void step_cell(const odt_recur_i8_t *a, const forward_t *s, int32_t j) {
    int32_t H = a->H, held = 0, gates[MOST], *cell = &s->c[j];
    for (int32_t n = 0, g = j; n < s->count; n++, g += H) {
        int32_t v = a->d[g];
        if (s->kind == GRU && n == 2) {
            held = v;
            v = (((gates[1] + 32) >> 6) * v + 128) >> 8;
        }
        v += widened_within(&s->qa, s->x[g] - s->zero, 22);
        gates[n] = n == 2 || s->kind == SIMPLE ? odt_cell_curve(v) : odt_sigmoid_of(v);
    }
    int32_t y = gates[0];
    if (s->kind == GRU) {
        int32_t c = odt_bounded(*cell, 14); // of a program that goes on it may be any number
        y = *cell = c + (((16384 - y) * (gates[2] - c) + 8192) >> 14);
    } else if (s->kind == LSTM) {
        int32_t c = odt_bounded(*cell, 16);
        held = *cell = odt_bounded(((gates[1] * c + 8192) >> 14) + ((y * gates[2] + 32768) >> 16), 16);
        y = (gates[3] * odt_curve_of_cell(held) + 8192) >> 14;
    }
    s->p[j] = round_signed(y);
    if (s->is_kept) {
        for (int32_t n = 0, g = j; n < s->count; n++, g += H) {
            s->v[g] = n == 2 ? round_signed(gates[n]) : round_unsigned(gates[n]);
        }
        s->u[j] = odt_clamp(rescaled_by(held, &s->qu), 0, -127, a->peak);
    }
}

// `apart`: 0, or H where each sample goes on from outputs and cells of its own, which lie before those that it leaves.
static void go_through(const odt_recur_i8_t *a, int32_t apart) {
    int32_t H = a->H, G = a->G, T = a->T, kind = cell_of(a->kind);
    size_t bytes = (size_t)H;
    forward_t s = {
        .x = a->a, .p = a->p, .c = a->c, .v = a->v, .u = a->u, .kind = kind,
        .count = odt_gates_of(kind, G, H, T, a->R, a->K), .zero = odt_min(odt_bounded(a->za, 7), 127),
        .qa = widener(a->qa), .qu = rescaler(a->qu),
    };
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B && s.count; b++) {
        if (apart) {
            s.p = memcpy(s.p + apart, s.p, bytes);
            s.c = memcpy(s.c + apart, s.c, bytes * sizeof(int32_t));
        } else if (kind == a->kind) {
            memset(s.p, 0, bytes);
            memset(s.c, 0, bytes * sizeof(int32_t));
        }
        for (int32_t t = 0; t < T; t++, s.x += G) {
            s.is_kept = kind != SIMPLE && t >= T - a->K;
            odt_poll();
            sum_gates(a, s.p);
            for (int32_t j = 0; j < H; j++) {
                step_cell(a, &s, j);
            }
            if (s.is_kept) {
                s.v += G;
                s.u += H;
            }
            if (t >= T - a->R) {
                memcpy(y, s.p, bytes);
                y += H;
            }
        }
        s.p += apart;
        s.c += apart;
    }
}

void odt_recur_i8(const odt_recur_i8_t *a) {
    go_through(a, 0);
}

void odt_recur_on_i8(const odt_recur_on_i8_t *a) {
    go_through((const odt_recur_i8_t *)(const void *)a, a->H); // only the extents of p and c differ
}
