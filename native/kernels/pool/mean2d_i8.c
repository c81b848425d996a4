// Means of windows, int8, in a separate scale. x is [B, H, W, N], y [B, OH, OW, N].

#include <string.h>

#include "../../core.h"
#include "../../opcodes.h"
#include "../../common/elements.h"
#include "avgpool2d.h"

// sum / count to nearest. Halves are rounded to an even y, or away from 0.
static int32_t odt_mean(int32_t sum, int32_t count, int32_t zy, int32_t away) {
    int32_t v = sum / count, rest = sum % count;
    if (rest < 0) {
        v--;
        rest += count;
    }
    int32_t y = odt_wrap_add(v, zy), up = away ? y >= 0 : y & 1;
    return v + (2 * rest > count || (2 * rest == count && up));
}

#if !ODT_32_BIT

enum { CHANNELS = 64 }; // summed together

// Sums of a window's channels n .. n + count - 1, in a form that the compiler vectorizes.
static void sum_channels(
    const odt_mean2d_i8_t *a, int32_t b, odt_taps_t h, odt_taps_t w, int32_t n, int32_t count, int32_t *sums) {
    memset(sums, 0, (size_t)count * sizeof(*sums));
    for (int32_t ih = h.from; ih < h.to; ih++) {
        const int8_t *x = a->x + ((b * a->H + ih) * a->W + w.from) * a->N + n;
        for (int32_t iw = w.from; iw < w.to; iw++, x += a->N) {
            for (int32_t i = 0; i < count; i++) {
                sums[i] += x[i];
            }
        }
    }
}

#endif

void odt_mean2d_i8(const odt_mean2d_i8_t *a) {
    int32_t N = a->N;
    odt_axis_t rows = ODT_AXIS_H(a), columns = ODT_AXIS_W(a);
    uint32_t ratio = odt_scale_div(odt_scale_mul(odt_scale(a->factor), odt_scale(*a->sx)), odt_scale(*a->sy));
    odt_outputs_t outputs = odt_outputs_from(a->zy, a->lo, *a->peak);
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_taps_t h = odt_axis_window(&rows, oh);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                odt_taps_t w = odt_axis_window(&columns, ow);
                int32_t count = (h.to - h.from) * (w.to - w.from);
                odt_rescaler_t q = odt_rescaler(odt_multiplier(odt_scale_div(ratio, odt_scale_int((uint32_t)count))));
                #if !ODT_32_BIT
                int32_t sums[CHANNELS], first = 0, last = 0;
                #endif
                for (int32_t n = 0; n < N; n++) {
                    int32_t sum = odt_wrap_sub(0, odt_wrap_mul(count, a->zx));
                    #if !ODT_32_BIT
                    if (n == last) {
                        first = n;
                        last = odt_min(n + CHANNELS, N);
                        sum_channels(a, b, h, w, first, last - first, sums);
                    }
                    sum = odt_wrap_add(sum, sums[n - first]);
                    #else
                    for (int32_t ih = h.from; ih < h.to; ih++) {
                        const int8_t *x = a->x + ((b * a->H + ih) * a->W + w.from) * N + n;
                        for (int32_t iw = w.from; iw < w.to; iw++, x += N) {
                            sum = odt_wrap_add(sum, *x);
                        }
                    }
                    #endif
                    int32_t v =
                        ratio == ODT_ONE && count ? odt_mean(sum, count, a->zy, a->away) : odt_rescale_by(&q, sum);
                    *y++ = odt_output(&outputs, v);
                }
            }
        }
    }
    *a->peak = outputs.peak;
}
