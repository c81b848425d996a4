// Average pooling, float32, and its gradient. x is [B, H, W, N], y and e [B, OH, OW, N].

#include "../../float32.h"
#include "../../opcodes.h"
#include "avgpool2d.h"

void odt_avgpool2d_f32(const odt_avgpool2d_f32_t *a) {
    int32_t N = a->N;
    odt_axis_t rows = ODT_AXIS_H(a), columns = ODT_AXIS_W(a);
    float *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_taps_t h = odt_axis_window(&rows, oh);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                odt_taps_t w = odt_axis_window(&columns, ow);
                int32_t count = (h.to - h.from) * (w.to - w.from);
                for (int32_t n = 0; n < N; n++) {
                    float sum = 0.0f;
                    for (int32_t ih = h.from; ih < h.to; ih++) {
                        const float *x = a->x + ((b * a->H + ih) * a->W + w.from) * N + n;
                        for (int32_t iw = w.from; iw < w.to; iw++, x += N) {
                            sum = sum + *x;
                        }
                    }
                    *y++ = count ? odt_store(sum / (float)count) : 0.0f;
                }
            }
        }
    }
}

void odt_avgpool2d_dx_f32(const odt_avgpool2d_dx_f32_t *a) {
    int32_t N = a->N;
    odt_axis_t rows = ODT_AXIS_H(a), columns = ODT_AXIS_W(a);
    float *dx = a->dx;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_taps_t h = odt_axis_holders(&rows, ih);
            for (int32_t iw = 0; iw < a->W; iw++) {
                odt_taps_t w = odt_axis_holders(&columns, iw);
                for (int32_t n = 0; n < N; n++) {
                    float sum = 0.0f;
                    for (int32_t oh = h.from; oh < h.to; oh++) {
                        odt_taps_t th = odt_axis_window(&rows, oh);
                        for (int32_t ow = w.from; ow < w.to; ow++) {
                            odt_taps_t tw = odt_axis_window(&columns, ow);
                            int32_t count = (th.to - th.from) * (tw.to - tw.from);
                            float e = a->e[((b * a->OH + oh) * a->OW + ow) * N + n];
                            sum = sum + e / (float)count;
                        }
                    }
                    *dx++ = odt_store(sum);
                }
            }
        }
    }
}
