// Windows of few elements, gathered: the part of panel_i8.c that a core without SMLAD runs where a filter's rows are too
// short to be multiplied one by one, as with one channel. A block of windows lies on the stack, each a row of bytes, and
// is then one factor of a product of matrices, forward as for the filters.

#ifndef ODT_GATHER_I8_PANEL_H
#define ODT_GATHER_I8_PANEL_H

#include "gather_i8.h"

enum {
    FEW = 80,        // elements of a window at most; positions of a block at most
    GATHERED = 1280, // bytes of a block
};

typedef struct {
    union {
        struct {
            panel_t panel[FEW * UNITS];
            sums_t sums[BLOCK];
            int8_t windows[GATHERED] __attribute__((aligned(4)));
        };
        sums_t room[FEW / 2 + BLOCK + GATHERED / sizeof(sums_t)]; // forward: what a panel needs, sums, as many windows
    };
    padded_t padded;
} gathered_t;

// Cycles of an RP2040 that a window takes to be gathered, as measured; and what rows take that are multiplied one by one,
// each time four filters: a row of outputs, a window, one beside the border.
enum { PER_WINDOW = 20, PER_ROW = 18, PER_BYTE = 5, DIRECT_ROW = 150, DIRECT_WINDOW = 42, DIRECT_BORDER = 250 };

// Whether a block has room for such windows.
static int is_few(const windows_t *g) {
    int32_t size = g->lines * g->length;
    return g->length > 0 && size > 1 && size <= FEW;
}

// Whether gathering takes less, `panels` being how often four filters come.
static int is_gathered(const windows_t *g, int32_t panels) {
    int32_t size = g->lines * g->length;
    if (!is_few(g)) {
        return 0;
    }
    int32_t inside = g->W < g->line_taps ? 0 : (g->W - g->line_taps) / g->SW + 1;
    int64_t border = odt_max(g->OW - inside, 0);
    int64_t direct = g->lines * (DIRECT_ROW + g->OW * DIRECT_WINDOW + border * DIRECT_BORDER);
    int64_t gathered = g->OW * (int64_t)(PER_WINDOW + g->lines * PER_ROW + size * PER_BYTE + panels * DIRECT_WINDOW);
    return gathered < direct * panels;
}

// The same of the gradient, whose loops over x where it lies go tap by tap: cycles for a row of outputs and a tap, and for
// an element of one, if rows of errors are run one by one; for what is added to dw after each block; for the errors of a
// position, which are packed for each piece of the windows anew.
enum { DIRECT_TAP = 200, DIRECT_ELEMENT = 42, PER_SUM = 75, PER_ERRORS = 22 };
enum { PIECE = 16 }; // elements of a window that are gathered at a time, about, if all are too many

// Which part of a window is a piece: of whole lines, or of `taps` of one, or of `channels` of a tap.
typedef struct {
    int32_t lines, taps, channels;
} piece_t;

static piece_t piece_of(const windows_t *g) {
    int32_t taps = g->line_taps, C = g->length / taps;
    if (g->lines * g->length <= 3 * PIECE) {
        return (piece_t) {g->lines, taps, C};
    }
    if (g->length <= 2 * PIECE) {
        return (piece_t) {taps == g->KW ? odt_max(PIECE / g->length, 1) : 1, taps, C};
    }
    return (piece_t) {1, odt_max(PIECE / C, 1), odt_min(C, PIECE)};
}

static inline int32_t parts(int32_t count, int32_t size) {
    return (count + size - 1) / size;
}

static int is_dw_gathered(const windows_t *g, int32_t panels, int is_same_size) {
    int32_t size = g->lines * g->length;
    if (g->length < 1 || size < 2 || size > 1 << 16) {
        return 0;
    }
    piece_t p = piece_of(g);
    int32_t of_line = parts(g->line_taps, p.taps) * parts(g->length / g->line_taps, p.channels);
    int32_t pieces = parts(g->lines, p.lines) * of_line, block = odt_min(FEW, GATHERED / (p.lines * p.taps * p.channels));
    int32_t window = pieces * PER_WINDOW + g->lines * of_line * PER_ROW + size * PER_BYTE;
    int32_t panel = size * PER_SUM / block + (pieces - 1) * PER_ERRORS;
    int32_t direct = g->lines * g->line_taps * DIRECT_TAP + (is_same_size ? 0 : size * DIRECT_ELEMENT);
    return g->OW * (window + (int64_t)panels * panel) < panels * (int64_t)direct;
}

#endif
