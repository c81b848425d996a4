// Panels (panel_i8.c) on cores with SMLAD, a Cortex-M4 and later. A panel is int16: depths k and k + 2 of
// rows 0, 1, 2, 3, then depths k + 1 and k + 3, as SXTB16 leaves the bytes of a word. Sums are those of
// the rows.

typedef int16_t panel_t;
enum { UNITS = 4, ALIGNED = 4 };

static inline int32_t place(int32_t row) {
    return row;
}

// Where depth k of row 0 is.
static inline int32_t depth_at(int32_t k) {
    return (k >> 2) * 16 + (k & 1) * 8 + (k >> 1 & 1);
}

static int32_t pack_bytes(panel_t *panel, int32_t k, const int8_t *w, int32_t step, int32_t count) {
    int32_t sum = 0;
    for (; count > 0; count--, k++, w += step) {
        sum += panel[depth_at(k)] = *w;
    }
    return sum;
}

// Four rows, which begin at w[rows[0]], .., to depths k .. of the panel; adds each row to its total.
static void pack(panel_t *panel, int32_t k, const int8_t *w, const int32_t *rows, int32_t step,
    int32_t count, int32_t *totals) {
    int32_t lead = odt_min(-k & 3, count), quads = (count - lead) >> 2, ones = 0x10001;
    for (int32_t row = 0; row < ROWS; row++, panel += 2) {
        const int8_t *from = w + rows[row];
        int32_t sum = pack_bytes(panel, k, from, step, lead);
        panel_t *to = panel + depth_at(k + lead), *end = to + quads * 16;
        from += lead * step;
        for (; to != end; to += 16) {
            int32_t even, odd;
            if (step == 1) {
                memcpy(&odd, from, 4); // which may lie anywhere
                from += 4;
                __asm ("sxtb16 %0, %1" : "=r" (even) : "r" (odd));
                __asm ("sxtb16 %0, %0, ror #8" : "+r" (odd));
            } else {
                int32_t second = from[step], third = from[2 * step];
                even = *from;
                odd = from[3 * step];
                from += 4 * step;
                __asm ("pkhbt %0, %0, %1, lsl #16" : "+r" (even) : "r" (third));
                __asm ("pkhbt %0, %1, %0, lsl #16" : "+r" (odd) : "r" (second));
            }
            memcpy(__builtin_assume_aligned(to, 4), &even, 4);
            memcpy(__builtin_assume_aligned(to + 8, 4), &odd, 4);
            __asm ("smlad %0, %1, %2, %0" : "+r" (sum) : "r" (even), "r" (ones));
            __asm ("smlad %0, %1, %2, %0" : "+r" (sum) : "r" (odd), "r" (ones));
        }
        totals[row] += sum + pack_bytes(panel, k + lead + quads * 4, from, step, count - lead - quads * 4);
    }
}

static void run_single(sums_t *sums, const panel_t *panel, int32_t k, const int8_t *b,
    const columns_t *c) {
    const panel_t *group = panel + depth_at(k);
    int32_t p0 = group[0], p1 = group[2], p2 = group[4], p3 = group[6];
    for (int32_t i = c->count; i; i--, b += c->step, sums++) {
        int32_t *s = *sums;
        s[0] += p0 * *b;
        s[1] += p1 * *b;
        s[2] += p2 * *b;
        s[3] += p3 * *b;
    }
}

#define SMLAD4(x) \
    "ldm r1!, {r8-r11}\n" \
    "smlad r4, r8, " x ", r4\n" \
    "smlad r5, r9, " x ", r5\n" \
    "smlad r6, r10, " x ", r6\n" \
    "smlad r7, r11, " x ", r7\n"

#define WORD \
    "ldr lr, [r2], #4\n" \
    "sxtb16 r12, lr\n" \
    "sxtb16 lr, lr, ror #8\n" \
    SMLAD4("r12") \
    SMLAD4("lr")

