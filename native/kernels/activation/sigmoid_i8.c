// Sigmoid and its gradient, which needs only y, int8. With twice the input it computes tanh.

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/elements.h"

#if ODT_M0 && !ODT_SMALL
#include "../../cores/m0/sigmoid_i8__m0.h"
#endif

// 256 / (1 + exp(-v)) - 128 for v = x - z in steps; q converts steps to units of log 2.
static int8_t sigmoid(int32_t v, const odt_multiplier_t *q) {
    int32_t magnitude = v < 0 ? -v : v;
    uint32_t power = odt_exp2n(odt_rescaled_byte(magnitude, q));
    uint32_t whole = 65536 + power;
    uint32_t part = (256 * (v < 0 ? power : 65536) + whole / 2) / whole;
    return (int8_t)odt_min((int32_t)part - 128, 127);
}

// sigmoid() of all x from -128 to 127. The results for v and -v add up to 256, or to 257 if both were rounded up.
static void tabulate(int8_t *values, int32_t z, const odt_multiplier_t *q) {
    #if ODT_SMALL
    for (int32_t x = -128; x < 128; x++) {
        values[x] = sigmoid(x - z, q);
    }
    #else
    for (int32_t v = 0; v <= 128 + (z < 0 ? -z : z); v++) {
        uint32_t power = odt_exp2n(odt_rescaled_byte(v, q)), whole = 65536 + power, twice = 256 * power + whole / 2;
        int32_t part = (int32_t)(twice / whole), is_half = whole % 2 == 0 && twice % whole == 0;
        if (z - v >= -128) {
            values[z - v] = (int8_t)(part - 128);
        }
        if (z + v <= 127) { // for v = 0 both branches write the same entry; this one is the last
            values[z + v] = (int8_t)odt_min(256 - part + is_half - 128, 127);
        }
    }
    #endif
}

void odt_sigmoid_i8(const odt_sigmoid_i8_t *a) {
    uint32_t scale = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx));
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(scale, ODT_LOG2E));
    int32_t z = odt_limit(a->z, -128, 127);
    if (a->N < 256) {
        for (int32_t i = 0; i < a->N; i++) {
            a->y[i] = sigmoid(a->x[i] - z, &q);
        }
        return;
    }
    int8_t values[256];
    tabulate(values + 128, z, &q);
    const int8_t *x = a->x, *end = x + a->N, *value = values + 128;
    int8_t *y = a->y;
    for (; !ODT_SMALL && end - x > 3; x += 4, y += 4) {
        y[0] = value[x[0]];
        y[1] = value[x[1]];
        y[2] = value[x[2]];
        y[3] = value[x[3]];
    }
    while (x != end) {
        *y++ = value[*x++];
    }
}

void odt_sigmoid_dx_i8(const odt_sigmoid_dx_i8_t *a) {
    odt_multiplier_t q = odt_checked(a->q);
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    #if ODT_M0 && !ODT_SMALL
    if (store_all_gradients(a, q, &outputs)) {
        *a->peak = outputs.peak;
        return;
    }
    #endif
    int32_t i = 0;
    #if !ODT_M0
    odt_rescaler_t r = odt_rescaler(q);
    for (; odt_is_within(&r, 21) && i < a->N; i++) {
        int32_t v = a->e[i] * (16384 - a->y[i] * a->y[i]);
        a->dx[i] = odt_output(&outputs, odt_rescale_within(r, v));
    }
    #endif
    for (; i < a->N; i++) {
        int32_t v = a->e[i] * (16384 - a->y[i] * a->y[i]);
        a->dx[i] = odt_output(&outputs, odt_rescaled(v, q));
    }
    *a->peak = outputs.peak;
}
