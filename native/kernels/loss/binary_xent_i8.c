// Binary cross-entropy of logits, int8. x and e are [B, N], e may overwrite x; padding rows have no error and no loss.

#include <string.h>

#include "../../data.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "targets_i8.h"

void odt_binary_xent_i8(const odt_binary_xent_i8_t *a) {
    int32_t N = a->N, z = odt_limit(a->z, -128, 127), correct = 0;
    odt_multiplier_t q = odt_multiplier(odt_scale_mul(odt_scale(*a->sx), ODT_LOG2E));
    odt_targets_i8_t t = odt_targets_i8(a->c, a->target, N, 15, ODT_ONE);
    uint64_t loss = 0;
    *a->se = (int32_t)odt_mean_scale(ODT_PART_OF_127, N, a->c, a->B);
    for (int32_t b = 0; b < a->B; b++) {
        const int8_t *x = a->x + b * N;
        int8_t *e = a->e + b * N;
        const uint8_t *sample = odt_sample(&t.samples, b);
        if (!sample) {
            memset(e, 0, (size_t)N);
            continue;
        }
        for (int32_t i = 0; i < N; i++) {
            int32_t v = x[i] - z, T = odt_limit(odt_target_i8(&t, sample, i), 0, 32768);
            int32_t steps = odt_rescaled_byte(v < 0 ? -v : v, &q);
            uint32_t power = odt_exp2n(steps), whole = 65536 + power;
            int32_t P = (int32_t)((power * 32768 + whole / 2) / whole); // of the less likely class
            P = v < 0 ? P : 32768 - P;
            int64_t wrong = odt_min(steps, 1 << 24) * (int64_t)(v < 0 ? T : 32768 - T);
            int64_t row = odt_log2q(whole) - 16 * 65536 + (wrong >> 15);
            row = (row * 45426 + 32768) >> 16;
            loss += row > 0 ? (uint64_t)row : 0;
            correct += (v > 0) == (T > 16384);
            e[i] = (int8_t)(odt_wrap_add(odt_wrap_mul(odt_wrap_sub(P, T), 127), 16384) >> 15);
        }
    }
    odt_add_loss_i8(a->c, loss);
    a->c[ODT_CORRECT] += correct;
}
