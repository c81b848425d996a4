// Adam of int8 models: gradients [N, K] become directions. Of the hash of KEY, the parameter's id and the
// element, the low half rounds the first moment, the high half the root of the second.

#include "../fixed.h"
#include "../opcodes.h"
#include "exponents_i16.h"
#include "rescale.h"

#if defined(PICO_ON_DEVICE) && PICO_ON_DEVICE && defined(__ARM_ARCH_6M__)
#include "adam_rp2040.h"
#define BY_ROWS 1
#else
#define BY_ROWS 0
#endif

// Bits of v beyond 16.
static inline int32_t bits_beyond_16(uint32_t v) {
    #if defined(__GNUC__) && !defined(__ARM_ARCH_6M__)
    return 16 - __builtin_clz(v | 65535);
    #else
    static const uint8_t bits[16] = {0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4};
    int32_t n = 0;
    v >>= 16;
    if (v >> 8) {
        n = 8;
        v >>= 8;
    }
    if (v >> 4) {
        n += 4;
        v >>= 4;
    }
    return n + bits[v];
    #endif
}

// sqrt(A^2 + B^2), as hi + lo^2 / (2 * hi).
static inline uint32_t hypotenuse(uint32_t A, uint32_t B) {
    uint32_t hi = A > B ? A : B, lo = A > B ? B : A;
    int32_t k = bits_beyond_16(hi);
    uint32_t l = lo >> k, squared = l * l, doubled = 2 * (hi >> k);
    return squared <= doubled - 1 ? hi : hi + ((squared / doubled) << k); // of 0 too
}

// A row of adam_i16: d, m, v and the hash's counter i are of its first element.
typedef struct {
    const odt_adam_i16_t *a;
    odt_rescaler_t q;
    int32_t *d;
    int16_t *m, *v;
    uint32_t key, i;
} adam_row_t;

// Returns magnitudes of its units, of which the largest has as many bits as their OR.
static uint32_t adam_row(const adam_row_t *row) {
    const odt_adam_i16_t *a = row->a;
    odt_rescaler_t q = row->q;
    int32_t *d = row->d, *end = d + a->K, c1 = a->c1;
    int16_t *m = row->m, *v = row->v;
    uint32_t r2 = (uint32_t)a->r2, rc2 = (uint32_t)a->rc2, key = row->key, i = row->i, top = 0;
    for (; d != end; d++, m++, v++, i++) {
        int32_t g = odt_rescale_by(&q, *d), moment = *m;
        uint32_t u = odt_hash_by(key, i), magnitude = odt_magnitude(g);
        uint32_t change = ((uint32_t)g - (uint32_t)moment * 16) * (uint32_t)c1 + (uint16_t)u;
        moment += (int32_t)change >> 16;
        uint32_t size = odt_magnitude(moment);
        if (size > 32767) {
            size = 32767;
            moment = moment < 0 ? -32767 : 32767;
        }
        *m = (int16_t)moment;
        uint32_t A = (uint32_t)*v * r2, B = magnitude * rc2 >> 2;
        uint32_t root = (hypotenuse(A, B) + (u >> 16)) >> 16;
        root = root < 32767 ? root : 32767;
        *v = (int16_t)root;
        top |= magnitude >> 4 | root | size;
        uint32_t ratio = (size << 14) / (root + 1);
        ratio = ratio < 65535 ? ratio : 65535;
        *d = moment < 0 ? -(int32_t)ratio : (int32_t)ratio;
    }
    return top;
}

#if BY_ROWS

// Whether nothing of a row with elements of at most `size` is too large for the loop's products, at
// most with these factors of q.
static int is_for_rp2040(odt_rescaler_t *q, uint32_t size) {
    if (q->has_short && size < 1 << 19 && size * (uint32_t)(q->high + 1) < 1u << 31) {
        return 1;
    }
    q->high = q->q.m >> 7; // all of it
    q->low = 0;
    q->shift = size ? q->q.s - 7 : 1;
    return size < 1 << 7 && q->high > 0 && q->shift > 0 && q->shift <= 32;
}

static uint32_t adam_row_rp2040(const adam_row_t *r, const odt_rescaler_t *q) {
    // Bits of 0 .. 255.
    #define SAME4(n) n, n, n, n
    #define SAME16(n) SAME4(n), SAME4(n), SAME4(n), SAME4(n)
    #define SAME64(n) SAME16(n), SAME16(n), SAME16(n), SAME16(n)
    static const uint8_t lengths[256] = {0, 1, 2, 2, SAME4(3), SAME4(4), SAME4(4), SAME16(5), SAME16(6),
        SAME16(6), SAME64(7), SAME64(8), SAME64(8)};
    odt_adam_row_t row = {.high = q->high, .low = q->low, .shift = q->shift - 1,
        .second = ODT_HASH_SECOND, .third = ODT_HASH_THIRD, .golden = ODT_HASH_GOLDEN, .c1 = r->a->c1,
        .r2 = (uint32_t)r->a->r2, .rc2 = (uint32_t)r->a->rc2, .sio = 0xD0000000, .lengths = lengths,
        .end = r->d + r->a->K, .d = r->d, .m = r->m, .v = r->v, .u = r->key + r->i * ODT_HASH_GOLDEN};
    odt_adam_row(&row);
    return row.top;
}

#endif

void odt_adam_i16(const odt_adam_i16_t *a) {
    enum { L = 12 };
    int32_t K = a->K;
    uint32_t G = odt_scale_mul(odt_scale(a->factor), odt_scale(*a->gs));
    adam_row_t row = {.a = a, .d = a->d, .m = a->m, .v = a->v,
        .key = odt_hash32((uint32_t)a->c[ODT_KEY], (uint32_t)a->id), .i = (uint32_t)a->at * (uint32_t)K};
    int32_t ex_before = 0;
    for (int32_t n = 0; n < a->N; n++) {
        uint32_t size = odt_largest(row.d, K), top;
        int32_t bits = odt_exponent_rise(size, G, L, a->ex[n]), ex = a->ex[n] + bits;
        odt_state_shift_right(row.m, K, bits);
        odt_state_shift_right(row.v, K, bits);
        if (n == 0 || ex != ex_before) {
            row.q = odt_rescaler(odt_to_sixteenths(G, ex));
            ex_before = ex;
        }
        #if BY_ROWS
        odt_rescaler_t q = row.q;
        if (is_for_rp2040(&q, size)) {
            top = adam_row_rp2040(&row, &q);
        } else
        #endif
        top = adam_row(&row);
        a->ds[n] = (int32_t)odt_scale_shift(ODT_ONE, -14);
        if (odt_is_small(top, L, ex)) {
            odt_state_shift_left(row.m, K);
            odt_state_shift_left(row.v, K);
            ex -= 2;
        }
        a->ex[n] = (int8_t)ex;
        row.d += K;
        row.m += K;
        row.v += K;
        row.i += (uint32_t)K;
    }
}
