// A cascade of biquads over int16 samples: biquads.h. Direct form I, with 12 fractional bits between sections. The
// remainder of each output is added to the next output. No floats, no heap.

#include "biquads.h"

#include "../../core.h"

enum { ONE = 29, POINT = 12, LIMIT = 1 << 29 };

static int apart(odt_bytes_t a, odt_bytes_t b) {
    return a.data + a.bytes <= b.data || b.data + b.bytes <= a.data;
}

static int is_good(odt_bytes_t tables, odt_bytes_t work) {
    const int32_t *head = (const int32_t *)(const void *)tables.data;
    return tables.bytes >= 12 && (uintptr_t)tables.data % 4 == 0 && (uintptr_t)work.data % 4 == 0
        && head[0] == ODT_BIQUADS_MAGIC && head[1] >= 1 && head[1] <= 16 && head[2] >= 1 && head[2] <= 16
        && tables.bytes == 4 * (size_t)ODT_BIQUADS_TABLES(head[1])
        && work.bytes == 4 * (size_t)ODT_BIQUADS_WORK(head[1], head[2]);
}

static inline int32_t limited(int64_t v) {
    return v > LIMIT - 1 ? LIMIT - 1 : v < -LIMIT ? -LIMIT : (int32_t)v;
}

int odt_biquads_i16(odt_bytes_t out_bytes, odt_bytes_t samples_bytes, odt_bytes_t tables, odt_bytes_t work) {
    if (!is_good(tables, work) || !apart(work, tables) || !apart(out_bytes, tables) || !apart(out_bytes, work)) {
        return ODT_BIQUADS_STATE;
    }
    const int32_t *head = (const int32_t *)(const void *)tables.data;
    int sections = head[1], channels = head[2];
    if (!samples_bytes.bytes || samples_bytes.bytes % (2 * (size_t)channels) || (uintptr_t)samples_bytes.data % 2) {
        return ODT_BIQUADS_SAMPLES;
    }
    if (out_bytes.bytes != samples_bytes.bytes || (uintptr_t)out_bytes.data % 2) {
        return ODT_BIQUADS_OUT;
    }
    const int16_t *samples = (const int16_t *)(const void *)samples_bytes.data;
    int16_t *out = (int16_t *)(void *)out_bytes.data;
    size_t count = samples_bytes.bytes / 2;
    for (size_t at = 0; at < count;) {
        int32_t *v = (int32_t *)(void *)work.data;
        for (int c = 0; c < channels; c++, at++) {
            int32_t *rest = v + 2 * sections + 2, x = samples[at] * (1 << POINT);
            const int32_t *b = head + 3;
            for (int s = 0; s < sections; s++, b += 5, v += 2) {
                int64_t sum = (int64_t)x * b[0] + (int64_t)v[0] * b[1] + (int64_t)v[1] * b[2] - (int64_t)v[2] * b[3]
                    - (int64_t)v[3] * b[4] + rest[s];
                v[1] = v[0];
                v[0] = x;
                rest[s] = (int32_t)(sum & ((1 << ONE) - 1));
                x = limited(sum >> ONE);
            }
            v[1] = v[0];
            v[0] = x;
            v += 2 + sections;
            int32_t y = (x + (1 << (POINT - 1))) >> POINT;
            out[at] = (int16_t)(y > 32767 ? 32767 : y < -32768 ? -32768 : y);
        }
    }
    return ODT_BIQUADS_DONE;
}
