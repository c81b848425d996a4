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
    panel_t panel[FEW * UNITS];
    sums_t sums[BLOCK];
    int8_t windows[GATHERED] __attribute__((aligned(4)));
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

// The same of the gradient, whose loops over x where it lies go tap by tap: cycles for a row of outputs and a tap, and
// for what is added to dw after each block.
enum { DIRECT_TAP = 200, PER_SUM = 75 };

static int is_dw_gathered(const windows_t *g, int32_t panels) {
    int32_t size = g->lines * g->length;
    if (!is_few(g)) {
        return 0;
    }
    int32_t taps = g->lines * g->line_taps, block = odt_min(FEW, GATHERED / size);
    int64_t gathered = g->OW * (int64_t)(PER_WINDOW + g->lines * PER_ROW + size * (PER_BYTE + panels * PER_SUM / block));
    return gathered < panels * (int64_t)(taps * DIRECT_TAP);
}

#endif
