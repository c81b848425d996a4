// The tables that odt/host/generate.py writes into opcodes.c.

#ifndef ODT_TABLE_H
#define ODT_TABLE_H

#include <stdint.h>

enum { ODT_WRITE, ODT_READ, ODT_UPDATE, ODT_OVER }; // over: written, maybe in the memory of an operand that is read
enum { ODT_I8, ODT_I16, ODT_I32, ODT_F32, ODT_MUL, ODT_BUF };
// What an immediate may be: any int32; 0..255; 1..255; 1..65535; 1..ODT_DEFAULT_LIMIT.
enum { ODT_ANY, ODT_PADDING, ODT_SIZE8, ODT_SIZE16, ODT_SIZE };
#define ODT_LIMIT 7 // the bits of the above; ODT_ROWS: a size that counts rows of the batch, or what is in all of them
#define ODT_ROWS 8

typedef void (*odt_kernel_t)(const void *arguments);

typedef struct {
    odt_kernel_t kernel;
    uint16_t shape; // index in odt_shapes of its first operand
    uint8_t operands, immediates;
} odt_opcode_t;

extern const uint8_t odt_shapes[];
extern const odt_opcode_t odt_opcodes[];

#endif
