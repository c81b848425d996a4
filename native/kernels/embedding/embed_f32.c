// Looks up rows of a table by token; the gradient of the rows that occur, float32.

#include "../../float32.h"
#include "../../opcodes.h"
#include "../../common/inner_f32.h"
#include "tokens.h"

static int32_t token_f32(float x, int32_t V) {
    return odt_limit(odt_to_int(x), 0, odt_min(V, ODT_TOKENS) - 1);
}

void odt_embed_f32(const odt_embed_f32_t *a) {
    for (int32_t m = 0; m < a->M; m++) {
        memcpy(a->y + m * a->N, a->w + token_f32(a->x[m], a->V) * a->N, (uint32_t)a->N * sizeof(float));
    }
}

void odt_embed_dw_f32(const odt_embed_dw_f32_t *a) {
    uint16_t seen[ODT_TOKENS] = {0};
    if (a->all) {
        odt_see_all(seen, a->V);
    }
    for (int32_t m = 0; m < a->M; m++) {
        seen[token_f32(a->x[m], a->V)] = 1;
    }
    *a->count = odt_list_tokens(seen, a->rows, a->R);
    memset(a->dw, 0, (uint32_t)(a->R * a->N) * sizeof(float));
    for (int32_t m = 0; m < a->M; m++) {
        int32_t place = seen[token_f32(a->x[m], a->V)];
        if (!place) {
            continue;
        }
        float *dw = a->dw + (place - 1) * a->N;
        const float *e = a->e + m * a->N;
        for (int32_t n = 0; n < a->N; n++) {
            dw[n] = dw[n] + e[n];
        }
    }
    odt_store_all(a->dw, a->R * a->N);
}
