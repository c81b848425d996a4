// Pooling, int8: largest of a window, average of an image, and their gradients.
// x is [B, H, W, N] or [B, S, N], y and e [B, OH, OW, N] or [B, N].

#include <string.h>

#include "../fixed.h"
#include "../opcodes.h"
#include "choice.h"
#include "inner_i8.h"
#include "window.h"

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

void odt_globalavg_i8(const odt_globalavg_i8_t *a) {
    int32_t S = a->S, N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t n = 0; n < N; n++) {
            const int8_t *x = a->x + b * S * N + n;
            int32_t acc = odt_wrap_sub(0, odt_wrap_mul(S, a->zx));
            for (int32_t s = 0; s < S; s++) {
                acc = odt_wrap_add(acc, x[s * N]);
            }
            *y++ = odt_clamp(odt_rescaled(acc, q), a->zy, a->lo, &peak);
        }
    }
    *a->peak = peak;
}

void odt_globalavg_dx_i8(const odt_globalavg_dx_i8_t *a) {
    int8_t *dx = a->dx;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t s = 0; s < a->S; s++) {
            memmove(dx, a->e + b * a->N, (size_t)a->N);
            dx += a->N;
        }
    }
}
