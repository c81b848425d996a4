// Multipliers and biases that predictions compute of a model's scales: kept, with what they were computed of, from one
// run of a program to the next. As long as nothing trains, inputs stay the same, and results are copied. On a PC alone.

#ifndef ODT_BINDINGS_KEPT_H
#define ODT_BINDINGS_KEPT_H

#include <stdlib.h>
#include <string.h>

#include "../odt.h"
#include "../opcodes.h"

enum { KEPT_PARTS = 4 }; // operands of an instruction at most, of which the first is the result

typedef struct {
    size_t pc, next, bytes[KEPT_PARTS]; // its word, and the one after it once it ran
    uint8_t *values; // of all operands; NULL before the first run
} kept_t;

// Of a program, in the order of its instructions.
typedef struct {
    size_t count, room;
    kept_t *each;
} kept_list_t;

static void forget_kept(kept_list_t *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->each[i].values);
    }
    free(list->each);
    *list = (kept_list_t) {0};
}

// The bytes of each operand of an instruction that may be kept; 0 for another.
static int measure_kept(const int32_t *program, size_t pc, kept_t *k) {
    const int32_t *words = program + pc;
    size_t N;
    *k = (kept_t) {.pc = pc};
    switch (words[0]) {
        case ODT_RESCALE: // q[N] sx sw[N] sy, N
            N = (size_t)words[5];
            memcpy(k->bytes, (size_t[]) {8 * N, 4, 4 * N, 4}, sizeof(k->bytes));
            return 1;
        case ODT_BIAS_I8: // y[N] b[N] sx sw[N], N
            N = (size_t)words[5];
            memcpy(k->bytes, (size_t[]) {4 * N, 4 * N, 4, 4 * N}, sizeof(k->bytes));
            return 1;
        case ODT_RATIO: // q sx sy
            memcpy(k->bytes, (size_t[]) {8, 4, 4, 0}, sizeof(k->bytes));
            return 1;
    }
    return 0;
}

// What is kept of the instruction at pc, number `at` of the list; NULL if it is not kept.
static kept_t *kept_at(kept_list_t *list, size_t at, const int32_t *program, size_t pc) {
    kept_t found;
    if (at < list->count && list->each[at].pc == pc) {
        return &list->each[at];
    }
    if (at != list->count || !measure_kept(program, pc, &found)) {
        return NULL;
    }
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        kept_t *more = realloc(list->each, room * sizeof(*more));
        if (!more) {
            return NULL;
        }
        list->each = more;
        list->room = room;
    }
    list->each[list->count] = found;
    return &list->each[list->count++];
}

static uint8_t *kept_operand(const int32_t *program, size_t pc, int i, const odt_region_t *regions) {
    uint32_t word = (uint32_t)program[pc + 1 + (size_t)i];
    return regions[word >> ODT_REGION_SHIFT].data + (word & ((1u << ODT_REGION_SHIFT) - 1));
}

// odt_step() of an instruction that is kept.
static size_t step_kept(kept_t *k, const int32_t *program, const odt_region_t *regions, int32_t rows) {
    uint8_t *operands[KEPT_PARTS] = {0}, *value = k->values;
    int same = value != NULL, parts = 0;
    size_t all = 0;
    for (; parts < KEPT_PARTS && k->bytes[parts]; all += k->bytes[parts++]) {
        operands[parts] = kept_operand(program, k->pc, parts, regions);
        same = same && (parts == 0 || memcmp(value + all, operands[parts], k->bytes[parts]) == 0);
    }
    if (same) {
        memcpy(operands[0], value, k->bytes[0]);
        ((int32_t *)(void *)regions[ODT_CONTROL].data)[ODT_DONE] = (int32_t)k->pc;
        return k->next;
    }
    k->next = odt_step(program, k->pc, regions, rows);
    if (!value) {
        value = k->values = malloc(all ? all : 1);
    }
    for (int i = 0; i < parts && value; value += k->bytes[i++]) {
        memcpy(value, operands[i], k->bytes[i]);
    }
    return k->next;
}

#endif
