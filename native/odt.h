// odt: a verifier and an executor for training programs (docs/reference/program.md).
//
//     odt_fault_t fault;
//     if (odt_verify(program, words, &fault) == ODT_OK) {
//         odt_region_t regions[6] = {{arena, arena_bytes}, ..};
//         size_t pc = program[ODT_HEADER_TRAIN], stop = program[ODT_HEADER_TRAIN + 1];
//         while (pc < stop) {
//             pc = odt_step(program, pc, regions, 0);
//         }
//     }
//
// C99 and nothing else: no globals (but threads.c's), no libm, no interpreter's header, and no allocation (but a PC's,
// for the time of a call: cores/x86/). Compile with -fwrapv -ffp-contract=off: int32 sums wrap, and no multiply-add is
// fused.
//
// What an instruction writes lies apart from all that it reads, or exactly over an operand that is alike, where
// odt/base/opcodes.py says so: the verifier sees to it, so that what a kernel has checked stays as it was. Kernels that
// have such operands copy with memmove and promise no compiler that pointers differ.

#ifndef ODT_H
#define ODT_H

#include <stddef.h>
#include <stdint.h>

#define ODT_MAGIC 0x3154444F // "ODT1"

// Words of a program's header; a section is two, its first word and the word after its last.
enum {
    ODT_HEADER_MAGIC,
    ODT_HEADER_VERSION,
    ODT_HEADER_WORDS,
    ODT_HEADER_ARENA,
    ODT_HEADER_STATE,
    ODT_HEADER_CONSTANTS,
    ODT_HEADER_PREDICT,
    ODT_HEADER_EVALUATE = 8,
    ODT_HEADER_TRAIN = 10,
    ODT_HEADER_END = 12,
};

// A piece of memory that operands' addresses are relative to. Regions that instructions only read
// may point to read-only memory.
typedef struct {
    uint8_t *data;
    size_t bytes;
} odt_region_t;

// A real factor m / 2^s: numerics.md, Rescaling.
typedef struct {
    int32_t m, s;
} odt_multiplier_t;

typedef enum {
    ODT_OK,
    ODT_FAULT_LENGTH,    // header says .needs words, there are .has
    ODT_FAULT_MAGIC,
    ODT_FAULT_VERSION,   // needs instruction set .needs, this is .has
    ODT_FAULT_REGION,    // a region of .needs bytes, which is negative
    ODT_FAULT_SECTION,   // a section's bound .needs is not at an instruction
    ODT_FAULT_OPCODE,    // there is no instruction .needs
    ODT_FAULT_PIECE,     // instruction .opcode is in a piece of the kernels that is not loaded (on stock firmware)
    ODT_FAULT_CUT,       // instruction .opcode needs .needs words, .has are left
    ODT_FAULT_IMMEDIATE, // immediate .operand is .needs, its limit .has
    ODT_FAULT_ADDRESS,   // operand .operand is in .region, which cannot hold it
    ODT_FAULT_WRITE,     // operand .operand is written, .region is read-only
    ODT_FAULT_ALIGNMENT, // operand .operand is at .has, which is not a multiple of .needs
    ODT_FAULT_EXTENT,    // operand .operand reaches .needs bytes, .region has .has
    ODT_FAULT_OVERLAP,   // operand .operand is written over number .needs, counted from 1; 0: its prefix's
} odt_error_t;

// Where a program is wrong: the word, and by the error's kind what the comments above say.
typedef struct {
    int32_t word, opcode, operand, region, needs, has;
} odt_fault_t;

// Checks all that a run relies on, once: sizes, opcodes, immediates, every operand's extent in
// its region. `program` is int32 aligned. Returns ODT_OK or an odt_error_t, and then fills *fault.
int odt_verify(const int32_t *program, size_t words, odt_fault_t *fault);

// Bytes that region `region` must have at least for this verified program, 0 for the user's data.
size_t odt_region_bytes(const int32_t *program, size_t region);

// Whether word `at` of a verified program is an instruction's first, or the program's end.
int odt_is_boundary(const int32_t *program, size_t at);

// A region that has bytes of one before it that a run writes; 0 if none has, as a run needs it. X_DATA may be the end
// of the arena: a program that host/rows has planned so reads the sample before it writes there.
int odt_shared_region(const int32_t *program, const odt_region_t *regions);

// Runs the instruction at word `pc` of a verified program, returns the next one's. ARENA, STATE,
// CONTROL and CONSTANTS have at least odt_region_bytes() and are aligned to 4 bytes. `rows`: those of the batch that
// the program was made for, of which only the first COUNT are computed; 0: all are, whatever their number.
size_t odt_step(const int32_t *program, size_t pc, const odt_region_t *regions, int32_t rows);

// Called by kernels that may take long, after a number of operations, when nothing but the arena is half
// written. Where ODT_POLLS is defined it is the binding's, and need not return.
#ifdef ODT_POLLS
void odt_poll(void);
#else
static inline void odt_poll(void) {
}
#endif

// CRC-32 as zlib's, continuing from `crc` (0 at first).
uint32_t odt_crc32(const uint8_t *data, size_t bytes, uint32_t crc);

// The index of the first NaN or infinity of `count` float32 at any alignment, or -1.
ptrdiff_t odt_find_nonfinite(const uint8_t *data, size_t count);

// Random numbers first, first + 1 .. of a key, `count` int16 from -16384 to 16383 at any alignment.
void odt_draw(uint8_t *to, size_t count, uint32_t key, uint32_t first);

// Of the same numbers their upper bytes, rounded, or their lower ones.
void odt_draw_bytes(uint8_t *to, size_t count, uint32_t key, uint32_t first, int low);

// How many samples of `elements` elements in a format (ODT_INT8 ..) these bytes are. 0 if they are not whole
// ones, if float32 is not finite or, where there are classes, if a label is none of 0 .. classes-1; a float32 where
// there are two is a probability, from 0 to 1.
size_t odt_count_samples(const uint8_t *data, size_t bytes, int32_t format, int32_t elements, int32_t classes);

// `count` outputs as float32, at any alignment: int8 q as (q - zero) * *scale, rounded to nearest even, zero limited to
// -128 .. 127; without a scale they are float32, and copied.
void odt_floats(uint8_t *to, const uint8_t *from, size_t count, int32_t zero, const uint8_t *scale);

#endif
