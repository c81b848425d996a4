// Programs: verified once, then run an instruction at a time. No check is made while running.

#include <string.h>

#include "core.h"
#include "fixed.h"
#include "odt.h"
#include "opcodes.h"
#include "table.h"

#define ADDRESS_MASK ((1u << ODT_REGION_SHIFT) - 1)
#define MAX_EXTENT ((uint64_t)1 << 32) // above any region: where the product of sizes stops growing

// What odt_step() does for each instruction: 80 cycles of an RP2040 less.
#if ODT_SMALL
#define ODT_INLINE
#else
#define ODT_INLINE inline __attribute__((always_inline))
#endif

static ODT_INLINE size_t own_words(const odt_opcode_t *op) {
    return 1u + op->operands + op->immediates;
}

static ODT_INLINE int is_prefix(int32_t number) {
    return number == ODT_FEW || number == ODT_EACH;
}

// Words of the instruction at pc; of a prefix with what it belongs to.
static size_t instruction_words(const int32_t *program, size_t pc) {
    size_t words = own_words(odt_opcode(program[pc]));
    if (is_prefix(program[pc])) {
        words += own_words(odt_opcode(program[pc + words]));
    }
    return words;
}

// What limits each immediate: after the descriptions of the operands.
static const uint8_t *immediate_limits(const odt_opcode_t *op) {
    const uint8_t *shape = odt_shape(op);
    for (int32_t i = 0; i < op->operands; i++) {
        shape += 1 + (*shape & 7);
    }
    return shape;
}

size_t odt_region_bytes(const int32_t *program, size_t region) {
    switch (region) {
        case ODT_ARENA:
            return (size_t)program[ODT_HEADER_ARENA];
        case ODT_STATE:
            return (size_t)program[ODT_HEADER_STATE];
        case ODT_CONTROL:
            return ODT_CONTROL_WORDS * sizeof(int32_t);
        case ODT_CONSTANTS:
            return (size_t)program[ODT_HEADER_CONSTANTS];
        default:
            return 0;
    }
}

// Bytes of the operand whose description is at *shape, which is moved past it; *varies: whether
// immediate `which` is among its factors.
static uint64_t extent(const uint8_t **shape, const int32_t *immediates, int32_t which, int *varies) {
    static const uint8_t sizes[] = {1, 2, 4, 4, 8, 0};
    unsigned description = *(*shape)++;
    uint64_t bytes = sizes[description >> 3 & 7];
    *varies = 0;
    for (unsigned factors = description & 7; factors; factors--) {
        unsigned factor = *(*shape)++;
        bytes *= factor >= ODT_LITERAL ? factor - ODT_LITERAL : (uint32_t)immediates[factor];
        if (bytes > MAX_EXTENT) {
            bytes = MAX_EXTENT;
        }
        *varies |= factor == (uint32_t)which;
    }
    return bytes;
}

// Checks operand word `word`, whose description is at *shape, and moves *shape past it.
static int verify_operand(const int32_t *program, int32_t word, const int32_t *immediates,
    const uint8_t **shape, odt_fault_t *fault) {
    static const uint8_t alignments[] = {1, 2, 4, 4, 4, 1};
    unsigned access = **shape >> 6, dtype = **shape >> 3 & 7;
    int unused;
    uint64_t reach = extent(shape, immediates, -1, &unused);
    uint32_t region = (uint32_t)word >> ODT_REGION_SHIFT, offset = (uint32_t)word & ADDRESS_MASK;
    int is_data = region == ODT_X_DATA || region == ODT_Y_DATA;
    fault->region = (int32_t)region;
    if (region >= ODT_REGIONS || is_data != (dtype == ODT_BUF) || (is_data && offset)) {
        return ODT_FAULT_ADDRESS;
    }
    if (is_data) {
        return ODT_OK;
    }
    if (access != ODT_READ && region == ODT_CONSTANTS) {
        return ODT_FAULT_WRITE;
    }
    if (offset % alignments[dtype]) {
        fault->needs = alignments[dtype];
        fault->has = (int32_t)offset;
        return ODT_FAULT_ALIGNMENT;
    }
    size_t bytes = odt_region_bytes(program, region);
    reach += offset;
    if (reach > bytes) {
        fault->needs = reach > INT32_MAX ? INT32_MAX : (int32_t)reach;
        fault->has = (int32_t)bytes;
        return ODT_FAULT_EXTENT;
    }
    return ODT_OK;
}

