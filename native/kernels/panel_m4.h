// From sums to outputs on cores with SMLAD, a Cortex-M4 and later.

// The way of one row from sums to outputs. A result that is not within bottom .. bottom + span is out of
// range or a new peak, or both.
typedef struct {
    int32_t max, min, high, low;   // 0: what there was, what there may be, before zy is added
    const int32_t *end;            // 16
    int8_t *y;                     // 20
    int32_t step, offset, m, half; // 24
    int32_t shift, bottom, span;   // 40
    int32_t zy;                    // 52
} output_t;

// 12 instructions an output; behind a ReLU, where many are below low = 0, without a branch for these.
__attribute__((naked, noinline)) static void finish_row(const int32_t *sums, output_t *o) {
    (void)sums, (void)o;
    __asm volatile (
        ".syntax unified\n"
        "push {r4-r11, lr}\n"
        "mov r11, r1\n"
        "ldr r12, [r11, #12]\n"
        "add r1, r11, #16\n"
        "ldm r1, {r1-r10}\n"
        "cmp r12, #0\n"
        "beq 3f\n"
        "1:\n"
        "ldr r12, [r0], #16\n"
        "add r12, r12, r4\n"
        "smmla r12, r12, r5, r6\n"
        "asr r12, r12, r7\n"
        "sub lr, r12, r8\n"
        "cmp lr, r9\n"
        "bhi 5f\n"
        "2:\n"
        "add r12, r12, r10\n"
        "strb r12, [r2]\n"
        "add r2, r2, r3\n"
        "cmp r0, r1\n"
        "bne 1b\n"
        "pop {r4-r11, pc}\n"
        "3:\n"
        "ldr r12, [r0], #16\n"
        "add r12, r12, r4\n"
        "smmla r12, r12, r5, r6\n"
        "asr r12, r12, r7\n"
        "bic r12, r12, r12, asr #31\n"
        "cmp r12, r9\n"
        "bgt 5f\n"
        "4:\n"
        "add r12, r12, r10\n"
        "strb r12, [r2]\n"
        "add r2, r2, r3\n"
        "cmp r0, r1\n"
        "bne 3b\n"
        "pop {r4-r11, pc}\n"
        "5:\n"
        "ldm r11, {r8, r9}\n"
        "cmp r12, r8\n"
        "it gt\n"
        "movgt r8, r12\n"
        "cmp r12, r9\n"
        "it lt\n"
        "movlt r9, r12\n"
        "stm r11, {r8, r9}\n"
        "ldr lr, [r11, #8]\n"
        "cmp r8, lr\n"
        "it gt\n"
        "movgt r8, lr\n" // the top
        "cmp r12, lr\n"
        "it gt\n"
        "movgt r12, lr\n"
        "ldr lr, [r11, #12]\n"
        "cmp r9, lr\n"
        "it lt\n"
        "movlt r9, lr\n" // the bottom
        "cmp r12, lr\n"
        "it lt\n"
        "movlt r12, lr\n"
        "sub lr, r8, r9\n"
        "mov r8, r9\n"
        "mov r9, lr\n"
        "ldr lr, [r11, #12]\n"
        "cmp lr, #0\n"
        "bne 2b\n"
        "b 4b\n"
        );
}

// y = clamp(zy + q * (sum + offset)) of one row; shifts above 32, so that no result overflows.
static void finish_columns(const sums_t *sums, int32_t at, int32_t offset, odt_multiplier_t q,
    int32_t zy, int32_t lo, int32_t count, int8_t *y, int32_t step, int32_t *max, int32_t *min) {
    const int32_t *first = *sums + at;
    int32_t high = 127 - zy, low = lo - zy, bottom = odt_max(*min, low);
    output_t o = {*max, *min, high, low, first + count * ROWS, y, step, offset, q.m, 1 << (q.s - 33), q.s - 32,
        bottom, odt_min(*max, high) - bottom, zy};
    if (count > 0) {
        finish_row(first, &o);
    }
    *max = o.max;
    *min = o.min;
}