// Four depths of a column that lie in a row: sums += panel * columns. 14 instructions for 16 products, in
// pairs; 17 a column; 19 for the last `tail` depths. `back` leads from a column's last four to the next column.
__attribute__((naked, noinline)) static void run_words(sums_t *sums, const sums_t *end, const panel_t *panel,
    const int8_t *b, int32_t bytes, int32_t tail, int32_t back) {
    (void)sums, (void)end, (void)panel, (void)b, (void)bytes, (void)tail, (void)back;
    __asm volatile (
        ".syntax unified\n"
        "push {r1, r2, r4-r11, lr}\n" // 0: end, 4: panel; 44: bytes, 48: tail, 52: back
        "mov r2, r3\n"
        "1:\n"
        "ldm r0, {r4-r7}\n"
        "ldr r1, [sp, #4]\n"
        "ldr r3, [sp, #44]\n"
        "tst r3, #4\n"
        "add r3, r3, r2\n"
        "bne 7f\n"
        "2:\n"
        "cmp r2, r3\n"
        "beq 3f\n"
        "8:\n"
        WORD
        WORD
        "cmp r2, r3\n"
        "bne 8b\n"
        "3:\n"
        "ldr r3, [sp, #48]\n"
        "cbnz r3, 5f\n"
        "4:\n"
        "stm r0!, {r4-r7}\n"
        "ldr r3, [sp, #52]\n"
        "add r2, r2, r3\n"
        "ldr r3, [sp]\n"
        "cmp r0, r3\n"
        "bne 1b\n"
        "pop {r1, r2, r4-r11, pc}\n"
        "5:\n" // the bytes that there are, else 0
        "ldrb lr, [r2]\n"
        "cmp r3, #1\n"
        "beq 6f\n"
        "ldrh lr, [r2]\n"
        "cmp r3, #2\n"
        "beq 6f\n"
        "ldrb r12, [r2, #2]\n"
        "orr lr, lr, r12, lsl #16\n"
        "6:\n"
        "sxtb16 r12, lr\n"
        "sxtb16 lr, lr, ror #8\n"
        SMLAD4("r12")
        SMLAD4("lr")
        "b 4b\n"
        "7:\n" // an odd number of words
        WORD
        "b 2b\n"
        );
}

#define BYTES \
    "ldrsb r12, [r2]\n" \
    "ldrsb lr, [r2, r3]\n" \
    "add r2, r2, r3, lsl #1\n" \
    "ldrsb r8, [r2]\n" \
    "ldrsb r9, [r2, r3]\n" \
    "add r2, r2, r3, lsl #1\n" \
    "pkhbt r12, r12, r8, lsl #16\n" \
    "pkhbt lr, lr, r9, lsl #16\n" \
    SMLAD4("r12") \
    SMLAD4("lr")

// The same of depths that are `stride` bytes apart: 19.5 instructions for 16 products, in pairs.
__attribute__((naked, noinline)) static void run_bytes(sums_t *sums, const sums_t *end, const panel_t *panel,
    const int8_t *b, const panel_t *last, int32_t tail, int32_t back, int32_t stride) {
    (void)sums, (void)end, (void)panel, (void)b, (void)last, (void)tail, (void)back, (void)stride;
    __asm volatile (
        ".syntax unified\n"
        "push {r1, r2, r4-r11, lr}\n" // 0: end, 4: panel; 44: last, 48: tail, 52: back, 56: stride
        "mov r2, r3\n"
        "ldr r3, [sp, #56]\n"
        "1:\n"
        "ldm r0, {r4-r7}\n"
        "ldr r1, [sp, #4]\n"
        "ldr r12, [sp, #44]\n"
        "sub lr, r12, r1\n"
        "tst lr, #32\n"
        "bne 7f\n"
        "2:\n"
        "ldr r12, [sp, #44]\n"
        "cmp r1, r12\n"
        "beq 3f\n"
        "8:\n"
        BYTES
        BYTES
        "ldr r12, [sp, #44]\n"
        "cmp r1, r12\n"
        "bne 8b\n"
        "3:\n"
        "ldr r12, [sp, #48]\n"
        "cmp r12, #0\n"
        "bne 5f\n"
        "4:\n"
        "stm r0!, {r4-r7}\n"
        "ldr r12, [sp, #52]\n"
        "add r2, r2, r12\n"
        "ldr r12, [sp]\n"
        "cmp r0, r12\n"
        "bne 1b\n"
        "pop {r1, r2, r4-r11, pc}\n"
        "5:\n"
        "ldrsb r8, [r2]\n"
        "uxth r8, r8\n"
        "mov lr, #0\n"
        "cmp r12, #1\n"
        "beq 6f\n"
        "ldrsb lr, [r2, r3]\n"
        "uxth lr, lr\n"
        "cmp r12, #2\n"
        "beq 6f\n"
        "add r9, r2, r3, lsl #1\n"
        "ldrsb r9, [r9]\n"
        "pkhbt r8, r8, r9, lsl #16\n"
        "6:\n"
        "mov r12, r8\n"
        SMLAD4("r12")
        SMLAD4("lr")
        "b 4b\n"
        "7:\n" // an odd number of fours
        BYTES
        "b 2b\n"
        );
}

// Adds the products of depths k .. of the panel with columns that begin at b.
static void run(sums_t *sums, const panel_t *panel, int32_t k, const int8_t *b, const columns_t *c) {
    int32_t depth = c->depth, stride = c->stride;
    if (c->count <= 0) {
        return;
    }
    for (; (k & 3) && depth > 0; k++, depth--, b += stride) {
        run_single(sums, panel, k, b, c);
    }
    if (depth > 0) {
        const sums_t *end = (const sums_t *)sums + c->count;
        int32_t whole = depth & ~3, back = c->step - whole * stride;
        panel += k * UNITS;
        if (stride == 1) {
            run_words(sums, end, panel, b, whole, depth & 3, back);
        } else {
            run_bytes(sums, end, panel, b, panel + whole * UNITS, depth & 3, back, stride);
        }
    }
}

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
