// Splits images into batches of every SH-th row and SW-th column, and joins them again. y is [B, SH, SW, OH, OW, U], x
// [B, H, W, U]. U counts bytes, so it serves int8 and float32.

#include <string.h>

#include "../../opcodes.h"

static void copy(const odt_space_to_batch_t *a, int8_t *y, const int8_t *x, int is_back) {
    int32_t U = a->U, at = 0; // of the batches
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t p = 0; p < a->SH; p++) {
            for (int32_t q = 0; q < a->SW; q++) {
                for (int32_t i = 0; i < a->OH; i++) {
                    int32_t h = i * a->SH + p - a->PT;
                    for (int32_t j = 0; j < a->OW; j++, at += U) {
                        int32_t w = j * a->SW + q - a->PL;
                        if (h >= 0 && h < a->H && w >= 0 && w < a->W) {
                            int32_t pixel = ((b * a->H + h) * a->W + w) * U;
                            memmove(y + (is_back ? pixel : at), x + (is_back ? at : pixel), (size_t)U);
                        } else if (!is_back) {
                            memset(y + at, a->fill, (size_t)U);
                        }
                    }
                }
            }
        }
    }
}

void odt_space_to_batch(const odt_space_to_batch_t *a) {
    copy(a, a->y, a->x, 0);
}

void odt_batch_to_space(const odt_batch_to_space_t *a) {
    odt_space_to_batch_t sizes = {.B = a->B, .H = a->H, .W = a->W, .U = a->U, .SH = a->SH, .SW = a->SW, .PT = a->PT,
        .PL = a->PL, .OH = a->OH, .OW = a->OW};
    memset(a->y, 0, (size_t)(a->B * a->H) * (size_t)(a->W * a->U));
    copy(&sizes, a->y, a->x, 1);
}
