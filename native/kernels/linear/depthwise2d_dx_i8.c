// Depthwise 2-D convolutions, int8: the gradient of the input.
// w is [N, KH, KW], e [B, OH, OW, N], dx [B, H, W, N].

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../common/rescale.h"
#include "../../cores/depthwise.h"
#include "phase.h"

#if !ODT_SMALL

// If odt_is_whole(): every input has one product, the channel's error times a weight.
static __attribute__((noinline)) void depthwise_dx_whole(const odt_depthwise2d_dx_i8_t *a, int32_t first, int32_t stop,
    int32_t *largest) {
    int32_t N = a->N, taps = a->KH * a->KW, peak = *largest;
    for (int32_t n = first; n < stop; n++) {
        odt_rescaler_t q = odt_rescaler(odt_checked(&a->q[n]));
        for (int32_t b = 0; b < a->B; b++) {
            int32_t e = a->e[b * N + n];
            int8_t *dx = a->dx + b * taps * N + n;
            const int8_t *w = a->w + n * taps;
            odt_poll();
            for (const int8_t *end = w + taps; w != end; w++, dx += N) {
                *dx = odt_clamp_by(odt_rescale_by(&q, e * *w), 0, -127, &peak);
            }
        }
    }
    *largest = peak;
}

#endif

ODT_BESIDE_ASSEMBLY

// Phase (kh, kw), if it has inputs.
static int begin_phase(const odt_depthwise2d_dx_i8_t *a, int32_t kh, int32_t kw, odt_depthwise_t *d) {
    int32_t N = a->N, inputs = a->W * N;
    odt_phase_t h = odt_phase(kh, a->PT, a->SH, a->H, a->KH), w = odt_phase(kw, a->PL, a->SW, a->W, a->KW);
    int32_t last = (kh + (h.taps - 1) * a->SH) * a->KW + kw + (w.taps - 1) * a->SW;
    int is_empty = h.taps == 0 || w.taps == 0;
    *d = (odt_depthwise_t) {.x = a->e, .w = is_empty ? a->w : a->w + last, .q = a->q,
        .y = a->dx + h.first * inputs + w.first * N, .peak = a->peak, .B = a->B, .H = a->OH,
        .W = a->OW, .N = N, .KH = is_empty ? 0 : h.taps, .KW = is_empty ? 0 : w.taps, .SH = 1,
        .SW = 1, .top = h.pad, .left = w.pad, .OH = h.outputs, .OW = w.outputs, .lo = -127,
        .x_h = a->OW * N, .x_w = N, .w_n = a->KH * a->KW, .w_kh = -a->SH * a->KW, .w_kw = -a->SW, .y_b = a->H * inputs,
        .y_oh = a->SH * inputs, .y_ow = a->SW * N};
    return h.outputs > 0 && w.outputs > 0;
}

// Channels first .. stop - 1, phase by phase.
static void depthwise_dx_channels(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const odt_depthwise2d_dx_i8_t *a = arguments;
    #if !ODT_SMALL
    if (odt_is_whole(a->H, a->W, a->KH, a->KW, a->PT, a->PL, a->OH, a->OW)) {
        depthwise_dx_whole(a, first, stop, peak);
        return;
    }
    #endif
    #if ODT_M0_DEPTHWISE
    if (odt_depthwise_dx_i8__m0(a, first, stop, peak)) {
        return;
    }
    #elif ODT_M4
    if (odt_depthwise_dx_i8__m4(a, 1, a->N, first, stop, peak)) {
        return;
    }
    if (first == 0 && stop == a->N && odt_depthwise_dx_few_i8__m4(a, peak)) {
        return;
    }
    #endif
    for (int32_t kh = 0; kh < a->SH; kh++) {
        for (int32_t kw = 0; kw < a->SW; kw++) {
            odt_depthwise_t d;
            if (begin_phase(a, kh, kw, &d)) {
                odt_depthwise_channels_i8(&d, first, stop, peak);
            }
        }
    }
}

void odt_depthwise2d_dx_i8(const odt_depthwise2d_dx_i8_t *a) {
    odt_split(depthwise_dx_channels, a, a->N, ODT_DEPTHWISE_LANES, a->peak);
}
