// Lists the taps that meet an image of a few pixels (depthwise2d_tiny_i8__m4.h).

#include "../../core.h"
#include "depthwise2d_tiny_i8__m4.h"

ODT_BESIDE_ASSEMBLY

#if ODT_M4

int odt_tiny_plan(odt_tiny_t *t, const int32_t *size) {
    int32_t H = size[0], W = size[1], KH = size[2], KW = size[3], OH = size[8], OW = size[9];
    if (KH > 7 || KW > 7) {
        return 0;
    }
    int is_four = KH * KW == 4;
    int32_t most = is_four ? ODT_TINY_FOUR : KH * KW <= ODT_TINY ? ODT_TINY_M4 : ODT_TINY;
    int32_t outputs = is_four ? ODT_TINY_OUTPUTS : ODT_TINY;
    if (H > most || W > most || OH > outputs || OW > outputs || H * W > most || OH * OW > outputs) {
        return 0;
    }
    uint8_t *to = t->taps;
    t->pixels = H * W;
    t->outputs = OH * OW;
    for (int32_t place = 0; place < t->outputs; place++) {
        int32_t oh = place / OW, ih = oh * size[4] - size[6], iw = (place - oh * OW) * size[5] - size[7];
        odt_taps_t th = odt_taps(ih, KH, H), tw = odt_taps(iw, KW, W);
        *to++ = (uint8_t)(2 * (th.to - th.from) * (tw.to - tw.from));
        for (int32_t kh = th.from; kh < th.to; kh++) {
            for (int32_t kw = tw.from; kw < tw.to; kw++) {
                *to++ = (uint8_t)(4 * ((ih + kh) * W + iw + kw));
                *to++ = (uint8_t)(4 * (kh * KW + kw));
            }
        }
    }
    return 1;
}

#endif
