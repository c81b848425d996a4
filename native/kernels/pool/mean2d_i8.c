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

enum { CHANNELS = 64, MOST = 2048 }; // summed together; inputs of a mean whose division is a multiplication

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

// In place of sums their odt_mean(), in the same form. The sums are of 2 to MOST int8 values each.
static void put_means(int32_t *sums, int32_t channels, int32_t count, const odt_mean2d_i8_t *a) {
    uint32_t part = UINT32_MAX / (uint32_t)count + 1; // 2^32 / count, rounded up
    int32_t zy = a->zy, away = a->away, above = count * (256 - a->zx);
    for (int32_t i = 0; i < channels; i++) {
        uint32_t sum = (uint32_t)(sums[i] + above); // at least 0
        int32_t v = (int32_t)((uint64_t)sum * part >> 32), rest = (int32_t)sum - v * count;
        v -= 256;
        int32_t up = away ? v + zy >= 0 : (v + zy) & 1;
        sums[i] = v + (2 * rest + up > count);
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
                int32_t offset = odt_wrap_mul(count, a->zx), is_mean = ratio == ODT_ONE && count;
                #if ODT_32_BIT
                for (int32_t n = 0; n < N; n++) {
                    int32_t sum = odt_wrap_sub(0, offset);
                    for (int32_t ih = h.from; ih < h.to; ih++) {
                        const int8_t *x = a->x + ((b * a->H + ih) * a->W + w.from) * N + n;
                        for (int32_t iw = w.from; iw < w.to; iw++, x += N) {
                            sum = odt_wrap_add(sum, *x);
                        }
                    }
                    int32_t v = is_mean ? odt_mean(sum, count, a->zy, a->away) : odt_rescale_by(&q, sum);
                    *y++ = odt_output(&outputs, v);
                }
                #else
                int32_t sums[CHANNELS], is_quick = is_mean && count > 1 && count <= MOST && a->zx == (int8_t)a->zx;
                for (int32_t n = 0, channels; n < N; n += channels) {
                    channels = odt_min(CHANNELS, N - n);
                    sum_channels(a, b, h, w, n, channels, sums);
                    if (is_quick) {
                        put_means(sums, channels, count, a);
                    }
                    for (int32_t i = 0; i < channels; i++) {
                        int32_t v = sums[i];
                        if (!is_quick) {
                            v = odt_wrap_sub(v, offset);
                            v = is_mean ? odt_mean(v, count, a->zy, a->away) : odt_rescale_by(&q, v);
                        }
                        *y++ = odt_output(&outputs, v);
                    }
                }
                #endif
            }
        }
    }
    *a->peak = outputs.peak;
}
