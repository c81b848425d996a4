// Products of int8 matrices by panels (correlate.h) on cores without SMLAD: the core's inner loops, then the loops
// around them. The stack holds a panel and a block of sums, or gathered windows: 3.4 KB in total, in a small module 1.9
// KB.

#include "../../core.h"
#include "../correlate.h"

#if !ODT_M4 // the M4 has its own loops: conv2d_i8__m4.c, conv2d_dw_i8__m4.c

#include <string.h>

#include "../../fixed.h"
#include "../../common/saturated.h"
#include "../../common/inner_i8.h"
#include "../../common/window.h"
#include "../../common/words.h"

enum {
    ROWS = 4,   // of a panel
    DEPTH = ODT_SMALL ? 144 : 288, // products in a panel, an even number: a filter of 3x3 taps with 16 channels, or 32
    BLOCK = ODT_SMALL ? 48 : 64, // columns summed at a time
    AT_ONCE = ODT_SMALL ? DEPTH : 256, // depths packed at a time: their sum fits 16 bits
};

// The sums of a block of columns, four rows each, in the core's format.
typedef int32_t sums_t[ROWS];

// The columns by which a panel is multiplied: `count` columns, `step` bytes apart, of `depth` elements, `stride` bytes
// apart. On an M0 `is_two` says that only the panel's first two rows are wanted, and packed by pack_two().
typedef struct {
    int32_t depth, stride, count, step, is_two;
} columns_t;

// How rows of sums become outputs. finish_rows() of panel_i8__m0.inc and ODT_FINISH_RARE load the members in this
// order.
typedef struct {
    const int32_t *offsets;    // 0: added to the sums of the first row; the values of the other rows follow
    const odt_multiplier_t *q; // 4: of the first row
    int8_t *y;                 // 8: of the first row
    const int32_t *sums;       // 12: of the first row and column
    int32_t q_step;            // 16: bytes to the next row's multiplier
    int32_t length;            // 20: bytes of columns
    int32_t most;              // 24: bound of the magnitude of sums
    int32_t rows;              // 28
    int32_t high, lo;          // 32, 36
    int32_t max, min;          // 40, 44: the peaks, zy included
    int32_t step, zy;          // 48, 52: distance from a column's output to the next one
    int32_t apart;             // 56: from a row's outputs to the next row's
    // On an M0, 60, 64, 68: where a row's outputs have gaps, `length` bytes of columns lie before the first one, `run`
    // before each of the others, and `all` are the row's; the bytes of a gap in y, or 0.
    int32_t run, all, gap;
} output_t;

#define ANY_SUM (1 << 20) // the bound if no better one is known; above it finish_rows() checks sums

static const int32_t none[ROWS]; // initial sums of the columns

// memset() takes 80 cycles of an RP2040.
static inline void clear_totals(int32_t *totals) {
    totals[0] = totals[1] = totals[2] = totals[3] = 0;
}

static void fill_columns(sums_t *sums, int32_t count, const int32_t *start) {
    int32_t s0 = start[0], s1 = start[1], s2 = start[2], s3 = start[3];
    for (const sums_t *end = (const sums_t *)sums + count; sums != end; sums++) {
        int32_t *s = *sums;
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
    }
}

// Each core defines:
//
//     panel_t, UNITS      the elements of a panel, UNITS per depth
//     ALIGNED             depths multiplied together: runs should begin at a multiple
//     pack(..)            packs four rows; take(..) and put_back(..) take depths out of a panel and put them back
//     run(..)             sums += panel * columns, or sums = start + panel * columns
//     finish_rows(..)     converts rows of sums to outputs

#if ODT_M0 || ODT_RV32
#include "panel_i8__lanes.inc"
#endif
#if ODT_M0
#include "../m0/panel_i8__m0.inc"
#else
#if ODT_RV32
#include "../rv32/panel_i8__rv32.inc"
#endif
#include "panel_i8__c.inc"
#endif

// Adds a mark to `marks` if finish_rows() must not be used with q: if a scale has diverged or a program is wrong. The
// caller starts with 0 and tests the result.
static inline uint32_t mark_unusual(uint32_t marks, const odt_multiplier_t *q) {
    return marks | ((uint32_t)q->m & 0x8000007F) | ((((uint32_t)q->s - 33) | (62 - (uint32_t)q->s)) & 0x80000000);
}

static inline int is_usual_range(int32_t zy, int32_t lo, int32_t peak) {
    return zy == (int8_t)zy && lo == (int8_t)lo && lo <= zy && (uint32_t)peak < 1 << 30;
}

