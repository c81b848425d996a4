// Recursive least squares: rls.h. It has two phases: everything that may fail is computed outside the state, then the
// state changes at once.

#include "rls.h"

#include "../../fixed.h"
#include "../../float32.h"

// Sizes and addresses: K inputs, N features, M outputs.
typedef struct {
    int32_t K, N, M;
    float *columns; // column j has j + 1 floats from j * (j + 1) / 2: rows 0 .. j-1 of U, then D[j]
    float *beta;    // (N, M)
    float *out, *error, *h, *k;
} rls_t;

static uint32_t word(const uint8_t *from) {
    uint32_t bits;
    memcpy(&bits, from, sizeof(bits));
    return bits;
}

// Makes x a number that the state may hold: not subnormal, infinite or NaN.
static float keep(float x) {
    uint32_t field = odt_bits(x) & 0x7F800000;
    if (field < 76u << 23) {
        return 0.0f;
    }
    return field < 167u << 23 ? x : odt_float((odt_bits(x) & 0x80000000) | 167u << 23);
}

static int is_positive(uint32_t bits) { // 2^-30 at least
    return bits >= 97u << 23 && bits < 255u << 23;
}

static int is_state(odt_bytes_t state, odt_bytes_t work, rls_t *r) {
    if (state.bytes < 4 * ODT_RLS_HEADER || (uintptr_t)state.data % 4 || (uintptr_t)work.data % 4) {
        return 0;
    }
    const uint8_t *header = state.data;
    uint32_t K = word(header + 4 * ODT_RLS_INPUTS), N = word(header + 4 * ODT_RLS_FEATURES);
    uint32_t M = word(header + 4 * ODT_RLS_OUTPUTS), activation = word(header + 4 * ODT_RLS_ACTIVATION);
    uint32_t forgetting = word(header + 4 * ODT_RLS_FORGETTING);
    if (word(header) != ODT_RLS_MAGIC || K - 1 >= 4096 || N - 1 >= 1024 + (activation == ODT_RLS_LINEAR)
        || M - 1 >= 4096 || activation > ODT_RLS_RELU || (activation == ODT_RLS_LINEAR && N != K + 1)
        || forgetting < 0x3F000000 || forgetting > 0x3F800000 || !is_positive(word(header + 4 * ODT_RLS_HOLD))
        || !is_positive(word(header + 4 * ODT_RLS_TRACE)) || !is_positive(word(header + 4 * ODT_RLS_START))) {
        return 0;
    }
    uint32_t floats = N * (N + 1) / 2 + N * M, scratch = 2 * M + 1 + N + (N > K + 1 ? N : K + 1);
    if (state.bytes != 4 * ((size_t)ODT_RLS_HEADER + floats) || work.bytes < 4 * (size_t)scratch) {
        return 0;
    }
    r->K = (int32_t)K;
    r->N = (int32_t)N;
    r->M = (int32_t)M;
    r->columns = (float *)(void *)(state.data + 4 * ODT_RLS_HEADER);
    r->beta = r->columns + N * (N + 1) / 2;
    r->out = (float *)(void *)work.data;
    r->error = r->out + M + 1;
    r->h = r->error + M;
    r->k = r->h + N;
    return 1;
}

// The largest exponent field of some floats.
static uint32_t largest_field(const uint8_t *data, int32_t count) {
    uint32_t largest = 0;
    for (int32_t i = 0; i < count; i++) {
        uint32_t field = word(data + 4 * (size_t)i) >> 23 & 255;
        largest = field > largest ? field : largest;
    }
    return largest;
}

