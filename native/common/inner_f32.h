// Inner loops of the float kernels. A sum is never split: what runs side by side is different sums.

#ifndef ODT_INNER_F32_H
#define ODT_INNER_F32_H

#include <stdint.h>

#include "../float32.h"

// Output channels summed side by side: of a dense filter, of a depthwise one.
#define ODT_LANES 4
#define ODT_BLOCK 32

// Starts the sums of channels n .. with their biases; returns how many there are.
static inline int32_t odt_lanes_begin(float *acc, const float *b, int32_t n, int32_t N) {
    int32_t lanes = N - n < ODT_LANES ? N - n : ODT_LANES;
    for (int32_t i = 0; i < ODT_LANES; i++) {
        acc[i] = i < lanes ? b[n + i] : 0.0f;
    }
    return lanes;
}

// acc[i] += x . w[i * stride ..], over n elements in their order.
static inline void odt_lanes_dot(float *acc, const float *x, const float *w, int32_t stride,
    int32_t n, int32_t lanes) {
    if (lanes == ODT_LANES) {
        const float *w1 = w + stride, *w2 = w1 + stride, *w3 = w2 + stride;
        float s0 = acc[0], s1 = acc[1], s2 = acc[2], s3 = acc[3];
        for (int32_t k = 0; k < n; k++) {
            s0 = s0 + x[k] * w[k];
            s1 = s1 + x[k] * w1[k];
            s2 = s2 + x[k] * w2[k];
            s3 = s3 + x[k] * w3[k];
        }
        acc[0] = s0;
        acc[1] = s1;
        acc[2] = s2;
        acc[3] = s3;
        return;
    }
    for (int32_t i = 0; i < lanes; i++) {
        float s = acc[i];
        for (int32_t k = 0; k < n; k++) {
            s = s + x[k] * w[i * stride + k];
        }
        acc[i] = s;
    }
}

static inline void odt_lanes_end(const float *acc, float *y, int32_t lanes, int32_t relu) {
    for (int32_t i = 0; i < lanes; i++) {
        y[i] = relu && acc[i] < 0.0f ? 0.0f : odt_store(acc[i]);
    }
}

// acc[i] += e * w[i]
static inline void odt_axpy_f32(float *acc, float e, const float *w, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        acc[i] = acc[i] + e * w[i];
    }
}

static inline void odt_store_all(float *acc, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        acc[i] = odt_store(acc[i]);
    }
}

#endif
