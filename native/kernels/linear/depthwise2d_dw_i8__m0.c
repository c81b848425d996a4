// Gradients of the filters of depthwise convolutions on a Cortex-M0+, a channel and a tile of its inputs
// (depthwise2d_tile_i8__m0.h) at a time. One MULS sums two products: that of the words x[p] + x[p + S] * 65536 and
// e[i + 1] + e[i] * 65536 is, modulo 2^32, e[i + 1] * x[p] + (e[i] * x[p] + e[i + 1] * x[p + S]) * 65536. As |e| <= 127
// the first term is below 2^15 and the bracket fits 16 bits: it is the word / 65536 rounded to nearest, which ASRS leaves
// in a register and the carry. The stack holds 2 KB.

#include "../../core.h"
#include "depthwise2d_tile_i8__m0.h"

#if ODT_M0_DEPTHWISE

#include <string.h>

#include "../../fixed.h"
#include "../common/registers__m0.h"

enum { K = 3 }; // taps of a filter's row

// What pack_errors loads, and what it has found.
typedef struct {
    int32_t *to;        // 0
    const int8_t *from; // 4: the first error, less N
    int32_t N;          // 8
    int32_t pairs;      // 12: bytes of the words that pairs of a row make
    int32_t from_skip;  // 16
    int32_t odd, rows;  // 20, 24: whether a row has an error more; rows
    int32_t sum;        // 28: of the words
    uint32_t extreme;   // 32: has bit 15 or 31 set if an error is -128
} errors_t;

// Rows of errors as words of two, an odd one with 0: 15 cycles per word. r0: to, r1: from, r2: N, r3: 2 * N, r4, r5: errors,
// r6: sum, r7: extreme, r8: pairs, r9: 127 + 127 * 65536, r10: from_skip, r11: odd, r12: the end of the row's words, lr: rows.
__attribute__((naked, noinline)) static void pack_errors(errors_t *errors) {
    (void)errors;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "push {r0}\n"
        "ldmia r0!, {r1-r7}\n"
        "mov r8, r4\n"
        "mov r10, r5\n"
        "mov r11, r6\n"
        "mov lr, r7\n"
        "movs r0, r1\n"
        "movs r1, r2\n"
        "movs r2, r3\n"
        "adds r3, r3, r3\n"
        "movs r6, #127\n" // which added to both errors leaves none negative but for -128
        "lsls r7, r6, #16\n"
        "adds r6, r6, r7\n"
        "mov r9, r6\n"
        "movs r6, #0\n" // sum
        "movs r7, #0\n" // extreme
        "1:\n"
        "mov r12, r0\n"
        "add r12, r8\n"
        "cmp r0, r12\n"
        "beq 3f\n"
        "2:\n"
        "ldrsb r4, [r1, r2]\n"
        "ldrsb r5, [r1, r3]\n"
        "add r1, r3\n"
        "lsls r4, r4, #16\n"
        "adds r4, r4, r5\n"
        "stmia r0!, {r4}\n"
        "adds r6, r6, r4\n"
        "add r4, r9\n"
        "orrs r7, r4\n"
        "cmp r0, r12\n"
        "bne 2b\n"
        "3:\n"
        "mov r4, r11\n"
        "cmp r4, #0\n"
        "beq 4f\n"
        "ldrsb r4, [r1, r2]\n"
        "add r1, r2\n"
        "lsls r4, r4, #16\n"
        "stmia r0!, {r4}\n"
        "adds r6, r6, r4\n"
        "add r4, r9\n"
        "orrs r7, r4\n"
        "4:\n"
        "add r1, r10\n"
        "mov r4, lr\n"
        "subs r4, #1\n"
        "mov lr, r4\n"
        "bne 1b\n"
        "pop {r0}\n"
        "str r6, [r0, #28]\n"
        "str r7, [r0, #32]\n"
        ODT_RESTORE_REGISTERS
        );
}

// What sum_taps loads.
typedef struct {
    int32_t *dw;        // 0: added to
    const int32_t *x;   // 4
    const int32_t *e;   // 8
    int32_t step;       // 12: bytes of x from the end of two taps to the next pair's
    int32_t pairs;      // 16: bytes of the errors of a row
    int32_t skip;       // 20: of x, from where the next pair would be to the next row
    int32_t rows;       // 24
} taps_t;

