// The first ranges of an int8 model: each result is computed, measured, and computed again in the scale that it asks
// for. The same to the bit as calibrate() of odt/run/calibration.py, which says why; no part of the kernels for stock
// firmware.
//
// The last run of an instruction is what a training step would do. So where nothing that updates comes between the runs
// of one, those that update are run in their places, and the step has been made.

#include <string.h>

#include "calibrate.h"
#include "fixed.h"
#include "opcodes.h"
#include "table.h"

#define ADDRESS_MASK ((1u << ODT_REGION_SHIFT) - 1)
#define UNSEEN 0x30800000 // 2^-30: fine enough to see the smallest error
#define ROUNDS 8 // a result may overflow its first scale by more than an int32 holds
#define BEYOND 2 // an input's range is at most 2^2 times that of the batch's median sample
// What a scale holds while is_step() looks, above these bits: the range that sets it, or once it is NAMED the first
// that names it.
#define NAMED 1
#define FOUND 2 // its peak, by an instruction before
#define FOUND_FORWARD 4
#define NOTED 3 // bits
#define UNKNOWN 2 // see leave_out()

typedef struct {
    const int32_t *program;
    odt_region_t *regions;
    // words: where calibration begins, the forward pass ends, ranges and program end
    size_t start, forward, ranges, stop;
    size_t likely; // the range to look at first: they follow each other as their results do
    int32_t *scales, room; // of the samples; later the copy of what an instruction overwrites
    int steps; // whether this is the training step, too
    // By is_step(): how many words before an instruction its scale is named at most, 0 if each has to be looked for.
    // near: where they begin.
    size_t reach, near;
    size_t echo; // see find_echo()
    odt_runner_t run;
    void *context;
    // Micro-batches, the samples of each, of all, and the first one. Each has an arena of `size` bytes, one after the
    // other from `arenas` on; or all `share` one, so that for each result all before it is run again.
    int32_t parts, rows, count, position;
    size_t size;
    uint8_t *arenas;
    int share;
} work_t;

static inline __attribute__((always_inline)) size_t own_words(const int32_t *program, size_t pc) {
    const odt_opcode_t *op = odt_opcode(program[pc]);
    return 1u + op->operands + op->immediates;
}

static inline int is_prefix(int32_t number) {
    return number == ODT_FEW || number == ODT_EACH;
}

// Where the instruction itself begins: at pc, or after the prefix that stands there.
static size_t body(const int32_t *program, size_t pc) {
    return is_prefix(program[pc]) ? pc + own_words(program, pc) : pc;
}

static size_t next(const int32_t *program, size_t pc) {
    size_t at = pc + own_words(program, pc);
    return is_prefix(program[pc]) ? at + own_words(program, at) : at;
}

static int32_t *word_at(const odt_region_t *regions, int32_t word) {
    return (int32_t *)(void *)(regions[(uint32_t)word >> ODT_REGION_SHIFT].data + ((uint32_t)word & ADDRESS_MASK));
}

// Points at a micro-batch and its arena; 0 if a callback has made the buffer of the arenas shorter.
static int point(work_t *w, int32_t part) {
    odt_region_t *arena = &w->regions[ODT_ARENA];
    if (w->parts == 1) {
        return 1;
    }
    if (!w->share) {
        if (!w->arenas) { // the whole buffer's, at first and after a callback, which may have moved it
            if (arena->bytes / w->size < (size_t)w->parts) {
                return 0;
            }
            w->arenas = arena->data;
        }
        arena->data = w->arenas + (size_t)part * w->size;
        arena->bytes = w->size;
    }
    int32_t *control = word_at(w->regions, ODT_CONTROL << ODT_REGION_SHIFT), before = odt_wrap_mul(part, w->rows);
    control[ODT_POSITION] = odt_wrap_add(w->position, before);
    control[ODT_COUNT] = odt_min(w->rows, odt_wrap_sub(w->count, before));
    return 1;
}

static int run(work_t *w, size_t pc) {
    int is_run = w->run(w->context, pc);
    if (is_run == ODT_RUN_CHANGED) {
        w->arenas = NULL;
    }
    return is_run;
}

static int is_range(int32_t number) {
    return number == ODT_RANGE_I8 || number == ODT_RANGE_X_I8;
}

