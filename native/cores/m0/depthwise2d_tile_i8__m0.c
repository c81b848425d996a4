// Tiles of inputs for depthwise convolutions on a Cortex-M0+ (depthwise2d_tile_i8__m0.h).

#include "../../core.h"
#include "depthwise2d_tile_i8__m0.h"

#if ODT_M0_DEPTHWISE

#include "../../fixed.h"
#include "registers__m0.h"

// Fills rows with the words x[p] + x[p + 1] * 65536, 12 cycles for two elements, 3 per eight and 22 per row; or, with a
// stride, x[p] + x[p + 2] * 65536, 29 for four. r0: to, r1: from, r2: step, r3: 2 * step, r4, r5: elements, which with
// a stride become words, r6, r7: words or elements, r8: bulk, r9: skip, r10: from_skip, r11: zx, r12: the end of the
// bulk, lr: the entry for a row; without a stride, one of eight.
__attribute__((naked, noinline)) static void fill_rows(const odt_tile_rows_t *fill) {
    (void)fill;
    __asm volatile (
        ".syntax unified\n"
        ".macro odt_pair\n"
        "ldrsb r5, [r1, r2]\n"
        "lsls r6, r5, #16\n"
        "adds r6, r6, r4\n"
        "ldrsb r4, [r1, r3]\n"
        "lsls r7, r4, #16\n"
        "adds r7, r7, r5\n"
        "stmia r0!, {r6, r7}\n"
        "add r1, r3\n"
        ".endm\n"
        ".macro odt_two a, b, c, d\n"
        "ldrsb \\c, [r1, r2]\n"
        "add r1, r2\n"
        "lsls r3, \\c, #16\n"
        "adds \\a, \\a, r3\n"
        "ldrsb \\d, [r1, r2]\n"
        "add r1, r2\n"
        "lsls r3, \\d, #16\n"
        "adds \\b, \\b, r3\n"
        "stmia r0!, {\\a, \\b}\n"
        ".endm\n"
        "push {lr}\n"
        "ldmia r0!, {r1-r7}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r7\n"
        "ldmia r0!, {r5-r7}\n"
        "push {r6, r7}\n" // 0: end, 4: rest
        "movs r0, r1\n"
        "movs r1, r2\n"
        "movs r2, r3\n"
        "adds r3, r3, r3\n"
        "cmp r5, #1\n"
        "adr r5, 5f\n"
        "bne 4f\n"
        "adr r5, 2f\n"
        "cmp r4, #0\n"
        "bne 3f\n"
        "adds r5, #68\n" // after 2
        "3:\n"
        "negs r4, r4\n"
        "movs r6, #24\n"
        "ands r4, r6\n"
        "lsls r4, r4, #1\n" // 16 bytes for two elements
        "adds r5, r5, r4\n"
        "4:\n"
        "mov lr, r5\n"
        "1:\n"
        "mov r12, r0\n"
        "add r12, r8\n"
        "mov r4, r11\n" // the previous element
        "mov pc, lr\n"
        ".balign 4\n"
        "2:\n"
        "odt_pair\n"
        "odt_pair\n"
        "odt_pair\n"
        "odt_pair\n"
        "cmp r0, r12\n"
        "bne 2b\n"
        "ldr r6, [sp, #4]\n"
        "cmp r6, #0\n"
        "beq 3f\n"
        "ldrsb r5, [r1, r2]\n"
        "add r1, r2\n"
        "lsls r6, r5, #16\n"
        "adds r6, r6, r4\n"
        "stmia r0!, {r6}\n"
        "movs r4, r5\n"
        "3:\n"
        "mov r6, r11\n"
        "lsls r6, r6, #16\n"
        "adds r4, r4, r6\n"
        "stmia r0!, {r4}\n"
        "4:\n"
        "add r0, r9\n"
        "add r1, r10\n"
        "ldr r6, [sp]\n"
        "cmp r0, r6\n"
        "bne 1b\n"
        "add sp, #8\n"
        "pop {pc}\n"
        ".balign 4\n"
        "5:\n"
        "mov r5, r11\n"
        "cmp r0, r12\n"
        "beq 7f\n"
        "6:\n"
        "odt_two r4, r5, r6, r7\n"
        "odt_two r6, r7, r4, r5\n"
        "cmp r0, r12\n"
        "bne 6b\n"
        "7:\n"
        "ldr r7, [sp, #4]\n"
        "b 9f\n"
        "8:\n"
        "ldrsb r6, [r1, r2]\n"
        "add r1, r2\n"
        "lsls r3, r6, #16\n"
        "adds r4, r4, r3\n"
        "stmia r0!, {r4}\n"
        "movs r4, r5\n"
        "movs r5, r6\n"
        "9:\n"
        "subs r7, #1\n"
        "bpl 8b\n"
        "mov r6, r11\n"
        "lsls r6, r6, #16\n"
        "adds r4, r4, r6\n"
        "adds r5, r5, r6\n"
        "stmia r0!, {r4, r5}\n"
        "b 4b\n"
        ".purgem odt_pair\n"
        ".purgem odt_two\n"
        );
}

