// The first ranges of an int8 model: each result is computed, measured, and computed again in the scale that it asks for.
// The same to the bit as calibrate() of odt/run/calibration.py, which says why; no part of the kernels for stock firmware.

#include "calibrate.h"
#include "fixed.h"
#include "opcodes.h"
#include "table.h"

#define ADDRESS_MASK ((1u << ODT_REGION_SHIFT) - 1)
#define UNSEEN 0x30800000 // 2^-30: fine enough to see the smallest error
#define ROUNDS 8 // a result may overflow its first scale by more than an int32 holds
#define BEYOND 2 // an input's range is at most 2^2 times that of the batch's median sample

typedef struct {
    const int32_t *program;
    const odt_region_t *regions;
    size_t start, forward, ranges, stop; // words: where calibration begins, the forward pass ends, ranges and program end
    int32_t *scales, room; // of the samples
    odt_runner_t run;
    void *context;
} work_t;

static size_t own_words(const int32_t *program, size_t pc) {
    const odt_opcode_t *op = odt_opcode(program[pc]);
    return 1u + op->operands + op->immediates;
}

// Where the instruction itself begins: at pc, or after the prefix that stands there.
static size_t body(const int32_t *program, size_t pc) {
    return program[pc] == ODT_FEW || program[pc] == ODT_EACH ? pc + own_words(program, pc) : pc;
}

static size_t next(const int32_t *program, size_t pc) {
    pc = body(program, pc);
    return pc + own_words(program, pc);
}

static int32_t *word_at(const odt_region_t *regions, int32_t word) {
    return (int32_t *)(void *)(regions[(uint32_t)word >> ODT_REGION_SHIFT].data + ((uint32_t)word & ADDRESS_MASK));
}

static int is_range(int32_t number) {
    return number == ODT_RANGE_I8 || number == ODT_RANGE_X_I8;
}

// The operand that such an instruction reads.
static int32_t peak_of(const int32_t *program, size_t range) {
    return program[range + odt_opcode(program[range])->operands];
}

// The place of the operand after that at `place` by which the instruction at pc updates one int32: a peak, maybe. 0 if none does.
static unsigned next_updated(const int32_t *program, size_t pc, unsigned place) {
    const odt_opcode_t *op = odt_opcode(program[pc]);
    const uint8_t *shape = odt_shape(op);
    for (unsigned i = 1; i <= op->operands; i++, shape += 1 + (*shape & 7)) {
        if (i > place && *shape == (ODT_UPDATE << 6 | ODT_I32 << 3 | 1) && shape[1] == ODT_LITERAL + 1) {
            return i;
        }
    }
    return 0;
}

// The word of the instruction by which a range follows a peak that the instruction at pc updates; 0 if there is none.
static size_t range_of(const work_t *w, size_t pc) {
    const int32_t *program = w->program;
    pc = body(program, pc);
    for (unsigned place = 0; (place = next_updated(program, pc, place)) != 0;) {
        for (size_t at = w->ranges; at < w->stop; at = next(program, at)) {
            if (is_range(program[at]) && peak_of(program, at) == program[pc + place]) {
                return at;
            }
        }
    }
    return 0;
}

// Whether no range depends on it: it updates weights, optimizer or ranges, makes a gradient of weights or counts steps.
static int is_left_out(const work_t *w, size_t pc) {
    const int32_t *program = w->program;
    int is_backward = pc >= w->forward;
    pc = body(program, pc);
    switch (program[pc]) {
        case ODT_TICK:
        case ODT_STEP_KEY:
            return 1;
        case ODT_PLAIN_I32:
        case ODT_DENSE_DW_I8:
        case ODT_CONV2D_DW_I8:
        case ODT_DEPTHWISE2D_DW_I8:
        case ODT_GROUP_CONV2D_DW_I8:
        case ODT_TRANSPOSED2D_DW_I8:
        case ODT_BIAS_DW_I8:
        case ODT_NORM_DW_I8:
            return is_backward;
        case ODT_RELATIVE_I8:
            return 0;
        default:
            break;
    }
    const odt_opcode_t *op = odt_opcode(program[pc]);
    const uint8_t *shape = odt_shape(op);
    for (unsigned i = 1; is_backward && i <= op->operands; i++, shape += 1 + (*shape & 7)) {
        if (*shape >> 6 != ODT_READ && (uint32_t)program[pc + i] >> ODT_REGION_SHIFT == ODT_STATE) {
            return 1;
        }
    }
    return 0;
}

