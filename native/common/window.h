// 2-D windows: which taps of a filter meet the image, so that no inner loop tests a bound.

#ifndef ODT_WINDOW_H
#define ODT_WINDOW_H

#include <stdint.h>

// Taps, or outputs, from <= k < to, of one axis.
typedef struct {
    int32_t from, to;
} odt_taps_t;

// Taps k of a filter of `taps` that fall on 0 <= start + k < size.
static inline odt_taps_t odt_taps(int32_t start, int32_t taps, int32_t size) {
    odt_taps_t t = {start < 0 ? -start : 0, size - start < taps ? size - start : taps};
    if (t.to < t.from) {
        t.to = t.from;
    }
    return t;
}

// Outputs o of 0 .. outputs-1 whose tap k meets the input: 0 <= o * stride - pad + k < size.
static inline odt_taps_t odt_outputs(int32_t k, int32_t pad, int32_t stride, int32_t size,
    int32_t outputs) {
    int32_t last = size - 1 + pad - k;
    odt_taps_t o = {0, last < 0 ? 0 : last / stride + 1};
    if (k < pad) {
        o.from = (pad - k + stride - 1) / stride;
    }
    o.to = o.to < outputs ? o.to : outputs;
    return o;
}

// Backwards: taps k, with the outputs o they came from, that meet input i: i = o * stride - pad + k.
// for (odt_dx_taps_t b = odt_dx_taps(..); odt_dx_taps_more(&b); odt_dx_taps_next(&b)): b.k rises, b.o falls.
typedef struct {
    int32_t k, o, taps, stride, outputs;
} odt_dx_taps_t;

static inline odt_dx_taps_t odt_dx_taps(int32_t i, int32_t pad, int32_t stride, int32_t taps,
    int32_t outputs) {
    odt_dx_taps_t b = {(i + pad) % stride, (i + pad) / stride, taps, stride, outputs};
    if (b.o >= outputs) { // first to an output that exists; the tap then is at most 65535 * 256
        b.k += (b.o - (outputs - 1)) * stride;
        b.o = outputs - 1;
    }
    return b;
}

static inline int odt_dx_taps_more(const odt_dx_taps_t *b) {
    return b->k < b->taps && b->o >= 0;
}

static inline void odt_dx_taps_next(odt_dx_taps_t *b) {
    b->k += b->stride;
    b->o--;
}

#endif
