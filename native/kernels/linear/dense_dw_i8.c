// Dense layers, int8: gradients of the weights and of the bias; the latter also for convolutions. x is [M, K], e [M,
// N], dw [R, K]: for rows at .. at + R - 1.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/inner_i8.h"
#include "../../common/axis_part.h"
#include "../../common/words.h"
#include "../../cores/m0/words__m0.h"
#include "../../cores/m0/sum_columns_i8__m0.h"
#include "../../cores/correlate.h"

#if ODT_PANEL && !ODT_SMALL

#if ODT_M0

#include "../../cores/m0/dense_dw_i8__m0.h"

ODT_BESIDE_ASSEMBLY

static inline int32_t word_of(int32_t x0, int32_t zx) {
    return x0 - zx;
}

static inline int32_t word_of_two(int32_t x0, int32_t x1, int32_t zx) {
    (void)zx;
    return (int32_t)((uint32_t)x1 << 16) + x0;
}

static void one_row(int32_t *dw, const int32_t *x, const int32_t *end, int32_t e, int is_first) {
    (void)is_first; // true for the last row of an odd number
    set_one(dw, x, end, e);
}

static inline void row_of_two(int32_t *dw, const int32_t *x, const int32_t *end, int32_t e0, int32_t e1, int32_t zx,
    int is_first) {
    if (e0 + e1 == -256) { // errors are never -128 (numerics.md)
        (is_first ? set_two : add_two)(dw, x, end, (uint32_t)e0 << 16, odt_wrap_mul(odt_wrap_sub(0, zx), e0));
        e0 = is_first = 0;
    }
    uint32_t e = ((uint32_t)e0 << 16) + (uint32_t)e1;
    (is_first ? set_two : add_two)(dw, x, end, e, odt_wrap_mul(odt_wrap_sub(0, zx), e0 + e1));
}

#elif ODT_M4

#include "../../cores/m4/words__m4.h"

// dw = or += the sums of two products of e and x; x has two values per word, a multiple of 8 words.
#define PRODUCTS(name, four) \
    static __attribute__((noinline)) void name(int32_t *dw, const int32_t *x, const int32_t *end, uint32_t e) { \
        while (x != end) { \
            __asm volatile (four four \
                : "+r" (dw), "+r" (x) : "r" (e) : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "memory"); \
        } \
    }

PRODUCTS(set_products,
    "ldm %1!, {r4, r5, r6, r8}\n"
    "smuad r4, r4, %2\n"
    "smuad r5, r5, %2\n"
    "smuad r6, r6, %2\n"
    "smuad r8, r8, %2\n"
    "stm %0!, {r4, r5, r6, r8}\n")
PRODUCTS(add_products,
    "ldm %1!, {r4, r5, r6, r8}\n"
    "ldm %0, {r9-r12}\n"
    "smlad r9, r4, %2, r9\n"
    "smlad r10, r5, %2, r10\n"
    "smlad r11, r6, %2, r11\n"
    "smlad r12, r8, %2, r12\n"
    "stm %0!, {r9-r12}\n")

static void row_of_two(int32_t *dw, const int32_t *x, const int32_t *end, int32_t e0, int32_t e1, int32_t zx,
    int is_first) {
    (void)zx;
    (is_first ? set_products : add_products)(dw, x, end, odt_lower((uint32_t)e0, (uint32_t)e1));
}

static void one_row(int32_t *dw, const int32_t *x, const int32_t *end, int32_t e, int is_first) {
    row_of_two(dw, x, end, e, 0, 0, is_first);
}

#else

static inline int32_t word_of(int32_t x0, int32_t zx) {
    return odt_wrap_sub(x0, zx);
}

static void one_row(int32_t *dw, const int32_t *x, const int32_t *end, int32_t e, int is_first) {
    if (is_first) {
        for (; x != end; x += 4, dw += 4) {
            dw[0] = odt_wrap_mul(e, x[0]);
            dw[1] = odt_wrap_mul(e, x[1]);
            dw[2] = odt_wrap_mul(e, x[2]);
            dw[3] = odt_wrap_mul(e, x[3]);
        }
        return;
    }
    for (; x != end; x += 4, dw += 4) {
        dw[0] = odt_wrap_add(dw[0], odt_wrap_mul(e, x[0]));
        dw[1] = odt_wrap_add(dw[1], odt_wrap_mul(e, x[1]));
        dw[2] = odt_wrap_add(dw[2], odt_wrap_mul(e, x[2]));
        dw[3] = odt_wrap_add(dw[3], odt_wrap_mul(e, x[3]));
    }
}