// Bytes of the arena that the operand whose description is at *shape reaches; *shape is moved past it.
static uint32_t extent(const uint8_t **shape, const int32_t *immediates) {
    static const uint8_t sizes[] = {1, 2, 4, 4, 8, 0};
    unsigned description = *(*shape)++;
    uint32_t bytes = sizes[description >> 3 & 7];
    for (unsigned factors = description & 7; factors; factors--) {
        unsigned factor = *(*shape)++;
        bytes *= factor >= ODT_LITERAL ? factor - ODT_LITERAL : (uint32_t)immediates[factor];
    }
    return bytes;
}

// Whether the instruction at `later` writes over what that at `pc` reads in the arena.
static int is_overwritten(const int32_t *program, size_t pc, size_t later) {
    pc = body(program, pc);
    later = body(program, later);
    const odt_opcode_t *reader = odt_opcode(program[pc]), *writer = odt_opcode(program[later]);
    const uint8_t *read = odt_shape(reader);
    for (unsigned i = 1; i <= reader->operands; i++) {
        int is_input = *read >> 6 == ODT_READ;
        uint32_t at = (uint32_t)program[pc + i], bytes = extent(&read, program + pc + 1 + reader->operands);
        const uint8_t *written = odt_shape(writer);
        for (unsigned k = 1; k <= writer->operands; k++) {
            int is_output = *written >> 6 != ODT_READ;
            uint32_t to = (uint32_t)program[later + k], size = extent(&written, program + later + 1 + writer->operands);
            if (is_input && is_output && (at | to) >> ODT_REGION_SHIFT == ODT_ARENA && at < to + size && to < at + bytes) {
                return 1;
            }
        }
    }
    return 0;
}

// Whether an operand of the instruction at pc is this one.
static int names(const int32_t *program, size_t pc, int32_t word) {
    pc = body(program, pc);
    for (unsigned i = odt_opcode(program[pc])->operands; i; i--) {
        if (program[pc + i] == word) {
            return 1;
        }
    }
    return 0;
}

// Whether an instruction from `pc` on that names the scale has lost an input before `end`.
static int has_lost(const int32_t *program, size_t pc, size_t end, int32_t scale) {
    for (; pc < end; pc = next(program, pc)) {
        if (names(program, pc, scale)) {
            for (size_t later = next(program, pc); later < end; later = next(program, later)) {
                if (is_overwritten(program, pc, later)) {
                    return 1;
                }
            }
        }
    }
    return 0;
}

// Sets the scale from the peak and clears the peak; 0 when it fits already.
static int follow(const work_t *w, size_t range) {
    const int32_t *instruction = w->program + range;
    int32_t operands = odt_opcode(*instruction)->operands, limit = instruction[operands + 1];
    int32_t *scale = word_at(w->regions, instruction[1]), *peak = word_at(w->regions, instruction[operands]), largest = *peak;
    *peak = 0;
    if (largest == 0 || ((int64_t)limit * 7 >> 3 < largest && largest <= limit)) {
        return 0;
    }
    *scale = (int32_t)odt_scale_mul(odt_scale(*scale), odt_scale_div(odt_scale_int((uint32_t)largest), odt_scale_int((uint32_t)limit)));
    return 1;
}