static int verify_instruction(const int32_t *program, size_t pc, size_t words,
    odt_fault_t *fault) {
    static const int32_t limits[] = {0, 255, 255, 65535, ODT_DEFAULT_LIMIT};
    int32_t number = program[pc];
    fault->word = (int32_t)pc;
    fault->opcode = number;
    if (number < 1 || number > ODT_OPCODES) {
        fault->needs = number;
        return ODT_FAULT_OPCODE;
    }
    const odt_opcode_t *op = odt_opcode(number);
    if (!op) {
        return ODT_FAULT_PIECE;
    }
    if (own_words(op) > words - pc) {
        fault->needs = (int32_t)own_words(op);
        fault->has = (int32_t)(words - pc);
        return ODT_FAULT_CUT;
    }
    const int32_t *operands = program + pc + 1;
    const int32_t *immediates = operands + op->operands;
    const uint8_t *kinds = immediate_limits(op); // operands need good sizes
    for (int32_t i = 0; i < op->immediates; i++) {
        unsigned limit = kinds[i] & ODT_LIMIT;
        if (limit != ODT_ANY && (immediates[i] < (limit != ODT_PADDING)
            || immediates[i] > limits[limit])) {
            fault->word = (int32_t)(immediates + i - program);
            fault->operand = i;
            fault->needs = immediates[i];
            fault->has = limits[limit];
            return ODT_FAULT_IMMEDIATE;
        }
    }
    const uint8_t *shape = odt_shape(op);
    for (int32_t i = 0; i < op->operands; i++) {
        fault->word = (int32_t)(operands + i - program);
        fault->operand = i;
        int error = verify_operand(program, operands[i], immediates, &shape, fault);
        if (error) {
            return error;
        }
    }
    return ODT_OK;
}

static int is_size(const odt_opcode_t *op, int32_t immediate) {
    return immediate >= 0 && immediate < op->immediates && (immediate_limits(op)[immediate] & ODT_LIMIT) > ODT_PADDING;
}

// Checks the instruction that the prefix at `prefix` belongs to, and the two as one.
static int verify_prefixed(const int32_t *program, size_t prefix, size_t words, odt_fault_t *fault) {
    const odt_opcode_t *op = odt_opcode(program[prefix]);
    size_t pc = prefix + own_words(op);
    fault->needs = 1;
    fault->has = 0;
    if (pc >= words) {
        return ODT_FAULT_CUT;
    }
    if (is_prefix(program[pc])) {
        fault->needs = program[pc];
        return ODT_FAULT_OPCODE;
    }
    int error = verify_instruction(program, pc, words, fault);
    if (error) {
        return error;
    }
    const int32_t *given = program + prefix + 1 + op->operands;
    op = odt_opcode(program[pc]);
    const int32_t *immediates = program + pc + 1 + op->operands;
    fault->word = (int32_t)prefix;
    fault->opcode = program[prefix];
    fault->operand = 0;
    fault->has = op->immediates;
    if (program[prefix] == ODT_FEW) {
        uint32_t mask = (uint32_t)given[1];
        fault->needs = given[1];
        for (int32_t i = 0; i < 32; i++) {
            if (mask >> i & 1 && (!is_size(op, i) || immediates[i] % given[0])) {
                return ODT_FAULT_IMMEDIATE;
            }
        }
        return ODT_OK;
    }
    int32_t which = given[2], place = given[3];
    fault->needs = which;
    if (!is_size(op, which) || place < -1 || place >= op->immediates || is_size(op, place)) {
        return ODT_FAULT_IMMEDIATE;
    }
    const uint8_t *shape = odt_shape(op);
    for (int32_t i = 0; i < op->operands; i++) {
        int varies;
        uint64_t row = extent(&shape, immediates, which, &varies);
        uint32_t word = (uint32_t)program[pc + 1 + i], region = word >> ODT_REGION_SHIFT;
        if (!varies) {
            continue;
        }
        uint64_t reach = row * (uint32_t)given[region == ODT_ARENA] + (word & ADDRESS_MASK);
        size_t bytes = odt_region_bytes(program, region);
        if (reach > bytes) {
            fault->word = (int32_t)pc + 1 + i;
            fault->operand = i;
            fault->region = (int32_t)region;
            fault->needs = reach > INT32_MAX ? INT32_MAX : (int32_t)reach;
            fault->has = (int32_t)bytes;
            return ODT_FAULT_EXTENT;
        }
    }
    return ODT_OK;
}

