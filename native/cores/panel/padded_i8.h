// Rows of a convolution's input with zx on both sides. A row of a narrow image is copied once, for all windows that
// read it; no window then crosses the border.

#ifndef ODT_PADDED_I8_H
#define ODT_PADDED_I8_H

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../correlate.h"

// Describes windows of x [B, H, W, C], with zx outside. A window has `lines` lines of `length` bytes: a line is one of
// its rows, or one tap if pixels lie apart.
typedef struct {
    const int8_t *x;
    int32_t H, W, pixel, SH, SW, top, left, OH, OW, line_taps, KW, lines, length;
    int8_t zx;
    #if ODT_M4
    int32_t skip; // bytes between pixels of x; they are not copied
    #endif
} windows_t;

// The windows of a convolution, or of the gradient of its filters; both structs have these members.
#define WINDOWS_OF(a) \
    (windows_t) { \
        .x = (a)->x, .H = (a)->H, .W = (a)->W, .pixel = odt_pixel((a)->C, (a)->x_skip), .SH = (a)->SH, .SW = (a)->SW, \
        .top = (a)->top, .left = (a)->left, .OH = (a)->OH, .OW = (a)->OW, \
        .line_taps = odt_line_taps((a)->KW, (a)->x_skip), .KW = (a)->KW, \
        .lines = odt_line_taps((a)->KW, (a)->x_skip) == (a)->KW ? (a)->KH : (a)->KH * (a)->KW, \
        .length = odt_line_taps((a)->KW, (a)->x_skip) * (a)->C, .zx = (int8_t)(a)->zx \
    }

#if ODT_M0

// Copies `count` > 0 rows of `length` > 0 bytes, `stride` bytes apart in x and `step` bytes apart in the result: 8
// cycles per row, 4 per byte or, if all addresses and lengths are multiples of 4 or 2, per word or halfword. r0: to,
// r1: step, r2: x, r3: stride, r4: rows left, r5: length, r6: the loop's entry, r7: the data.
__attribute__((naked, noinline)) static void copy_rows(int8_t *to, int32_t step, const int8_t *x, int32_t stride,
    int32_t count, int32_t length) {
    (void)to, (void)step, (void)x, (void)stride, (void)count, (void)length;
    __asm volatile(".syntax unified\n"
                   ".macro odt_copy_byte at\n"
                   "ldrb r7, [r2, #\\at]\n"
                   "strb r7, [r0, #\\at]\n"
                   ".endm\n"
                   ".macro odt_copy_half at\n"
                   "ldrh r7, [r2, #\\at]\n"
                   "strh r7, [r0, #\\at]\n"
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
                   "movs r6, r5\n" // in this turn
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
                   "lsls r7, r7, #1\n"
                   "beq 9f\n"
                   "lsls r6, r6, #2\n"
                   "adr r7, 5f\n"
                   "subs r6, r7, r6\n"
                   "3:\n"
                   "mov pc, r6\n"
                   ".balign 4\n"
                   ".irp at, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, "
                   "9, 8, 7, 6, 5, 4, 3, 2, 1, 0\n"
                   "odt_copy_byte \\at\n"
                   ".endr\n"
                   "5:\n"
                   "adds r0, r0, r1\n"
                   "adds r2, r2, r3\n"
                   "subs r4, r4, #1\n"
                   "bne 3b\n"
                   "b 8f\n"
                   "9:\n"
                   "lsls r6, r6, #1\n"
                   "adr r7, 10f\n"
                   "subs r6, r7, r6\n"
                   "11:\n"
                   "mov pc, r6\n"
                   ".balign 4\n"
                   ".irp at, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0\n"
                   "odt_copy_half \\at\n"
                   ".endr\n"
                   "10:\n"
                   "adds r0, r0, r1\n"
                   "adds r2, r2, r3\n"
                   "subs r4, r4, #1\n"
                   "bne 11b\n"
                   "b 8f\n"
                   "4:\n"
                   "adr r7, 6f\n"
                   "subs r6, r7, r6\n"
                   "7:\n"
                   "mov pc, r6\n"
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
                   "ble 12f\n"
                   "b 1b\n"
                   "12:\n"
                   "pop {r4-r7, pc}\n"
                   ".purgem odt_copy_byte\n"
                   ".purgem odt_copy_half\n"
                   ".purgem odt_copy_word\n");
}