// The operand that such an instruction reads.
static int32_t peak_of(const int32_t *program, size_t range) {
    return program[range + odt_opcode(program[range])->operands];
}

// The place of the operand after that at `place` by which the instruction at pc updates one int32: a peak, maybe. 0 if
// none does.
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

static size_t next_range(const work_t *w, size_t at) {
    at = next(w->program, at);
    return at < w->stop ? at : w->ranges;
}

// The word of the instruction by which a range follows a peak that the instruction at pc updates; 0 if there is none.
static size_t range_of(work_t *w, size_t pc) {
    const int32_t *program = w->program;
    size_t at = w->likely;
    pc = body(program, pc);
    for (unsigned place = 0; at < w->stop && (place = next_updated(program, pc, place)) != 0;) {
        do {
            size_t range = at;
            at = next_range(w, at);
            if (is_range(program[range]) && peak_of(program, range) == program[pc + place]) {
                w->likely = at;
                return range;
            }
        } while (at != w->likely);
    }
    return 0;
}

// Whether the instruction at pc is given a word of that region, and if asked, whether to write to it.
static int has_operand_in(const int32_t *program, size_t pc, uint32_t region, int is_written) {
    pc = body(program, pc);
    const odt_opcode_t *op = odt_opcode(program[pc]);
    const uint8_t *shape = odt_shape(op);
    for (unsigned i = 1; i <= op->operands; i++, shape += 1 + (*shape & 7)) {
        if ((uint32_t)program[pc + i] >> ODT_REGION_SHIFT == region && (!is_written || *shape >> 6 != ODT_READ)) {
            return 1;
        }
    }
    return 0;
}