// Limits the input's scale by the median of those that each sample of the batch would have on its own.
static int leave_out(const work_t *w, size_t pc, size_t range) {
    int32_t *scales = w->scales;
    int32_t *control = word_at(w->regions, ODT_CONTROL << ODT_REGION_SHIFT), word = w->program[range + 1];
    int32_t position = control[ODT_POSITION], count = control[ODT_COUNT], before = *word_at(w->regions, word), found = 0;
    int good = 1;
    control[ODT_COUNT] = 1;
    for (int32_t row = 0; good && row < odt_min(count, w->room); row++) {
        control = word_at(w->regions, ODT_CONTROL << ODT_REGION_SHIFT); // which a callback may have moved
        control[ODT_POSITION] = odt_wrap_add(position, row);
        *word_at(w->regions, word) = UNSEEN;
        int round = 0;
        do {
            good = w->run(w->context, pc);
        } while (good && follow(w, range) && ++round < ROUNDS);
        int32_t scale = *word_at(w->regions, word);
        if (scale != UNSEEN) {
            int32_t at = found++;
            for (; at && scales[at - 1] > scale; at--) {
                scales[at] = scales[at - 1];
            }
            scales[at] = scale;
        }
    }
    control = word_at(w->regions, ODT_CONTROL << ODT_REGION_SHIFT);
    control[ODT_POSITION] = position;
    control[ODT_COUNT] = count;
    if (found) {
        before = odt_min(before, (int32_t)odt_scale_shift((uint32_t)scales[found / 2], BEYOND));
    }
    *word_at(w->regions, word) = before;
    return good && w->run(w->context, pc);
}

// After the instruction at pc has run: runs it again until its peak fits its scale, with what its result depends on.
static int fit(const work_t *w, size_t pc, size_t range) {
    const int32_t *program = w->program;
    int32_t scale = program[range + 1], peak = peak_of(program, range);
    size_t end = next(program, pc), at = body(program, pc), first = pc;
    int all = 0; // inputs that are overwritten, or whose scale this result shares, must be made again
    for (size_t before = w->start; before < pc; before = next(program, before)) {
        size_t words = body(program, before);
        for (unsigned i = odt_opcode(program[words])->operands; i; i--) {
            if (program[words + i] == scale && first == pc) {
                first = before;
            }
            if (program[words + i] == peak && range_of(w, before) == range && !is_left_out(w, before)) {
                if (pc >= w->forward && before < w->forward) {
                    return 1; // an activation that is computed once more
                }
                all = 1;
            }
        }
    }
    for (unsigned i = 2; i <= odt_opcode(program[at])->operands; i++) {
        all |= program[at + i] == program[at + 1];
    }
    for (int round = 0; round < ROUNDS && follow(w, range); round++) {
        all = all || has_lost(program, first, end, scale);
        for (size_t again = all ? w->start : first; again < end; again = next(program, again)) {
            if ((all || again == pc || names(program, again, scale)) && !is_left_out(w, again) && !w->run(w->context, again)) {
                return 0;
            }
        }
    }
    int is_input = program[pc] == ODT_GATHER_I8 || program[pc] == ODT_GATHER_NORM_I8;
    return !is_input || !w->room || leave_out(w, pc, range);
}

int odt_calibrate(const int32_t *program, const odt_region_t *regions, size_t start, size_t stop, int32_t *scales, int32_t room,
    odt_runner_t run, void *context) {
    work_t w = {program, regions, start, (size_t)program[ODT_HEADER_EVALUATE + 1], (size_t)program[ODT_HEADER_TRAIN],
        (size_t)program[ODT_HEADER_TRAIN + 1], scales, room, run, context};
    while (w.ranges < w.stop && !is_range(program[w.ranges])) {
        w.ranges = next(program, w.ranges);
    }
    for (size_t pc = w.ranges; pc < w.stop; pc = next(program, pc)) {
        if (is_range(program[pc])) {
            *word_at(regions, program[pc + 1]) = UNSEEN;
        }
    }
    for (size_t pc = start; pc < stop; pc = next(program, pc)) {
        if (!is_left_out(&w, pc)) {
            size_t range;
            if (!run(context, pc) || ((range = range_of(&w, pc)) != 0 && !fit(&w, pc, range))) {
                return 0;
            }
        }
    }
    return 1;
}