// The bytes that an operand reaches, from its word on.
typedef struct {
    uint32_t word, bytes;
    const uint8_t *shape;
} span_t;

// Adds the spans of the operands of the instruction at pc, whose extents are good; `each`: immediates of its prefix.
static span_t *add_spans(span_t *span, const int32_t *program, size_t pc, const int32_t *each) {
    const odt_opcode_t *op = odt_opcode(program[pc]);
    const int32_t *words = program + pc + 1;
    const uint8_t *shape = odt_shape(op);
    for (int32_t i = 0; i < op->operands; i++, span++) {
        int varies;
        span->word = (uint32_t)words[i];
        span->shape = shape;
        span->bytes = (uint32_t)extent(&shape, words + op->operands, each ? each[2] : -1, &varies);
        if (varies) {
            span->bytes *= (uint32_t)each[span->word >> ODT_REGION_SHIFT == ODT_ARENA];
        }
    }
    return span;
}

static int is_alike(const uint8_t *shape, const uint8_t *other) {
    int alike = ((*shape ^ *other) & 63) == 0;
    for (int i = 1; alike && i <= (*shape & 7); i++) { // a module for stock firmware has no memcmp
        alike = shape[i] == other[i];
    }
    return alike;
}

// Whether a, which is written, has bytes of b that it may not have.
static int is_over(const span_t *a, const span_t *b) {
    if (a->word >> ODT_REGION_SHIFT != b->word >> ODT_REGION_SHIFT) {
        return 0;
    }
    uint32_t distance = a->word < b->word ? b->word - a->word : a->word - b->word;
    return distance < (a->word < b->word ? a : b)->bytes
        && (*a->shape >> 6 != ODT_OVER || distance || !is_alike(a->shape, b->shape));
}

// Checks that the instruction at pc, with its prefix if it has one, does not write what it still reads.
static int verify_overlaps(const int32_t *program, size_t prefix, size_t pc, odt_fault_t *fault) {
    span_t spans[ODT_MAX_OPERANDS + 2];
    const int32_t *each = program[prefix] == ODT_EACH ? program + prefix + 3 : NULL;
    const span_t *own = add_spans(spans, program, pc, each), *end = own;
    if (prefix != pc) {
        end = add_spans(spans + (own - spans), program, prefix, NULL);
    }
    for (const span_t *a = spans; a != own; a++) {
        for (const span_t *b = spans; *a->shape >> 6 != ODT_READ && b != end; b++) {
            if (a != b && is_over(a, b)) {
                fault->operand = (int32_t)(a - spans);
                fault->opcode = program[pc];
                fault->word = (int32_t)pc + 1 + fault->operand;
                fault->needs = b < own ? (int32_t)(b - spans) + 1 : 0;
                return ODT_FAULT_OVERLAP;
            }
        }
    }
    return ODT_OK;
}

int odt_is_boundary(const int32_t *program, size_t at) {
    size_t pc = ODT_HEADER_END;
    size_t words = (size_t)program[ODT_HEADER_WORDS];
    while (pc < at && pc < words) {
        pc += instruction_words(program, pc);
    }
    return pc == at;
}

