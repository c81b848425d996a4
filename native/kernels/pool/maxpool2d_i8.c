// Max-pooling, int8: the largest value of a window, its position, and the gradient. x is [B, H, W, N], y and e [B, OH,
// OW, N].

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../../common/inner_i8.h"
#include "../../common/window.h"
#include "maxpool2d_choice.h"

#if ODT_32_BIT

// The largest value of each channel in a window of rows x columns: columns are N bytes apart, rows `row` bytes; -128
// for an empty window. It is a separate function, so that it runs in registers.
static __attribute__((noinline)) void largest(
    int8_t *y, const int8_t *x, int32_t rows, int32_t columns, int32_t N, int32_t row) {
    for (const int8_t *end = y + N; y != end; x++) {
        const int8_t *from = x;
        int32_t best = -128;
        for (int32_t kh = rows; kh > 0; kh--, from += row) {
            const int8_t *at = from;
            for (int32_t kw = columns; kw > 0; kw--, at += N) {
                best = odt_max(best, *at);
            }
        }
        *y++ = (int8_t)best;
    }
}

#else

// The same, 16, 8 or one channel at a time.
#define LARGEST(number_t, count) \
    for (; n + count <= N; n += count) { \
        number_t best; \
        memset(&best, -128, count); \
        for (int32_t kh = 0; kh < rows; kh++) { \
            for (int32_t kw = 0; kw < columns; kw++) { \
                number_t other; \
                memcpy(&other, x + kh * row + kw * N + n, count); \
                number_t is_larger = (number_t)(other > best); \
                best = (other & is_larger) | (best & ~is_larger); \
            } \
        } \
        memcpy(y + n, &best, count); \
    }

typedef int8_t eight_t __attribute__((vector_size(8)));
typedef int8_t sixteen_t __attribute__((vector_size(16)));

static void largest(int8_t *y, const int8_t *x, int32_t rows, int32_t columns, int32_t N, int32_t row) {
    int32_t n = 0;
    LARGEST(sixteen_t, 16)
    LARGEST(eight_t, 8)
    for (; n < N; n++) {
        int32_t best = -128;
        for (int32_t kh = 0; kh < rows; kh++) {
            for (int32_t kw = 0; kw < columns; kw++) {
                best = odt_max(best, x[kh * row + kw * N + n]);
            }
        }
        y[n] = (int8_t)best;
    }
}

#undef LARGEST

#endif

void odt_maxpool2d_i8(const odt_maxpool2d_i8_t *a) {
    int32_t N = a->N;
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, a->KW, a->W);
                const int8_t *x = a->x + ((b * a->H + ih + th.from) * a->W + iw + tw.from) * N;
                largest(y, x, th.to - th.from, tw.to - tw.from, N, a->W * N);
                y += N;
            }
        }
    }
}

// 2x2 windows side by side inside the image, with choices of 2 bits: the usual case.
#define ARE_QUADS(a) \
    ((a)->bits == 2 && (a)->KH == 2 && (a)->KW == 2 && (a)->SH == 2 && (a)->SW == 2 && (a)->PT == 0 && (a)->PL == 0 \
    && 2 * (a)->OH <= (a)->H && 2 * (a)->OW <= (a)->W)

// The same for 1x2 windows, as in MaxPool1D, with choices of 1 bit.
#define ARE_PAIRS(a) \
    ((a)->bits == 1 && (a)->KH == 1 && (a)->KW == 2 && ((a)->SH == 1 || (a)->OH == 1) && (a)->SW == 2 && (a)->PT == 0 \
    && (a)->PL == 0 && (a)->OH <= (a)->H && 2 * (a)->OW <= (a)->W)

// Marks the beginning of a byte of choices. Choices are shifted in from above; when the byte is full, the mark has
// reached its lowest bit.
#define MARK 0x80

// Rows of such windows, without image rows between them. `word`: forward, choices that do not fill a byte yet;
// backward, choices that were read but not yet used.
typedef struct {
    int8_t *image;      // 0: [H][W][N]: x or dx, where the next row begins
    int8_t *windows;    // 4: [OH][OW][N]: y or e
    uint8_t *choices;   // 8
    uint32_t word;      // 12
    int32_t N, row;     // 16, 20: bytes of a row of the image
    int32_t wide, skip; // 24, 28: bytes of an image row that windows cover; from there to the next windows
    int32_t rows;       // 32
    int32_t peak, least; // 36, 40: an error from least to peak is stored as it is
} pooled_t;

