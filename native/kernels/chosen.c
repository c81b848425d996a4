// Dynamic sparse updates: which output channels of a layer are worth a gradient, and tensors of these alone.

#include <string.h>

#include "../fixed.h"
#include "../float32.h"
#include "../opcodes.h"

void odt_relative_i8(const odt_relative_i8_t *a) {
    uint64_t sum = 0;
    for (int32_t i = 0; i < a->N; i++) {
        sum += odt_magnitude(a->e[i]);
    }
    uint32_t total = sum > INT32_MAX ? INT32_MAX : (uint32_t)sum, largest = (uint32_t)*a->largest;
    if (!a->c[ODT_KEY]) { // no step
        *a->ratio = 65536;
        return;
    }
    if (!total) {
        *a->ratio = 0;
        return;
    }
    uint32_t size = odt_scale_mul(odt_scale_int(total), odt_scale(*a->se));
    largest = odt_scale((int32_t)largest);
    if (size > largest) {
        largest = size;
    }
    *a->largest = (int32_t)largest;
    *a->ratio = odt_rescaled(65536, odt_multiplier(odt_scale_div(size, largest)));
}

void odt_relative_f32(const odt_relative_f32_t *a) {
    float total = 0;
    for (int32_t i = 0; i < a->N; i++) {
        total = total + (a->e[i] < 0 ? -a->e[i] : a->e[i]);
    }
    total = odt_store(total);
    if (!a->c[ODT_KEY]) {
        *a->ratio = 65536;
        return;
    }
    if (total > *a->largest) {
        *a->largest = total;
    }
    *a->ratio = total > 0 ? odt_limit(odt_to_int(total / *a->largest * 65536.0f), 0, 65536) : 0;
}

// How many of N columns: the share low + ratio * (high - low), at least one, at most R.
static int32_t choose_count(int32_t ratio, int32_t low, int32_t high, int32_t N, int32_t R) {
    int64_t share = low + (((int64_t)high - low) * ratio >> 16);
    share = share < 0 ? 0 : share > 65536 ? 65536 : share;
    return odt_limit((int32_t)(share * N >> 16), 1, odt_min(R, N));
}

// The `count` largest of N sums, of equal ones the first, in ascending order.
static void choose(int32_t *rows, const uint32_t *sums, int32_t N, int32_t count) {
    uint32_t least = 0; // the largest that at least `count` sums reach
    for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
        int32_t reach = 0;
        for (int32_t n = 0; n < N; n++) {
            reach += sums[n] >= (least | bit);
        }
        if (reach >= count) {
            least |= bit;
        }
    }
    int32_t equal = count;
    for (int32_t n = 0; n < N; n++) {
        equal -= sums[n] > least;
    }
    for (int32_t n = 0, j = 0; n < N && j < count; n++) {
        if (sums[n] > least || (sums[n] == least && equal-- > 0)) {
            rows[j++] = n;
        }
    }
}

void odt_rank_i8(const odt_rank_i8_t *a) {
    uint32_t *sums = (uint32_t *)a->sums;
    int32_t count = choose_count(*a->ratio, a->low, a->high, a->N, a->R), n = 0;
    for (; n <= a->N - 4; n += 4) { // four columns at a time, their sums in registers
        uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        const int8_t *e = a->e + n;
        for (int32_t m = 0; m < a->M; m++, e += a->N) {
            s0 += odt_magnitude(e[0]);
            s1 += odt_magnitude(e[1]);
            s2 += odt_magnitude(e[2]);
            s3 += odt_magnitude(e[3]);
        }
        sums[n] = s0;
        sums[n + 1] = s1;
        sums[n + 2] = s2;
        sums[n + 3] = s3;
    }
    for (; n < a->N; n++) {
        uint32_t sum = 0;
        for (int32_t m = 0; m < a->M; m++) {
            sum += odt_magnitude(a->e[m * a->N + n]);
        }
        sums[n] = sum;
    }
    choose(a->rows, sums, a->N, count);
    *a->count = count;
}

void odt_rank_f32(const odt_rank_f32_t *a) {
    int32_t count = choose_count(*a->ratio, a->low, a->high, a->N, a->R);
    for (int32_t n = 0; n < a->N; n++) {
        float sum = 0;
        for (int32_t m = 0; m < a->M; m++) {
            float e = a->e[m * a->N + n];
            sum = sum + (e < 0 ? -e : e);
        }
        a->sums[n] = sum == sum ? odt_store(sum) : 0.0f; // their bits are in the order of the numbers
    }
    choose(a->rows, (const uint32_t *)(const void *)a->sums, a->N, count);
    *a->count = count;
}

void odt_pick(const odt_pick_t *a) {
    int32_t count = odt_limit(*a->count, 1, a->R);
    int8_t *y = a->y;
    for (int32_t m = 0; m < a->M; m++) {
        for (int32_t j = 0; j < count; j++, y += a->U) {
            int32_t n = odt_limit(a->rows[j], 0, a->N - 1);
            const int8_t *x = a->x + (m * a->N + n) * a->U;
            if (a->U == 1) {
                *y = *x;
            } else {
                memmove(y, x, (uint32_t)a->U);
            }
        }
    }
}

void odt_put(const odt_put_t *a) {
    int32_t count = odt_limit(*a->count, 1, a->R);
    const int8_t *x = a->x;
    for (int32_t m = 0; m < a->M; m++) {
        int8_t *y = a->y + m * a->N * a->U;
        memset(y, 0, (uint32_t)(a->N * a->U));
        for (int32_t j = 0; j < count; j++, x += a->U) {
            memmove(y + odt_limit(a->rows[j], 0, a->N - 1) * a->U, x, (uint32_t)a->U);
        }
    }
}
