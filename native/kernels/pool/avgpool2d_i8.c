// Average pooling, int8, and its gradient. x is [B, H, W, N], y and e [B, OH, OW, N].

#include <string.h>

#include "../../opcodes.h"
#include "../common/elements.h"
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

void odt_avgpool2d_dx_i8(const odt_avgpool2d_dx_i8_t *a) {
    int32_t N = a->N;
    odt_rescaler_t q = odt_rescaler(odt_checked(a->q));
    odt_outputs_t outputs = odt_outputs_from(0, -127, *a->peak);
    odt_axis_t rows = ODT_AXIS_H(a), columns = ODT_AXIS_W(a);
    uint32_t top = (uint32_t)a->top << 8;
    int8_t *dx = a->dx;
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