// The three taps of a row of a filter: 20 cycles for 6 products, and 9 per row of outputs. r0: x, r1: e, r2-r4: the taps' sums,
// r5, r6: words of x, r7: a word of e, r8: step, r9: the end of the row's errors, r10: pairs, r11: skip, r12: rows.
__attribute__((naked, noinline)) static void sum_taps(const taps_t *taps) {
    (void)taps;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "ldmia r0!, {r1-r7}\n"
        "push {r1}\n"
        "mov r8, r4\n"
        "mov r10, r5\n"
        "mov r11, r6\n"
        "mov r12, r7\n"
        "movs r0, r2\n"
        "mov lr, r3\n"
        "ldmia r1!, {r2-r4}\n"
        "mov r1, lr\n"
        "1:\n"
        "mov r9, r1\n"
        "add r9, r10\n"
        "2:\n"
        "ldmia r1!, {r7}\n"
        "ldmia r0!, {r5, r6}\n"
        "muls r5, r7\n"
        "asrs r5, r5, #16\n"
        "adcs r2, r5\n"
        "muls r6, r7\n"
        "asrs r6, r6, #16\n"
        "adcs r3, r6\n"
        "ldr r5, [r0]\n"
        "muls r5, r7\n"
        "asrs r5, r5, #16\n"
        "adcs r4, r5\n"
        "add r0, r8\n"
        "cmp r1, r9\n"
        "bne 2b\n"
        "add r0, r11\n"
        "mov r5, r12\n"
        "subs r5, #1\n"
        "mov r12, r5\n"
        "bne 1b\n"
        "pop {r1}\n"
        "stmia r1!, {r2-r4}\n"
        ODT_RESTORE_REGISTERS
        );
}

int odt_depthwise_dw_i8__m0(const odt_depthwise2d_dw_i8_t *a, int32_t first, int32_t stop) {
    int32_t words[ODT_TILE_WORDS + 2], pairs[ODT_TILE_SUMS / 2], N = a->N, OW = a->OW, KH = a->KH;
    odt_tile_t t = {.H = a->H, .W = a->W, .x_h = a->W * N, .x_w = N, .KH = KH, .KW = K, .SH = a->SH, .SW = a->SW,
        .top = a->PT, .left = a->PL, .OH = a->OH, .OW = OW, .zx = a->zx, .group = 2,
        .words = words};
    if (a->KW != K || !odt_tile_plan(&t)) {
        return 0;
    }
    memset(a->dw + first * KH * K, 0, (size_t)((stop - first) * KH * K) * sizeof(int32_t));
    while (odt_tile_next(&t)) {
        int32_t odd = t.columns & 1;
        errors_t errors = {.to = pairs, .N = N, .pairs = t.columns / 2 * 4, .from_skip = (OW - t.columns) * N,
            .odd = odd, .rows = t.rows};
        if (errors.from_skip == 0 && !odd) { // as one
            errors.pairs *= t.rows;
            errors.rows = 1;
        }
        taps_t taps = {.e = pairs, .step = (2 * t.SW - 2) * 4, .pairs = t.even * 2,
            .skip = (t.SH * t.pitch - t.SW * t.even) * 4, .rows = t.rows};
        for (int32_t n = first; n < stop; n++) {
            for (int32_t b = 0; b < a->B; b++) {
                odt_poll();
                odt_tile_fill(&t, a->x + b * a->H * a->W * N + a->at + n);
                errors.from = a->e + ((b * a->OH + t.oh) * OW + t.ow) * N + a->at + n - N;
                pack_errors(&errors);
                if (errors.extreme & 0x80008000) { // which no error is (numerics.md)
                    return 0;
                }
                int32_t zeros = odt_wrap_mul(a->zx, (int16_t)errors.sum + ((errors.sum + 0x8000) >> 16));
                taps.dw = a->dw + n * KH * K;
                taps.x = odt_tile_windows(&t);
                for (int32_t kh = 0; kh < KH; kh++, taps.dw += K, taps.x += t.pitch) {
                    taps.dw[0] -= zeros;
                    taps.dw[1] -= zeros;
                    taps.dw[2] -= zeros;
                    sum_taps(&taps);
                }
            }
        }
    }
    return 1;
}

#endif