int odt_verify(const int32_t *program, size_t words, odt_fault_t *fault) {
    memset(fault, 0, sizeof(*fault));
    fault->has = words > INT32_MAX ? INT32_MAX : (int32_t)words;
    fault->needs = ODT_HEADER_END;
    if (words < ODT_HEADER_END) {
        return ODT_FAULT_LENGTH;
    }
    if (program[ODT_HEADER_MAGIC] != ODT_MAGIC) {
        return ODT_FAULT_MAGIC;
    }
    fault->word = ODT_HEADER_VERSION;
    fault->needs = program[ODT_HEADER_VERSION];
    if (fault->needs != ODT_VERSION) {
        fault->has = ODT_VERSION;
        return ODT_FAULT_VERSION;
    }
    fault->word = ODT_HEADER_WORDS;
    fault->needs = program[ODT_HEADER_WORDS];
    if (words > INT32_MAX || fault->needs != (int32_t)words) {
        return ODT_FAULT_LENGTH;
    }
    for (int32_t i = ODT_HEADER_ARENA; i <= ODT_HEADER_CONSTANTS; i++) {
        fault->word = i;
        fault->needs = program[i];
        if (program[i] < 0) {
            return ODT_FAULT_REGION;
        }
    }
    for (size_t pc = ODT_HEADER_END; pc < words;) {
        int error = verify_instruction(program, pc, words, fault);
        size_t prefix = pc;
        if (!error && is_prefix(program[pc])) {
            error = verify_prefixed(program, pc, words, fault);
            pc += own_words(odt_opcode(program[pc]));
        }
        error = error ? error : verify_overlaps(program, prefix, pc, fault);
        if (error) {
            return error;
        }
        pc += own_words(odt_opcode(program[pc]));
    }
    for (int32_t i = ODT_HEADER_PREDICT; i < ODT_HEADER_END; i++) {
        fault->word = i;
        fault->needs = program[i];
        if (program[i] < 0 || !odt_is_boundary(program, (size_t)program[i])
            || (i % 2 && program[i] < program[i - 1])) {
            return ODT_FAULT_SECTION;
        }
    }
    return ODT_OK;
}

// As the argument structs of opcodes.h lie, which opcodes.c asserts. Filled by memcpy, so that a
// kernel may read it as its own struct.
typedef union {
    void *align;
    uint8_t bytes[ODT_MAX_OPERANDS * sizeof(void *) + ODT_MAX_IMMEDIATES * sizeof(int32_t)];
} arguments_t;

static ODT_INLINE const void *locate(uint32_t word, const odt_region_t *regions) {
    return regions[word >> ODT_REGION_SHIFT].data + (word & ADDRESS_MASK);
}

// Of the first immediate that counts rows and is a multiple of `rows`, that of `count` rows: never more than was
// verified. `limits`: the immediates', at least one.
static void limit_rows(uint8_t *immediates, const uint8_t *limits, unsigned number, int32_t rows, int32_t count) {
    for (unsigned i = 0; i < number && limits[i] & ODT_ROWS; i++, immediates += sizeof(int32_t)) {
        int32_t size, quotient;
        memcpy(&size, immediates, sizeof(size));
        quotient = size / rows;
        if (quotient * rows == size) {
            size = quotient * count;
            memcpy(immediates, &size, sizeof(size));
            break;
        }
    }
}

// Where immediate `index` of these arguments lies.
static uint8_t *immediate(arguments_t *arguments, const odt_opcode_t *op, int32_t index) {
    return arguments->bytes + op->operands * sizeof(void *) + (uint32_t)index * sizeof(int32_t);
}

// The arguments of the instruction at pc, for `count` rows of a batch of `rows`.
static ODT_INLINE void collect(arguments_t *arguments, const int32_t *program, size_t pc, const odt_region_t *regions,
    int32_t rows, int32_t count) {
    const odt_opcode_t *op = odt_opcode(program[pc]);
    uint8_t *to = arguments->bytes;
    const int32_t *from = program + pc + 1;
    for (unsigned i = op->operands; i; i--) {
        uint32_t word = (uint32_t)*from++, region = word >> ODT_REGION_SHIFT;
        const void *pointer = region == ODT_X_DATA || region == ODT_Y_DATA ? &regions[region] : locate(word, regions);
        memcpy(to, &pointer, sizeof(pointer));
        to += sizeof(pointer);
    }
    for (unsigned i = op->immediates; i; i--) { // a call of memcpy for all takes longer
        int32_t value = *from++;
        memcpy(to, &value, sizeof(value));
        to += sizeof(value);
    }
    if (count < rows) {
        limit_rows(immediate(arguments, op, 0), immediate_limits(op), op->immediates, rows, count);
    }
}

// few: the sizes that the mask names, times count / R.
static void run_few(const int32_t *prefix, size_t pc, const int32_t *program, const odt_region_t *regions) {
    const odt_opcode_t *op = odt_opcode(program[pc]);
    int32_t R = prefix[2], count = odt_limit(*(const int32_t *)locate((uint32_t)prefix[1], regions), 1, R);
    arguments_t arguments;
    collect(&arguments, program, pc, regions, 0, 0);
    for (int32_t i = 0; i < op->immediates; i++) {
        if ((uint32_t)prefix[3] >> i & 1) {
            int32_t size = program[pc + 1 + op->operands + (uint32_t)i] / R * count;
            memcpy(immediate(&arguments, op, i), &size, sizeof(size));
        }
    }
    op->kernel(arguments.bytes);
}

