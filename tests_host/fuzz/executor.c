// libFuzzer's target: whatever a program and its data hold, odt_verify refuses the program, or all
// its instructions run within regions of exactly the size it declares, and write to none that is
// read-only. Made and run by fuzz.py; program_mutator.c makes the programs.
//
// An input: the number of words, the program, bytes of X_DATA and of Y_DATA (uint16 each; above the 12 bits of the
// first the rows of the batch, of which COUNT are computed), a seed; then the contents of CONTROL, ARENA, STATE,
// CONSTANTS, X_DATA, Y_DATA. What is missing comes from the seed.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../native/calibrate.h"
#include "../../native/odt.h"
#include "../../native/opcodes.h"
#include "../../native/table.h"

#define MOST_BYTES (1 << 16)   // of a region
#define MOST_PRODUCTS (1 << 22) // of the elements of two operands: what bounds an instruction's time

static const uint8_t *input, *input_end;
static uint32_t random_state;

static uint8_t *take(size_t bytes) {
    uint8_t *data = malloc(bytes); // exact, so that the sanitizer sees the first byte beyond
    size_t given = (size_t)(input_end - input) < bytes ? (size_t)(input_end - input) : bytes;
    if (given) {
        memcpy(data, input, given);
    }
    input += given;
    for (size_t i = given; i < bytes; i++) {
        random_state = random_state * 1664525 + 1013904223;
        data[i] = (uint8_t)(random_state >> 24);
    }
    return data;
}

// Elements of the two largest operands, multiplied: a loop over more does not exist.
static uint64_t products(const int32_t *instruction) {
    const odt_opcode_t *op = odt_opcode(*instruction);
    const int32_t *immediates = instruction + 1 + op->operands;
    const uint8_t *shape = odt_shape(op);
    uint64_t first = 1, second = 1;
    for (unsigned i = op->operands; i; i--) {
        uint64_t elements = 1;
        for (unsigned factors = *shape++ & 7; factors; factors--, shape++) {
            elements *= *shape >= 128 ? *shape - 128u : (uint32_t)immediates[*shape];
        }
        if (elements > first) {
            second = first;
            first = elements;
        } else if (elements > second) {
            second = elements;
        }
    }
    return first * second;
}

static void expect(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "executor.c: expected that %s\n", what);
        abort();
    }
}

// What odt_calibrate() runs an instruction on, and how many of them are left.
typedef struct {
    const int32_t *program;
    const odt_region_t *regions;
    int left;
} run_t;

static int run_one(void *context, size_t pc) {
    run_t *run = context;
    expect(odt_is_boundary(run->program, pc), "what is calibrated is an instruction");
    odt_step(run->program, pc, run->regions, 0);
    return run->left-- > 0;
}

static void run(const int32_t *program, size_t words, uint32_t x_bytes, uint32_t y_bytes,
    int32_t rows) {
    static const uint8_t order[] = {
        ODT_CONTROL, ODT_ARENA, ODT_STATE, ODT_CONSTANTS, ODT_X_DATA, ODT_Y_DATA,
    };
    odt_region_t regions[ODT_REGIONS];
    uint8_t *copies[ODT_REGIONS] = {NULL};
    for (int i = 0; i < ODT_REGIONS; i++) {
        size_t bytes = odt_region_bytes(program, order[i]);
        if (order[i] == ODT_X_DATA || order[i] == ODT_Y_DATA) {
            bytes = order[i] == ODT_X_DATA ? x_bytes : y_bytes;
        }
        regions[order[i]].data = take(bytes);
        regions[order[i]].bytes = bytes;
    }
    for (int i = ODT_X_DATA; i <= ODT_CONSTANTS; i++) {
        copies[i] = malloc(regions[i].bytes);
        memcpy(copies[i], regions[i].data, regions[i].bytes);
    }
    for (size_t pc = ODT_HEADER_END; pc < words;) {
        expect(odt_is_boundary(program, pc), "a step leads to an instruction");
        pc = odt_step(program, pc, regions, rows);
    }
    int32_t *scales = malloc(3 * sizeof(int32_t));
    run_t all = {program, regions, 200};
    int32_t parts = 1 + (int32_t)(words % 4);
    odt_region_t arena = regions[ODT_ARENA];
    if (words % 8 > 4) { // an arena for each
        regions[ODT_ARENA].bytes = (size_t)parts * ((arena.bytes + 3) & ~(size_t)3);
        regions[ODT_ARENA].data = take(regions[ODT_ARENA].bytes);
    }
    uint8_t *arenas = regions[ODT_ARENA].data;
    odt_calibrate(program, regions, ODT_HEADER_END, words, scales, 3, parts, words % 3, run_one, &all);
    if (arenas != arena.data) {
        free(arenas);
    }
    regions[ODT_ARENA] = arena;
    free(scales);
    for (int i = ODT_X_DATA; i <= ODT_CONSTANTS; i++) {
        expect(memcmp(copies[i], regions[i].data, regions[i].bytes) == 0,
            "a region that is only read stays as it was");
        free(copies[i]);
    }
    for (int i = 0; i < ODT_REGIONS; i++) {
        free(regions[i].data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t words;
    uint16_t lengths[2];
    odt_fault_t fault;
    input = data;
    input_end = data + size;
    random_state = 1;
    if (size < 4) {
        return 0;
    }
    memcpy(&words, data, 4);
    input += 4;
    if (words > (size - 4) / 4) {
        words = (uint32_t)((size - 4) / 4);
    }
    int32_t *program = (int32_t *)(void *)take(4 * words);
    uint8_t *head = take(8);
    memcpy(lengths, head, 4);
    memcpy(&random_state, head + 4, 4);
    free(head);
    int error = odt_verify(program, words, &fault);
    if (error) {
        expect(fault.word >= 0 && (uint32_t)fault.word <= words, "a fault is within the program");
    } else {
        int small = 1;
        for (size_t i = 0; i < ODT_REGIONS; i++) {
            small &= odt_region_bytes(program, i) <= MOST_BYTES;
        }
        for (size_t pc = ODT_HEADER_END; pc < words && small;) {
            const odt_opcode_t *op = odt_opcode(program[pc]);
            small = products(program + pc) <= MOST_PRODUCTS;
            pc += 1u + op->operands + op->immediates;
        }
        if (small) {
            run(program, words, lengths[0] % 4096, lengths[1] % 4096, lengths[0] >> 12);
        }
    }
    free(program);
    return 0;
}
