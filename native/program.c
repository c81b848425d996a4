// Programs: verified once, then run an instruction at a time. No check is made while running.

#include <string.h>

#include "odt.h"
#include "opcodes.h"
#include "table.h"

#define ADDRESS_MASK ((1u << ODT_REGION_SHIFT) - 1)
#define MAX_EXTENT ((uint64_t)1 << 32) // above any region: where the product of sizes stops growing

static size_t instruction_words(const odt_opcode_t *op) {
    return 1u + op->operands + op->immediates;
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

// Checks operand word `word`, whose description is at *shape, and moves *shape past it.
static int verify_operand(const int32_t *program, int32_t word, const int32_t *immediates,
    const uint8_t **shape, odt_fault_t *fault) {
    static const uint8_t sizes[] = {1, 2, 4, 4, 8, 0};
    static const uint8_t alignments[] = {1, 2, 4, 4, 4, 1};
    unsigned description = *(*shape)++;
    unsigned access = description >> 6, dtype = description >> 3 & 7;
    uint64_t reach = sizes[dtype];
    for (unsigned factors = description & 7; factors; factors--) {
        unsigned factor = *(*shape)++;
        reach *= factor >= 128 ? factor - 128 : (uint32_t)immediates[factor];
        if (reach > MAX_EXTENT) {
            reach = MAX_EXTENT;
        }
    }
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
    const odt_opcode_t *op = &odt_opcodes[number];
    if (instruction_words(op) > words - pc) {
        fault->needs = (int32_t)instruction_words(op);
        fault->has = (int32_t)(words - pc);
        return ODT_FAULT_CUT;
    }
    const int32_t *operands = program + pc + 1;
    const int32_t *immediates = operands + op->operands;
    const uint8_t *shape = odt_shapes + op->shape;
    for (int32_t i = 0; i < op->operands; i++) { // past the operands, which need good sizes
        shape += 1 + (*shape & 7);
    }
    for (int32_t i = 0; i < op->immediates; i++) {
        unsigned limit = shape[i];
        if (limit != ODT_ANY && (immediates[i] < (limit != ODT_PADDING)
            || immediates[i] > limits[limit])) {
            fault->word = (int32_t)(immediates + i - program);
            fault->operand = i;
            fault->needs = immediates[i];
            fault->has = limits[limit];
            return ODT_FAULT_IMMEDIATE;
        }
    }
    shape = odt_shapes + op->shape;
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

int odt_is_boundary(const int32_t *program, size_t at) {
    size_t pc = ODT_HEADER_END;
    size_t words = (size_t)program[ODT_HEADER_WORDS];
    while (pc < at && pc < words) {
        pc += instruction_words(&odt_opcodes[program[pc]]);
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
        if (error) {
            return error;
        }
        pc += instruction_words(&odt_opcodes[program[pc]]);
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

size_t odt_step(const int32_t *program, size_t pc, const odt_region_t *regions) {
    // As the argument structs of opcodes.h lie, which opcodes.c asserts. Filled by memcpy, so that
    // a kernel may read it as its own struct.
    union {
        void *align;
        uint8_t bytes[ODT_MAX_OPERANDS * sizeof(void *) + ODT_MAX_IMMEDIATES * sizeof(int32_t)];
    } arguments;
    const odt_opcode_t *op = &odt_opcodes[program[pc]];
    const uint8_t *shape = odt_shapes + op->shape;
    uint8_t *to = arguments.bytes;
    const int32_t *from = program + pc + 1;
    for (unsigned i = op->operands; i; i--) {
        uint32_t word = (uint32_t)*from++;
        const odt_region_t *region = &regions[word >> ODT_REGION_SHIFT];
        const void *pointer = region;
        if ((*shape >> 3 & 7) != ODT_BUF) {
            pointer = region->data + (word & ADDRESS_MASK);
        }
        shape += 1 + (*shape & 7);
        memcpy(to, &pointer, sizeof(pointer));
        to += sizeof(pointer);
    }
    memcpy(to, from, op->immediates * sizeof(int32_t));
    op->kernel(arguments.bytes);
    return pc + instruction_words(op);
}