#else

// Copies `count` rows of `length` bytes; they are `stride` bytes apart in x and `step` bytes apart in the result.
static __attribute__((noinline)) void copy_rows(
    int8_t *to, int32_t step, const int8_t *x, int32_t stride, int32_t count, int32_t length) {
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

// the most bytes of a window's line, the bytes for rows with zx on both sides, and
enum { LINE = 96, PADDED = 256, BEYOND = ODT_M4 ? 4 : 0 };
                                                           // how far words may read past these

// A line of zx, and the rows of x that a row of outputs reads: row ih is at (ih & mask) * pitch. Rows `first` to `next`
// of image b are present. In a row, `inside` bytes from `skip` on are copied to `from`; the rest is zx. If they do not
// fit, pitch = 0.
typedef struct {
    int32_t pitch, mask, from, skip, inside, b, first, next;
    int8_t line[LINE] __attribute__((aligned(4))), rows[PADDED + BEYOND] __attribute__((aligned(4)));
} padded_t;

static void begin_padded(const windows_t *g, padded_t *p) {
    int32_t pixel = g->pixel, slots = 1;
    p->pitch = 0;
    if (g->length > LINE) {
        return;
    }
    memset(p->line, g->zx, (size_t)g->length);
    int is_whole = g->line_taps == g->KW && g->KW * pixel == g->length; // no other channels between
    if (!is_whole || g->lines > PADDED || g->OW > PADDED || g->SW > PADDED) {
        return;
    }
    while (slots < g->lines) {
        slots *= 2;
    }
    int32_t width = (g->OW - 1) * g->SW + g->KW, from = odt_limit(g->left, 0, width), skip = odt_max(-g->left, 0);
    int64_t pitch = ((int64_t)width * pixel + 3) & ~3;
    if (pitch * slots > PADDED) {
        return;
    }
    p->pitch = (int32_t)pitch;
    p->mask = slots - 1;
    p->from = from * pixel;
    p->skip = skip * pixel;
    p->inside = odt_limit(g->W - skip, 0, width - from) * pixel;
    p->b = -1;
    memset(p->rows, g->zx, (size_t)(p->pitch * slots));
}

// Makes the rows of a window available, from row ih of image b on.
static __attribute__((noinline)) void pad_rows(const windows_t *g, padded_t *p, int32_t b, int32_t ih) {
    int32_t size = g->W * g->pixel, start = odt_max(ih, 0), stop = odt_min(ih + g->lines, g->H);
    if (b != p->b || start < p->first || start > p->next) {
        p->b = b;
        p->first = p->next = start;
    }
    for (int32_t row = p->next; row < stop && p->inside > 0; row++) {
        #if ODT_M4
        if (g->skip) {
            int32_t pixel = g->pixel, stride = pixel + g->skip, first = (b * g->H + row) * g->W + p->skip / pixel;
            int8_t *to = p->rows + (row & p->mask) * p->pitch + p->from;
            copy_rows(to, pixel, g->x + first * stride, stride, p->inside / pixel, pixel);
            continue;
        }
        #endif
        copy_rows(p->rows + (row & p->mask) * p->pitch + p->from, 0, g->x + (b * g->H + row) * size + p->skip, 0, 1,
            p->inside);
    }
    p->next = odt_max(p->next, stop);
    p->first = odt_max(p->first, p->next - p->mask - 1);
}

// The line of windows in row ih of x, from `at` bytes on.
static inline const int8_t *padded_line(const windows_t *g, const padded_t *p, int32_t ih, int32_t at) {
    return ih >= 0 && ih < g->H ? p->rows + (ih & p->mask) * p->pitch + at : p->line;
}

#endif
