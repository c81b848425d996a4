// Mutates executor.c's inputs as programs: instructions are drawn, copied, removed, their operands
// moved onto each other, their sizes changed; most results are mended until the verifier takes them,
// in regions that end where the last operand ends.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../native/odt.h"
#include "../../native/opcodes.h"
#include "../../native/table.h"

#define MOST_WORDS 2048
#define MOST_INSTRUCTIONS 64
#define MOST_ELEMENTS 2048 // of an operand after mending
#define HEAD 8             // bytes between program and contents

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static int32_t program[MOST_WORDS];
static size_t words;
static size_t starts[MOST_INSTRUCTIONS], instructions;
static uint32_t state;

static uint32_t pick(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (uint32_t)((uint64_t)state * below >> 32);
}

static size_t length(int32_t number) {
    return 1u + odt_opcode(number)->operands + odt_opcode(number)->immediates;
}

// Notes where instructions begin; cuts off what is none.
static void find_instructions(void) {
    size_t pc = ODT_HEADER_END;
    for (instructions = 0; instructions < MOST_INSTRUCTIONS && pc < words; instructions++) {
        int32_t number = program[pc];
        if (number < 1 || number > ODT_OPCODES || length(number) > words - pc) {
            break;
        }
        starts[instructions] = pc;
        pc += length(number);
    }
    words = pc < words ? pc : words;
}

static int32_t interesting(void) {
    static const int32_t values[] = {
        0, 1, -1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 127, 128, -127, -128, 255, 256, 32767, 65535,
        65536, INT32_MAX, INT32_MIN, 0x3F800000, 0x7F800000, 0x7FC00000, 0x00800000, 0x34000000,
    };
    return values[pick(sizeof(values) / sizeof(*values))];
}

static int32_t changed(int32_t value) {
    switch (pick(6)) {
        case 0:
            return (int32_t)((uint32_t)value + 1);
        case 1:
            return (int32_t)((uint32_t)value - 1);
        case 2:
            return (int32_t)((uint32_t)value * 2);
        case 3:
            return (int32_t)((uint32_t)value ^ 1u << pick(32));
        case 4:
            return (int32_t)(pick(65536) << 16 | pick(65536));
        default:
            return interesting();
    }
}

static void insert(size_t at, const int32_t *instruction, size_t count) {
    if (words + count <= MOST_WORDS && instructions < MOST_INSTRUCTIONS) {
        memmove(program + at + count, program + at, (words - at) * sizeof(int32_t));
        memcpy(program + at, instruction, count * sizeof(int32_t));
        words += count;
    }
}

static void insert_drawn(size_t at) {
    int32_t instruction[1 + ODT_MAX_OPERANDS + ODT_MAX_IMMEDIATES];
    int32_t number = 1 + (int32_t)pick(ODT_OPCODES);
    size_t count = length(number);
    instruction[0] = number;
    for (size_t i = 1; i < count; i++) {
        int is_operand = i <= odt_opcode(number)->operands;
        instruction[i] = is_operand ? (int32_t)(pick(2) << ODT_REGION_SHIFT | pick(1024) * 4)
            : pick(8) ? 1 + (int32_t)pick(pick(4) ? 6 : 40) : interesting();
    }
    insert(at, instruction, count);
}

static void mutate_program(void) {
    find_instructions();
    size_t at = instructions ? starts[pick((uint32_t)instructions)] : ODT_HEADER_END;
    if (!instructions || pick(8) == 0) {
        insert_drawn(at);
        return;
    }
    size_t count = length(program[at]);
    const odt_opcode_t *op = odt_opcode(program[at]);
    size_t operand = at + 1 + pick(op->operands), immediate = at + 1 + op->operands;
    switch (pick(9)) {
        case 0:
            memmove(program + at, program + at + count, (words - at - count) * sizeof(int32_t));
            words -= count;
            break;
        case 1: {
            int32_t copy[1 + ODT_MAX_OPERANDS + ODT_MAX_IMMEDIATES];
            memcpy(copy, program + at, count * sizeof(int32_t));
            insert(starts[pick((uint32_t)instructions)], copy, count);
            break;
        }
        case 2: // onto another operand
            program[operand] = (int32_t)((uint32_t)program[at + 1 + pick(op->operands)] + pick(3) * pick(3));
            break;
        case 3:
            program[operand] = (int32_t)(pick(7) << ODT_REGION_SHIFT | pick(2048));
            break;
        case 4:
            program[pick((uint32_t)words)] = changed(program[pick((uint32_t)words)]);
            break;
        default:
            if (op->immediates) {
                immediate += pick(op->immediates);
                program[immediate] = pick(3) ? 1 + (int32_t)pick(pick(3) ? 9 : 70) : changed(program[immediate]);
            }
    }
}

// Elements of the operand that *shape describes; halves its sizes while there are too many. Moves *shape past it.
static uint32_t shrink(const uint8_t **shape, int32_t *immediates) {
    uint64_t elements = 1;
    for (unsigned factors = *(*shape)++ & 7; factors; factors--, (*shape)++) {
        if (**shape >= 128) {
            elements *= **shape - 128u;
            continue;
        }
        int32_t *size = &immediates[**shape];
        while (*size > 1 && elements * (uint32_t)*size > MOST_ELEMENTS) {
            *size = (*size + 1) / 2;
        }
        elements *= (uint32_t)*size;
    }
    return (uint32_t)elements;
}

