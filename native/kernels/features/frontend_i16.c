// TensorFlow's microfrontend, one frame: frontend.h. Window, real FFT in 16 bits, filter bank, square root, noise
// reduction, gain control, logarithm, with TensorFlow's rounding. No floats, no heap.

#include "frontend.h"

#include "../../core.h"

typedef struct {
    int16_t r, i;
} pair_t;

// A number of the transform, later overwritten by the energy of its bin.
typedef union {
    pair_t pair;
    uint32_t energy;
} bin_t;

static int bit_length(uint32_t v) {
    return v ? 32 - __builtin_clz(v) : 0;
}

static int apart(odt_bytes_t a, odt_bytes_t b) {
    return a.data + a.bytes <= b.data || b.data + b.bytes <= a.data;
}

// Checks that all sizes and indices in the tables stay inside the tables and the work buffer.
static int is_good(odt_bytes_t tables, odt_bytes_t work) {
    const int16_t *head = (const int16_t *)(const void *)tables.data;
    if (tables.bytes < 8 || (uintptr_t)tables.data % 2 || (uintptr_t)work.data % 4 || head[0] != ODT_FRONTEND_MAGIC) {
        return 0;
    }
    int window = head[1], fft = head[2], channels = head[3];
    if (fft < 32 || fft > 2048 || (fft & (fft - 1)) || window < 1 || window > fft || channels < 1 || channels > 128
        || tables.bytes != 2 * (size_t)ODT_FRONTEND_TABLES(window, fft, channels)
        || work.bytes != 4 * (size_t)ODT_FRONTEND_WORK(fft, channels)) {
        return 0;
    }
    int last = 0;
    for (int i = 4; i < channels + 6; i++) {
        if (head[i] < last || head[i] > fft / 2 + 1) {
            return 0;
        }
        last = head[i];
    }
    return 1;
}

// v / 2 or v / 4, with the factor 2^14 - 1 or 2^13 - 1.
static inline int32_t part(int32_t v, int32_t factor) {
    return (v * factor + 16384) >> 15;
}

// W = exp(-2 pi i k / N) as (cos, sin), k <= 3 N/4; quarter = N/4.
static inline pair_t twiddle(const int16_t *sines, int quarter, int k) {
    if (k <= quarter) {
        return (pair_t) {sines[quarter - k], sines[k]};
    }
    if (k <= 2 * quarter) {
        return (pair_t) {(int16_t)-sines[k - quarter], sines[2 * quarter - k]};
    }
    return (pair_t) {(int16_t)-sines[3 * quarter - k], (int16_t)-sines[k - 2 * quarter]};
}

// The product of r + j i and W = cos - j sin; w is (cos, sin).
static inline pair_t times(int32_t r, int32_t i, pair_t w) {
    return (pair_t) {(int16_t)((r * w.r + i * w.i + 16384) >> 15), (int16_t)((i * w.r - r * w.i + 16384) >> 15)};
}

static inline pair_t times_quarter(pair_t z, pair_t w) {
    return times(part(z.r, 8191), part(z.i, 8191), w);
}

static inline pair_t pair(int32_t r, int32_t i) {
    return (pair_t) {(int16_t)r, (int16_t)i};
}

