// Dense layers, int8: the gradient of the input. w is [N, K], e [M, N], dx [M, K].

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../common/inner_i8.h"
#include "conv2d_i8.h"

void odt_dense_dx_i8(const odt_dense_dx_i8_t *a) {
    #if ODT_PANEL
    if (a->M >= ODT_MANY_ERRORS) {
        odt_correlation_t c = {.x = a->e, .w = a->w, .q = a->q, .y = a->dx, .peak = a->peak,
            .B = 1, .H = 1, .W = a->M, .C = a->N, .N = a->K, .KH = 1, .KW = 1, .SH = 1, .SW = 1, .OH = 1,
            .OW = a->M, .lo = -127, .w_n = 1, .w_c = a->K, .y_ow = a->K};
        odt_correlate_i8(&c);
        return;
    }
    #endif
    int32_t M = a->M, K = a->K, N = a->N, peak = *a->peak;
    odt_multiplier_t q = odt_checked(a->q);
    for (int32_t m = 0; m < M; m++) {
        odt_poll();
        for (int32_t k = 0; k < K; k += ODT_BLOCK) {
            int32_t block = odt_min(K - k, ODT_BLOCK);
            int32_t acc[ODT_BLOCK] = {0};
            for (int32_t n = 0; n < N; n++) {
                int32_t e = a->e[m * N + n];
                if (e) {
                    odt_axpy_i8(acc, e, a->w + n * K + k, 0, block);
                }
            }
            for (int32_t i = 0; i < block; i++) {
                a->dx[m * K + k + i] = odt_clamp(odt_rescaled(acc[i], q), 0, -127, &peak);
            }
        }
    }
    *a->peak = peak;
}