#if ODT_M0 && !ODT_SMALL
#include "../../cores/m0/maxpool2d_i8__m0.inc"
#else

#if ODT_M4
#include "../../cores/m4/maxpool2d_i8__m4.inc"
#endif

#if ODT_32_BIT
// One channel at a time, with the largest value in registers.
static void choose_quads(pooled_t *q) {
    int32_t N = q->N, row = q->row;
    #if ODT_M4
    if (N % 4 == 0) {
        choose_fours(q);
        return;
    }
    #endif
    int8_t *x = q->image, *y = q->windows;
    uint8_t *choices = q->choices;
    uint32_t word = q->word;
    do {
        for (const int8_t *last = x + q->wide; x < last; x += N) {
            for (const int8_t *end = x + N; x < end; x++) {
                int32_t best = x[0], other = x[N];
                uint32_t choice = 0;
                if (other > best) {
                    best = other;
                    choice = 1;
                }
                other = x[row];
                if (other > best) {
                    best = other;
                    choice = 2;
                }
                other = x[row + N];
                if (other > best) {
                    best = other;
                    choice = 3;
                }
                *y++ = (int8_t)best;
                int is_full = word & 2;
                word = word >> 2 | choice << 6;
                if (is_full) {
                    *choices++ = (uint8_t)word;
                    word = MARK;
                }
            }
        }
        x += q->skip;
    } while (--q->rows);
    q->image = x;
    q->windows = y;
    q->choices = choices;
    q->word = word;
}
#endif

static void spread_quads(pooled_t *q) {
    int32_t N = q->N, row = q->row, peak = q->peak, least = q->least;
    #if ODT_M4
    if (N % 4 == 0) {
        spread_fours(q);
        return;
    }
    #endif
    int8_t *dx = q->image, *e = q->windows;
    uint8_t *choices = q->choices;
    uint32_t word = q->word;
    do {
        for (const int8_t *last = dx + q->wide; dx < last; dx += N) {
            for (const int8_t *end = dx + N; dx < end; dx++) {
                if (word == 1) {
                    word = 0x100 | *choices++;
                }
                int8_t *at = dx;
                if (word & 1) {
                    at += N;
                }
                if (word & 2) {
                    at += row;
                }
                word >>= 2;
                int32_t v = *e++;
                if (v > peak || v < least) {
                    peak = odt_max(peak, v < 0 ? -v : v);
                    least = odt_max(-peak, -127);
                    v = odt_max(v, -127);
                }
                *at = (int8_t)v;
            }
        }
        dx += q->skip;
    } while (--q->rows);
    q->image = dx;
    q->windows = e;
    q->choices = choices;
    q->word = word;
    q->peak = peak;
    q->least = least;
}

#endif

#if ODT_32_BIT && !ODT_SMALL

static __attribute__((noinline)) void choose_pairs(pooled_t *p) {
    int32_t N = p->N;
    #if ODT_M4
    if (N % 8 == 0) {
        choose_eights(p);
        return;
    }
    #endif
    int8_t *y = p->windows;
    const int8_t *x = p->image;
    uint8_t *choices = p->choices;
    uint32_t word = p->word;
    for (; p->rows > 0; p->rows--, x += p->skip) {
        for (const int8_t *last = x + p->wide; x < last; x += N) {
            for (const int8_t *end = x + N; x < end; x++) {
                int32_t best = x[0], other = x[N];
                uint32_t choice = word >> 1, is_full = word & 1;
                if (other > best) {
                    best = other;
                    choice |= 0x80;
                }
                *y++ = (int8_t)best;
                word = choice;
                if (is_full) {
                    *choices++ = (uint8_t)word;
                    word = MARK;
                }
            }
        }
    }
    p->image = (int8_t *)x;
    p->windows = y;
    p->choices = choices;
    p->word = word;
}

