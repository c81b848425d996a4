// The steps of GRU, LSTM and SimpleRNN, int8. Preactivations are in Q16 of log2(e), gates and a GRU's state in Q14, an
// LSTM's cell in Q12; outputs and gates that are kept are int8.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/inner_i8.h"
#include "../../common/rescale.h"
#include "../../cores/correlate.h"
#include "cell_i8.h"

// odt_rescaled(v, q) of v from -255 to 255, mostly in 32 bits: what results has more bits than v.
typedef struct {
    odt_multiplier_t q; // (high * 4096 + low) / 2^down, if down is not 0
    int32_t high, low, up, down;
} widener_t;

static widener_t widener(odt_multiplier_t q) {
    widener_t r = {q, q.m >> 19, q.m >> 7 & 4095, 19 - q.s, q.s - 7};
    if (q.m < 0 || q.m % 128 || q.s < 11 || q.s > 19) {
        r.down = 0;
    }
    return r;
}

static inline int32_t widened(const widener_t *r, int32_t v) {
    if (r->down) {
        return v * r->high * (1 << r->up) + ((v * r->low + (1 << (r->down - 1))) >> r->down);
    }
    return odt_rescaled(v, r->q);
}

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

// Unit j one step further: its gates, and what else its gradient needs.
static int32_t step_cell(const odt_recur_i8_t *a, int32_t kind, int32_t j, const int32_t *in, int8_t *gates) {
    int32_t H = a->H, out[MOST];
    for (int32_t n = 0, at = j; at < a->G; n++, at += H) {
        out[n] = a->d[at];
    }
    if (kind == SIMPLE) {
        a->p[j] = round_signed(cell_curve(bounded(in[0] + out[0], 22)));
        return 0;
    }
    if (kind == GRU) {
        int32_t z = sigmoid_of(in[0] + out[0]), r = sigmoid_of(in[1] + out[1]);
        int32_t n = cell_curve(bounded(in[2] + ((((r + 32) >> 6) * out[2] + 128) >> 8), 22));
        a->c[j] += ((16384 - z) * (n - a->c[j]) + 8192) >> 14;
        a->p[j] = round_signed(a->c[j]);
        gates[0] = round_unsigned(z);
        gates[1] = round_unsigned(r);
        gates[2] = round_signed(n);
        return out[2];
    }
    int32_t i = sigmoid_of(in[0] + out[0]), f = sigmoid_of(in[1] + out[1]);
    int32_t g = cell_curve(bounded(in[2] + out[2], 22)), o = sigmoid_of(in[3] + out[3]);
    a->c[j] = bounded(((f * a->c[j] + 8192) >> 14) + ((i * g + 32768) >> 16), 16);
    a->p[j] = round_signed((o * curve_of_cell(a->c[j]) + 8192) >> 14);
    gates[0] = round_unsigned(i);
    gates[1] = round_unsigned(f);
    gates[2] = round_signed(g);
    gates[3] = round_unsigned(o);
    return a->c[j];
}

void odt_recur_i8(const odt_recur_i8_t *a) {
    int32_t H = a->H, G = a->G, T = a->T, zero = odt_limit(a->za, -128, 127), peak = *a->peak;
    int32_t kind = cell_of(a->kind), count = gates_of(kind, G, H, T, a->R, a->K);
    widener_t qa = widener(odt_checked(a->qa));
    odt_rescaler_t qu = odt_rescaler(odt_checked(a->qu));
    for (int32_t b = 0; b < a->B && count; b++) {
        if (kind == a->kind) {
            memset(a->p, 0, (size_t)H);
            memset(a->c, 0, (size_t)H * sizeof(int32_t));
        }
        for (int32_t j = 0; j < H && kind != a->kind; j++) {
            a->c[j] = bounded(a->c[j], kind == LSTM ? 16 : 14);
        }
        for (int32_t t = 0; t < T; t++) {
            const int8_t *x = a->a + (b * T + t) * G;
            int32_t kept = kind == SIMPLE ? -1 : t - (T - a->K), last = t - (T - a->R);
            odt_poll();
            sum_gates(a);
            for (int32_t g = 0; g < G; g++) {
                a->d[g] = bounded(odt_rescale_once(odt_wrap_add(a->b[g], a->d[g]), &a->q[g]), 22);
            }
            for (int32_t j = 0; j < H; j++) {
                int32_t in[MOST];
                int8_t gates[MOST];
                for (int32_t n = 0; n < count; n++) {
                    in[n] = bounded(widened(&qa, x[n * H + j] - zero), 22);
                }
                int32_t held = step_cell(a, kind, j, in, gates);
                for (int32_t n = 0; n < count && kept >= 0; n++) {
                    a->v[(b * a->K + kept) * G + n * H + j] = gates[n];
                }
                if (kept >= 0) {
                    a->u[(b * a->K + kept) * H + j] = odt_clamp(odt_rescale_by(&qu, held), 0, -127, &peak);
                }
            }
            if (last >= 0) {
                memcpy(a->y + (b * a->R + last) * H, a->p, (size_t)H);
            }
        }
    }
    *a->peak = peak;
}
