// The FFT of a power spectrum: spectrum.h. No floats, no heap.

#include "spectrum.h"

// W = exp(-2 pi i k / N) as (cos, sin), k <= N/2; quarter = N/4.
static inline complex_t twiddle(const int32_t *sines, int quarter, int k) {
    if (k <= quarter) {
        return (complex_t) {sines[quarter - k], sines[k]};
    }
    return (complex_t) {-sines[k - quarter], sines[2 * quarter - k]};
}

// z W / 2, where W = cos - j sin and w holds (cos, sin). The 1 compensates for high(), which rounds down.
static inline complex_t times(complex_t z, complex_t w) {
    return (complex_t) {high(z.r, w.r) + high(z.i, w.i) + 1, high(z.i, w.r) - high(z.r, w.i)};
}

// Two stages of radix 2 in one. a and b are the even and odd halves of the even samples, c and d those of the odd
// samples. b, c and d are already multiplied by their twiddle factors; they still need the factor `up`.
static inline void butterfly(complex_t *z, int q, complex_t b, complex_t c, complex_t d, int up) {
    complex_t a = z[0];
    complex_t e = {a.r + b.r * up, a.i + b.i * up}, f = {a.r - b.r * up, a.i - b.i * up};
    complex_t g = {(c.r + d.r) * up, (c.i + d.i) * up}, h = {(c.r - d.r) * up, (c.i - d.i) * up};
    z[0] = (complex_t) {e.r + g.r, e.i + g.i};
    z[q] = (complex_t) {f.r + h.i, f.i - h.r};
    z[2 * q] = (complex_t) {e.r - g.r, e.i - g.i};
    z[3 * q] = (complex_t) {f.r - h.i, f.i + h.r};
}

// z is (M), bit-reversed; replaces it by its transform. Real and imaginary parts grow at most by a factor of M sqrt(2).
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
        int step = m / (2 * q); // between twiddle factors, powers of W_N with N = 2 m
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

void odt_powers_i16(complex_t *z, int m, const int32_t *sines) {
    int quarter = m / 2;
    transform(z, m, sines);
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

// Each squaring gives one bit.
int32_t odt_log2_256(uint64_t v) {
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
