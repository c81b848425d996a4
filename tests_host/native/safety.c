// Runs programs from a file under the sanitizers, each on regions of exactly the size it declares.
//
//     safety cases
//
// A case is seven int32: words, then bytes of ARENA, STATE, CONTROL, X_DATA, Y_DATA, CONSTANTS as they
// are to be (-1: as the program's header says); then the program; then the given regions' contents. A
// region of the header's size is filled from a counter. Prints how many programs ran and how many
// were refused; whatever a sanitizer finds ends it.

#include <stdio.h>
#include <stdlib.h>

#include "../../native/calibrate.h"
#include "../../native/odt.h"
#include "../../native/opcodes.h"

static uint8_t *read_bytes(FILE *f, size_t bytes) {
    uint8_t *data = malloc(bytes);
    if (bytes && fread(data, 1, bytes, f) != bytes) {
        exit(2);
    }
    return data;
}

// What odt_calibrate() runs an instruction on.
typedef struct {
    const int32_t *program;
    const odt_region_t *regions;
} run_t;

static int run_one(void *context, size_t pc) {
    run_t *run = context;
    odt_step(run->program, pc, run->regions, 0);
    return 1;
}

int main(int count, char **arguments) {
    FILE *f = count == 2 ? fopen(arguments[1], "rb") : NULL;
    int32_t head[1 + ODT_REGIONS];
    uint32_t random = 1;
    int ran = 0, refused = 0, large = 0;
    if (!f) {
        return 2;
    }
    while (fread(head, sizeof(head), 1, f) == 1) {
        odt_region_t regions[ODT_REGIONS];
        odt_fault_t fault;
        size_t words = (size_t)head[0];
        int32_t *program = (int32_t *)(void *)read_bytes(f, words * sizeof(int32_t));
        int error = odt_verify(program, words, &fault);
        int is_large = 0;
        for (size_t i = 0; i < ODT_REGIONS; i++) {
            size_t bytes = (size_t)head[1 + i];
            if (head[1 + i] >= 0) {
                regions[i].data = read_bytes(f, bytes);
            } else {
                bytes = error ? 0 : odt_region_bytes(program, i);
                if (bytes > 1 << 20) { // it would run for long
                    is_large = 1;
                    bytes = 0;
                }
                regions[i].data = malloc(bytes);
                for (size_t k = 0; k < bytes; k++) {
                    random = random * 1664525 + 1013904223;
                    regions[i].data[k] = (uint8_t)(random >> 24);
                }
            }
            regions[i].bytes = bytes;
        }
        if (error) {
            refused++;
        } else if (is_large) {
            large++;
        } else {
            ran++;
            int32_t scales[4], parts = ran % 5 < 3 ? 1 : 3;
            run_t run = {program, regions};
            odt_region_t arena = regions[ODT_ARENA];
            uint8_t *arenas = NULL;
            if (ran % 5 == 3) { // three arenas, else one for all
                regions[ODT_ARENA].bytes = 3 * ((arena.bytes + 3) & ~(size_t)3);
                regions[ODT_ARENA].data = arenas = calloc(1, regions[ODT_ARENA].bytes);
            }
            odt_calibrate(
                program, regions, ODT_HEADER_END, words, scales, ran % 2 * 4, parts, ran % 4 < 2, run_one, &run);
            regions[ODT_ARENA] = arena;
            free(arenas);
            for (int32_t rows = 0; rows < 6; rows += 1 + ran % 4) { // and for fewer rows of such batches
                for (size_t pc = ODT_HEADER_END; pc < words;) {
                    pc = odt_step(program, pc, regions, rows);
                }
            }
        }
        for (size_t i = 0; i < ODT_REGIONS; i++) {
            free(regions[i].data);
        }
        free(program);
    }
    fclose(f);
    printf("%d %d %d\n", ran, refused, large);
    return 0;
}