// Whether no range depends on it: it updates weights, optimizer or ranges, makes a gradient of weights or counts steps.
static int is_left_out(const work_t *w, size_t pc) {
    const int32_t *program = w->program;
    int is_backward = pc >= w->forward;
    pc = body(program, pc);
    if (program[pc] == ODT_TICK || program[pc] == ODT_STEP_KEY) {
        return 1;
    }
    if (!is_backward || program[pc] == ODT_RELATIVE_I8) {
        return 0;
    }
    switch (program[pc]) {
        ODT_LEFT_OUT
            return 1;
        default:
            break;
    }
    return has_operand_in(program, pc, ODT_STATE, 1);
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

// Whether the instruction at pc writes to these bytes of the arena.
static int writes_over(const int32_t *program, size_t pc, uint32_t at, uint32_t bytes) {
    const int32_t *instruction = program + body(program, pc);
    const odt_opcode_t *op = odt_opcode(*instruction);
    const uint8_t *shape = odt_shape(op);
    for (unsigned i = 1; i <= op->operands; i++) {
        uint32_t to = (uint32_t)instruction[i];
        if (*shape >> 6 == ODT_READ || to >> ODT_REGION_SHIFT != ODT_ARENA || to >= at + bytes) {
            shape += 1 + (*shape & 7);
        } else if (at < to + extent(&shape, instruction + 1 + op->operands)) {
            return 1;
        }
    }
    return 0;
}

// Whether the instruction at `later` writes over what that at `pc` reads in the arena.
static int is_overwritten(const int32_t *program, size_t pc, size_t later) {
    const int32_t *instruction = program + body(program, pc);
    const odt_opcode_t *op = odt_opcode(*instruction);
    const uint8_t *shape = odt_shape(op);
    for (unsigned i = 1; i <= op->operands; i++) {
        uint32_t at = (uint32_t)instruction[i];
        if (*shape >> 6 != ODT_READ || at >> ODT_REGION_SHIFT != ODT_ARENA) {
            shape += 1 + (*shape & 7);
        } else if (writes_over(program, later, at, extent(&shape, instruction + 1 + op->operands))) {
            return 1;
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

// Sets the scale from the largest peak and clears the peaks; 0 when it fits already. A step's peak stays, for its end.
static int follow(work_t *w, size_t range) {
    const int32_t *instruction = w->program + range;
    int32_t operands = odt_opcode(*instruction)->operands, limit = instruction[operands + 1];
    int32_t *scale = word_at(w->regions, instruction[1]), *peak = NULL, largest = 0;
    for (int32_t part = 0; part < w->parts && point(w, part); part++) {
        peak = word_at(w->regions, instruction[operands]);
        largest = odt_max(largest, *peak);
        *peak = 0;
    }
    if (largest == 0 || ((int64_t)limit * 7 >> 3 < largest && largest <= limit)) {
        if (w->steps) {
            *peak = largest;
        }
        return 0;
    }
    *scale = (int32_t)odt_scale_mul(
        odt_scale(*scale), odt_scale_div(odt_scale_int((uint32_t)largest), odt_scale_int((uint32_t)limit)));
    return 1;
}

// Whether samples that reached this peak would reach the limit, to the bit, in the scale that follows it.
static int is_exact(const work_t *w, size_t pc, size_t range, int32_t largest) {
    const int32_t *instruction = w->program + range;
    return w->program[pc] == ODT_GATHER_I8 && largest < INT32_MAX
        && largest / 2 > instruction[odt_opcode(*instruction)->operands + 1];
}

// What is run again with the instruction at pc: those from `first` on that name its scale, or all from the start.
typedef struct {
    size_t first;
    int all; // inputs that are overwritten, or whose scale this result shares, must be made again
} again_t;

// The bytes that the instruction at pc reads where it writes; 0 if none.
static uint32_t in_place(const int32_t *program, size_t pc) {
    const int32_t *instruction = program + body(program, pc);
    const odt_opcode_t *op = odt_opcode(*instruction);
    for (unsigned i = op->operands; i > 1; i--) {
        if (instruction[i] == instruction[1]) {
            const uint8_t *shape = odt_shape(op);
            return extent(&shape, instruction + 1 + op->operands);
        }
    }
    return 0;
}

// Whether w->scales have no room for these bytes of each micro-batch: then what makes them must be run again.
static int is_lost(const work_t *w, uint32_t bytes) {
    return bytes > 4 * (uint32_t)w->room / (uint32_t)w->parts;
}

// Copies what the instruction at pc is to overwrite, or puts it back.
static void keep_inputs(const work_t *w, size_t pc, int32_t part, int is_back) {
    uint32_t bytes = in_place(w->program, pc);
    if (bytes && !is_lost(w, bytes)) {
        uint8_t *there = (uint8_t *)word_at(w->regions, w->program[body(w->program, pc) + 1]);
        uint8_t *here = (uint8_t *)w->scales + (uint32_t)part * bytes;
        memcpy(is_back ? there : here, is_back ? here : there, bytes);
    }
}

// Runs the instruction at pc, whose result has this range if that is not 0, for each micro-batch: or, if `again`, what
// it depends on for its scale, and the instruction.
static int run_all(work_t *w, size_t pc, size_t range, const again_t *again) {
    const int32_t *program = w->program;
    size_t end = next(program, pc), first = again ? again->first : pc;
    int32_t largest = 0;
    int all = w->share || (again && again->all);
    if (w->share && !range) {
        return 1; // the next result runs it
    }
    for (int32_t part = 0; part < w->parts; part++) {
        for (size_t at = all ? w->start : first; at < end; at = next(program, at)) {
            if (!point(w, part)) { // again, as a callback may have come in
                return 0;
            }
            if (at == pc && range && !(again && all)) {
                keep_inputs(w, pc, part, again != NULL);
            }
            if (at == pc && w->share && !again) {
                *word_at(w->regions, peak_of(program, range)) = 0; // this instruction's alone
            }
            int is_run = at == pc || ((all || names(program, at, program[range + 1])) && !is_left_out(w, at));
            if (is_run && !run(w, at)) {
                return 0;
            }
        }
        if (w->share) {
            largest = odt_max(largest, *word_at(w->regions, peak_of(program, range)));
        }
    }
    if (w->share) {
        *word_at(w->regions, peak_of(program, range)) = largest;
    }
    return 1;
}

// Limits the input's scale by the median of those that each sample of the batch would have on its own. UNKNOWN, and
// nothing is done, if it is not `known` what scale all samples have and the largest of theirs is not that.
static int leave_out(work_t *w, size_t pc, size_t range, int known) {
    int32_t *scales = w->scales, *control, word = w->program[range + 1];
    int32_t position = w->position, count = w->count, before = *word_at(w->regions, word), found = 0;
    int32_t peak = peak_of(w->program, range), parts = w->parts;
    int good = point(w, 0), is_found = known || w->room >= count;
    w->parts = 1; // each sample, in the first arena
    for (int32_t row = 0; good && is_found && row < odt_min(count, w->room); row++) {
        control = word_at(w->regions, ODT_CONTROL << ODT_REGION_SHIFT); // which a callback may have moved
        control[ODT_POSITION] = odt_wrap_add(position, row);
        control[ODT_COUNT] = 1;
        *word_at(w->regions, word) = UNSEEN;
        *word_at(w->regions, peak) = 0;
        int32_t round = 0, largest;
        do {
            good = run(w, pc);
            largest = *word_at(w->regions, peak);
        } while (good && follow(w, range) && !is_exact(w, pc, range, largest) && ++round < ROUNDS);
        is_found = known || largest == 0 || is_exact(w, pc, range, largest);
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
    w->parts = parts;
    *word_at(w->regions, word) = before;
    *word_at(w->regions, peak) = 0;
    if (!is_found) {
        return good ? UNKNOWN : 0;
    }
    if (found) {
        before = known ? before : scales[found - 1];
        *word_at(w->regions, word) = odt_min(before, (int32_t)odt_scale_shift((uint32_t)scales[found / 2], BEYOND));
    }
    return good && run_all(w, pc, range, NULL);
}

// 0 for an activation that is computed once more, which has its range.
static int find_again(work_t *w, size_t pc, size_t range, again_t *found) {
    const int32_t *program = w->program;
    int32_t scale = program[range + 1], peak = peak_of(program, range);
    found->first = pc;
    found->all = 0;
    for (size_t before = w->start; before < pc; before = next(program, before)) {
        size_t words = body(program, before);
        for (unsigned i = odt_opcode(program[words])->operands; i; i--) {
            if (program[words + i] == scale && found->first == pc) {
                found->first = before;
            }
            if (program[words + i] == peak && range_of(w, before) == range && !is_left_out(w, before)) {
                if (pc >= w->forward && before < w->forward) {
                    return 0;
                }
                found->all = 1;
            }
        }
    }
    found->all |= is_lost(w, in_place(program, pc));
    return 1;
}

// Whether the instruction at pc only makes some of these errors 0, in place.
static int is_mask(const int32_t *program, size_t pc, int32_t errors) {
    return (program[pc] == ODT_RELU_DX_I8 || program[pc] == ODT_MASKED_I8) && program[pc + 1] == errors
        && program[pc + 2] == errors;
}

// The instruction that takes the errors of that at pc, less some that become 0, through a max-pooling into a range that
// both share, if its windows do not overlap, so that its peak is that of the errors it takes; and if only updates are
// between. Else 0.
static size_t find_echo(const work_t *w, size_t pc, size_t range) {
    enum { KH = 5, KW, SH, SW }; // see WINDOW of odt/base/opcodes.py
    const int32_t *program = w->program;
    int32_t errors = program[body(program, pc) + 1];
    size_t at = next(program, pc);
    while (at < w->ranges && (is_left_out(w, at) || is_mask(program, at, errors))) {
        at = next(program, at);
    }
    const int32_t *window = program + at + 1 + odt_opcode(ODT_UNPOOL2D_I8)->operands;
    if (at >= w->ranges || program[at] != ODT_UNPOOL2D_I8 || program[at + 2] != peak_of(program, range)
        || program[at + 3] != errors || window[SH] < window[KH] || window[SW] < window[KW]) {
        return 0;
    }
    for (size_t between = next(program, pc); between < at; between = next(program, between)) {
        if (!is_mask(program, between, errors) && is_overwritten(program, between, pc)) {
            return 0;
        }
    }
    return at;
}

// The range that the echo of the instruction at pc would request; when the echo runs it is too late to apply it.
static int fit_echo(work_t *w, size_t pc, size_t range, size_t echo, const again_t *found) {
    const int32_t *program = w->program, *instruction = program + body(program, pc);
    const uint8_t *shape = odt_shape(odt_opcode(*instruction));
    uint32_t bytes = extent(&shape, instruction + 1 + odt_opcode(*instruction)->operands);
    for (size_t at = next(program, pc); at < echo; at = next(program, at)) {
        if (is_mask(program, at, instruction[1]) && !run(w, at)) {
            return 0;
        }
    }
    const int8_t *errors = (const int8_t *)word_at(w->regions, instruction[1]);
    int32_t *peak = word_at(w->regions, peak_of(program, range)), before = *peak, largest = 0, round = 0;
    for (; bytes; bytes--, errors++) {
        largest = odt_max(largest, *errors < 0 ? -*errors : *errors);
    }
    *peak = largest;
    for (; round < ROUNDS && follow(w, range); round++) {
        if (!run_all(w, pc, range, found)) {
            return 0;
        }
    }
    if (round == 0) {
        *peak = before;
    }
    return 1;
}

// After the instruction at pc has run: runs it again until its peak fits its scale, with what its result depends on.
static int fit(work_t *w, size_t pc, size_t range) {
    const int32_t *program = w->program;
    int32_t scale = program[range + 1];
    size_t end = next(program, pc);
    again_t found = {w->near, 0};
    // which has its range
    if (pc == w->echo || (!w->reach && !find_again(w, pc, range, &found)) || (w->steps && found.all)) {
        return 1;
    }
    for (int round = 0; round < ROUNDS && follow(w, range); round++) {
        found.all = found.all || (!w->steps && !w->reach && has_lost(program, found.first, end, scale));
        if (!run_all(w, pc, range, &found)) {
            return 0;
        }
    }
    w->echo = w->steps && pc >= w->forward ? find_echo(w, pc, range) : 0;
    if (w->echo && !fit_echo(w, pc, range, w->echo, &found)) {
        return 0;
    }
    int is_input = program[pc] == ODT_GATHER_I8 || program[pc] == ODT_GATHER_NORM_I8;
    return !is_input || !w->room || leave_out(w, pc, range, 1);
}

// Whether the instruction at pc writes to the arena alone, and updates nothing in it but this peak.
static int is_repeatable(const int32_t *program, size_t pc, int32_t peak) {
    pc = body(program, pc);
    const odt_opcode_t *op = odt_opcode(program[pc]);
    const uint8_t *shape = odt_shape(op);
    for (unsigned i = 1; i <= op->operands; i++, shape += 1 + (*shape & 7)) {
        int32_t word = program[pc + i];
        if (*shape >> 6 != ODT_READ && ((uint32_t)word >> ODT_REGION_SHIFT != ODT_ARENA
            || (*shape >> 6 == ODT_UPDATE && word != peak))) {
            return 0;
        }
    }
    return 1;
}

// Every scale that follows a peak is noted to be its range's, or is UNSEEN.
static void set_scales(const work_t *w, int is_noted) {
    for (size_t at = w->ranges; at < w->stop; at = next(w->program, at)) {
        if (is_range(w->program[at])) {
            *word_at(w->regions, w->program[at + 1]) = is_noted ? (int32_t)at << NOTED : UNSEEN;
        }
    }
}

// Notes in the scales that the instruction at pc names, and none before it, where it is.
static void note_names(const work_t *w, size_t pc) {
    const int32_t *program = w->program, *instruction = program + body(program, pc);
    const odt_opcode_t *op = odt_opcode(*instruction);
    const uint8_t *shape = odt_shape(op);
    for (unsigned i = 1; i <= op->operands; i++, shape += 1 + (*shape & 7)) {
        int32_t word = instruction[i];
        if ((*shape & 63) == (ODT_I32 << 3 | 1) && shape[1] == ODT_LITERAL + 1
            && (uint32_t)word >> ODT_REGION_SHIFT == ODT_STATE) {
            int32_t *scale = word_at(w->regions, word);
            size_t range = (size_t)*scale >> NOTED;
            if (!(*scale & NAMED) && range >= w->ranges && range + 1 < w->stop && is_range(program[range])
                && program[range + 1] == word) {
                *scale = (int32_t)pc << NOTED | (*scale & (FOUND | FOUND_FORWARD)) | NAMED;
            }
        }
    }
}

// As find_again(), by the notes of the instructions before the one at pc.
static int find_noted(const work_t *w, size_t pc, size_t range, again_t *found) {
    int32_t *scale = word_at(w->regions, w->program[range + 1]), note = *scale;
    found->first = note & NAMED ? (size_t)note >> NOTED : pc;
    found->all = (note & FOUND) || is_lost(w, in_place(w->program, pc));
    *scale = note | FOUND | (pc < w->forward ? FOUND_FORWARD : 0);
    return pc < w->forward || !(note & FOUND_FORWARD);
}

// Whether calibration with the updates in their places makes the step that would follow it without them: what is run
// again has no update among it, and none of the others changes what a second run would find, or depends on the step's
// random numbers. Then nothing but what names a scale is run again for it, of micro-batches too.
static int is_step(work_t *w, size_t stop) {
    const int32_t *program = w->program;
    int has_key = 0;
    size_t echo = 0, reach = 0;
    set_scales(w, 1);
    for (size_t pc = w->start, end; pc < stop; note_names(w, pc), pc = end) {
        end = next(program, pc);
        if (is_left_out(w, pc)) {
            has_key |= program[pc] == ODT_TICK || program[pc] == ODT_STEP_KEY;
            continue;
        }
        int is_seen = pc >= w->forward && program[body(program, pc)] != ODT_RELATIVE_I8; // by is_left_out()
        if ((!is_seen && has_operand_in(program, pc, ODT_STATE, 1))
            || (has_key && has_operand_in(program, pc, ODT_CONTROL, 0))) {
            return 0;
        }
        size_t range = range_of(w, pc);
        again_t found;
        if (!range || (pc == echo && pc)) {
            continue;
        }
        if (!find_noted(w, pc, range, &found)) {
            reach = SIZE_MAX;
            continue;
        }
        reach = pc - found.first > reach ? pc - found.first : reach; // SIZE_MAX stays
        echo = w->steps && pc >= w->forward ? find_echo(w, pc, range) : 0;
        if (found.all || has_lost(program, found.first, end, program[range + 1])) {
            return 0;
        }
        for (size_t again = found.first; again < end; again = next(program, again)) {
            if ((again != pc && is_left_out(w, again)) || ((again == pc || names(program, again, program[range + 1]))
                && !is_repeatable(program, again, peak_of(program, range)))) {
                return 0;
            }
        }
    }
    w->reach = reach + 1; // 0 of SIZE_MAX
    return 1;
}

int odt_calibrate(const int32_t *program, odt_region_t *regions, size_t start, size_t stop, int32_t *scales,
    int32_t room, int32_t parts, int steps, odt_runner_t runner, void *context) {
    const int32_t *control = word_at(regions, ODT_CONTROL << ODT_REGION_SHIFT);
    size_t size = (odt_region_bytes(program, ODT_ARENA) + 3) & ~(size_t)3;
    work_t w = {program, regions, start, (size_t)program[ODT_HEADER_EVALUATE + 1], (size_t)program[ODT_HEADER_TRAIN],
        (size_t)program[ODT_HEADER_TRAIN + 1], 0, scales, room, 0, 0, start, 0, runner, context, parts,
        control[ODT_COUNT], control[parts == 1 ? ODT_COUNT : ODT_BATCH], control[ODT_POSITION], size, NULL,
        parts > 1 && (!size || regions[ODT_ARENA].bytes / size < (size_t)parts)};
    while (w.ranges < w.stop && !is_range(program[w.ranges])) {
        w.ranges = next(program, w.ranges);
    }
    w.likely = w.ranges;
    if ((steps || parts > 1) && !w.share) {
        w.steps = parts == 1; // of micro-batches only the ranges are found here
        w.steps = is_step(&w, stop) && w.steps;
    }
    set_scales(&w, 0);
    for (size_t pc = start; pc < stop; pc = next(program, pc)) {
        while (w.near + w.reach < pc) { // whatever it is, if each has to be looked for
            w.near = next(program, w.near);
        }
        int is_update = is_left_out(&w, pc), is_run = UNKNOWN;
        size_t range = is_update ? 0 : range_of(&w, pc);
        if (range && program[pc] == ODT_GATHER_I8 && room && *word_at(regions, program[range + 1]) == UNSEEN) {
            is_run = leave_out(&w, pc, range, 0);
        }
        if (is_run == UNKNOWN && (!is_update || w.steps)) {
            is_run = run_all(&w, pc, range, NULL) && (!range || fit(&w, pc, range));
        }
        if (!is_run) {
            return 0;
        }
    }
    return 1 + w.steps;
}
