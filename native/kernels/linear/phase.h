// Gradients of strided inputs. Inputs that are one stride apart meet the same taps, so their gradient is a convolution
// of the errors with these taps, reversed, at stride 1. A phase of an axis is such a set of inputs.

#ifndef ODT_PHASE_H
#define ODT_PHASE_H

#include <stdint.h>

// The inputs of a phase are first, first + stride, .. (`outputs` of them: they are the outputs of that convolution).
// Its taps are tap, tap + stride, .. (`taps` of them). `pad` is the padding of that convolution.
typedef struct {
    int32_t first, outputs, tap, taps, pad;
} odt_phase_t;

static inline odt_phase_t odt_phase(int32_t tap, int32_t pad, int32_t stride, int32_t size,
    int32_t taps) {
    odt_phase_t p = {.first = (tap - pad) % stride, .tap = tap};
    p.first += p.first < 0 ? stride : 0;
    p.outputs = p.first < size ? (size - 1 - p.first) / stride + 1 : 0;
    p.taps = tap < taps ? (taps - 1 - tap) / stride + 1 : 0;
    p.pad = p.taps - 1 - (p.first + pad - tap) / stride;
    return p;
}

#endif