static __attribute__((noinline)) void spread_pairs(pooled_t *p) {
    int32_t N = p->N, peak = p->peak, least = p->least;
    #if ODT_M4
    if (N % 8 == 0) {
        spread_eights(p);
        return;
    }
    #endif
    int8_t *dx = p->image;
    const int8_t *e = p->windows;
    const uint8_t *choices = p->choices;
    uint32_t word = p->word;
    for (; p->rows > 0; p->rows--, dx += p->skip) {
        for (const int8_t *last = dx + p->wide; dx < last; dx += N) {
            for (const int8_t *end = dx + N; dx < end; dx++) {
                int32_t v = *e++;
                if (word == 1) {
                    word = 0x100 | *choices++;
                }
                if (v > peak || v < least) {
                    peak = odt_max(peak, v < 0 ? -v : v);
                    least = odt_max(-peak, -127);
                    v = odt_max(v, -127);
                }
                dx[word & 1 ? N : 0] = (int8_t)v;
                word >>= 1;
            }
        }
    }
    p->image = dx;
    p->windows = (int8_t *)e;
    p->choices = (uint8_t *)choices;
    p->word = word;
    p->peak = peak;
    p->least = least;
}

#define HAS_PAIRS 1
#else
#define HAS_PAIRS 0
#define choose_pairs choose_quads
#define spread_pairs spread_quads
#endif

// Windows of KH rows and two columns, side by side.
#define POOLED(a, large, small, chosen) \
    {.image = (int8_t *)(large), .windows = (int8_t *)(small), .choices = (chosen), .N = (a)->N, \
     .row = (a)->W * (a)->N, .wide = 2 * (a)->OW * (a)->N, .skip = ((a)->KH * (a)->W - 2 * (a)->OW) * (a)->N}

static ODT_COMPACT void pool_images(
    pooled_t *p, int32_t images, int32_t rows, int32_t beyond, void (*loop)(pooled_t *)) {
    for (; images > 0; images--) {
        p->rows = rows;
        loop(p);
        p->image += beyond;
    }
}

// The largest value of each channel in a window, and its position.
static __attribute__((noinline)) void choose(const odt_maxpool2d_choice_i8_t *a, int8_t *y, const int8_t *corner,
    odt_taps_t th, odt_taps_t tw, odt_choices_t *choices) {
    int32_t N = a->N;
    #if ODT_32_BIT
    for (int32_t n = 0; n < N; n++) {
        int32_t best = -129, choice = 0; // the first one of a window is greater
        for (int32_t kh = th.from; kh < th.to; kh++) {
            const int8_t *x = corner + (kh * a->W + tw.from) * N + n;
            for (int32_t kw = tw.from; kw < tw.to; kw++, x += N) {
                if (*x > best) {
                    best = *x;
                    choice = kh * a->KW + kw;
                }
            }
        }
        y[n] = (int8_t)odt_max(best, -128);
        odt_choose(choices, (uint16_t)choice);
    }
    #else
    enum { LANES = 32 };
    for (int32_t first = 0; first < N; first += LANES) {
        int32_t lanes = odt_min(LANES, N - first);
        int16_t best[LANES];
        uint16_t choice[LANES] = {0};
        for (int32_t n = 0; n < LANES; n++) {
            best[n] = -129;
        }
        for (int32_t kh = th.from; kh < th.to; kh++) {
            for (int32_t kw = tw.from; kw < tw.to; kw++) {
                const int8_t *x = corner + (kh * a->W + kw) * N + first;
                uint16_t tap = (uint16_t)(kh * a->KW + kw);
                for (int32_t n = 0; n < lanes; n++) { // without a branch, so that the compiler vectorizes
                    int32_t is_more = x[n] > best[n];
                    best[n] = is_more ? x[n] : best[n];
                    choice[n] = is_more ? tap : choice[n];
                }
            }
        }
        for (int32_t n = 0; n < lanes; n++) {
            y[first + n] = (int8_t)odt_max(best[n], -128);
            odt_choose(choices, choice[n]);
        }
    }
    #endif
}

// Images per part: choices of two parts must not share a byte.
#define POOLED_AT_ONCE(a) (((uint32_t)((a)->OH * (a)->OW * (a)->N) * (uint32_t)(a)->bits & 7) ? 8 : 1)

// Bytes of the choices of `images`.
#define POOLED_BYTES(a, images) ((size_t)(images) * (size_t)windows * (size_t)(a)->bits / 8)

