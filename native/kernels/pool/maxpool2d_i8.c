// Max-pooling, int8: the largest of a window, which it was, and the gradient. x is [B, H, W, N], y and e [B, OH, OW, N].

#include <string.h>

#include "../../fixed.h"
#include "../../opcodes.h"
#include "../common/inner_i8.h"
#include "../common/window.h"
#include "maxpool2d_choice.h"

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
                memset(y, -128, (size_t)N);
                for (int32_t kh = th.from; kh < th.to; kh++) {
                    for (int32_t kw = tw.from; kw < tw.to; kw++) {
                        const int8_t *x = a->x + ((b * a->H + ih + kh) * a->W + iw + kw) * N;
                        for (int32_t n = 0; n < N; n++) {
                            y[n] = y[n] > x[n] ? y[n] : x[n];
                        }
                    }
                }
                y += N;
            }
        }
    }
}

void odt_maxpool2d_choice_i8(const odt_maxpool2d_choice_i8_t *a) {
    enum { LANES = 32 };
    int32_t N = a->N, i = 0;
    uint8_t *choices = (uint8_t *)a->choice;
    if (!odt_choices_fit(a->B * a->OH * a->OW * N, a->bits, a->S)) {
        return;
    }
    memset(choices, 0, (size_t)a->S);
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, a->KW, a->W);
                for (int32_t first = 0; first < N; first += LANES) {
                    int32_t lanes = odt_min(LANES, N - first), is_first = 1;
                    int8_t best[LANES];
                    uint16_t choice[LANES] = {0};
                    memset(best, -128, sizeof(best));
                    for (int32_t kh = th.from; kh < th.to; kh++) {
                        for (int32_t kw = tw.from; kw < tw.to; kw++) {
                            const int8_t *x = a->x + ((b * a->H + ih + kh) * a->W + iw + kw) * N + first;
                            for (int32_t n = 0; n < lanes; n++) {
                                if (x[n] > best[n] || is_first) {
                                    best[n] = x[n];
                                    choice[n] = (uint16_t)(kh * a->KW + kw);
                                }
                            }
                            is_first = 0;
                        }
                    }
                    for (int32_t n = 0; n < lanes; n++, i++) {
                        a->y[i] = best[n];
                        odt_choose(choices, i, a->bits, choice[n]);
                    }
                }
            }
        }
    }
}

void odt_unpool2d_i8(const odt_unpool2d_i8_t *a) {
    int32_t N = a->N, peak = *a->peak, i = 0;
    const uint8_t *choices = (const uint8_t *)a->choice;
    if (!odt_choices_fit(a->B * a->OH * a->OW * N, a->bits, a->S)) {
        return;
    }
    memset(a->dx, 0, (size_t)(a->B * a->H * a->W) * (size_t)N);
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, a->KW, a->W);
                for (int32_t n = 0; n < N; n++, i++) {
                    int32_t choice = odt_choice(choices, i, a->bits);
                    int32_t kh = choice / a->KW, kw = choice - kh * a->KW;
                    if (kh >= th.from && kh < th.to && kw >= tw.from && kw < tw.to) {
                        int8_t *dx = a->dx + ((b * a->H + ih + kh) * a->W + iw + kw) * N + n;
                        *dx = odt_clamp(*dx + a->e[i], 0, -127, &peak);
                    }
                }
            }
        }
    }
    *a->peak = peak;
}