enum { ROWS = 5 }; // the least rows of outputs of a tile, if the image has them; shorter rows would take longer to fill

static int32_t rounded(const odt_tile_t *t, int32_t columns) {
    return (columns + t->group - 1) & -t->group;
}

int odt_tile_plan(odt_tile_t *t) {
    if (t->zx != (int8_t)t->zx || t->SH < 1 || t->SH > 2 || t->SW < 1 || t->SW > 2 || t->KH < 1 || t->KW < 1
        || t->OH < 1 || t->OW < 1) {
        return 0;
    }
    // Tiles are as wide as these rows allow, then made equally wide.
    int32_t room = ODT_TILE_WORDS / ((odt_min(t->OH, ROWS) - 1) * t->SH + t->KH),
            widest = (room - t->KW + t->SW) / t->SW;
    widest = odt_min(widest, t->most) & -t->group;
    if (widest < 1) {
        return 0;
    }
    int32_t parts = (t->OW + widest - 1) / widest;
    t->wide = odt_min(rounded(t, (t->OW + parts - 1) / parts), t->OW);
    int32_t even = rounded(t, t->wide);
    t->pitch = t->SW * even + t->KW - t->SW;
    t->high = odt_min((ODT_TILE_WORDS / t->pitch - t->KH) / t->SH + 1, t->most / even);
    t->high = odt_min(t->high, t->OH);
    t->oh = -1;
    t->unpolled = 0;
    return 1;
}

int odt_tile_next(odt_tile_t *t) {
    if (t->oh < 0) {
        t->oh = t->ow = 0;
    } else {
        t->ow += t->wide;
        if (t->ow >= t->OW) {
            t->ow = 0;
            t->oh += t->high;
        }
    }
    if (t->oh >= t->OH) {
        return 0;
    }
    t->rows = odt_min(t->high, t->OH - t->oh);
    t->columns = odt_min(t->wide, t->OW - t->ow);
    t->even = rounded(t, t->columns);
    int32_t lines = (t->rows - 1) * t->SH + t->KH, padding = t->zx + (int32_t)((uint32_t)t->zx << 16);
    for (int32_t *word = t->words, *end = word + lines * t->pitch; word < end; word += 4) {
        word[0] = padding;
        word[1] = padding;
        word[2] = padding;
        word[3] = padding;
    }
    int32_t ih = t->oh * t->SH - t->top, iw = t->ow * t->SW - t->left;
    int32_t first = odt_max(-ih, 0), last = odt_min(lines, t->H - ih);                    // rows inside the image
    int32_t from = odt_max(-iw, 0), to = odt_min(t->pitch, t->W - iw), count = to - from; // and the columns inside
    odt_tile_rows_t *f = &t->fill;
    t->from = (ih + first) * t->x_h + (iw + from - 1) * t->x_w;
    f->to = t->words + first * t->pitch + from;
    f->step = t->x_w;
    f->rest = count & (2 * t->SW - 1);
    f->bulk = (count - f->rest) * 4;
    f->skip = (t->pitch - count - t->SW) * 4;
    f->from_skip = t->x_h - count * t->x_w;
    f->zx = t->zx;
    f->stride = t->SW;
    f->rows = count > 0 ? last - first : 0;
    f->end = f->to + f->rows * t->pitch;
    return 1;
}

__attribute__((naked, noinline)) void odt_tile_fill_nothing(const odt_tile_rows_t *fill) {
    (void)fill;
    __asm volatile ("bx lr\n");
}

odt_tile_fill_t *odt_tile_filler(const odt_tile_t *t) {
    return t->fill.rows <= 0 ? odt_tile_fill_nothing : fill_rows;
}

__attribute__((naked, noinline)) static void call(const odt_tile_rows_t *fill, odt_tile_fill_t *by) {
    (void)fill, (void)by;
    __asm volatile (
        ".syntax unified\n"
        ODT_SAVE_REGISTERS
        "blx r1\n"
        ODT_RESTORE_REGISTERS
        );
}

void odt_tile_fill(odt_tile_t *t, const int8_t *x) {
    t->fill.from = x + t->from;
    call(&t->fill, odt_tile_filler(t));
}

#endif
