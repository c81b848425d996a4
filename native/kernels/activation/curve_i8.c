// ELU and GELU with their gradients, int8. The result is max(x, 0) plus a bend, computed with exp2n.

#include "../../fixed.h"
#include "../../opcodes.h"

typedef struct {
    odt_multiplier_t exponent, line, bend; // in curve_dx_i8 `bend` is the instruction's multiplier q
    const int8_t *x, *e; // e: NULL forward
    int32_t kind, alpha, z;
} curve_t;

// For v = x - z: the bend in Q16, or the gradient of line and bend in Q14.
static int32_t bend_of(const curve_t *c, int32_t v) {
    int32_t a = odt_rescaled((v < 0 ? -v : v) * 65536, c->exponent);
    if (c->kind == 0) { // ELU
        int32_t power = v > 0 ? 65536 : (int32_t)odt_exp2n(a);
        int32_t alpha = v > 0 ? 16384 : c->alpha;
        return c->e ? (power >> 1) * alpha >> 15 : (power - 65536) * alpha >> 14;
    }
    // The normal distribution's tail from a polynomial for its logarithm: GELU within 0.0003, its gradient within
    // 0.002.
    uint32_t b = (uint32_t)odt_min(a, 8 << 16) >> 4;
    uint32_t p = ((1499 * b >> 12) + 33150) * b >> 12;
    p = ((p + 73551) >> 3) * b >> 9;
    uint32_t tail = odt_exp2n((int32_t)(p + 65890)), bend = b * tail >> 12;
    if (!c->e) {
        return -(int32_t)bend;
    }
    p = (((3117 * b >> 12) + 45955) * b >> 12) + 50982;
    int32_t slope = (int32_t)(tail - (bend * (p >> 4) >> 12)) >> 2;
    return v < 0 ? slope : 16384 - slope;
}

// y, or the gradient in Q14.
static int32_t value_of(const curve_t *c, int32_t x) {
    int32_t v = x - c->z, value = bend_of(c, v);
    if (c->e) {
        return value;
    }
    value = (odt_rescaled(odt_max(v, 0) * 256, c->line) >> 2) + (odt_rescaled(value, c->bend) >> 2);
    return odt_limit((value + 32) >> 6, -32767, 32767);
}

// gain: the gain of f in steps of y; unused for a gradient.
static void run(curve_t *c, int32_t factor, int32_t sx, uint32_t gain, int8_t *y, int32_t N, int32_t zy, int32_t lo,
    int32_t *peak) {
    int16_t values[256]; // for x = -128 .. 127
    uint32_t scale = odt_scale_mul(odt_scale(factor), odt_scale(sx));
    c->line = odt_multiplier(odt_scale_mul(scale, gain));
    c->z = odt_limit(c->z, -128, 127);
    c->alpha = odt_min(odt_rescaled(16384, odt_multiplier(odt_scale(c->alpha))), 32766);
    c->exponent = odt_multiplier(c->kind == 0 ? odt_scale_mul(scale, ODT_LOG2E) : scale);
    for (int32_t x = -128; x < 128 && N >= 256; x++) {
        values[x + 128] = (int16_t)value_of(c, x);
    }
    for (int32_t i = 0; i < N; i++) {
        int32_t x = c->x[i], v = N < 256 ? value_of(c, x) : values[x + 128];
        y[i] = odt_clamp(c->e ? odt_rescaled(c->e[i] * v, c->bend) : v, zy, lo, peak);
    }
}

void odt_curve_i8(const odt_curve_i8_t *a) {
    uint32_t gain = odt_scale_div(odt_scale(a->gain), odt_scale(*a->sy));
    curve_t c = {
        .bend = odt_multiplier(odt_scale_shift(gain, -8)), .x = a->x, .kind = a->kind, .alpha = a->alpha, .z = a->z};
    run(&c, a->factor, *a->sx, gain, a->y, a->N, a->zy, a->lo, a->peak);
}

void odt_curve_dx_i8(const odt_curve_dx_i8_t *a) {
    curve_t c = {.bend = odt_checked(a->q), .x = a->x, .e = a->e, .kind = a->kind, .alpha = a->alpha, .z = a->z};
    run(&c, a->factor, *a->sx, ODT_ONE, a->dx, a->N, 0, -127, a->peak);
}