// z is (M), bit-reversed; replaces it by its transform divided by M.
static void transform(bin_t *z, int m, const int16_t *sines) {
    int q = 1, quarter = m / 2;
    if (bit_length((uint32_t)m) % 2 == 0) { // an odd number of stages
        for (bin_t *p = z; p < z + m; p += 2) {
            int32_t ar = part(p[0].pair.r, 16383), ai = part(p[0].pair.i, 16383);
            int32_t br = part(p[1].pair.r, 16383), bi = part(p[1].pair.i, 16383);
            p[0].pair = pair(ar + br, ai + bi);
            p[1].pair = pair(ar - br, ai - bi);
        }
        q = 2;
    }
    for (; q < m; q *= 4) {
        int step = m / (2 * q); // between twiddle factors, powers of W_N with N = 2 m
        for (int k = 0; k < q; k++) {
            pair_t w = twiddle(sines, quarter, k * step), w2 = twiddle(sines, quarter, 2 * k * step);
            pair_t w3 = twiddle(sines, quarter, 3 * k * step);
            for (bin_t *p = z + k; p < z + m; p += 4 * q) {
                int32_t ar = part(p->pair.r, 8191), ai = part(p->pair.i, 8191);
                pair_t b = times_quarter(p[q].pair, w2), c = times_quarter(p[2 * q].pair, w),
                       d = times_quarter(p[3 * q].pair, w3);
                int32_t er = ar + b.r, ei = ai + b.i, fr = ar - b.r, fi = ai - b.i;
                int32_t gr = c.r + d.r, gi = c.i + d.i, hr = c.r - d.r, hi = c.i - d.i;
                p[0].pair = pair(er + gr, ei + gi);
                p[q].pair = pair(fr + hi, fi - hr);
                p[2 * q].pair = pair(er - gr, ei - gi);
                p[3 * q].pair = pair(fr - hi, fi + hr);
            }
        }
    }
}

static inline uint32_t energy(int32_t r, int32_t i) {
    return (uint32_t)(r * r) + (uint32_t)(i * i);
}

// z is the transform of the even and odd samples as pairs; on return z[k] holds the energy of bin k = 0..M.
static void energies(bin_t *z, int m, const int16_t *sines) {
    int32_t r = part(z[0].pair.r, 16383), i = part(z[0].pair.i, 16383);
    z[0].energy = energy((int16_t)(r + i), 0);
    z[m].energy = energy((int16_t)(r - i), 0);
    for (int k = 1; k <= m / 2; k++) {
        pair_t p = z[k].pair, q = z[m - k].pair;
        int32_t ar = part(p.r, 16383), ai = part(p.i, 16383), br = part(q.r, 16383), bi = part(-q.i, 16383);
        pair_t w = twiddle(sines, m / 2, k);
        pair_t t = times(ar - br, ai - bi, (pair_t) {(int16_t)-w.i, w.r});
        ar += br;
        ai += bi;
        z[k].energy = energy((ar + t.r) >> 1, (ai + t.i) >> 1);
        z[m - k].energy = energy((ar - t.r) >> 1, (t.i - ai) >> 1);
    }
}