#endif

void odt_products_words_i8(int32_t *words, const int8_t *x0, const int8_t *x1, int32_t count, int32_t zx) {
    int32_t *end = words + (count & ~7);
    #if ODT_M4
    const int8_t *second = x1 ? x1 : x0; // or any bytes, whose error is 0
    for (; words != end; words += 4, x0 += 4, second += 4) {
        odt_pairs((uint32_t *)words, 1, odt_word(x0), odt_word(second), odt_twice(-zx));
    }
    #else
    #if ODT_M0
    if (x1) {
        for (; words != end; words++) {
            *words = word_of_two(*x0++, *x1++, zx);
        }
        return;
    }
    #else
    (void)x1;
    #endif
    for (; words != end; words++) {
        *words = word_of(*x0++, zx);
    }
    #endif
}

void odt_products_i8(const odt_products_t *p) {
    static const int8_t none = 0;
    int32_t *dw = p->dw, zx = p->zx, whole = p->count & ~7, is_first = p->is_first;
    const int32_t *words = p->words, *end = words + whole;
    const int8_t *at0 = p->e0 ? p->e0 : &none, *at1 = p->e1 ? p->e1 : &none;
    int32_t step0 = p->e0 ? 1 : 0, step1 = p->e1 ? 1 : 0;
    for (int32_t n = p->rows; n > 0; n--, dw += p->dw_step, at0 += step0, at1 += step1) {
        int32_t e0 = *at0, e1 = *at1;
        if (!is_first && !(e0 | e1)) {
            continue;
        }
        if (whole) {
            #if ODT_M0 || ODT_M4
            if (p->x1) {
                row_of_two(dw, words, end, e0, e1, zx, is_first);
            } else
            #endif
            {
                one_row(dw, words, end, e0, is_first);
            }
        }
        for (int32_t i = whole; i < p->count; i++) {
            int32_t v = odt_wrap_mul(e0, odt_wrap_sub(p->x0[i], zx));
            if (e1) {
                v = odt_wrap_add(v, odt_wrap_mul(e1, odt_wrap_sub(p->x1[i], zx)));
            }
            dw[i] = is_first ? v : odt_wrap_add(dw[i], v);
        }
    }
}

static void dense_dw_by_rows(const odt_dense_dw_i8_t *a) {
    int32_t words[ODT_PRODUCTS], K = a->K;
    odt_products_t p = {.dw_step = K, .rows = a->R, .words = words, .zx = a->zx};
    for (int32_t k = 0; k < K; k += ODT_PRODUCTS) {
        p.dw = a->dw + k;
        p.count = odt_min(K - k, ODT_PRODUCTS);
        p.is_first = 1;
        odt_poll();
        for (int32_t m = 0; m < a->M; p.is_first = 0) {
            int two = ODT_PAIR == 2 && !((a->M - m) & 1);
            p.e0 = a->e + m * a->N + a->at;
            p.x0 = a->x + m * K + k;
            p.e1 = two ? p.e0 + a->N : NULL;
            p.x1 = two ? p.x0 + K : NULL;
            odt_products_words_i8(words, p.x0, p.x1, p.count, p.zx);
            odt_products_i8(&p);
            m += two ? 2 : 1;
        }
    }
}

#endif

#if ODT_M0 || ODT_M4 || !ODT_PANEL

// Rows that are shorter are computed column by column.
enum { NARROW = ODT_M0 ? 17 : 8 };

