// Windows of a convolution's input, gathered: each a row of bytes, with zx where it lies beside the image.

#ifndef ODT_GATHER_I8_H
#define ODT_GATHER_I8_H

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"

// Which windows: of x [B, H, W, C], zx outside. A window is `lines`, each a row of it, or a tap if pixels lie apart, of
// `length` bytes.
typedef struct {
    const int8_t *x;
    int32_t H, W, pixel, SH, SW, top, left, OH, OW, line_taps, KW, lines, length;
    int8_t zx;
} windows_t;

#if ODT_M0

// `count` > 0 rows of `length` > 0 bytes each, from every `stride` bytes of x to every `step` bytes: 8 cycles per row, 4 per
// byte or, if all lie at words, per word. r0: to, r1: step, r2: x, r3: stride, r4: rows left, r5: length, r6: where the loop is
// entered, r7: a byte; lr: bytes at a time.
__attribute__((naked, noinline)) static void copy_rows(int8_t *to, int32_t step, const int8_t *x, int32_t stride,
    int32_t count, int32_t length) {
    (void)to, (void)step, (void)x, (void)stride, (void)count, (void)length;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_copy_byte at\n"
        "ldrb r7, [r2, #\\at]\n"
        "strb r7, [r0, #\\at]\n"
        ".endm\n"
        ".macro odt_copy_word at\n"
        "ldr r7, [r2, #\\at]\n"
        "str r7, [r0, #\\at]\n"
        ".endm\n"
        "push {r4-r7, lr}\n"
        "ldr r5, [sp, #24]\n"
        "1:\n"
        "push {r0, r2}\n" // 28: count
        "ldr r4, [sp, #28]\n"
        "movs r6, r5\n" // of this turn
        "cmp r6, #32\n"
        "bls 2f\n"
        "movs r6, #32\n"
        "2:\n"
        "movs r7, r0\n"
        "orrs r7, r1\n"
        "orrs r7, r2\n"
        "orrs r7, r3\n"
        "orrs r7, r5\n"
        "lsls r7, r7, #30\n"
        "beq 4f\n"
        "lsls r6, r6, #2\n"
        "adr r7, 5f\n"
        "subs r6, r7, r6\n"
        "3:\n"
        "mov pc, r6\n"
        "4:\n"
        "adr r7, 6f\n"
        "subs r6, r7, r6\n"
        "7:\n"
        "mov pc, r6\n"
        ".balign 4\n"
        ".irp at, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0\n"
        "odt_copy_byte \\at\n"
        ".endr\n"
        "5:\n"
        "adds r0, r0, r1\n"
        "adds r2, r2, r3\n"
        "subs r4, r4, #1\n"
        "bne 3b\n"
        "b 8f\n"
        ".balign 4\n"
        ".irp at, 28, 24, 20, 16, 12, 8, 4, 0\n"
        "odt_copy_word \\at\n"
        ".endr\n"
        "6:\n"
        "adds r0, r0, r1\n"
        "adds r2, r2, r3\n"
        "subs r4, r4, #1\n"
        "bne 7b\n"
        "8:\n"
        "pop {r0, r2}\n"
        "adds r0, #32\n"
        "adds r2, #32\n"
        "subs r5, #32\n"
        "bgt 1b\n"
        "pop {r4-r7, pc}\n"
        ".purgem odt_copy_byte\n"
        ".purgem odt_copy_word\n"
        );
}

#else

// `count` rows of `length` bytes each, from every `stride` bytes of x to every `step` bytes.
static __attribute__((noinline)) void copy_rows(int8_t *to, int32_t step, const int8_t *x, int32_t stride, int32_t count,
    int32_t length) {
    if (length == 3) {
        for (; count > 0; count--, to += step, x += stride) {
            int8_t first = x[0], second = x[1], third = x[2];
            to[0] = first;
            to[1] = second;
            to[2] = third;
        }
        return;
    }
    for (; count > 0; count--, to += step, x += stride) {
        int32_t i = 0;
        for (; i < length - 3; i += 4) {
            memcpy(to + i, x + i, 4);
        }
        for (; i < length; i++) {
            to[i] = x[i];
        }
    }
}

#endif

// Windows from `at` bytes on of a row of x, which has `size` bytes.
static void gather_row(const windows_t *g, const int8_t *row, int32_t size, int32_t at, int32_t count,
    const int8_t *beside, int8_t *to, int32_t step) {
    int32_t length = g->length, stride = g->SW * g->pixel;
    while (count > 0) {
        int32_t whole = 1;
        if (at >= 0 && at + length <= size) {
            int32_t rest = size - length - at;
            whole = rest >= stride * (count - 1) ? count : rest / stride + 1;
            copy_rows(to, step, row + at, stride, whole, length);
        } else if (at >= size || at + length <= 0) {
            whole = at >= size ? count : 1;
            copy_rows(to, step, beside, 0, whole, length);
        } else if (ODT_M0 && length > 8) {
            int32_t from = odt_max(-at, 0), end = odt_min(size - at, length); // what lies inside
            if (from > 0) {
                copy_rows(to, step, beside, 0, 1, from);
            }
            copy_rows(to + from, step, row + at + from, 0, 1, end - from);
            if (end < length) {
                copy_rows(to + end, step, beside, 0, 1, length - end);
            }
        } else {
            for (int32_t i = 0; i < length; i++) {
                to[i] = (uint32_t)(at + i) < (uint32_t)size ? row[at + i] : g->zx;
            }
        }
        to += whole * step;
        count -= whole;
        at += whole * stride;
    }
}

// Windows m .. m + count - 1 to every `step` bytes; `beside`: room for a line of zx, which stays from m = 0 on.
static __attribute__((noinline)) void gather_windows(const windows_t *g, int32_t m, int32_t count, int8_t *to,
    int32_t step, int8_t *beside) {
    int32_t row = m / g->OW, ow = m - row * g->OW, b = row / g->OH, oh = row - b * g->OH, size = g->W * g->pixel;
    if (m == 0) {
        memset(beside, g->zx, (size_t)g->length);
    }
    while (count > 0) {
        int32_t here = odt_min(g->OW - ow, count), ih = oh * g->SH - g->top, first = ow * g->SW - g->left, kw = 0;
        for (int32_t line = 0; line < g->lines; line++) {
            int8_t *at = to + line * g->length;
            if (ih >= 0 && ih < g->H) {
                gather_row(g, g->x + (b * g->H + ih) * size, size, (first + kw) * g->pixel, here, beside, at, step);
            } else {
                copy_rows(at, step, beside, 0, here, g->length);
            }
            kw += g->line_taps;
            if (kw == g->KW) {
                kw = 0;
                ih++;
            }
        }
        to += here * step;
        count -= here;
        ow = 0;
        if (++oh == g->OH) {
            oh = 0;
            b++;
        }
    }
}

#endif