// The square root, rounded to nearest, but at most 65535 for v < 2^32.
static uint32_t square_root(uint64_t v) {
    uint32_t root = 0, rest, bit;
    if (v >> 32) {
        uint64_t wide = 0;
        int n = 32 + bit_length((uint32_t)(v >> 32));
        for (uint64_t b = (uint64_t)1 << ((n - 1) & ~1); b; b >>= 2) {
            if (v >= wide + b) {
                v -= wide + b;
                wide = (wide >> 1) + b;
            } else {
                wide >>= 1;
            }
        }
        return (uint32_t)(wide + (v > wide));
    }
    rest = (uint32_t)v;
    for (bit = rest ? (uint32_t)1 << ((bit_length(rest) - 1) & ~1) : 0; bit; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root + (rest > root && root != 0xFFFF);
}

// The gain for noise x: a parabola between powers of 2.
static uint32_t gain(uint32_t x, const int16_t *gains) {
    if (x < 2) {
        return (uint32_t)(int32_t)gains[x];
    }
    int n = bit_length(x);
    const int16_t *g = gains + 3 * n - 4;
    int32_t rest = (int32_t)((n < 11 ? x << (11 - n) : x >> (n - 11)) & 1023);
    int32_t v = (g[2] * rest >> 5) + g[1] * 32;
    return (uint32_t)(int32_t)(int16_t)(((v * rest + 16384) >> 15) + g[0]);
}

// 64 ln(x), x > 1.
static int32_t logarithm(uint32_t x, const int16_t *logarithms) {
    int n = bit_length(x) - 1;
    int32_t rest = (int32_t)((n < 16 ? x << (16 - n) : x >> (n - 16)) & 65535);
    const int16_t *l = logarithms + (rest >> 9);
    uint32_t v = (uint32_t)((n << 16) + rest + l[0] + ((l[1] - l[0]) * (rest & 511) >> 16));
    return (int32_t)((((uint32_t)(((uint64_t)v * 45426 + 32768) >> 16) << 6) + 32768) >> 16);
}

// The output of one channel: subtracts the noise from the signal and divides the rest by the noise.
static int32_t reduce(uint32_t signal, int c, uint32_t *noise, const int16_t *gains, int bits) {
    uint32_t smoothing = c & 1 ? 983 : 409, scaled = signal << 10;
    uint32_t estimate = (uint32_t)(((uint64_t)scaled * smoothing + (uint64_t)*noise * (16384 - smoothing)) >> 14);
    *noise = estimate;
    uint32_t least = (uint32_t)((uint64_t)signal * 819 >> 14),
             left = (scaled - (estimate < scaled ? estimate : scaled)) >> 10;
    uint32_t ratio = (uint32_t)((uint64_t)(left > least ? left : least) * gain(estimate, gains) >> (9 - bits));
    uint32_t v = ratio < 8192 ? ratio * ratio >> 20 : (ratio >> 6) - 64;
    v = bits < 0 ? v >> -bits : v << bits;
    return v > 1 ? logarithm(v, gains + ODT_FRONTEND_GAINS) : 0;
}

int odt_frontend_i16(odt_bytes_t out_bytes, odt_bytes_t samples_bytes, odt_bytes_t tables, odt_bytes_t work) {
    if (!is_good(tables, work) || !apart(work, tables) || !apart(out_bytes, tables)) {
        return ODT_FRONTEND_STATE;
    }
    const int16_t *head = (const int16_t *)(const void *)tables.data;
    int window = head[1], fft = head[2], channels = head[3], m = fft / 2, bits = bit_length((uint32_t)fft) - 7;
    if (samples_bytes.bytes != 2 * (size_t)window || (uintptr_t)samples_bytes.data % 2) {
        return ODT_FRONTEND_SAMPLES;
    }
    if (out_bytes.bytes != 2 * (size_t)channels || (uintptr_t)out_bytes.data % 2) {
        return ODT_FRONTEND_OUT;
    }
    const int16_t *edges = head + 4, *weights = edges + channels + 2, *shape = weights + m + 1;
    const int16_t *sines = shape + window, *gains = sines + fft / 4 + 1;
    const int16_t *samples = (const int16_t *)(const void *)samples_bytes.data;
    int16_t *out = (int16_t *)(void *)out_bytes.data;
    bin_t *z = (bin_t *)(void *)work.data;
    int32_t top = 0;
    for (int i = 0; i < window; i++) {
        int32_t v = samples[i] * shape[i] >> 12;
        v = v < 0 ? -v : v;
        top = v > top ? v : top;
    }
    int shift = 15 - bit_length((uint32_t)top), to = 0;
    shift = shift < 0 ? 0 : shift;
    for (int i = 0; i < fft; i += 2) {
        int32_t a = i < window ? samples[i] * shape[i] >> 12 : 0,
                b = i + 1 < window ? samples[i + 1] * shape[i + 1] >> 12 : 0;
        z[to].pair = pair((int32_t)((uint32_t)a << shift), (int32_t)((uint32_t)b << shift));
        int bit = m >> 1; // counts up from the highest bit
        while (to & bit) {
            to ^= bit;
            bit >>= 1;
        }
        to |= bit;
    }
    transform(z, m, sines);
    energies(z, m, sines);
    uint32_t *noise = &z[m + 1].energy;
    uint64_t rising = 0; // the sum so far of the channel whose lower half was the previous band
    for (int c = 0; c <= channels; c++) {
        uint64_t falling = 0, total = 0;
        for (int k = edges[c]; k < edges[c + 1]; k++) {
            falling += (uint64_t)z[k].energy * (uint16_t)weights[k];
            total += z[k].energy;
        }
        if (c) {
            int32_t v = reduce(square_root(rising + falling) >> shift, c - 1, noise + c - 1, gains, bits);
            out[c - 1] = (int16_t)(v < 0x7FFF ? v : 0x7FFF);
        }
        rising = (total << 12) - falling;
    }
    return ODT_FRONTEND_DONE;
}
