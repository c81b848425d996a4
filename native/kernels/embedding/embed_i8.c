// Looks up rows of a table by token; the gradient of the rows that occur, int8.

#include "../../opcodes.h"
#include "tokens.h"

// The token of an input with zero point -128, limited to the table's rows.
static int32_t token_i8(int8_t x, int32_t V) {
    return odt_min(x + 128, V - 1);
}

void odt_embed_i8(const odt_embed_i8_t *a) {
    for (int32_t m = 0; m < a->M; m++) {
        memcpy(a->y + m * a->N, a->w + token_i8(a->x[m], a->V) * a->N, (uint32_t)a->N);
    }
}

void odt_embed_dw_i8(const odt_embed_dw_i8_t *a) {
    uint16_t seen[ODT_TOKENS] = {0};
    if (a->all) {
        odt_see_all(seen, a->V);
    }
    for (int32_t m = 0; m < a->M; m++) {
        seen[token_i8(a->x[m], a->V)] = 1;
    }
    *a->count = odt_list_tokens(seen, a->rows, a->R);
    memset(a->dw, 0, (uint32_t)(a->R * a->N) * sizeof(int32_t));
    for (int32_t m = 0; m < a->M; m++) {
        int32_t place = seen[token_i8(a->x[m], a->V)];
        if (!place) {
            continue;
        }
        int32_t *dw = a->dw + (place - 1) * a->N;
        const int8_t *e = a->e + m * a->N;
        for (int32_t n = 0; n < a->N; n++) {
            dw[n] = (int32_t)((uint32_t)dw[n] + (uint32_t)e[n]);
        }
    }
}
