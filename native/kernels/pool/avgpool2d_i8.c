// Average pooling, int8, and its gradient. x is [B, H, W, N], y and e [B, OH, OW, N].

#include <string.h>

#include "../../core.h"
#include "../../opcodes.h"
#include "../common/elements.h"
#include "../common/elements__m0.h"
#include "../common/inner_i8.h"
#include "avgpool2d.h"

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

void odt_avgpool2d_dx_i8(const odt_avgpool2d_dx_i8_t *a) {
    int32_t N = a->N;
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    odt_axis_t rows = ODT_AXIS_H(a), columns = ODT_AXIS_W(a);
    uint32_t top = (uint32_t)a->top << 8;
    int8_t *dx = a->dx;
    #if !ODT_SMALL
    if (!a->adaptive && a->SH == a->KH && a->SW == a->KW && a->PT == 0 && a->PL == 0 && a->OH <= a->H / a->KH
        && a->OW <= a->W / a->KW) {
        avgpool2d_dx_of_tiles(a, &q, top / ((uint32_t)a->KH * (uint32_t)a->KW), &outputs);
        (void)odt_output(&outputs, 0); // of what lies beside all windows
        *a->peak = outputs.peak;
        return;
    }
    #endif
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_taps_t h = odt_axis_holders(&rows, ih);
            for (int32_t iw = 0; iw < a->W; iw++) {
                odt_taps_t w = odt_axis_holders(&columns, iw);
                for (int32_t n = 0; n < N; n += ODT_BLOCK) {
                    int32_t block = odt_min(N - n, ODT_BLOCK);
                    uint32_t acc[ODT_BLOCK] = {0};
                    for (int32_t oh = h.from; oh < h.to; oh++) {
                        odt_taps_t th = odt_axis_window(&rows, oh);
                        for (int32_t ow = w.from; ow < w.to; ow++) {
                            odt_taps_t tw = odt_axis_window(&columns, ow);
                            uint32_t count = (uint32_t)(th.to - th.from)
                                * (uint32_t)(tw.to - tw.from);
                            uint32_t share = top / count;
                            const int8_t *e = a->e + ((b * a->OH + oh) * a->OW + ow) * N + n;
                            for (int32_t i = 0; i < block; i++) {
                                acc[i] += (uint32_t)e[i] * share;
                            }
                        }
                    }
                    for (int32_t i = 0; i < block; i++) {
                        *dx++ = odt_output(&outputs, odt_rescale_by(&q, (int32_t)acc[i]));
                    }
                }
            }
        }
    }
    *a->peak = outputs.peak;
}