// Moves the operands that have immediate `which` among their factors: in the arena by `compact` of
// their extents, elsewhere by `row`.
static void advance(arguments_t *arguments, const int32_t *program, size_t pc, int32_t which, int32_t compact,
    int32_t row) {
    const odt_opcode_t *op = odt_opcode(program[pc]);
    const uint8_t *shape = odt_shape(op);
    const int32_t *immediates = program + pc + 1 + op->operands;
    for (int32_t i = 0; i < op->operands; i++) {
        int varies;
        size_t bytes = (size_t)extent(&shape, immediates, which, &varies);
        if (varies) {
            uint32_t region = (uint32_t)program[pc + 1 + (uint32_t)i] >> ODT_REGION_SHIFT;
            uint8_t *pointer;
            memcpy(&pointer, arguments->bytes + (uint32_t)i * sizeof(pointer), sizeof(pointer));
            pointer += bytes * (uint32_t)(region == ODT_ARENA ? compact : row);
            memcpy(arguments->bytes + (uint32_t)i * sizeof(pointer), &pointer, sizeof(pointer));
        }
    }
}

// each: the instruction once for every row that is listed.
static void run_each(const int32_t *prefix, size_t pc, const int32_t *program, const odt_region_t *regions) {
    const odt_opcode_t *op = odt_opcode(program[pc]);
    int32_t N = prefix[3], R = prefix[4], which = prefix[5], place = prefix[6];
    int32_t count = odt_limit(*(const int32_t *)locate((uint32_t)prefix[1], regions), 1, R);
    for (int32_t j = 0; j < count; j++) {
        int32_t row = ((const int32_t *)locate((uint32_t)prefix[2], regions))[j];
        if (row < 0 || row >= N) {
            continue;
        }
        arguments_t arguments;
        collect(&arguments, program, pc, regions, 0, 0);
        advance(&arguments, program, pc, which, j, row);
        if (place >= 0) {
            memcpy(immediate(&arguments, op, place), &row, sizeof(row));
        }
        op->kernel(arguments.bytes);
    }
}

int odt_shared_region(const int32_t *program, const odt_region_t *regions) {
    for (int i = ODT_ARENA; i <= ODT_CONTROL; i++) {
        size_t bytes = odt_region_bytes(program, (size_t)i);
        uintptr_t first = (uintptr_t)regions[i].data;
        for (int k = i + 1; bytes && k < ODT_REGIONS; k++) {
            size_t others =
                k == ODT_X_DATA || k == ODT_Y_DATA ? regions[k].bytes : odt_region_bytes(program, (size_t)k);
            uintptr_t behind = (uintptr_t)regions[k].data - first;
            if (i == ODT_ARENA && k == ODT_X_DATA && behind - 1 < bytes - 1 && behind + others == bytes) {
                continue;
            }
            if ((behind < bytes && others) || 0 - behind < others) {
                return k;
            }
        }
    }
    return 0;
}

ODT_SPEED size_t odt_step(const int32_t *program, size_t pc, const odt_region_t *regions, int32_t rows) {
    const odt_opcode_t *op = odt_opcode(program[pc]);
    int32_t *control = (int32_t *)(void *)regions[ODT_CONTROL].data;
    size_t next = pc + own_words(op);
    if (program[pc] == ODT_FEW) {
        run_few(program + pc, next, program, regions);
        pc = next;
        next += own_words(odt_opcode(program[next]));
    } else if (program[pc] == ODT_EACH) {
        run_each(program + pc, next, program, regions);
        pc = next;
        next += own_words(odt_opcode(program[next]));
    } else {
        arguments_t arguments;
        int32_t count = control[ODT_COUNT]; // which an instruction may change
        collect(&arguments, program, pc, regions, rows, rows > 0 ? odt_limit(count, 1, rows) : 0);
        op->kernel(arguments.bytes);
    }
    control[ODT_DONE] = (int32_t)pc;
    return next;
}
