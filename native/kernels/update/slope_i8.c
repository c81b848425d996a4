// Zeroth-order training, int8: the losses of the two passes, and the slope between them.

#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "zeroth.h"

enum { FIRST, PLUS, MINUS, FIRST_OF_ALL };

static uint64_t whole(const int32_t *words) {
    return (uint64_t)(uint32_t)words[1] << 32 | (uint32_t)words[0];
}

static void put(int32_t *words, uint64_t value) {
    words[0] = (int32_t)(uint32_t)value;
    words[1] = (int32_t)(uint32_t)(value >> 32);
}

void odt_passed_i8(const odt_passed_i8_t *a) {
    int32_t *m = a->m, *base = m + 4, *loss = a->c + ODT_LOSS;
    uint64_t sum = whole(loss);
    if (!odt_moving(a->c)) {
        return;
    }
    switch (a->which) {
        case FIRST_OF_ALL:
            put(m, 0);
            put(m + 2, 0);
            // fall through
        case FIRST:
            put(base, sum);
            *a->k = a->c[ODT_CORRECT];
            a->c[ODT_CORRECT] = 0;
            put(loss, 0);
            break;
        case PLUS:
            put(m, whole(m) + sum);
            put(base, whole(base) + (sum >> 1));
            put(loss, 0);
            break;
        case MINUS:
            put(m + 2, whole(m + 2) + sum);
            put(loss, whole(base) + (sum >> 1));
            a->c[ODT_CORRECT] = odt_wrap_add(*a->k, a->c[ODT_CORRECT] >> 1);
            break;
        default:
            break;
    }
}

void odt_slope_i8(const odt_slope_i8_t *a) {
    uint64_t distance = whole(a->m) - whole(a->m + 2);
    int32_t sign = distance >> 63 ? -1 : 1, j = 0;
    a->g[0] = a->g[1] = 0;
    if (!a->c[ODT_RATE] || !distance) {
        return;
    }
    a->g[1] = sign;
    uint32_t g = odt_scale_mul(odt_scale(a->c[ODT_RATE]), odt_scale(a->factor));
    if (!a->sign) {
        distance = sign < 0 ? 0 - distance : distance;
        while (distance >> j >> 32) {
            j++;
        }
        g = odt_scale_mul(g, odt_scale_shift(odt_scale_int((uint32_t)(distance >> j)), j));
        g = odt_scale_div(g, odt_scale_int((uint32_t)odt_rows(a->c, a->B)));
        for (int32_t power = odt_limit(a->degree, 0, 2); power; power--) {
            g = odt_scale_mul(g, odt_scale(*a->so));
        }
    }
    a->g[0] = (int32_t)g;
}
