// Zeroth-order training, float32: the losses of the two passes, and the slope between them.

#include "../../data.h"
#include "../../float32.h"
#include "../../opcodes.h"
#include "zeroth.h"

enum { FIRST, PLUS, MINUS, FIRST_OF_ALL };

void odt_passed_f32(const odt_passed_f32_t *a) {
    float *m = a->m, sum = odt_float((uint32_t)a->c[ODT_LOSS]);
    if (!odt_moving(a->c)) {
        return;
    }
    switch (a->which) {
        case FIRST_OF_ALL:
            m[0] = m[1] = 0.0f;
            // fall through
        case FIRST:
            m[2] = sum;
            *a->k = a->c[ODT_CORRECT];
            a->c[ODT_CORRECT] = a->c[ODT_LOSS] = 0;
            break;
        case PLUS:
            m[0] = m[0] + sum;
            m[2] = m[2] + sum * 0.5f;
            a->c[ODT_LOSS] = 0;
            break;
        case MINUS:
            m[1] = m[1] + sum;
            a->c[ODT_LOSS] = (int32_t)odt_bits(m[2] + sum * 0.5f);
            a->c[ODT_CORRECT] = odt_wrap_add(*a->k, a->c[ODT_CORRECT] >> 1);
            break;
        default:
            break;
    }
}

static int is_finite(float x) {
    return (odt_bits(x) & 0x7F800000) != 0x7F800000;
}

void odt_slope_f32(const odt_slope_f32_t *a) {
    float distance = a->m[0] - a->m[1];
    float r = odt_float((uint32_t)a->c[ODT_RATE]) * odt_float((uint32_t)a->factor);
    *a->g = 0.0f;
    if (!a->c[ODT_RATE] || distance == 0.0f || !is_finite(distance)) {
        return;
    }
    if (a->sign) {
        r = distance < 0.0f ? -r : r;
    } else {
        r = r * (distance / (float)odt_rows(a->c, a->B));
    }
    *a->g = is_finite(r) ? odt_store(r) : 0.0f;
}