// The gradient for one sample.
static void dense_dw_of_one(const odt_dense_dw_i8_t *a, const int8_t *errors) {
    int32_t *dw = a->dw, K = a->K;
    #if ODT_M4 || (ODT_M0 && !ODT_SMALL)
    if (K < NARROW && a->R > 1) {
        for (int32_t k = 0; k < K; k++) {
            int32_t x = odt_wrap_sub(a->x[k], a->zx), *to = dw + k;
            #if ODT_M0
            set_column(to, errors + a->R, x, K * (int32_t)sizeof(*to), -a->R);
            #else
            int32_t n = 0;
            for (; n < (a->R & ~3); n += 4) {
                #pragma GCC unroll 4
                for (int32_t i = 0; i < 4; i++, to += K) {
                    *to = odt_wrap_mul(errors[n + i], x);
                }
            }
            for (; n < a->R; n++, to += K) {
                *to = odt_wrap_mul(errors[n], x);
            }
            #endif
        }
        return;
    }
    #endif
    for (int32_t n = 0; n < a->R; n++) {
        int32_t e = errors[n], offset = odt_wrap_mul(e, odt_wrap_sub(0, a->zx));
        int32_t k = 0;
        for (; ODT_M4 && k < (K & ~3); k += 4, dw += 4) {
            #pragma GCC unroll 4
            for (int32_t i = 0; i < 4; i++) {
                dw[i] = odt_wrap_add(e * a->x[k + i], offset);
            }
        }
        for (; k < K; k++) {
            *dw++ = odt_wrap_add(e * a->x[k], offset);
        }
    }
}

#endif

#if ODT_M4 || (ODT_M0 && !ODT_SMALL)

// Whether there are so few rows, or such short ones, that preparing x does not pay.
static int is_narrow_dw(const odt_dense_dw_i8_t *a) {
    return a->M == 1 && (a->K < NARROW || a->R == 1);
}

#endif

#if ODT_M0 && !ODT_SMALL

// Whether a row is the sum of samples times their errors: of a few samples the loop over two of them takes less time.
static int is_column(const odt_dense_dw_i8_t *a) {
    return a->R == 1 && a->M >= ODT_COLUMN_ERRORS && a->K >= 4;
}

static void dense_dw_column(const odt_dense_dw_i8_t *a, const int8_t *errors) {
    int32_t K = a->K;
    odt_listed_t list[ODT_COLUMN_LIST];
    odt_scan_t scan = {.step = a->N, .apart = K, .rows = 1, .images = 1};
    memset(a->dw, 0, (size_t)K * sizeof(int32_t));
    for (int32_t m = 0, count; m < a->M; m += count) {
        count = odt_min(a->M - m, ODT_COLUMN_LIST);
        scan.count = count;
        odt_columns_t c = {.sums = a->dw, .list = list, .w = a->x + m * K, .rows = 1};
        c.end = odt_list_errors(list, errors + m * a->N, 0, &scan);
        odt_poll();
        if (c.end != list) {
            odt_sum_rows(&c, K, 0, 0, -K & 3);
        }
    }
    int32_t offset = odt_wrap_mul(scan.sum, a->zx);
    for (int32_t k = 0; k < K; k++) {
        a->dw[k] = odt_wrap_sub(a->dw[k], offset);
    }
}

#endif

void odt_dense_dw_i8(const odt_dense_dw_i8_t *a) {
    const int8_t *first = a->e + a->at;
    if (!odt_within(a->at, a->R, a->N)) {
        memset(a->dw, 0, (size_t)a->R * (size_t)a->K * sizeof(int32_t));
        return;
    }
    if (odt_has_products() && a->M >= (ODT_X86 ? ODT_MANY_ROWS : ODT_MANY_PAIRS) && (ODT_SMALL || a->R > 1)) {
        odt_correlation_dw_t g = {.dw = a->dw, .e = first, .x = a->x, .B = 1, .H = 1, .W = a->M, .C = a->K,
            .N = a->R, .e_step = a->N, .KH = 1, .KW = 1, .SH = 1, .SW = 1, .OH = 1, .OW = a->M, .zx = a->zx};
        odt_correlate_dw_i8(&g);
        return;
    }
    #if ODT_M4 || (ODT_M0 && !ODT_SMALL)
    if (is_narrow_dw(a)) {
        dense_dw_of_one(a, first);
        return;
    }
    #endif
    #if ODT_M0 && !ODT_SMALL
    if (is_column(a)) {
        dense_dw_column(a, first);
        return;
    }
    #endif
    #if ODT_PANEL && !ODT_SMALL
    dense_dw_by_rows(a);
    #else
    int32_t M = a->M, K = a->K;
    if (M == 1) {
        dense_dw_of_one(a, first);
        return;
    }
    memset(a->dw, 0, (size_t)a->R * (size_t)K * sizeof(int32_t));
    for (int32_t n = 0; n < a->R; n++) {
        odt_poll();
        for (int32_t m = 0; m < M; m++) {
            int32_t e = first[m * a->N + n];
            if (e) {
                odt_axpy_i8(a->dw + n * K, e, a->x + m * K, odt_wrap_mul(e, a->zx), K);
            }
        }
    }
    #endif
}

