// Windows of few elements, gathered: the part of panel_i8.c that a core without SMLAD runs where a filter's rows are too
// short to be multiplied one by one, as with one channel. A block of windows lies on the stack, each a row of bytes, and
// is then one factor of a product of matrices, forward as for the filters.

#ifndef ODT_GATHER_I8_PANEL_H
#define ODT_GATHER_I8_PANEL_H

enum {
    FEW = 80,        // elements of a window at most; positions of a block at most
    GATHERED = 1280, // bytes of a block
};

typedef struct {
    panel_t panel[FEW * UNITS];
    sums_t sums[BLOCK];
    int8_t windows[GATHERED] __attribute__((aligned(4)));
} gathered_t;

// Which windows: of x [B, H, W, C], zx outside. A window's row is `length` bytes.
typedef struct {
    const int8_t *x;
    int32_t H, W, C, KH, SH, SW, top, left, OH, OW, length;
    int8_t zx;
} windows_t;

// Cycles of an RP2040 that a window takes to be gathered, as measured; and what rows take that are multiplied one by one,
// each time four filters: a row of outputs, a window, one beside the border.
enum { PER_WINDOW = 20, PER_ROW = 18, PER_BYTE = 5, DIRECT_ROW = 150, DIRECT_WINDOW = 42, DIRECT_BORDER = 250 };

// Whether a block has room for such windows.
static int is_few(const windows_t *g) {
    int32_t size = g->KH * g->length;
    return g->length > 0 && size > 1 && size <= FEW;
}

// Whether gathering takes less, `panels` being how often four filters come.
static int is_gathered(const windows_t *g, int32_t panels) {
    int32_t size = g->KH * g->length;
    if (!is_few(g)) {
        return 0;
    }
    int32_t inside = g->W * g->C < g->length ? 0 : (g->W * g->C - g->length) / (g->SW * g->C) + 1;
    int64_t border = odt_max(g->OW - inside, 0);
    int64_t direct = g->KH * (DIRECT_ROW + g->OW * DIRECT_WINDOW + border * DIRECT_BORDER);
    int64_t gathered = g->OW * (int64_t)(PER_WINDOW + g->KH * PER_ROW + size * PER_BYTE + panels * DIRECT_WINDOW);
    return gathered < direct * panels;
}

// The same of the gradient, whose loops over x where it lies go tap by tap: cycles for a row of outputs and a tap, and
// for what is added to dw after each block.
enum { DIRECT_TAP = 200, PER_SUM = 75 };

static int is_dw_gathered(const windows_t *g, int32_t panels) {
    int32_t size = g->KH * g->length;
    if (!is_few(g)) {
        return 0;
    }
    int32_t taps = size / g->C, block = odt_min(FEW, GATHERED / size);
    int64_t gathered = g->OW * (int64_t)(PER_WINDOW + g->KH * PER_ROW + size * (PER_BYTE + panels * PER_SUM / block));
    return gathered < panels * (int64_t)(taps * DIRECT_TAP);
}

// `count` rows of `length` bytes each, from every `stride` bytes of x to every `step` bytes. Unsigned, as a Cortex-M0+ loads
// these with an offset.
static __attribute__((noinline)) void copy_rows(uint8_t *to, int32_t step, const uint8_t *x, int32_t stride, int32_t count,
    int32_t length) {
    if (length == 3) {
        for (; count > 0; count--, to += step, x += stride) {
            uint8_t first = x[0], second = x[1], third = x[2];
            to[0] = first;
            to[1] = second;
            to[2] = third;
        }
        return;
    }
    for (; count > 0; count--, to += step, x += stride) {
        int32_t i = length;
        for (; i >= 4; i -= 4, to += 4, x += 4) {
            uint8_t first = x[0], second = x[1], third = x[2], fourth = x[3];
            to[0] = first;
            to[1] = second;
            to[2] = third;
            to[3] = fourth;
        }
        if (i & 2) {
            uint8_t first = x[0], second = x[1];
            to[0] = first;
            to[1] = second;
            to += 2;
            x += 2;
        }
        if (i & 1) {
            *to++ = *x++;
        }
        to -= length;
        x -= length;
    }
}

// A row of `count` windows that begin at byte `at` of a row of x, which has `size` bytes.
static void gather_row(const windows_t *g, const int8_t *row, int32_t size, int32_t at, int32_t count, int8_t *to,
    int32_t step) {
    int32_t length = g->length, stride = g->SW * g->C;
    uint32_t zx = (uint8_t)g->zx;
    while (count > 0) {
        int32_t whole = 1;
        if (at >= 0 && at + length <= size) {
            int32_t rest = size - length - at;
            whole = rest >= stride * (count - 1) ? count : rest / stride + 1;
            copy_rows((uint8_t *)to, step, (const uint8_t *)row + at, stride, whole, length);
        } else {
            for (int32_t i = 0; i < length; i++) {
                uint32_t from = (uint32_t)(at + i);
                to[i] = (int8_t)(from < (uint32_t)size ? (uint8_t)row[from] : zx);
            }
        }
        to += whole * step;
        count -= whole;
        at += whole * stride;
    }
}

// Windows m .. m + count - 1 to every `step` bytes.
static __attribute__((noinline)) void gather_windows(const windows_t *g, int32_t m, int32_t count, int8_t *to,
    int32_t step) {
    int32_t row = m / g->OW, ow = m - row * g->OW, b = row / g->OH, oh = row - b * g->OH;
    while (count > 0) {
        int32_t here = odt_min(g->OW - ow, count), ih = oh * g->SH - g->top, at = (ow * g->SW - g->left) * g->C;
        for (int32_t kh = 0; kh < g->KH; kh++, ih++) {
            int is_row = ih >= 0 && ih < g->H;
            const int8_t *x = g->x + (is_row ? (b * g->H + ih) * g->W * g->C : 0);
            gather_row(g, x, is_row ? g->W * g->C : 0, at, here, to + kh * g->length, step);
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