static void mend_immediates(const odt_opcode_t *op, int32_t *immediates) {
    static const int32_t limits[] = {0, 255, 255, 65535, ODT_DEFAULT_LIMIT};
    const uint8_t *first = odt_shape(op), *shape = first;
    for (int i = 0; i < op->operands; i++) {
        shape += 1 + (*shape & 7);
    }
    for (int i = 0; i < op->immediates; i++) {
        unsigned limit = shape[i] & ODT_LIMIT;
        int least = limit != ODT_PADDING;
        if (limit != ODT_ANY && (immediates[i] < least || immediates[i] > limits[limit])) {
            immediates[i] = least + (int32_t)pick(5);
        }
    }
    for (int i = 0; i < op->operands; i++) {
        shrink(&first, immediates);
    }
}

static void mend_operands(const odt_opcode_t *op, int32_t *operands, int32_t *immediates, uint32_t *ends) {
    static const uint32_t sizes[] = {1, 2, 4, 4, 8, 0};
    const uint8_t *shape = odt_shape(op);
    for (int i = 0; i < op->operands; i++) {
        unsigned access = *shape >> 6, dtype = *shape >> 3 & 7;
        uint32_t bytes = shrink(&shape, immediates) * sizes[dtype];
        uint32_t region = (uint32_t)operands[i] >> ODT_REGION_SHIFT;
        uint32_t offset = (uint32_t)operands[i] & ((1u << ODT_REGION_SHIFT) - 1);
        if (dtype == ODT_BUF) {
            region = region == ODT_X_DATA ? ODT_X_DATA : ODT_Y_DATA;
            operands[i] = (int32_t)(region << ODT_REGION_SHIFT);
            continue;
        }
        offset = offset % 4096 & ~(dtype == ODT_I8 ? 0u : dtype == ODT_I16 ? 1u : 3u);
        if (region == ODT_CONTROL && bytes <= 64) {
            offset = offset % (65 - bytes) & ~3u;
        } else if (region != ODT_STATE && (region != ODT_CONSTANTS || access != ODT_READ)) {
            region = ODT_ARENA;
        }
        operands[i] = (int32_t)(region << ODT_REGION_SHIFT | offset);
        ends[region] = ends[region] > offset + bytes ? ends[region] : offset + bytes;
    }
}

static void mend(void) {
    uint32_t ends[ODT_REGIONS] = {0};
    find_instructions();
    for (size_t n = 0; n < instructions; n++) {
        int32_t *operands = program + starts[n] + 1;
        const odt_opcode_t *op = odt_opcode(operands[-1]);
        mend_immediates(op, operands + op->operands);
        mend_operands(op, operands, operands + op->operands, ends);
    }
    program[ODT_HEADER_MAGIC] = ODT_MAGIC;
    program[ODT_HEADER_VERSION] = ODT_VERSION;
    program[ODT_HEADER_WORDS] = (int32_t)words;
    program[ODT_HEADER_ARENA] = (int32_t)ends[ODT_ARENA];
    program[ODT_HEADER_STATE] = (int32_t)ends[ODT_STATE];
    program[ODT_HEADER_CONSTANTS] = (int32_t)ends[ODT_CONSTANTS];
    for (int i = ODT_HEADER_PREDICT; i < ODT_HEADER_END; i++) {
        program[i] = i % 2 ? (int32_t)words : ODT_HEADER_END;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static uint8_t contents[1 << 16];
    uint32_t count = 0;
    state = seed | 1;
    if (size >= 4) {
        memcpy(&count, data, 4);
    }
    if (pick(32) == 0 || size < 4 + 4 * ODT_HEADER_END + HEAD || count > MOST_WORDS
        || count < ODT_HEADER_END || 4 + 4 * (size_t)count + HEAD > size) {
        if (size >= 4 + 4 * ODT_HEADER_END + HEAD || max_size < 4 + 4 * ODT_HEADER_END + HEAD) {
            return LLVMFuzzerMutate(data, size, max_size);
        }
        memset(data, 0, 4 + 4 * ODT_HEADER_END + HEAD); // an empty program to begin with
        size = 4 + 4 * ODT_HEADER_END + HEAD;
        count = ODT_HEADER_END;
    }
    words = count;
    memcpy(program, data + 4, 4 * words);
    size_t rest = size - 4 - 4 * words;
    rest = rest < sizeof(contents) ? rest : sizeof(contents);
    memcpy(contents, data + 4 + 4 * words, rest);
    if (pick(3) == 0) {
        rest = LLVMFuzzerMutate(contents, rest, sizeof(contents));
    }
    if (pick(4)) {
        for (uint32_t n = 1 + pick(3); n; n--) {
            mutate_program();
        }
        if (pick(8)) {
            mend();
        }
    }
    if (4 + 4 * words > max_size) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    count = (uint32_t)words;
    memcpy(data, &count, 4);
    memcpy(data + 4, program, 4 * words);
    rest = rest < max_size - 4 - 4 * words ? rest : max_size - 4 - 4 * words;
    memcpy(data + 4 + 4 * words, contents, rest);
    return 4 + 4 * words + rest;
}
