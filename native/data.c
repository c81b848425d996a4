// The user's data: data.h.

#include "data.h"

#include "core.h"
#include "fixed.h"
#include "opcodes.h"

const uint8_t odt_format_bytes[] = {1, 1, 2, 4, 4, 2};

odt_samples_t odt_samples(const int32_t *control, const odt_region_t *region, int32_t format,
    int32_t elements) {
    odt_samples_t samples = {
        .region = region,
        .format = format,
        .position = control[ODT_POSITION],
        .count = control[ODT_COUNT],
        .samples = control[ODT_SAMPLES],
        .elements = elements,
        .order = (uint32_t)control[ODT_ORDER],
    };
    if (format < 0 || format > ODT_UINT16 || samples.position < 0 || samples.samples <= samples.position) {
        samples.count = 0;
    } else {
        samples.count = odt_min(samples.count, samples.samples - samples.position);
        samples.bytes = odt_format_bytes[format] * (uint32_t)elements; // of at most 2^26 elements
        samples.stored = samples.bytes ? (uint32_t)(region->bytes / samples.bytes) : UINT32_MAX;
    }
    return samples;
}

// Sample at place p of the epoch: a Feistel network on as many bits as `samples` needs, walked
// along its cycle until it is back among the samples. key is not 0.
#if ODT_32_BIT && !ODT_SMALL // whose registers odt_sample() need not save where samples are not shuffled
__attribute__((noinline))
#endif
static uint32_t order(uint32_t key, uint32_t samples, uint32_t p) {
    uint32_t h = 1;
    while (h < 16 && 1u << 2 * h < samples) {
        h++;
    }
    uint32_t mask = (1u << h) - 1;
    do {
        uint32_t left = p >> h, right = p & mask;
        for (uint32_t round = 0; round < 4; round++) {
            uint32_t next = left ^ (odt_hash32(key + round, right) & mask);
            left = right;
            right = next;
        }
        p = left << h | right;
    } while (p >= samples);
    return p;
}

const uint8_t *odt_sample(const odt_samples_t *s, int32_t row) {
    if (row >= s->count) {
        return NULL;
    }
    uint32_t index = (uint32_t)(s->position + row);
    if (s->order) {
        index = order(s->order, (uint32_t)s->samples, index);
    }
    return index < s->stored ? s->region->data + (size_t)index * s->bytes : NULL;
}

int32_t odt_element(const uint8_t *sample, int32_t format, int32_t i) {
    switch (format) {
        case ODT_INT8:
            return (int8_t)sample[i];
        case ODT_UINT8:
            return sample[i];
        case ODT_INT16:
            return (int16_t)(sample[2 * i] | sample[2 * i + 1] << 8);
        default:
            if (format == ODT_UINT16) { // rare: the others stay as fast
                return sample[2 * i] | sample[2 * i + 1] << 8;
            }
            sample += 4 * (size_t)i;
            return (int32_t)(sample[0] | (uint32_t)sample[1] << 8 | (uint32_t)sample[2] << 16
                | (uint32_t)sample[3] << 24);
    }
}

int32_t odt_rows(const int32_t *control, int32_t B) {
    int32_t batch = control[ODT_BATCH];
    return batch > 0 ? odt_limit(batch, 1, 65535) : odt_limit(control[ODT_COUNT], 1, B);
}

int32_t odt_label(const odt_samples_t *samples, const uint8_t *sample, int32_t N) {
    int32_t label = odt_element(sample, samples->format, 0);
    if (samples->format == ODT_FLOAT32) {
        label = odt_quantize((uint32_t)label, ODT_ONE);
    }
    return label >= 0 && label < N ? label : -1;
}
