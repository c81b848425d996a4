// Chooses the output channels with the largest errors; only these get a gradient.

#include "../../fixed.h"
#include "../../float32.h"
#include "../../opcodes.h"

// How many of N columns to choose: the share low + ratio * (high - low), at least one column, at most R.
static int32_t choose_count(int32_t ratio, int32_t low, int32_t high, int32_t N, int32_t R) {
    int64_t share = low + (((int64_t)high - low) * ratio >> 16);
    share = share < 0 ? 0 : share > 65536 ? 65536 : share;
    return odt_limit((int32_t)(share * N >> 16), 1, odt_min(R, N));
}

// The indices of the `count` largest of N sums, ascending. Among equal sums the first wins.
static void choose(int32_t *rows, const uint32_t *sums, int32_t N, int32_t count) {
    uint32_t least = 0; // the largest value that at least `count` of the sums reach
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
        a->sums[n] = sum == sum ? odt_store(sum) : 0.0f; // positive floats compare as their bits do
    }
    choose(a->rows, (const uint32_t *)(const void *)a->sums, a->N, count);
    *a->count = count;
}
