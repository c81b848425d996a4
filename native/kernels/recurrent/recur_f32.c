// The steps of GRU, LSTM and SimpleRNN, float32, and backpropagation through them. Every product but those of the sums
// with weights is stored, so that none of the next is subnormal.

#include <string.h>

#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"
#include "recurrent.h"

static float times(float a, float b) {
    return odt_store(a * b);
}

static float sigmoid_of_f32(float x) {
    float y;
    odt_sigmoid_f32(&(odt_sigmoid_f32_t) {.y = &y, .x = &x, .N = 1});
    return y;
}

static float curve_of_f32(float x) {
    float y;
    odt_tanh_f32(&(odt_tanh_f32_t) {.y = &y, .x = &x, .N = 1});
    return y;
}

// Unit j one step further: its gates, and what else its gradient needs.
static float step_cell_f32(const odt_recur_f32_t *a, int32_t kind, int32_t j, const float *in, float *gates) {
    int32_t H = a->H;
    float *y = &a->p[j], *cell = y + H, out[MOST];
    for (int32_t n = 0, at = j; at < a->G; n++, at += H) {
        out[n] = a->d[at];
    }
    if (kind == SIMPLE) {
        *y = curve_of_f32(in[0] + out[0]);
        return 0.0f;
    }
    gates[0] = sigmoid_of_f32(in[0] + out[0]);
    gates[1] = sigmoid_of_f32(in[H] + out[1]);
    if (kind == GRU) {
        float n = gates[2] = curve_of_f32(in[2 * H] + times(gates[1], out[2]));
        *y = odt_store(n + times(gates[0], *y - n));
        return out[2];
    }
    gates[2] = curve_of_f32(in[2 * H] + out[2]);
    gates[3] = sigmoid_of_f32(in[3 * H] + out[3]);
    *cell = odt_store(times(gates[1], *cell) + times(gates[0], gates[2]));
    *y = times(gates[3], curve_of_f32(*cell));
    return *cell;
}

void odt_recur_f32(const odt_recur_f32_t *a) {
    int32_t H = a->H, G = a->G, T = a->T, kind = cell_of(a->kind), count = odt_gates_of(kind, G, H, T, a->R, a->K);
    for (int32_t b = 0; b < a->B && count; b++) {
        if (kind == a->kind) {
            memset(a->p, 0, 2 * (size_t)H * sizeof(float));
        }
        for (int32_t t = 0; t < T; t++) {
            int32_t kept = kind == SIMPLE ? -1 : t - (T - a->K), last = t - (T - a->R);
            for (int32_t g = 0; g < G; g += ODT_LANES) {
                odt_poll();
                float acc[ODT_LANES];
                int32_t lanes = odt_lanes_begin(acc, a->b, g, G);
                odt_lanes_dot(acc, a->p, a->w + g * H, H, H, lanes);
                odt_lanes_end(acc, a->d + g, lanes, 0);
            }
            for (int32_t j = 0; j < H; j++) {
                float gates[MOST], held = step_cell_f32(a, kind, j, a->a + (b * T + t) * G + j, gates);
                for (int32_t n = 0; n < count && kept >= 0; n++) {
                    a->v[(b * a->K + kept) * G + n * H + j] = gates[n];
                }
                if (kept >= 0) {
                    a->u[(b * a->K + kept) * H + j] = held;
                }
            }
            if (last >= 0) {
                memcpy(a->y + (b * a->R + last) * H, a->p, (size_t)H * sizeof(float));
            }
        }
    }
}

// The slopes of a sigmoid and of tanh, of their outputs.
static float slope_of_f32(float u) {
    return times(u, 1.0f - u);
}

static float slope_of_curve(float y) {
    return 1.0f - times(y, y);
}

// The errors of unit j's preactivations to dx; returns that of a GRU's recurrent candidate.
static float step_back_f32(const odt_recur_dx_f32_t *a, int32_t j, int32_t at, int32_t kept, float before, float *dx) {
    int32_t H = a->H, kind = cell_of(a->kind);
    float error = a->s[j], *further = &a->s[2 * H + j];
    *further = 0.0f;
    if (kind == SIMPLE) {
        dx[0] = times(error, slope_of_curve(a->y[at * H + j]));
        return 0.0f;
    }
    const float *gates = a->v + kept * a->G + j, *held = a->u + kept * H + j;
    float g = gates[2 * H];
    if (kind == GRU) {
        float z = gates[0], r = gates[H], candidate = times(times(error, 1.0f - z), slope_of_curve(g));
        *further = times(error, z);
        dx[0] = times(times(error, before - g), slope_of_f32(z));
        dx[H] = times(times(candidate, *held), slope_of_f32(r));
        dx[2 * H] = candidate;
        return times(candidate, r);
    }
    float i = gates[0], f = gates[H], o = gates[3 * H], curve = curve_of_f32(*held), *carried = &a->s[H + j];
    float cell = odt_store(*carried + times(times(error, o), slope_of_curve(curve)));
    *carried = times(cell, f);
    dx[0] = times(times(cell, g), slope_of_f32(i));
    float earlier = at % a->T ? held[-H] : kind == a->kind ? 0.0f : a->n[at / a->T * H + j];
    dx[H] = times(times(cell, earlier), slope_of_f32(f));
    dx[2 * H] = times(times(cell, i), slope_of_curve(g));
    dx[3 * H] = times(times(error, curve), slope_of_f32(o));
    return 0.0f;
}

void odt_recur_dx_f32(const odt_recur_dx_f32_t *a) {
    int32_t H = a->H, G = a->G, T = a->T, kind = cell_of(a->kind);
    int32_t count = gates_of_dx(kind, G, H, T, a->R, a->K, a->E);
    for (int32_t b = 0; b < a->B && count; b++) {
        memset(a->s, 0, 3 * (size_t)H * sizeof(float));
        for (int32_t t = T - 1; t >= 0; t--) {
            int32_t at = b * T + t, given = t - (T - a->R);
            float *dx = a->dx + at * G, *before = a->p + at * H, *other = kind == GRU ? a->n + at * H : a->n;
            for (int32_t j = 0; j < H && given >= 0; j++) {
                a->s[j] = odt_store(a->s[j] + a->e[(b * a->R + given) * H + j]);
            }
            for (int32_t j = 0; j < H; j++) {
                if (t || kind == a->kind) {
                    before[j] = t ? a->y[(at - 1) * H + j] : 0.0f;
                }
                float candidate = step_back_f32(a, j, at, b * a->K + t, before[j], dx + j);
                if (kind == GRU) {
                    other[j] = candidate;
                }
            }
            if (!t) {
                continue;
            }
            memcpy(a->s, a->s + 2 * H, (size_t)H * sizeof(float));
            for (int32_t n = 0; n < G; n++) {
                odt_poll();
                odt_axpy_f32(a->s, kind == GRU && n >= 2 * H ? other[n - 2 * H] : dx[n], a->w + n * H, H);
            }
            odt_store_all(a->s, H);
        }
    }
}
