// Max-pooling, float32: the largest value of a window, its position, and the gradient. x is [B, H, W, N], y and e [B,
// OH, OW, N].

#include <string.h>

#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"
#include "../../common/window.h"
#include "maxpool2d_choice.h"

// The position kh * KW + kw of the first largest x of a channel in a window, and its value; -1 if the window is empty.
static int32_t first_largest(const float *x, odt_taps_t th, odt_taps_t tw, int32_t corner,
    int32_t W, int32_t N, int32_t KW, float *largest) {
    int32_t best = -1;
    *largest = 0.0f;
    for (int32_t kh = th.from; kh < th.to; kh++) {
        for (int32_t kw = tw.from; kw < tw.to; kw++) {
            float v = x[corner + (kh * W + kw) * N];
            if (best < 0 || v > *largest) {
                *largest = v;
                best = kh * KW + kw;
            }
        }
    }
    return best;
}

void odt_maxpool2d_f32(const odt_maxpool2d_f32_t *a) {
    int32_t N = a->N;
    float *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, a->KW, a->W);
                int32_t corner = ((b * a->H + ih) * a->W + iw) * N;
                for (int32_t n = 0; n < N; n++) {
                    first_largest(a->x, th, tw, corner + n, a->W, N, a->KW, y++);
                }
            }
        }
    }
}

void odt_maxpool2d_choice_f32(const odt_maxpool2d_choice_f32_t *a) {
    int32_t N = a->N;
    float *y = a->y;
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
                int32_t corner = ((b * a->H + ih) * a->W + iw) * N;
                for (int32_t n = 0; n < N; n++) {
                    int32_t choice = first_largest(a->x, th, tw, corner + n, a->W, N, a->KW, y++);
                    odt_choose(&choices, choice < 0 ? 0 : (uint32_t)choice);
                }
            }
        }
    }
    odt_choices_end(&choices);
}

void odt_unpool2d_f32(const odt_unpool2d_f32_t *a) {
    int32_t N = a->N;
    const float *e = a->e;
    odt_choices_t choices = {.at = (uint8_t *)a->choice, .bits = a->bits};
    if (!odt_choices_fit(a->B * a->OH * a->OW * N, a->bits, a->S)) {
        return;
    }
    memset(a->dx, 0, (size_t)(a->B * a->H) * (size_t)(a->W * N) * sizeof(float));
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, a->KW, a->W);
                for (int32_t n = 0; n < N; n++, e++) {
                    int32_t choice = odt_choice(&choices);
                    int32_t kh = choice / a->KW, kw = choice - kh * a->KW;
                    if (kh >= th.from && kh < th.to && kw >= tw.from && kw < tw.to) {
                        float *dx = a->dx + ((b * a->H + ih + kh) * a->W + iw + kw) * N + n;
                        *dx = odt_store(*dx + *e);
                    }
                }
            }
        }
    }
}
