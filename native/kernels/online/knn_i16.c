// The k nearest neighbours of a sample: knn.h. Distances are exact; there is no float arithmetic.

#include "knn.h"

// A neighbour: its distance in 64 bits, and its place. In the end `low` is its label.
typedef struct {
    uint32_t low, high, place;
} near_t;

static uint64_t distance_of(const near_t *one) {
    return (uint64_t)one->high << 32 | one->low;
}

static int is_knn(odt_bytes_t state, odt_bytes_t work, const uint32_t *header) {
    if (state.bytes < 4 * ODT_KNN_HEADER || (uintptr_t)state.data % 4 || (uintptr_t)work.data % 4) {
        return 0;
    }
    uint32_t inputs = header[ODT_KNN_INPUTS], places = header[ODT_KNN_PLACES], k = header[ODT_KNN_K];
    if (header[ODT_KNN_WORD_MAGIC] != ODT_KNN_MAGIC || header[ODT_KNN_KIND] != ODT_KNN_THIS_KIND || inputs - 1 >= 65536
        || header[ODT_KNN_POINT] > 15 || places - 1 >= 65536 || k - 1 >= places) {
        return 0;
    }
    size_t samples = state.bytes - 4 * ODT_KNN_HEADER, step = 4 + 2 * (size_t)inputs;
    return samples / step == places && samples % step == 0
        && work.bytes >= 4 * (1 + ((size_t)inputs + 1) / 2) + (size_t)k * sizeof(near_t);
}

static int16_t limited(int32_t v) {
    return (int16_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
}

// Converts the bits of a float32 below 2^20 to units of 2^-point; halves are rounded up.
static int16_t units_of(uint32_t bits, uint32_t point) {
    int32_t lost = 150 - (int32_t)point - (int32_t)(bits >> 23 & 255); // fractional bits to round off
    int32_t m = (int32_t)(bits & 0x7fffff) | 0x800000;
    if (lost > 25) { // below 1/4 unit
        return 0;
    }
    m = bits >> 31 ? -m : m;
    return limited(lost < 9 ? m : (m + (1 << (lost - 1))) >> lost); // 2^15 or more
}

// Copies the inputs of x to `to`; returns 0 unless each is a number below 2^20.
static int read_inputs(int16_t *to, const void *x, size_t inputs, uint32_t point, int floats) {
    const uint32_t *bits = x;
    const int16_t *v = x;
    for (size_t i = 0; i < inputs; i++) {
        if (!floats) {
            to[i] = limited(v[i] * (1 << point));
        } else if ((bits[i] >> 23 & 255) < 147) {
            to[i] = units_of(bits[i], point);
        } else {
            return 0;
        }
    }
    return 1;
}

// Not inlined, so that the sums stay in registers.
static __attribute__((noinline)) uint64_t squares_between(const int16_t *a, const int16_t *b, size_t inputs) {
    uint64_t sum = 0;
    for (size_t i = 0; i < inputs; i++) {
        uint32_t gap = (uint32_t)(a[i] - b[i]); // its square is below 2^32, whatever its sign
        sum += gap * gap;
    }
    return sum;
}

static __attribute__((noinline)) uint64_t magnitudes_between(const int16_t *a, const int16_t *b, size_t inputs) {
    uint32_t sum = 0; // at most 65536 * 65535
    for (size_t i = 0; i < inputs; i++) {
        int32_t gap = a[i] - b[i];
        sum += (uint32_t)(gap < 0 ? -gap : gap);
    }
    return sum;
}

// The label of a sample. Its word may be aligned to only 2 bytes.
static uint32_t knn_label(const uint8_t *sample, int condense) {
    const uint16_t *halves = (const uint16_t *)(const void *)sample;
    return condense ? halves[0] : (halves[0] | (uint32_t)halves[1] << 16) & 0x7fffffff;
}

// The most frequent label of `count` neighbours; of equally frequent labels, the smallest. Sorts the neighbours.
static int32_t vote(near_t *nearest, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint32_t label = nearest[i].low;
        size_t at = i;
        for (; at && label < nearest[at - 1].low; at--) {
            nearest[at].low = nearest[at - 1].low;
        }
        nearest[at].low = label;
    }
    size_t most = 0, run = 0;
    uint32_t best = 0;
    for (size_t i = 0; i < count; i++) {
        run = i && nearest[i].low == nearest[i - 1].low ? run + 1 : 1;
        if (run > most) {
            most = run;
            best = nearest[i].low;
        }
    }
    return (int32_t)best;
}

int32_t odt_knn_i16(odt_bytes_t state, odt_bytes_t work, odt_bytes_t x, int floats) {
    const uint32_t *header = (const uint32_t *)(const void *)state.data;
    if (!is_knn(state, work, header)) {
        return ODT_KNN_DAMAGED;
    }
    size_t inputs = header[ODT_KNN_INPUTS], step = 4 + 2 * inputs, k = header[ODT_KNN_K], found = 0;
    size_t used = header[ODT_KNN_USED] < header[ODT_KNN_PLACES] ? header[ODT_KNN_USED] : header[ODT_KNN_PLACES];
    int squares = header[ODT_KNN_SQUARES] != 0, condense = header[ODT_KNN_CONDENSE] != 0;
    uint32_t *first = (uint32_t *)(void *)work.data;
    int16_t *units = (int16_t *)(void *)(work.data + 4);
    near_t *nearest = (near_t *)(void *)(work.data + 4 * (1 + (inputs + 1) / 2));
    if (x.data) {
        size_t size = floats ? 4 : 2;
        if (x.bytes != size * inputs || (uintptr_t)x.data % size) {
            return ODT_KNN_X_FORM;
        }
        if (!read_inputs(units, x.data, inputs, header[ODT_KNN_POINT], floats)) {
            return ODT_KNN_X_VALUE;
        }
    }
    const uint8_t *sample = state.data + 4 * ODT_KNN_HEADER;
    for (size_t place = 0; place < used; place++, sample += step) {
        const int16_t *kept = (const int16_t *)(const void *)(sample + 4);
        uint64_t distance = squares ? squares_between(kept, units, inputs) : magnitudes_between(kept, units, inputs);
        if (found == k && distance >= distance_of(&nearest[k - 1])) {
            continue;
        }
        found += found < k;
        size_t at = found - 1;
        for (; at && distance < distance_of(&nearest[at - 1]); at--) {
            nearest[at] = nearest[at - 1];
        }
        nearest[at] = (near_t) {(uint32_t)distance, (uint32_t)(distance >> 32), (uint32_t)place};
    }
    if (!found) {
        return ODT_KNN_NONE;
    }
    *first = nearest[0].place;
    for (size_t i = 0; i < found; i++) {
        nearest[i].low = knn_label(state.data + 4 * ODT_KNN_HEADER + nearest[i].place * step, condense);
    }
    return vote(nearest, found);
}