static float activate(int32_t activation, int32_t z) { // z in Q16
    if (activation == ODT_RLS_RELU) {
        return (float)odt_limit(z, 0, 1 << 24) * odt_float(0x37800000); // 2^-16
    }
    uint32_t a = (uint32_t)odt_limit(z < 0 ? -z : z, 0, activation == ODT_RLS_TANH ? 393216 : 720896);
    uint32_t decay = odt_exp2n((int32_t)(activation == ODT_RLS_TANH ? a * 5909 >> 11 : a * 5909 >> 12));
    uint32_t v;
    if (activation == ODT_RLS_TANH) {
        v = ((65536 - decay) << 15) / (65536 + decay);
        return (float)(z < 0 ? -(int32_t)v : (int32_t)v) * odt_float(0x38000000); // 2^-15
    }
    v = (1u << 31) / (65536 + decay);
    return (float)(int32_t)(z < 0 ? 32768 - v : v) * odt_float(0x38000000);
}

// h for x. The random weights are hashes of their places: computed each time, never stored.
static void features(const rls_t *r, const uint8_t *header, const uint8_t *x, uint32_t field) {
    int32_t K = r->K, N = r->N, activation = (int32_t)word(header + 4 * ODT_RLS_ACTIVATION);
    if (activation == ODT_RLS_LINEAR) {
        for (int32_t i = 0; i < K; i++) {
            r->h[i] = odt_store(odt_float(word(x + 4 * (size_t)i)));
        }
        r->h[K] = 1.0f;
        return;
    }
    // Inputs, and 1 for the bias, as integers up to 2^15: the sum of K + 1 products with a byte must fit an int32.
    int32_t spare = odt_max(0, odt_bit_length((uint32_t)K) - 9);
    int32_t shift = 15 - odt_max(1, (int32_t)field - 126) - spare;
    uint32_t unit = odt_scale_shift(ODT_ONE, shift), seed = word(header + 4 * ODT_RLS_SEED), at = 0;
    for (int32_t i = 0; i <= K; i++) {
        int32_t q = odt_quantize(i < K ? word(x + 4 * (size_t)i) : ODT_ONE, unit);
        memcpy(r->k + i, &q, sizeof(q));
    }
    odt_multiplier_t gain =
        odt_multiplier(odt_scale_shift(odt_scale((int32_t)word(header + 4 * ODT_RLS_GAIN)), 9 - shift));
    for (int32_t n = 0; n < N; n++) {
        int32_t sum = 0;
        for (int32_t i = 0; i <= K; i++, at++) {
            int32_t q;
            memcpy(&q, r->k + i, sizeof(q));
            sum += q * ((int32_t)(odt_hash32(seed, at) >> 24 | 1) - 128);
        }
        r->h[n] = activate(activation, odt_rescaled(sum, gain));
    }
}

static void outputs(const rls_t *r) {
    for (int32_t m = 0; m < r->M; m++) {
        float sum = 0.0f;
        for (int32_t n = 0; n < r->N; n++) {
            sum = sum + r->h[n] * r->beta[n * r->M + m];
        }
        r->out[m] = keep(sum);
    }
}

static void errors(const rls_t *r, const uint8_t *y) {
    float squares = 0.0f;
    for (int32_t m = 0; m < r->M; m++) {
        float e = keep(odt_float(word(y + 4 * (size_t)m)) - r->out[m]);
        r->error[m] = e;
        squares = squares + e * e;
    }
    r->out[r->M] = keep(squares / (float)r->M);
}

static float trace(const rls_t *r) {
    const float *column = r->columns;
    float sum = 0.0f;
    for (int32_t j = 0; j < r->N; j++) {
        float length = 1.0f;
        for (int32_t i = 0; i < j; i++) {
            length = length + column[i] * column[i];
        }
        sum = sum + column[j] * length;
        column += j + 1;
    }
    return sum;
}

// The forgetting factor: FORGETTING, or 1 if nothing may be forgotten.
static float remembered(const rls_t *r, const uint8_t *header, float d) {
    float forgetting = odt_float(word(header + 4 * ODT_RLS_FORGETTING));
    if (!(forgetting < 1.0f) || !(d >= odt_float(word(header + 4 * ODT_RLS_HOLD)))) {
        return 1.0f;
    }
    float start = odt_float(word(header + 4 * ODT_RLS_START));
    const float *D = r->columns;
    for (int32_t j = 0; j < r->N; j++) {
        D += j;
        if (*D++ >= start) { // a direction with a large uncertainty
            return trace(r) > forgetting * odt_float(word(header + 4 * ODT_RLS_TRACE)) ? 1.0f : forgetting;
        }
    }
    return forgetting;
}

