// The power spectrum of int16 samples in 32 bits (docs/numerics.md, Features), for the kernels of this folder.

#ifndef ODT_FEATURES_SPECTRUM_H
#define ODT_FEATURES_SPECTRUM_H

#include "../../bytes.h"
#include "../../core.h"

static int apart(odt_bytes_t a, odt_bytes_t b) {
    return a.data + a.bytes <= b.data || b.data + b.bytes <= a.data;
}

// a * b / 2^32, rounded down.
static inline int32_t high(int32_t a, int32_t b) {
    #if ODT_M0 // whose product has 32 bits
    int32_t ah = a >> 16, bh = b >> 16;
    uint32_t al = (uint16_t)a, bl = (uint16_t)b;
    int32_t t = ah * (int32_t)bl + (int32_t)(al * bl >> 16);
    int32_t u = (int32_t)al * bh + (int32_t)(uint16_t)t;
    return ah * bh + (t >> 16) + (u >> 16);
    #else
    return (int32_t)((int64_t)a * b >> 32);
    #endif
}

static int bit_length(uint32_t v) {
    return v ? 32 - __builtin_clz(v) : 0;
}

typedef struct {
    int32_t r, i;
} complex_t;

// W = exp(-2 pi i k / N) as (cos, sin), k <= N/2; quarter = N/4.
static inline complex_t twiddle(const int32_t *sines, int quarter, int k) {
    if (k <= quarter) {
        return (complex_t) {sines[quarter - k], sines[k]};
    }
    return (complex_t) {-sines[k - quarter], sines[2 * quarter - k]};
}

// z W / 2, W given as its (cos, sin). What high() rounds down is made good.
static inline complex_t times(complex_t z, complex_t w) {
    return (complex_t) {high(z.r, w.r) + high(z.i, w.i) + 1, high(z.i, w.r) - high(z.r, w.i)};
}

// Two stages of radix 2 in one: a from the even samples' even ones, b their odd ones, c and d those of the odd samples; b, c
// and d are multiplied already, and `up` bits short.
static inline void butterfly(complex_t *z, int q, complex_t b, complex_t c, complex_t d, int up) {
    complex_t a = z[0];
    complex_t e = {a.r + b.r * up, a.i + b.i * up}, f = {a.r - b.r * up, a.i - b.i * up};
    complex_t g = {(c.r + d.r) * up, (c.i + d.i) * up}, h = {(c.r - d.r) * up, (c.i - d.i) * up};
    z[0] = (complex_t) {e.r + g.r, e.i + g.i};
    z[q] = (complex_t) {f.r + h.i, f.i - h.r};
    z[2 * q] = (complex_t) {e.r - g.r, e.i - g.i};
    z[3 * q] = (complex_t) {f.r - h.i, f.i + h.r};
}

// z is (M), bit-reversed; its transform stays in place. Parts grow to M sqrt(2) times what they were at most.
static void transform(complex_t *z, int m, const int32_t *sines) {
    int q = 1;
    if (bit_length((uint32_t)m) % 2 == 0) { // an odd number of stages
        for (complex_t *p = z; p < z + m; p += 2) {
            complex_t a = p[0], b = p[1];
            p[0] = (complex_t) {a.r + b.r, a.i + b.i};
            p[1] = (complex_t) {a.r - b.r, a.i - b.i};
        }
        q = 2;
    }
    int quarter = m / 2;
    for (; q < m; q *= 4) {
        for (complex_t *p = z; p < z + m; p += 4 * q) {
            butterfly(p, q, p[q], p[2 * q], p[3 * q], 1);
        }
        int step = m / (2 * q); // of W_N, N = 2 m
        for (int k = 1; k < q; k++) {
            int third = 3 * k * step;
            complex_t w = twiddle(sines, quarter, k * step), w2 = twiddle(sines, quarter, 2 * k * step);
            complex_t w3 = twiddle(sines, quarter, third > m ? third - m : third);
            if (third > m) {
                w3 = (complex_t) {-w3.r, -w3.i};
            }
            for (complex_t *p = z + k; p < z + m; p += 4 * q) {
                butterfly(p, q, times(p[q], w2), times(p[2 * q], w), times(p[3 * q], w3), 2);
            }
        }
    }
}

static inline void put_power(complex_t *z, int32_t r, int32_t i) {
    r = (r + 16) >> 5;
    i = (i + 16) >> 5;
    uint64_t v = (uint64_t)((int64_t)r * r) + (uint64_t)((int64_t)i * i);
    *z = (complex_t) {(int32_t)(uint32_t)v, (int32_t)(uint32_t)(v >> 32)};
}

// z is the transform of the even and odd samples as pairs; |X[k]|^2 / 2^10 of the real ones, in 64 bits, comes into z[k],
// k = 0..M.
static void powers(complex_t *z, int m, const int32_t *sines) {
    int quarter = m / 2;
    complex_t first = z[0];
    put_power(z, first.r + first.i, 0);
    put_power(z + m, first.r - first.i, 0);
    for (int k = 1; k <= quarter; k++) {
        complex_t *p = z + k, *q = z + m - k;
        complex_t a = {(p->r + q->r) >> 1, (p->i - q->i) >> 1}, b = {p->r - q->r, p->i + q->i};
        complex_t t = times(b, twiddle(sines, quarter, k));
        put_power(p, a.r + t.i, a.i - t.r);
        put_power(q, a.r - t.i, a.i + t.r);
    }
}

// 256 log2(v), v > 0, rounded down: a bit per squaring.
static int32_t log2_256(uint64_t v) {
    int n = v >> 32 ? 31 + bit_length((uint32_t)(v >> 32)) : bit_length((uint32_t)v) - 1;
    uint32_t mantissa = (uint32_t)(n > 15 ? v >> (n - 15) : v << (15 - n));
    for (int i = 0; i < 8; i++) {
        uint32_t square = mantissa * mantissa;
        int bit = (int)(square >> 31);
        n = 2 * n + bit;
        mantissa = square >> (15 + bit);
    }
    return n;
}

// z is (N/2 + 1); W samples, each `step` apart, less `mean`, give |X[k]|^2, in 64 bits, in z[k], k = 0..N/2. Returns n: the power is 2^n times these,
// shape being the window's first half.
static inline __attribute__((always_inline)) int spectrum(complex_t *z, const int16_t *samples, int step, int mean, int window, int fft, const int32_t *sines, const int32_t *shape) {
    int m = fft / 2, left = (window + 1) / 2, top = 0;
    for (int i = 0; i < window; i++) {
        int v = samples[i * step] - mean;
        top |= v ^ v >> 31;
    }
    // Samples are shifted up to 16 bits, products down so that parts of z have 30 - log2(M): so many that |X|, Hann's window being half, has 30.
    int up = 15 - bit_length((uint32_t)top), down = bit_length((uint32_t)m) - 1;
    int half = 1 << down >> 1, to = 0;
    int32_t *parts = &z->r;
    for (int i = 0; i < fft; i += 2) {
        for (int at = i; at < i + 2; at++) {
            int32_t w = at < left ? shape[at] : at < window ? shape[window - 1 - at] : 0;
            parts[2 * to + (at & 1)] = at < window ? (high((samples[at * step] - mean) * (1 << (16 + up)), w) + half) >> down : 0;
        }
        int bit = m >> 1; // counts up from the highest bit
        while (to & bit) {
            to ^= bit;
            bit >>= 1;
        }
        to |= bit;
    }
    transform(z, m, sines);
    powers(z, m, sines);
    return 2 * (down - 15 - up) + 10; // 2^10 less of put_power(); X is that of samples times 2^15 of the window
}

#endif
