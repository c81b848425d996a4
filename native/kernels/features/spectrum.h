// The power spectrum of int16 samples in 32 bits (docs/reference/numerics.md, Features), for the kernels of this
// folder.

#ifndef ODT_FEATURES_SPECTRUM_H
#define ODT_FEATURES_SPECTRUM_H

#include "../../bytes.h"
#include "../../core.h"

static inline int apart(odt_bytes_t a, odt_bytes_t b) {
    return a.data + a.bytes <= b.data || b.data + b.bytes <= a.data;
}

// a * b / 2^32, rounded down.
static inline int32_t high(int32_t a, int32_t b) {
    #if ODT_M0 // its multiplication returns only the lower 32 bits
    int32_t ah = a >> 16, bh = b >> 16;
    uint32_t al = (uint16_t)a, bl = (uint16_t)b;
    int32_t t = ah * (int32_t)bl + (int32_t)(al * bl >> 16);
    int32_t u = (int32_t)al * bh + (int32_t)(uint16_t)t;
    return ah * bh + (t >> 16) + (u >> 16);
    #else
    return (int32_t)((int64_t)a * b >> 32);
    #endif
}

static inline int bit_length(uint32_t v) {
    return v ? 32 - __builtin_clz(v) : 0;
}

typedef struct {
    int32_t r, i;
} complex_t;

// z is (M + 1). On entry it holds M complex numbers in bit-reversed order: even samples are real parts, odd samples
// imaginary parts. On return z[k] holds |X[k]|^2 / 2^10 of the real samples, in 64 bits, k = 0..M. (spectrum.c)
void odt_powers_i16(complex_t *z, int m, const int32_t *sines);

// 256 log2(v), v > 0, rounded down. (spectrum.c)
int32_t odt_log2_256(uint64_t v);

// The power spectrum of W samples, `step` apart, minus `mean`, in a window whose first half is `shape`. z is (N/2 + 1).
// Writes |X[k]|^2, in 64 bits, to z[k], k = 0..N/2. Returns n: the power is 2^n times z[k].
static inline __attribute__((always_inline)) int spectrum(complex_t *z, const int16_t *samples, int step, int mean,
    int window, int fft, const int32_t *sines, const int32_t *shape) {
    int m = fft / 2, left = (window + 1) / 2, top = 0;
    for (int i = 0; i < window; i++) {
        int v = samples[i * step] - mean;
        top |= v ^ v >> 31;
    }
    // Samples are shifted up to 16 bits and products down, so that parts of z have 30 - log2(M) bits. |X| then has 30
    // bits, because the Hann window halves it.
    int up = 15 - bit_length((uint32_t)top), down = bit_length((uint32_t)m) - 1;
    int half = 1 << down >> 1, to = 0;
    int32_t *parts = &z->r;
    for (int i = 0; i < fft; i += 2) {
        for (int at = i; at < i + 2; at++) {
            int32_t w = at < left ? shape[at] : at < window ? shape[window - 1 - at] : 0;
            parts[2 * to + (at & 1)] =
                at < window ? (high((samples[at * step] - mean) * (1 << (16 + up)), w) + half) >> down : 0;
        }
        int bit = m >> 1; // counts up from the highest bit
        while (to & bit) {
            to ^= bit;
            bit >>= 1;
        }
        to |= bit;
    }
    odt_powers_i16(z, m, sines);
    return 2 * (down - 15 - up) + 10; // put_power() divides by 2^10; the window multiplies X by 2^15
}

#endif
