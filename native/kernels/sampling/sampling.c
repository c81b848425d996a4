// Functions that sampling and its divergence share (sampling.h).

#include "../../opcodes.h"
#include "sampling.h"

odt_normal_t odt_normal(int32_t key, const int32_t *c, int32_t id, int32_t N) {
    odt_normal_t r = {odt_hash32((uint32_t)key, (uint32_t)id), (uint32_t)c[ODT_POSITION] * (uint32_t)N, key != 0};
    return r;
}

int32_t odt_normal_at(const odt_normal_t *r, int32_t i) {
    if (!r->training) {
        return 0;
    }
    uint32_t at = 2 * (r->first + (uint32_t)i);
    uint32_t a = odt_hash32(r->stream, at), b = odt_hash32(r->stream, at + 1);
    uint32_t pairs = (a & 0xFF00FF) + (a >> 8 & 0xFF00FF) + (b & 0xFF00FF) + (b >> 8 & 0xFF00FF);
    return (int32_t)((pairs & 0xFFFF) + (pairs >> 16)) - 1020;
}
