// Log-mel of one frame: logmel.h. Window, real FFT in 32 bits, power, mel filter bank, log2, optional cosine transform.
// No floats, no heap.

#include "logmel.h"

#include "../../core.h"
#include "spectrum.h"

// Checks that all sizes and indices in the tables stay inside the tables and the work buffer.
static int is_good(odt_bytes_t tables, odt_bytes_t work) {
    const int16_t *head = (const int16_t *)(const void *)tables.data;
    if (tables.bytes < 10 || (uintptr_t)tables.data % 2 || (uintptr_t)work.data % 4 || head[0] != ODT_LOGMEL_MAGIC) {
        return 0;
    }
    int window = head[1], fft = head[2], channels = head[3], coefficients = head[4];
    if (fft < 32 || fft > 2048 || (fft & (fft - 1)) || window < 1 || window > fft || channels < 1 || channels > 128
        || coefficients < 0 || coefficients > channels
        || tables.bytes != 2 * (size_t)ODT_LOGMEL_TABLES(fft, channels, coefficients)
        || work.bytes != 4 * (size_t)ODT_LOGMEL_WORK(window, fft, channels, coefficients)) {
        return 0;
    }
    const int16_t *edges = head + 5;
    int last = 0;
    for (int i = 0; i < channels + 2; i++) {
        if (edges[i] < last || edges[i] > fft / 2 + 1) {
            return 0;
        }
        last = edges[i];
    }
    return 1;
}

// out[j] is the sum of channels[k] cos(pi j (2 k + 1) / 2 C), times sqrt(2 / C), or sqrt(1 / C) for j = 0, over 8.
static void transform_cosines(
    int16_t *out, int coefficients, const int32_t *channels, int count, const int16_t *factors) {
    const int16_t *cosines = factors + 2; // of a quarter
    for (int j = 0; j < coefficients; j++) {
        int64_t sum = 0;
        int at = j;
        for (int k = 0; k < count; k++) {
            int fold = at > 2 * count ? 4 * count - at : at;
            sum += channels[k] * (fold > count ? -cosines[2 * count - fold] : cosines[fold]);
            at += 2 * j;
            at -= at >= 4 * count ? 4 * count : 0;
        }
        out[j] = (int16_t)((sum * (uint16_t)factors[j > 0] + ((int64_t)1 << 33)) >> 34); // 2^15, 2^16, 8
    }
}

int odt_log_mel_i16(odt_bytes_t out_bytes, odt_bytes_t samples_bytes, odt_bytes_t tables, odt_bytes_t work) {
    if (!is_good(tables, work) || !apart(work, tables) || !apart(out_bytes, tables)) {
        return ODT_LOGMEL_STATE;
    }
    const int16_t *head = (const int16_t *)(const void *)tables.data;
    int window = head[1], fft = head[2], channels = head[3], coefficients = head[4], m = fft / 2,
        left = (window + 1) / 2;
    if (samples_bytes.bytes != 2 * (size_t)window || (uintptr_t)samples_bytes.data % 2) {
        return ODT_LOGMEL_SAMPLES;
    }
    if (out_bytes.bytes != 2 * (size_t)(coefficients ? coefficients : channels) || (uintptr_t)out_bytes.data % 2) {
        return ODT_LOGMEL_OUT;
    }
    const int16_t *edges = head + 5, *weights = edges + channels + 2;
    const int16_t *samples = (const int16_t *)(const void *)samples_bytes.data;
    int16_t *out = (int16_t *)(void *)out_bytes.data;
    const int32_t *sines = (const int32_t *)(const void *)work.data, *shape = sines + fft / 4 + 1;
    complex_t *z = (complex_t *)(void *)(work.data + 4 * (size_t)(fft / 4 + 1 + left));
    int exponent = spectrum(z, samples, 1, 0, window, fft, sines, shape) - 12; // of the weights
    int32_t *heard = &z[m + 1].r;
    uint64_t falling = 0; // the falling part of the channel that the previous band began
    for (int c = 0; c <= channels; c++) {
        uint64_t rising = 0, total = 0;
        for (int k = edges[c]; k < edges[c + 1]; k++) {
            uint64_t p = (uint32_t)z[k].r | (uint64_t)(uint32_t)z[k].i << 32;
            rising += p * (uint16_t)weights[k];
            total += p;
        }
        if (c) {
            uint64_t energy = falling + ((total << 12) - rising);
            int32_t v = energy ? odt_log2_256(energy) + 256 * exponent : 0;
            v = v < 0 ? 0 : v;
            if (coefficients) {
                heard[c - 1] = v;
            } else {
                out[c - 1] = (int16_t)v;
            }
        }
        falling = rising;
    }
    if (coefficients) {
        transform_cosines(out, coefficients, heard, channels, weights + m + 1);
    }
    return ODT_LOGMEL_DONE;
}