// Bierman's update of U and D (Factorization Methods for Discrete Sequential Estimation, 1977): D stays above 0 despite
// rounding. Forgetting raises D, at most to START. On return k = P h.
static void update(const rls_t *r, float left, float start) {
    float *column = r->columns, *k = r->k;
    float a = left, inverse = 1.0f / left, rise = inverse;
    for (int32_t j = 0; j < r->N; j++) {
        float f = r->h[j], D = column[j], v = keep(D * f);
        float factor = keep(-(f * inverse)), before = a;
        a = keep(a + v * f);
        a = a < 0.25f ? 0.25f : a;
        inverse = 1.0f / a;
        D = keep(D * before * inverse);
        D = keep(D * rise);
        D = D > start ? start : D;
        column[j] = D < odt_float(0x2B800000) ? odt_float(0x2B800000) : D; // 2^-40
        for (int32_t i = 0; i < j; i++) {
            float u = column[i];
            column[i] = keep(u + factor * k[i]);
            k[i] = keep(k[i] + v * u);
        }
        k[j] = v;
        column += j + 1;
    }
}

int odt_rls_f32(odt_bytes_t state, odt_bytes_t work, odt_bytes_t x, odt_bytes_t y, int learn) {
    rls_t r;
    uint8_t *header = state.data;
    if (!is_state(state, work, &r)) {
        return ODT_RLS_DAMAGED;
    }
    if (x.bytes != 4 * (size_t)r.K) {
        return ODT_RLS_X_FORM;
    }
    if ((y.data || learn) && y.bytes != 4 * (size_t)r.M) {
        return ODT_RLS_Y_FORM;
    }
    uint32_t field = largest_field(x.data, r.K);
    if (field >= 147) {
        return ODT_RLS_X_VALUE;
    }
    if (y.data && largest_field(y.data, r.M) >= 147) {
        return ODT_RLS_Y_VALUE;
    }
    features(&r, header, x.data, field);
    outputs(&r);
    if (y.data) {
        errors(&r, y.data);
    }
    if (!learn) {
        return ODT_RLS_DONE;
    }
    float d = 0.0f;
    float *column = r.columns + r.N * (r.N + 1) / 2;
    for (int32_t j = r.N - 1; j >= 0; j--) { // f = U'h, overwrites h
        column -= j + 1;
        float sum = r.h[j];
        for (int32_t i = 0; i < j; i++) {
            sum = sum + column[i] * r.h[i];
        }
        r.h[j] = keep(sum);
    }
    for (int32_t j = 0; j < r.N; j++) {
        column += j;
        d = d + keep(*column++ * r.h[j]) * r.h[j];
    }
    d = keep(d);
    float left = remembered(&r, header, d);
    update(&r, left, odt_float(word(header + 4 * ODT_RLS_START)));
    float rate = 1.0f / (left + d);
    for (int32_t n = 0; n < r.N; n++) {
        float gain = keep(r.k[n] * rate);
        for (int32_t m = 0; m < r.M; m++) {
            r.beta[n * r.M + m] = keep(r.beta[n * r.M + m] + gain * r.error[m]);
        }
    }
    uint32_t low = word(header + 4 * ODT_RLS_SEEN) + 1, high = word(header + 4 * ODT_RLS_SEEN_HIGH) + (low == 0);
    if (high || low) { // at most 2^64 - 1
        memcpy(header + 4 * ODT_RLS_SEEN, &low, sizeof(low));
        memcpy(header + 4 * ODT_RLS_SEEN_HIGH, &high, sizeof(high));
    }
    return ODT_RLS_DONE;
}
