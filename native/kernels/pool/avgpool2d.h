// Windows of average pooling: with a size and a stride, or adaptive as in PyTorch.

#ifndef ODT_AVGPOOL2D_H
#define ODT_AVGPOOL2D_H

#include <stdint.h>

#include "../../common/window.h"

// One axis: `size` input positions, `outputs` windows; adaptive if stride is 0.
typedef struct {
    int32_t size, outputs, taps, stride, pad;
} odt_axis_t;

// Positions from <= i < to of window o that lie inside the axis.
static inline odt_taps_t odt_axis_window(const odt_axis_t *a, int32_t o) {
    odt_taps_t t;
    if (a->stride == 0) { // o * size / outputs, rounded down, to (o + 1) * size / outputs, up
        uint32_t size = (uint32_t)a->size, outputs = (uint32_t)a->outputs;
        t.from = (int32_t)((uint32_t)o * size / outputs);
        t.to = (int32_t)((((uint32_t)o + 1) * size - 1) / outputs + 1);
        return t;
    }
    int32_t start = o * a->stride - a->pad;
    t = odt_taps(start, a->taps, a->size);
    t.from += start;
    t.to += start;
    return t;
}

// Windows from <= o < to that may hold position i; some of them may not.
static inline odt_taps_t odt_axis_holders(const odt_axis_t *a, int32_t i) {
    odt_taps_t t;
    if (a->stride == 0) {
        uint32_t size = (uint32_t)a->size, outputs = (uint32_t)a->outputs;
        t.from = (int32_t)((uint32_t)i * outputs / size);
        t.to = (int32_t)((((uint32_t)i + 1) * outputs - 1) / size + 1);
        return t;
    }
    int32_t first = i + a->pad - a->taps + 1; // the earliest start, o * stride >= first
    t.from = first > 0 ? (first + a->stride - 1) / a->stride : 0;
    t.to = (i + a->pad) / a->stride + 1;
    t.to = t.to < a->outputs ? t.to : a->outputs;
    return t;
}

#define ODT_AXIS_H(a) {(a)->H, (a)->OH, (a)->KH, (a)->adaptive ? 0 : (a)->SH, (a)->PT}
#define ODT_AXIS_W(a) {(a)->W, (a)->OW, (a)->KW, (a)->adaptive ? 0 : (a)->SW, (a)->PL}

#endif
