// Tiles of inputs for depthwise convolutions on a Cortex-M0+ (depthwise2d_tile_i8__m0.h).

#include "../../core.h"
#include "depthwise2d_tile_i8__m0.h"

#if ODT_M0_DEPTHWISE

#include "../../fixed.h"
#include "../common/registers__m0.h"

// Loads an odt_tile_rows_t. r0: to, r1: from, r2: step, r3: 2 * step, r4, r8: bulk, r9: skip, r10: from_skip, r11: zx; on the stack 0:
// rows, 4: rest.
#define LOAD_ROWS \
    ".syntax unified\n" \
    ODT_SAVE_REGISTERS \
    "ldmia r0!, {r1-r7}\n" \
    "mov r8, r4\n" \
    "mov r9, r5\n" \
    "mov r10, r6\n" \
    "mov r11, r7\n" \
    "ldmia r0!, {r6, r7}\n" \
    "push {r6, r7}\n" \
    "movs r0, r1\n" \
    "movs r1, r2\n" \
    "movs r2, r3\n" \
    "adds r3, r3, r3\n"

// r12: where the bulk ends; r4: the element before.
#define BEGIN_ROW \
    "1:\n" \
    "mov r12, r0\n" \
    "add r12, r8\n" \
    "mov r4, r11\n"

#define END_ROWS \
    "add r0, r9\n" \
    "add r1, r10\n" \
    "ldr r6, [sp]\n" \
    "subs r6, #1\n" \
    "str r6, [sp]\n" \
    "bne 1b\n" \
    "add sp, #8\n" \
    ODT_RESTORE_REGISTERS

// Rows of x[p] + x[p + 1] * 65536: 12 cycles for two elements, 3 per eight, and 24 per row. r4, r5: elements, r6, r7: words, lr: where
// of eight elements a row begins.
__attribute__((naked, noinline)) static void fill_rows_1(const odt_tile_rows_t *fill) {
    (void)fill;
    __asm volatile (
        ".macro odt_two\n"
        "ldrsb r5, [r1, r2]\n"
        "lsls r6, r5, #16\n"
        "adds r6, r6, r4\n"
        "ldrsb r4, [r1, r3]\n"
        "lsls r7, r4, #16\n"
        "adds r7, r7, r5\n"
        "stmia r0!, {r6, r7}\n"
        "add r1, r3\n"
        ".endm\n"
        LOAD_ROWS
        "adr r5, 2f\n"
        "cmp r4, #0\n"
        "bne 4f\n"
        "adds r5, #68\n" // after 2
        "4:\n"
        "negs r4, r4\n"
        "movs r6, #24\n"
        "ands r4, r6\n"
        "lsls r4, r4, #1\n" // 16 bytes for two elements
        "adds r5, r5, r4\n"
        "mov lr, r5\n"
        BEGIN_ROW
        "mov pc, lr\n"
        ".balign 4\n"
        "2:\n"
        "odt_two\n"
        "odt_two\n"
        "odt_two\n"
        "odt_two\n"
        "cmp r0, r12\n"
        "bne 2b\n"
        "ldr r6, [sp, #4]\n"
        "cmp r6, #0\n"
        "beq 4f\n"
        "ldrsb r5, [r1, r2]\n"
        "add r1, r2\n"
        "lsls r6, r5, #16\n"
        "adds r6, r6, r4\n"
        "stmia r0!, {r6}\n"
        "movs r4, r5\n"
        "4:\n"
        "mov r6, r11\n"
        "lsls r6, r6, #16\n"
        "adds r4, r4, r6\n"
        "stmia r0!, {r4}\n"
        END_ROWS
        ".purgem odt_two\n"
        );
}

// Rows of x[p] + x[p + 2] * 65536: 29 cycles for four elements. r4-r7: elements that become words.
__attribute__((naked, noinline)) static void fill_rows_2(const odt_tile_rows_t *fill) {
    (void)fill;
    __asm volatile (
        ".syntax unified\n"
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
        LOAD_ROWS
        BEGIN_ROW
        "mov r5, r11\n"
        "cmp r0, r12\n"
        "beq 3f\n"
        "2:\n"
        "odt_two r4, r5, r6, r7\n"
        "odt_two r6, r7, r4, r5\n"
        "cmp r0, r12\n"
        "bne 2b\n"
        "3:\n"
        "ldr r7, [sp, #4]\n"
        "b 5f\n"
        "4:\n"
        "ldrsb r6, [r1, r2]\n"
        "add r1, r2\n"
        "lsls r3, r6, #16\n"
        "adds r4, r4, r3\n"
        "stmia r0!, {r4}\n"
        "movs r4, r5\n"
        "movs r5, r6\n"
        "5:\n"
        "subs r7, #1\n"
        "bpl 4b\n"
        "mov r6, r11\n"
        "lsls r6, r6, #16\n"
        "adds r4, r4, r6\n"
        "adds r5, r5, r6\n"
        "stmia r0!, {r4, r5}\n"
        END_ROWS
        ".purgem odt_two\n"
        );
}

enum { ROWS = 5 }; // of outputs at least, if an image has as many: more and shorter rows take longer to lay out

static int32_t rounded(const odt_tile_t *t, int32_t columns) {
    return (columns + t->group - 1) & -t->group;
}

int odt_tile_plan(odt_tile_t *t) {
    if (t->zx != (int8_t)t->zx || t->SH < 1 || t->SH > 2 || t->SW < 1 || t->SW > 2 || t->KH < 1 || t->KW < 1
        || t->OH < 1 || t->OW < 1) {
        return 0;
    }
    // As wide as leaves room for these rows, and then as wide as one another.
    int32_t room = ODT_TILE_WORDS / ((odt_min(t->OH, ROWS) - 1) * t->SH + t->KH), widest = (room - t->KW + t->SW) / t->SW;
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
    int32_t first = odt_max(-ih, 0), last = odt_min(lines, t->H - ih);                    // of the tile's rows
    int32_t from = odt_max(-iw, 0), to = odt_min(t->pitch, t->W - iw), count = to - from; // and columns
    odt_tile_rows_t *f = &t->fill;
    t->from = (ih + first) * t->x_h + (iw + from - 1) * t->x_w;
    f->to = t->words + first * t->pitch + from;
    f->step = t->x_w;
    f->rest = count & (2 * t->SW - 1);
    f->bulk = (count - f->rest) * 4;
    f->skip = (t->pitch - count - t->SW) * 4;
    f->from_skip = t->x_h - count * t->x_w;
    f->zx = t->zx;
    f->rows = count > 0 ? last - first : 0;
    return 1;
}

void odt_tile_fill(odt_tile_t *t, const int8_t *x) {
    if (t->fill.rows <= 0) { // nothing but padding
        return;
    }
    t->fill.from = x + t->from;
    if (t->SW == 1) {
        fill_rows_1(&t->fill);
    } else {
        fill_rows_2(&t->fill);
    }
}

#endif
