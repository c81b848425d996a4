// The tables that odt/host/generate.py writes into opcodes.c.

#ifndef ODT_TABLE_H
#define ODT_TABLE_H

#include <stdint.h>

#include "core.h"
#include "opcodes.h"

enum { ODT_WRITE, ODT_READ, ODT_UPDATE, ODT_OVER }; // over: written, maybe in the memory of an operand that is read
enum { ODT_I8, ODT_I16, ODT_I32, ODT_F32, ODT_MUL, ODT_BUF };
// What an immediate may be: any int32; 0..255; 1..255; 1..65535; 1..ODT_DEFAULT_LIMIT.
enum { ODT_ANY, ODT_PADDING, ODT_SIZE8, ODT_SIZE16, ODT_SIZE };
#define ODT_LIMIT 7 // the bits of the above; ODT_ROWS: a size that counts rows of the batch, or what is in all of them
#define ODT_ROWS 8

#define ODT_LITERAL 128 // a factor of an extent is the index of an immediate, or this plus a number

typedef void (*odt_kernel_t)(const void *arguments);

typedef struct {
    odt_kernel_t kernel;
    uint16_t shape; // bytes from this row to the description of its first operand
    uint8_t operands, immediates;
} odt_opcode_t;

#if ODT_MPY || ODT_OUTSIDE

// What one file for stock firmware has. Files of one build have one stamp, a checksum of the whole table.
typedef struct {
    uint32_t stamp;
    uint32_t number;
    const void *rows; // of odt_opcode_t
} odt_piece_t;

extern const odt_piece_t odt_piece;

extern const uint8_t odt_places[], odt_firsts[];

// Instruction `number`, 1 .. ODT_OPCODES, or NULL while the piece that has it is not loaded.
const odt_opcode_t *odt_opcode(int32_t number);

#endif

#if !ODT_MPY

typedef struct {
    odt_opcode_t rows[ODT_OPCODES + 1];
    uint8_t shapes[ODT_SHAPES];
} odt_table_t;

extern const odt_table_t odt_table;

#if !ODT_OUTSIDE
static inline const odt_opcode_t *odt_opcode(int32_t number) {
    return &odt_table.rows[number];
}
#endif

#endif

// The descriptions of its operands, then those of its immediates.
static inline const uint8_t *odt_shape(const odt_opcode_t *op) {
    return (const uint8_t *)op + op->shape;
}

#endif
