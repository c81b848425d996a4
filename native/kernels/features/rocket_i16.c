// MiniRocket's features of a window of samples: rocket.h. No floats, no heap.

#include "rocket.h"

#include "../../core.h"

static int apart(odt_bytes_t a, odt_bytes_t b) {
    return a.data + a.bytes <= b.data || b.data + b.bytes <= a.data;
}

// The number of features; 0 if a size or an index in the tables leads outside tables or work.
static int count_of(odt_bytes_t tables, odt_bytes_t work) {
    const int16_t *head = (const int16_t *)(const void *)tables.data;
    if (tables.bytes < 8 || (uintptr_t)tables.data % 2 || (uintptr_t)work.data % 4 || head[0] != ODT_ROCKET_MAGIC) {
        return 0;
    }
    int window = head[1], channels = head[2], dilations = head[3], count = 0;
    if (window < 9 || window > 2048 || channels < 1 || channels > 16 || dilations < 1 || dilations > 32
        || tables.bytes != 2 * (size_t)ODT_ROCKET_TABLES(dilations)) {
        return 0;
    }
    for (int i = 4; i < 4 + dilations; i++) {
        int each = head[i + dilations];
        if (head[i] < 1 || 8 * head[i] >= window || each < 1 || each > ODT_ROCKET_MOST) {
            return 0;
        }
        count += each;
    }
    if (count > ODT_ROCKET_MOST || work.bytes != 4 * (size_t)ODT_ROCKET_WORK(window, ODT_ROCKET_KERNELS * count)) {
        return 0;
    }
    return ODT_ROCKET_KERNELS * count;
}

// x: the sum of the masked channels, with 4 d zeros on each side. sums[t]: the sum of x[t], x[t + d], .. x[t + 8 d].
static void prepare(int32_t *x, int32_t *sums, const int16_t *samples, int window, int channels, uint32_t mask, int d) {
    for (int t = 0; t < 4 * d; t++) {
        x[t] = x[4 * d + window + t] = 0;
    }
    for (int t = 0; t < window; t++, samples += channels) {
        int32_t sum = 0;
        for (int c = 0; mask >> c; c++) {
            if (mask >> c & 1) {
                sum += samples[c];
            }
        }
        x[4 * d + t] = sum;
    }
    for (int t = 0; t < window; t++) {
        if (t >= d) {
            sums[t] = sums[t - d] - x[t - d] + x[t + 8 * d];
            continue;
        }
        sums[t] = 0;
        for (int j = 0; j < 9; j++) {
            sums[t] += x[t + j * d];
        }
    }
}

int odt_rocket_i16(odt_bytes_t out_bytes, odt_bytes_t samples_bytes, odt_bytes_t tables, odt_bytes_t work) {
    int features = count_of(tables, work);
    if (!features || !apart(work, tables) || !apart(out_bytes, tables) || !apart(out_bytes, work)) {
        return ODT_ROCKET_STATE;
    }
    const int16_t *head = (const int16_t *)(const void *)tables.data;
    int window = head[1], channels = head[2], dilations = head[3];
    if (samples_bytes.bytes != 2 * (size_t)(window * channels) || (uintptr_t)samples_bytes.data % 2
        || !apart(samples_bytes, work)) {
        return ODT_ROCKET_SAMPLES;
    }
    if (out_bytes.bytes != 2 * (size_t)features || (uintptr_t)out_bytes.data % 2 || !apart(out_bytes, samples_bytes)) {
        return ODT_ROCKET_OUT;
    }
    const int16_t *samples = (const int16_t *)(const void *)samples_bytes.data, *masks = head + 4 + 2 * dilations;
    int16_t *out = (int16_t *)(void *)out_bytes.data;
    const int32_t *bias = (const int32_t *)(const void *)work.data;
    int32_t *x = (int32_t *)(void *)work.data + features, *sums = x + 2 * window;
    for (int i = 0; i < dilations; i++) {
        int d = head[4 + i], each = head[4 + dilations + i], kernel = 0;
        uint32_t before = 0;
        for (int a = 0; a < 7; a++) {
            for (int b = a + 1; b < 8; b++) {
                for (int c = b + 1; c < 9; c++, kernel++, masks++) {
                    uint32_t mask = (uint32_t)*masks & ((1u << channels) - 1);
                    if (!kernel || mask != before) {
                        prepare(x, sums, samples, window, channels, mask, d);
                        before = mask;
                    }
                    int first = (i + kernel) % 2 ? 4 * d : 0, n = window - 2 * first;
                    const int32_t *xa = x + a * d + first, *xb = x + b * d + first, *xc = x + c * d + first,
                                  *s = sums + first;
                    for (int f = 0; f < each; f++) {
                        int32_t least = *bias++, above = 0;
                        for (int t = 0; t < n; t++) {
                            above += 3 * (xa[t] + xb[t] + xc[t]) - s[t] > least;
                        }
                        *out++ = (int16_t)(((above << 15) + n) / (2 * n));
                    }
                }
            }
        }
    }
    return ODT_ROCKET_DONE;
}