// Images first .. stop - 1.
static ODT_COMPACT void choose_images(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_maxpool2d_choice_i8_t *a = arguments;
    int32_t windows = a->OH * a->OW * a->N, image = a->H * a->W * a->N;
    const int8_t *x = a->x + first * image;
    int8_t *y = a->y + first * windows;
    odt_choices_t choices = {.at = (uint8_t *)a->choice + POOLED_BYTES(a, first), .bits = a->bits};
    (void)peak;
    #if ODT_32_BIT
    int are_pairs = HAS_PAIRS && ARE_PAIRS(a);
    if (are_pairs || ARE_QUADS(a)) {
        pooled_t p = POOLED(a, x, y, choices.at);
        p.word = MARK;
        pool_images(&p, stop - first, a->OH, (a->H - a->KH * a->OH) * p.row, are_pairs ? choose_pairs : choose_quads);
        if (p.word != MARK) { // choices that do not fill a byte yet
            while (!(p.word & a->bits)) { // until the mark is at the bit before the first choice
                p.word >>= a->bits;
            }
            *p.choices = (uint8_t)(p.word >> a->bits);
        }
        return;
    }
    #endif
    for (int32_t b = first; b < stop; b++, x += image) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++, y += a->N) {
                int32_t iw = ow * a->SW - a->PL;
                choose(a, y, x + (ih * a->W + iw) * a->N, th, odt_taps(iw, a->KW, a->W), &choices);
            }
        }
    }
    odt_choices_end(&choices);
}

void odt_maxpool2d_choice_i8(const odt_maxpool2d_choice_i8_t *a) {
    if (!odt_choices_fit(a->B * a->OH * a->OW * a->N, a->bits, a->S)) {
        return;
    }
    memset((uint8_t *)a->choice, 0, (size_t)a->S);
    odt_split(choose_images, a, a->B, POOLED_AT_ONCE(a), NULL);
}

// Images first .. stop - 1.
static ODT_COMPACT void spread_images(const void *arguments, int32_t first, int32_t stop, int32_t *peaks) {
    const odt_unpool2d_i8_t *a = arguments;
    int32_t N = a->N, peak = *peaks, windows = a->OH * a->OW * N, image = a->H * a->W * N;
    const int8_t *e = a->e + first * windows;
    int8_t *dx = a->dx + first * image;
    odt_choices_t choices = {.at = (uint8_t *)a->choice + POOLED_BYTES(a, first), .bits = a->bits};
    memset(dx, 0, (size_t)(stop - first) * (size_t)image);
    int are_pairs = HAS_PAIRS && ARE_PAIRS(a);
    if (are_pairs || ARE_QUADS(a)) {
        pooled_t p = POOLED(a, dx, e, choices.at);
        p.word = 1;
        p.peak = peak;
        p.least = odt_max(odt_wrap_sub(0, peak), -127);
        pool_images(&p, stop - first, a->OH, (a->H - a->KH * a->OH) * p.row, are_pairs ? spread_pairs : spread_quads);
        *peaks = p.peak;
        return;
    }
    for (int32_t b = first; b < stop; b++, dx += image) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, a->KW, a->W);
                int8_t *corner = dx + (ih * a->W + iw) * N;
                for (int32_t n = 0; n < N; n++, e++) {
                    int32_t kh = 0, kw = odt_choice(&choices);
                    if (kw >= a->KW) {
                        kh = kw / a->KW;
                        kw -= kh * a->KW;
                    }
                    if (kh >= th.from && kh < th.to && kw >= tw.from && kw < tw.to) {
                        int8_t *to = corner + (kh * a->W + kw) * N + n;
                        int32_t v = *to + *e;
                        peak = odt_max(peak, v < 0 ? -v : v);
                        *to = (int8_t)odt_limit(v, -127, 127);
                    }
                }
            }
        }
    }
    *peaks = peak;
}

void odt_unpool2d_i8(const odt_unpool2d_i8_t *a) {
    if (odt_choices_fit(a->B * a->OH * a->OW * a->N, a->bits, a->S)) {
        odt_split(spread_images, a, a->B, POOLED_AT_ONCE(a), a->peak);
    }
}