#if ODT_32_BIT && !ODT_SMALL

#if ODT_M4

// Adds the bytes of words to two columns each.
static inline void odt_sum_words(const int8_t *from, int32_t step, int32_t count, uint32_t *even, uint32_t *odd) {
    *even = *odd = 0;
    #pragma GCC unroll 4
    for (; count; count--, from += step) {
        *even = odt_even(odt_word(from), *even);
        *odd = odt_odd(odt_word(from), *odd);
    }
}

#elif !ODT_M0

// The same as a Cortex-M0+'s (words__m0.h).
static inline void odt_sum_words(const int8_t *from, int32_t step, int32_t count, uint32_t *even, uint32_t *odd) {
    *even = *odd = 0;
    for (; count; count--, from += step) {
        uint32_t word = odt_load_word(from) ^ 0x80808080; // unsigned bytes
        *even += word & 0xFF00FF;
        *odd += word >> 8 & 0xFF00FF;
    }
}

#endif

// Sums of four columns, two in the halves of each word; 256 bytes cannot overflow them. On an M4 bytes have a sign.
static __attribute__((noinline)) void sum_word_columns(int32_t *db, const int8_t *e, int32_t M, int32_t N) {
    enum { AT_ONCE = 256 };
    uint32_t sums[4] = {0};
    for (int32_t m = 0; m < M; m += AT_ONCE) {
        uint32_t even, odd;
        odt_sum_words(e + m * N, N, odt_min(M - m, AT_ONCE), &even, &odd);
        sums[0] += ODT_M4 ? (uint32_t)(int16_t)even : even & 0xFFFF;
        sums[1] += ODT_M4 ? (uint32_t)(int16_t)odd : odd & 0xFFFF;
        sums[2] += ODT_M4 ? (uint32_t)((int32_t)even >> 16) : even >> 16;
        sums[3] += ODT_M4 ? (uint32_t)((int32_t)odd >> 16) : odd >> 16;
    }
    for (int32_t i = 0; i < 4; i++) {
        db[i] = (int32_t)(sums[i] - (ODT_M4 ? 0 : 128 * (uint32_t)M));
    }
}

#endif

void odt_bias_dw_i8(const odt_bias_dw_i8_t *a) {
    int32_t M = a->M, N = a->N, n = 0;
    #if ODT_32_BIT && !ODT_SMALL
    if ((((uintptr_t)a->e | (uintptr_t)N) & 3) == 0) {
        for (; n < N; n += 4) {
            sum_word_columns(a->db + n, a->e + n, M, N);
        }
    }
    #endif
    #if ODT_PANEL
    for (; n + 4 <= N; n += 4) {
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        const int8_t *e = a->e + n;
        for (int32_t m = M; m; m--, e += N) {
            s0 += e[0];
            s1 += e[1];
            s2 += e[2];
            s3 += e[3];
        }
        a->db[n] = s0;
        a->db[n + 1] = s1;
        a->db[n + 2] = s2;
        a->db[n + 3] = s3;
    }
    #endif
    #if !ODT_PANEL
    for (; n + 32 <= N; n += 32) {
        int32_t sums[32] = {0}; // an array, so that the compiler vectorizes
        const int8_t *e = a->e + n;
        for (int32_t m = M; m; m--, e += N) {
            for (int32_t i = 0; i < 32; i++) {
                sums[i] += e[i];
            }
        }
        memcpy(a->db + n, sums, sizeof(sums));
    }
    #endif
    memset(a->db + n, 0, (size_t)(N - n) * sizeof(int32_t));
    for (int32_t m = 0; n < N && m < M; m++) {
        for (int32_t i = n; i < N; i++) {
            a->db[i] += a->e[m * N + i];
        }
    }
}