// Field by field, because a copy of the whole struct is slow on an RP2040.
static void finish_usual(output_t *o, const int32_t *sums, int32_t count, const int32_t *offsets, int32_t *peak) {
    o->offsets = offsets;
    o->sums = sums;
    o->length = count * (int32_t)sizeof(sums_t);
    o->high = 127;
    o->max = o->zy + *peak;
    o->min = o->zy - (o->lo == o->zy ? 1 << 30 : *peak); // after a ReLU: no negative peak
    finish_rows(o);
    *peak = odt_max(o->max - o->zy, o->lo == o->zy ? 0 : o->zy - o->min);
}

// Finishes rows with one multiplier. Returns 0 and does nothing if finish_rows() must not be used. Inlined, because a
// call with ten arguments takes about 60 cycles.
static inline __attribute__((always_inline)) int finish_of_one(const int32_t *sums, const int32_t *offsets,
    const odt_multiplier_t *q, int32_t zy, int32_t lo, int32_t rows, int32_t count, int8_t *y, int32_t step,
    int32_t *peak) {
    if (count <= 0 || mark_unusual(0, q) || !is_usual_range(zy, lo, *peak)) {
        return 0;
    }
    output_t o;
    o.q = q;
    o.q_step = 0;
    o.y = y;
    o.most = ANY_SUM;
    o.rows = rows;
    o.step = step;
    o.apart = 1;
    o.zy = zy;
    o.lo = lo;
    o.gap = 0;
    finish_usual(&o, sums, count, offsets, peak);
    return 1;
}

ODT_COMPACT void odt_finish_i8(const int32_t (*sums)[4], int32_t at, int32_t offset, const odt_multiplier_t *q,
    int32_t zy, int32_t lo, int32_t count, int8_t *y, int32_t step, int32_t *peak) {
    if (finish_of_one(*sums + at, &offset, q, zy, lo, 1, count, y, step, peak)) {
        return;
    }
    odt_multiplier_t checked = odt_checked(q);
    if (count > 0 && odt_is_beyond(checked, zy, lo, *peak)) {
        odt_beyond_t b = odt_beyond(checked, zy, lo, peak);
        odt_beyond_outputs(&b, *sums + at, 4, offset, count, y, step);
        odt_beyond_peak(&b);
        return;
    }
    for (; count > 0; count--, sums++, y += step) {
        *y = odt_clamp(odt_rescaled(odt_wrap_add((*sums)[at], offset), checked), zy, lo, peak);
    }
}

#if ODT_M0

ODT_COMPACT void odt_finish_errors_i8(
    const int32_t *sums, const odt_multiplier_t *q, int32_t count, int8_t *dx, int32_t *peak) {
    int32_t columns = count / ROWS;
    int32_t done = finish_of_one(sums, none, q, 0, -127, ROWS, columns, dx, ROWS, peak) ? columns * ROWS : 0;
    odt_multiplier_t checked = odt_checked(q);
    for (; done < count; done++) {
        dx[done] = odt_clamp(odt_rescaled(sums[done], checked), 0, -127, peak);
    }
}

#endif

enum { PANEL_SUMS = DEPTH * UNITS * (int32_t)sizeof(panel_t) / (int32_t)sizeof(sums_t) }; // the room of a panel

typedef union {
    struct {
        panel_t panel[DEPTH * UNITS];
        sums_t sums[BLOCK];
    };
    sums_t room[PANEL_SUMS + BLOCK]; // a smaller panel leaves room for more sums
} panel_scratch_t;

// How many sums take the room of a panel of `depth`.
static inline int32_t sums_of_panel(int32_t depth) {
    return ODT_SMALL ? PANEL_SUMS : odt_min((depth + ALIGNED) * PANEL_SUMS / DEPTH + 1, PANEL_SUMS);
}

// Functions around loops that are assembly on an M0.
#if ODT_M0
#define ODT_AROUND ODT_COMPACT
#else
#define ODT_AROUND __attribute__((noinline))
#endif

// One file, because both directions run the same loops over panels.
#if ODT_SMALL
#define ODT_SCRATCH inline __attribute__((always_inline)) // only one function uses it
#else
#define ODT_SCRATCH __attribute__((noinline)) // so that the callers' stack frames do not add up
#include "gather_i8__panel.inc"
#endif

#include "conv2d_i8__panel.inc"

#include "conv2d_dw_i8__panel.inc"

#endif
