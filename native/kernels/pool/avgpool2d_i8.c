// Average pooling, int8, and its gradient. x is [B, H, W, N], y and e [B, OH, OW, N].

#include <string.h>

#include "../../core.h"
#include "../../opcodes.h"
#include "../common/elements.h"
#include "../common/elements__m0.h"
#include "../common/inner_i8.h"
#include "../linear/conv2d_i8.h"
#include "avgpool2d.h"

#if ODT_MPY
enum { SUMS = ODT_BLOCK }; // on the stack
#define ODT_FOURS
#else
enum { SUMS = 8 * ODT_BLOCK };
#define ODT_FOURS _Pragma("GCC unroll 4")
#endif

// sums + e * share
static void add_share(int32_t *sums, const int8_t *e, int32_t count, uint32_t share) {
    ODT_FOURS
    for (int32_t i = 0; i < count; i++) {
        sums[i] = odt_wrap_add(sums[i], (int32_t)((uint32_t)e[i] * share));
    }
}

void odt_avgpool2d_i8(const odt_avgpool2d_i8_t *a) {
    int32_t N = a->N;
    odt_axis_t rows = ODT_AXIS_H(a), columns = ODT_AXIS_W(a);
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_taps_t h = odt_axis_window(&rows, oh);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                odt_taps_t w = odt_axis_window(&columns, ow);
                uint32_t count = (uint32_t)(h.to - h.from) * (uint32_t)(w.to - w.from);
                for (int32_t n = 0; n < N; n++) {
                    uint32_t sum = 0; // of x + 128: a division of what is not negative
                    for (int32_t ih = h.from; ih < h.to; ih++) {
                        const int8_t *x = a->x + ((b * a->H + ih) * a->W + w.from) * N + n;
                        for (int32_t iw = w.from; iw < w.to; iw++, x += N) {
                            sum += (uint32_t)(*x + 128);
                        }
                    }
                    *y++ = count ? (int8_t)((int32_t)((2 * sum + count) / (2 * count)) - 128) : 0;
                }
            }
        }
    }
}

ODT_BESIDE_ASSEMBLY

#if !ODT_SMALL

// Of windows that lie side by side inside x: an error is one value for all positions of its window.
static void avgpool2d_dx_of_tiles(const odt_avgpool2d_dx_i8_t *a, const odt_rescaler_t *q, uint32_t share, odt_outputs_t *outputs) {
    int32_t N = a->N, line = a->W * N, width = a->OW * a->KW * N;
    const int8_t *e = a->e;
    int8_t *dx = a->dx;
    #if ODT_M0
    odt_bytes_t bytes;
    int is_usual = share <= 1 << 9 && odt_begin_bytes(&bytes, 0, (int32_t)share, q->q, outputs);
    #endif
    for (int32_t b = 0; b < a->B; b++, dx += (a->H - a->OH * a->KH) * line) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            for (int32_t ow = 0; ow < a->OW; ow++, e += N) {
                int8_t *to = dx + ow * a->KW * N;
                #if ODT_M0
                if (is_usual) {
                    odt_rescale_bytes(&bytes, to, e, N, 1, 0, outputs);
                } else
                #endif
                {
                    for (int32_t n = 0; n < N; n++) {
                        to[n] = odt_output(outputs, odt_rescale_by(q, (int32_t)((uint32_t)e[n] * share)));
                    }
                }
                for (int32_t kw = 1; kw < a->KW; kw++) {
                    memcpy(to + kw * N, to, (size_t)N);
                }
            }
            memset(dx + width, 0, (size_t)(line - width));
            for (int32_t kh = 1; kh < a->KH; kh++) {
                memcpy(dx + kh * line, dx, (size_t)line);
            }
            dx += a->KH * line;
        }
        memset(dx, 0, (size_t)((a->H - a->OH * a->KH) * line));
    }
}

#endif

// Positions of window o.
static inline uint32_t length_of(const odt_axis_t *a, int32_t o) {
    #if !ODT_MPY
    int32_t start = o * a->stride - a->pad;
    if (a->stride && start >= 0 && start <= a->size - a->taps) {
        return (uint32_t)a->taps;
    }
    #endif
    odt_taps_t t = odt_axis_window(a, o);
    return (uint32_t)(t.to - t.from);
}

// From sums to inputs' gradients.
static void finish(const int32_t *sums, int32_t count, const odt_rescaler_t *q, int8_t *dx, int32_t *peak) {
    int32_t i = 0;
    #if ODT_PANEL && !ODT_M4 && !ODT_SMALL
    for (; i < 4; i++) {
        odt_finish_i8((const int32_t (*)[4])(const void *)sums, i, 0, &q->q, 0, -127, count / 4, dx + i, 4, peak);
    }
    i = count & ~3;
    #endif
    for (; i < count; i++) {
        dx[i] = odt_clamp_by(odt_rescale_by(q, sums[i]), 0, -127, peak);
    }
}

void odt_avgpool2d_dx_i8(const odt_avgpool2d_dx_i8_t *a) {
    int32_t N = a->N;
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    odt_axis_t rows = ODT_AXIS_H(a), columns = ODT_AXIS_W(a);
    uint32_t top = (uint32_t)a->top << 8;
    int8_t *dx = a->dx;
    #if !ODT_SMALL
    if (!a->adaptive && (a->SH == a->KH || a->OH == 1) && (a->SW == a->KW || a->OW == 1) && a->PT == 0 && a->PL == 0
        && a->OH <= a->H / a->KH && a->OW <= a->W / a->KW) {
        odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
        avgpool2d_dx_of_tiles(a, &q, top / ((uint32_t)a->KH * (uint32_t)a->KW), &outputs);
        (void)odt_output(&outputs, 0); // of what lies beside all windows
        *a->peak = outputs.peak;
        return;
    }
    #endif
    int32_t sums[SUMS], done = 0; // of positions that follow one another
    uint32_t counted = 0, share = 0;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_taps_t h = odt_axis_holders(&rows, ih);
            for (int32_t iw = 0; iw < a->W; iw++) {
                odt_taps_t w = odt_axis_holders(&columns, iw);
                for (int32_t n = 0; n < N; n += ODT_BLOCK) {
                    int32_t block = odt_min(N - n, ODT_BLOCK);
                    if (done + block > SUMS) {
                        finish(sums, done, &q, dx, a->peak);
                        dx += done;
                        done = 0;
                    }
                    int32_t *acc = sums + done;
                    memset(acc, 0, (size_t)block * 4);
                    for (int32_t oh = h.from; oh < h.to; oh++) {
                        uint32_t high = length_of(&rows, oh);
                        for (int32_t ow = w.from; ow < w.to; ow++) {
                            uint32_t count = high * length_of(&columns, ow);
                            if (count != counted) {
                                share = top / count;
                                counted = count;
                            }
                            add_share(acc, a->e + ((b * a->OH + oh) * a->OW + ow) * N + n, block, share);
                        }
                    }
                    done += block;
                }
            }
        }
    }
    finish(sums, done, &q, dx, a->peak);
}
