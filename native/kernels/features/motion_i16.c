// Statistics and spectral power of a window of samples: motion.h. No floats, no heap.

#include "motion.h"

#include "../../core.h"
#include "spectrum.h"

// Checks that all sizes and indices in the tables stay inside the tables and the work buffer.
static int is_good(odt_bytes_t tables, odt_bytes_t work) {
    const int16_t *head = (const int16_t *)(const void *)tables.data;
    if (tables.bytes < 10 || (uintptr_t)tables.data % 2 || (uintptr_t)work.data % 4 || head[0] != ODT_MOTION_MAGIC) {
        return 0;
    }
    int window = head[1], fft = head[2], channels = head[3], bands = head[4];
    if (fft < 32 || fft > 2048 || (fft & (fft - 1)) || window < 2 || window > fft || channels < 1 || channels > 16
        || bands < 0 || bands > 64 || tables.bytes != 2 * (size_t)ODT_MOTION_TABLES(bands)
        || work.bytes != 4 * (size_t)ODT_MOTION_WORK(window, fft, bands)) {
        return 0;
    }
    int last = 0;
    for (int i = 5; bands && i <= 5 + bands; i++) {
        if (head[i] < last || head[i] > fft / 2 + 1) {
            return 0;
        }
        last = head[i];
    }
    return 1;
}

// The square root of v < 2^62, rounded down.
static uint32_t root_of(uint64_t v) {
    uint32_t root = 0;
    for (int i = 30; i >= 0; i--) {
        uint32_t next = root | (uint32_t)1 << i;
        if ((uint64_t)next * next <= v) {
            root = next;
        }
    }
    return root;
}

static int16_t limited(int32_t v) {
    return (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
}

// The six statistics of one channel: x, every `channels`-th sample. Returns the mean.
static __attribute__((noinline)) int32_t statistics(int16_t *out, const int16_t *x, int window, int channels) {
    int32_t sum = 0, highest = -32768, lowest = 32767, crossings = 0;
    uint64_t squares = 0;
    for (int i = 0; i < window; i++) {
        int32_t v = x[i * channels];
        sum += v;
        squares += (uint32_t)(v * v);
        highest = v > highest ? v : highest;
        lowest = v < lowest ? v : lowest;
    }
    int32_t twice = 2 * sum + window, mean = twice / (2 * window) - (twice % (2 * window) < 0);
    int above = x[0] >= mean;
    for (int i = 1; i < window; i++) {
        int now = x[i * channels] >= mean;
        crossings += now != above;
        above = now;
    }
    squares *= (uint32_t)window;
    uint32_t deviation = root_of(squares - (uint64_t)((int64_t)sum * sum)), power = root_of(squares),
             n = (uint32_t)window;
    out[0] = limited(mean);
    out[1] = limited((int32_t)((2 * deviation + n) / (2 * n)));
    out[2] = limited((int32_t)((2 * power + n) / (2 * n)));
    out[3] = limited(crossings);
    out[4] = limited(highest - mean);
    out[5] = limited(lowest - mean);
    return mean;
}

int odt_motion_i16(odt_bytes_t out_bytes, odt_bytes_t samples_bytes, odt_bytes_t tables, odt_bytes_t work) {
    if (!is_good(tables, work) || !apart(work, tables) || !apart(out_bytes, tables)) {
        return ODT_MOTION_STATE;
    }
    const int16_t *head = (const int16_t *)(const void *)tables.data;
    int window = head[1], fft = head[2], channels = head[3], bands = head[4];
    if (samples_bytes.bytes != 2 * (size_t)(window * channels) || (uintptr_t)samples_bytes.data % 2) {
        return ODT_MOTION_SAMPLES;
    }
    if (out_bytes.bytes != 2 * (size_t)(channels * (ODT_MOTION_STATISTICS + bands)) || (uintptr_t)out_bytes.data % 2) {
        return ODT_MOTION_OUT;
    }
    const int16_t *samples = (const int16_t *)(const void *)samples_bytes.data, *edges = head + 5;
    int16_t *out = (int16_t *)(void *)out_bytes.data;
    const int32_t *sines = (const int32_t *)(const void *)work.data, *shape = sines + fft / 4 + 1;
    complex_t *z = (complex_t *)(void *)(work.data + 4 * (size_t)(fft / 4 + 1 + window - window / 2));
    for (int c = 0; c < channels; c++, samples++, out += ODT_MOTION_STATISTICS + bands) {
        int32_t mean = statistics(out, samples, window, channels);
        if (!bands) {
            continue;
        }
        int exponent = spectrum(z, samples, channels, mean, window, fft, sines, shape);
        for (int b = 0; b < bands; b++) {
            uint64_t power = 0;
            for (int k = edges[b]; k < edges[b + 1]; k++) {
                power += (uint32_t)z[k].r | (uint64_t)(uint32_t)z[k].i << 32;
            }
            int32_t v = power ? odt_log2_256(power) + 256 * exponent : 0;
            out[ODT_MOTION_STATISTICS + b] = limited(v < 0 ? 0 : v);
        }
    }
    return ODT_MOTION_DONE;
}
