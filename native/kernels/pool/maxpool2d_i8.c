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
    int32_t N = a->N;
    int8_t *y = a->y;
    odt_choices_t choices = {.at = (uint8_t *)a->choice, .bits = a->bits};
    if (!odt_choices_fit(a->B * a->OH * a->OW * N, a->bits, a->S)) {
        return;
    }
    memset(choices.at, 0, (size_t)a->S);
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, a->KW, a->W);
                for (int32_t first = 0; first < N; first += LANES) {
                    int32_t lanes = odt_min(LANES, N - first);
                    int16_t best[LANES];
                    uint16_t choice[LANES] = {0};
                    for (int32_t n = 0; n < LANES; n++) {
                        best[n] = -129; // the first one of a window is greater
                    }
                    for (int32_t kh = th.from; kh < th.to; kh++) {
                        for (int32_t kw = tw.from; kw < tw.to; kw++) {
                            const int8_t *x = a->x + ((b * a->H + ih + kh) * a->W + iw + kw) * N + first;
                            uint16_t tap = (uint16_t)(kh * a->KW + kw);
                            for (int32_t n = 0; n < lanes; n++) { // without a branch, for vectors
                                int32_t is_more = x[n] > best[n];
                                best[n] = is_more ? x[n] : best[n];
                                choice[n] = is_more ? tap : choice[n];
                            }
                        }
                    }
                    for (int32_t n = 0; n < lanes; n++) {
                        *y++ = (int8_t)odt_max(best[n], -128);
                        odt_choose(&choices, choice[n]);
                    }
                }
            }
        }
    }
    odt_choices_end(&choices);
}

void odt_unpool2d_i8(const odt_unpool2d_i8_t *a) {
    int32_t N = a->N, peak = *a->peak;
    const int8_t *e = a->e;
    odt_choices_t choices = {.at = (uint8_t *)a->choice, .bits = a->bits};
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
                int8_t *corner = a->dx + ((b * a->H + ih) * a->W + iw) * N;
                for (int32_t n = 0; n < N; n++, e++) {
                    int32_t kh = 0, kw = odt_choice(&choices);
                    if (kw >= a->KW) {
                        kh = kw / a->KW;
                        kw -= kh * a->KW;
                    }
                    if (kh >= th.from && kh < th.to && kw >= tw.from && kw < tw.to) {
                        int8_t *dx = corner + (kh * a->W + kw) * N + n;
                        int32_t v = *dx + *e;
                        peak = odt_max(peak, v < 0 ? -v : v);
                        *dx = (int8_t)odt_limit(v, -127, 127);
                    }
                }
            }
        }
    }
    *a->peak = peak;
}
