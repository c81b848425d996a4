// Generated from odt/opcodes.py by odt/host/generate.py; after a change there: make generate.
//
// What the verifier and the executor know of each instruction.

#include <stddef.h>

#include "opcodes.h"
#include "table.h"

// Every operand, then every immediate's limit, of one instruction after the other. An operand is
// access << 6 | dtype << 3 | number of factors, then the factors of its extent: the index of an
// immediate, or 128 + a number.
const uint8_t odt_shapes[] = {
    17, 0, ODT_SIZE, 17, 130, 145, 132, 145, 144, ODT_ANY, ODT_ANY, 2, 0, 1, 145, 129, 81, 144,
    104, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 33, 0, 81, 129, 81, 0, 81, 129,
    ODT_SIZE, ODT_ANY, 33, 129, 81, 129, 81, 129, ODT_ANY, 33, 0, 33, 129, 81, 0, 81, 129, 81, 129,
    ODT_SIZE, ODT_ANY, 17, 129, 81, 129, 81, 129, ODT_ANY, 17, 0, 81, 0, 81, 129, 81, 0, ODT_SIZE,
    145, 129, 81, 129, ODT_ANY, ODT_ANY, ODT_ANY, 2, 0, 2, 145, 129, 66, 0, 1, 66, 2, 1, 81, 2, 97,
    2, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 2, 0, 1, 145, 129, 66,
    0, 2, 66, 2, 1, 97, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, 18, 5, 1, 66, 0, 2, 66, 0, 1,
    ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_SIZE, 17, 1, 66, 0, 1,
    ODT_SIZE | ODT_ROWS, ODT_SIZE, 194, 0, 1, 66, 0, 1, 97, 1, 81, 144, ODT_SIZE | ODT_ROWS,
    ODT_SIZE, ODT_ANY, 4, 0, 11, 12, 4, 145, 129, 68, 0, 1, 2, 3, 68, 4, 5, 6, 3, 81, 4, 97, 4,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY,
    ODT_ANY, 4, 0, 1, 2, 3, 145, 129, 68, 0, 11, 12, 4, 68, 4, 5, 6, 3, 97, 129,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 20, 15, 5, 6, 3, 68, 0,
    11, 12, 4, 68, 0, 1, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
    ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16,
    ODT_ANY, ODT_ANY, ODT_SIZE, 4, 0, 11, 12, 4, 145, 129, 68, 0, 1, 2, 4, 67, 4, 5, 6, 81, 4, 97,
    4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY,
    ODT_ANY, 4, 0, 1, 2, 4, 145, 129, 68, 0, 11, 12, 4, 67, 4, 5, 6, 97, 4, ODT_SIZE16 | ODT_ROWS,
    ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
    ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 19, 15, 5, 6, 68, 0, 11, 12, 4, 68, 0, 1, 2,
    4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY,
    ODT_SIZE, 193, 0, 65, 0, ODT_SIZE | ODT_ROWS, ODT_ANY, 193, 0, 65, 0, 65, 0,
    ODT_SIZE | ODT_ROWS, ODT_ANY, 4, 0, 11, 12, 4, 68, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS,
    ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
    ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 4, 0, 1, 2, 4, 145, 129, 68, 0, 11, 12, 4,
    65, 13, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
    ODT_ANY, 2, 0, 2, 145, 129, 67, 0, 1, 2, 97, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE,
    ODT_ANY, ODT_ANY, ODT_ANY, 3, 0, 1, 2, 66, 0, 2, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE,
    193, 0, 145, 129, 65, 0, 65, 0, 97, 129, 97, 129, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY,
    ODT_ANY, ODT_ANY, 194, 0, 1, 17, 129, 145, 144, 104, 66, 0, 1, 81, 129, ODT_SIZE16 | ODT_ROWS,
    ODT_SIZE, ODT_ANY, 194, 0, 1, 17, 129, 145, 129, 145, 144, 104, 66, 0, 1, 81, 129, 81, 129,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 146, 0, 1, 17, 0, 138, 0, 1, 129, 0, 81, 129, 81,
    144, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 146, 0, 1, 17, 0, 138, 0, 1, 138,
    0, 1, 129, 0, 81, 129, 81, 144, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY,
    ODT_ANY, ODT_ANY, 146, 0, 1, 17, 0, 154, 0, 1, 81, 129, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY,
    146, 0, 1, 17, 0, 154, 0, 1, 154, 0, 1, 81, 129, 81, 130, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY,
    ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 17, 0, 81, 129, ODT_SIZE, ODT_ANY, 130, 0, 1, 130, 0, 1,
    145, 0, 145, 129, 82, 5, 1, 81, 5, 81, 129, 81, 144, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY,
    ODT_ANY, ODT_SIZE, 145, 0, 81, 0, 81, 129, 81, 129, ODT_SIZE, 26, 0, 1, 81, 144, 104,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE, 26, 0, 2, 90, 0, 1, 90, 2, 1, 89, 2, ODT_SIZE | ODT_ROWS,
    ODT_SIZE, ODT_SIZE, ODT_ANY, 26, 0, 1, 90, 0, 2, 90, 2, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE,
    ODT_SIZE, 26, 4, 1, 90, 0, 2, 90, 0, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY,
    ODT_SIZE, 25, 1, 90, 0, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, 28, 0, 11, 12, 4, 92, 0, 1, 2, 3, 92,
    4, 5, 6, 3, 89, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
    ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16,
    ODT_ANY, 28, 0, 1, 2, 3, 92, 0, 11, 12, 4, 92, 4, 5, 6, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16,
    ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING,
    ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 28, 14, 5, 6, 3, 92, 0, 11, 12, 4, 92, 0, 1, 2, 3,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_SIZE, 28,
    0, 11, 12, 4, 92, 0, 1, 2, 4, 91, 4, 5, 6, 89, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16,
    ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING,
    ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, 28, 0, 1, 2, 4, 92, 0, 11, 12, 4, 91, 4, 5, 6,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 27, 14, 5, 6, 92, 0,
    11, 12, 4, 92, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
    ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16,
    ODT_ANY, ODT_SIZE, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, 89, 0,
    ODT_SIZE | ODT_ROWS, 28, 0, 11, 12, 4, 92, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16,
    ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING,
    ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 28, 0, 1, 2, 4, 92, 0, 11, 12, 4, 65, 13,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_ANY, 26,
    0, 2, 91, 0, 1, 2, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, 27, 0, 1, 2, 90, 0, 2,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, 217, 0, 89, 0, 89, 0, ODT_SIZE | ODT_ROWS, ODT_ANY,
    218, 0, 1, 145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, 218, 0, 1, 145, 144, 104,
    90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, 153, 0, 153, 0, ODT_SIZE, ODT_ANY, 153, 0, 153, 0,
    153, 0, 81, 130, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 153, 0, 89, 0, 81, 129,
    ODT_SIZE, 130, 0, 2, 145, 129, 66, 0, 1, 97, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE,
    ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 130, 0, 2, 66, 0, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE,
    ODT_SIZE, ODT_ANY, 2, 0, 1, 66, 0, 2, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 1, 0,
    145, 129, 65, 0, 65, 0, 97, 129, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 217,
    0, 89, 0, 89, 0, ODT_SIZE | ODT_ROWS, 4, 0, 11, 12, 4, 68, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS,
    ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
    ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, 4, 0, 1, 2, 4, 145, 129, 68, 0, 11,
    12, 4, 97, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY,
    ODT_ANY, 28, 0, 11, 12, 4, 92, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
    ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING,
    ODT_SIZE16, ODT_SIZE16, ODT_ANY, 28, 0, 1, 2, 4, 92, 0, 11, 12, 4, ODT_SIZE16 | ODT_ROWS,
    ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
    ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, 6, 0, 1, 4, 2, 5, 3, 68, 0, 1, 2, 3,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, 4, 0, 1, 2, 3,
    145, 129, 70, 0, 1, 4, 2, 5, 3, 97, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
    ODT_SIZE, ODT_SIZE8, ODT_SIZE8, 28, 0, 1, 2, 3, 94, 0, 1, 4, 2, 5, 3, ODT_SIZE16 | ODT_ROWS,
    ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, 193, 0, 65, 0, 65, 0,
    ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, 89, 0,
    ODT_SIZE | ODT_ROWS, 193, 0, 65, 0, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, 193, 0, 65, 0, 65,
    0, 81, 144, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, ODT_ANY, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS,
    ODT_ANY, 217, 0, 89, 0, 89, 0, ODT_SIZE | ODT_ROWS, ODT_ANY, 193, 0, 65, 0, 81, 129,
    ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, 1, 0, 145, 129, 65, 0, 65, 0, 97, 129,
    ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, 89, 0,
    ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, 89, 0,
    ODT_SIZE | ODT_ROWS, 194, 0, 1, 66, 0, 1, 81, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_ANY, 2,
    0, 1, 145, 129, 66, 0, 1, 66, 0, 1, 97, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE, 218, 0, 1, 90, 0,
    1, ODT_SIZE | ODT_ROWS, ODT_SIZE, 218, 0, 1, 90, 0, 1, 90, 0, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE,
    153, 0, 81, 144, ODT_SIZE, ODT_ANY, 129, 0, 129, 0, 81, 144, ODT_SIZE, ODT_ANY, ODT_ANY, 145,
    0, 81, 144, ODT_SIZE, ODT_ANY, ODT_ANY, 153, 0, 153, 0, ODT_SIZE, ODT_ANY, 146, 0, 1, 17, 0,
    138, 0, 1, 129, 0, 81, 129, 81, 144, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY,
    146, 0, 1, 17, 0, 154, 0, 1, 81, 129, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 145, 0, 81, 0,
    ODT_SIZE, 153, 0, 89, 0, ODT_SIZE, 4, 0, 11, 12, 4, 145, 129, 69, 0, 1, 2, 13, 3, 68, 4, 5, 6,
    3, 81, 4, 97, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
    ODT_ANY, ODT_ANY, ODT_ANY, 5, 0, 1, 2, 13, 3, 145, 129, 68, 0, 11, 12, 4, 68, 4, 5, 6, 3, 97,
    129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, 20, 16, 5, 6,
    3, 68, 0, 11, 12, 4, 69, 0, 1, 2, 13, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
    ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING,
    ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_SIZE, 28, 0, 11, 12, 4, 93, 0, 1, 2,
    13, 3, 92, 4, 5, 6, 3, 89, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
    ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
    ODT_SIZE16, ODT_SIZE, ODT_ANY, 29, 0, 1, 2, 13, 3, 92, 0, 11, 12, 4, 92, 4, 5, 6, 3,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, 28, 15, 5, 6,
    3, 92, 0, 11, 12, 4, 93, 0, 1, 2, 13, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
    ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING,
    ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_ANY, ODT_SIZE, 4, 0, 11, 12, 4, 145, 129, 68, 0, 1, 2, 3,
    68, 4, 5, 6, 3, 81, 4, 97, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
    ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
    ODT_SIZE16, ODT_ANY, ODT_ANY, ODT_ANY, 4, 0, 1, 2, 3, 145, 129, 68, 0, 11, 12, 4, 68, 4, 5, 6,
    3, 97, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 20, 15, 5,
    6, 3, 68, 0, 11, 12, 4, 68, 0, 1, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
    ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING,
    ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY, ODT_SIZE, 28, 0, 11, 12, 4, 92, 0, 1, 2, 3, 92, 4, 5,
    6, 3, 89, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, 28,
    0, 1, 2, 3, 92, 0, 11, 12, 4, 92, 4, 5, 6, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
    ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING,
    ODT_SIZE16, ODT_SIZE16, 28, 14, 5, 6, 3, 92, 0, 11, 12, 4, 92, 0, 1, 2, 3,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
    ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_SIZE, 194,
    0, 1, 17, 129, 66, 0, 1, 81, 129, 81, 132, 145, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY,
    ODT_ANY, ODT_ANY, ODT_ANY, 194, 0, 1, 66, 0, 1, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
    ODT_ANY, ODT_ANY, 218, 0, 1, 90, 0, 1, 81, 132, 145, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
    ODT_ANY, ODT_ANY, 218, 0, 1, 90, 0, 1, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY,
    ODT_ANY, 194, 0, 1, 17, 129, 145, 144, 104, 66, 0, 1, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
    ODT_ANY, 218, 0, 1, 145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, 194, 0, 1, 17,
    129, 145, 144, 104, 66, 0, 1, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 218, 0, 1,
    145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, 2, 0, 1, 17, 129, 145, 129, 145, 144,
    104, 66, 0, 1, 81, 129, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY, 218, 0, 1,
    145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 194, 0, 1, 17, 129, 145,
    144, 104, 66, 0, 1, 81, 129, 73, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY, 218, 0,
    1, 145, 144, 104, 90, 0, 1, 89, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 4, 0, 11, 12, 4,
    1, 13, 68, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
    ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16,
    ODT_SIZE, ODT_ANY, 28, 0, 11, 12, 4, 1, 13, 92, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16,
    ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING,
    ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_ANY, 19, 0, 2, 130, 68, 0, 1, 2, 3, 81, 129,
    ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 146,
    2, 130, 145, 2, 67, 0, 1, 2, 81, 129, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE,
    ODT_ANY, ODT_ANY, ODT_ANY, 18, 0, 130, 81, 0, 81, 0, 81, 129, ODT_SIZE, ODT_ANY, ODT_ANY, 145,
    0, 145, 0, 82, 0, 130, 81, 0, 81, 129, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 33, 0, 17, 0, 81,
    0, 81, 0, 81, 129, ODT_SIZE, 4, 0, 1, 2, 3, 145, 129, 68, 0, 1, 2, 3, 83, 0, 2, 130, 98, 2, 3,
    82, 2, 3, ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY,
    ODT_ANY, 18, 2, 3, 68, 0, 1, 2, 3, 68, 0, 1, 2, 3, 83, 0, 2, 130, ODT_SIZE | ODT_ROWS,
    ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 4, 0, 1, 2, 3, 145, 129, 68, 0, 1,
    2, 3, 68, 0, 1, 2, 3, 83, 0, 2, 130, 82, 2, 3, 81, 129, 81, 129, 81, 129, 81, 144,
    ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY,
    ODT_ANY, ODT_SIZE, 2, 0, 1, 145, 129, 66, 0, 1, 82, 1, 130, 81, 1, 81, 129, 81, 129, 81, 129,
    ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_ANY, 27, 0, 2, 130, 92, 0, 1, 2, 3, ODT_SIZE | ODT_ROWS,
    ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 154, 2, 130, 153, 2, 91, 0, 1, 2, 81, 144,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 26, 0, 130, 89, 0, 89, 0, ODT_SIZE,
    ODT_ANY, 153, 0, 153, 0, 90, 0, 130, 89, 0, ODT_SIZE, ODT_ANY, ODT_ANY, 220, 0, 1, 2, 3, 92, 0,
    1, 2, 3, 91, 0, 2, 130, 90, 2, 3, 90, 2, 3, ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS, ODT_SIZE,
    ODT_SIZE, ODT_ANY, 26, 2, 3, 92, 0, 1, 2, 3, 92, 0, 1, 2, 3, 91, 0, 2, 130,
    ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, 220, 0, 1, 2, 3, 92, 0, 1, 2, 3,
    92, 0, 1, 2, 3, 91, 0, 2, 130, 90, 2, 3, 81, 144, ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS,
    ODT_SIZE, ODT_SIZE, ODT_ANY, 218, 0, 1, 90, 0, 1, 90, 1, 130, 89, 1, ODT_SIZE | ODT_ROWS,
    ODT_SIZE, 145, 129, 81, 0, 81, 129, ODT_SIZE, ODT_ANY, 17, 129, 81, 129, ODT_ANY, 153, 129, 89,
    0, ODT_SIZE, 25, 129, 89, 129, ODT_ANY, 153, 0, 89, 129, ODT_SIZE, 145, 144, 81, 132, ODT_ANY,
    81, 129, ODT_SIZE, ODT_ANY, 81, 129, 81, 1, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 17, 129, 145,
    129, 65, 0, 81, 129, 81, 144, ODT_SIZE, 17, 129, 153, 129, 89, 0, 81, 144, ODT_SIZE, 17, 129,
    17, 2, 17, 1, 66, 0, 1, 81, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 17,
    129, 17, 2, 25, 1, 90, 0, 1, 81, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY,
    ODT_ANY, 3, 0, 2, 3, 67, 0, 1, 3, 81, 129, 81, 2, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE,
    ODT_SIZE, 3, 0, 1, 3, 67, 0, 2, 3, 81, 129, 81, 2, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE,
    ODT_SIZE, 130, 0, 1, 130, 0, 1, 145, 0, 81, 129, ODT_SIZE, ODT_SIZE, 1, 1, 65, 0,
    ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY, 1, 1, 89, 0, ODT_SIZE | ODT_ROWS, ODT_SIZE,
    ODT_ANY, 193, 0, 65, 0, 65, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, 217, 0, 89, 0, 65, 1,
    ODT_SIZE | ODT_ROWS, ODT_SIZE, 145, 2, 67, 0, 1, 2, 67, 0, 1, 2, 81, 129, 81, 129,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 153, 2, 91, 0, 1, 2, 91, 0, 1, 2,
    ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, 130, 0, 1, 130, 0, 1, 145, 0, 145, 129, 138, 9, 1,
    138, 9, 1, 129, 9, 82, 9, 1, 81, 129, 81, 129, 81, 144, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY,
    ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_SIZE, 145, 129, 145, 129, 81, 129, ODT_ANY, 3,
    0, 1, 2, 145, 129, 81, 144, 104, 81, 129, 81, 2, 81, 2, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
    ODT_SIZE, ODT_ANY, 27, 0, 1, 2, 81, 144, 104, 89, 2, 89, 2, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
    ODT_SIZE,
};

const odt_opcode_t odt_opcodes[ODT_OPCODES + 1] = {
    [ODT_CLEAR] = {(odt_kernel_t)odt_clear, 0, 1, 1},
    [ODT_TICK] = {(odt_kernel_t)odt_tick, 3, 3, 2},
    [ODT_GATHER_I8] = {(odt_kernel_t)odt_gather_i8, 11, 5, 3},
    [ODT_RESCALE] = {(odt_kernel_t)odt_rescale, 24, 4, 2},
    [ODT_RATIO] = {(odt_kernel_t)odt_ratio, 34, 3, 1},
    [ODT_RESCALE_DX] = {(odt_kernel_t)odt_rescale_dx, 41, 5, 2},
    [ODT_PRODUCT] = {(odt_kernel_t)odt_product, 53, 3, 1},
    [ODT_BIAS_I8] = {(odt_kernel_t)odt_bias_i8, 60, 4, 1},
    [ODT_RANGE_I8] = {(odt_kernel_t)odt_range_i8, 69, 2, 3},
    [ODT_DENSE_I8] = {(odt_kernel_t)odt_dense_i8, 76, 6, 6},
    [ODT_DENSE_DX_I8] = {(odt_kernel_t)odt_dense_dx_i8, 97, 5, 3},
    [ODT_DENSE_DW_I8] = {(odt_kernel_t)odt_dense_dw_i8, 113, 3, 6},
    [ODT_BIAS_DW_I8] = {(odt_kernel_t)odt_bias_dw_i8, 128, 2, 2},
    [ODT_CHANNEL_SCALE_I8] = {(odt_kernel_t)odt_channel_scale_i8, 135, 4, 3},
    [ODT_CONV2D_I8] = {(odt_kernel_t)odt_conv2d_i8, 148, 6, 16},
    [ODT_CONV2D_DX_I8] = {(odt_kernel_t)odt_conv2d_dx_i8, 185, 5, 13},
    [ODT_CONV2D_DW_I8] = {(odt_kernel_t)odt_conv2d_dw_i8, 217, 3, 16},
    [ODT_DEPTHWISE2D_I8] = {(odt_kernel_t)odt_depthwise2d_i8, 248, 6, 16},
    [ODT_DEPTHWISE2D_DX_I8] = {(odt_kernel_t)odt_depthwise2d_dx_i8, 284, 5, 13},
    [ODT_DEPTHWISE2D_DW_I8] = {(odt_kernel_t)odt_depthwise2d_dw_i8, 315, 3, 16},
    [ODT_RELU_I8] = {(odt_kernel_t)odt_relu_i8, 345, 2, 2},
    [ODT_RELU_DX_I8] = {(odt_kernel_t)odt_relu_dx_i8, 351, 3, 2},
    [ODT_MAXPOOL2D_I8] = {(odt_kernel_t)odt_maxpool2d_i8, 359, 2, 13},
    [ODT_UNPOOL2D_I8] = {(odt_kernel_t)odt_unpool2d_i8, 382, 4, 15},
    [ODT_GLOBALAVG_I8] = {(odt_kernel_t)odt_globalavg_i8, 411, 4, 6},
    [ODT_GLOBALAVG_DX_I8] = {(odt_kernel_t)odt_globalavg_dx_i8, 428, 2, 3},
    [ODT_ADD_I8] = {(odt_kernel_t)odt_add_i8, 438, 6, 5},
    [ODT_SOFTMAX_XENT_I8] = {(odt_kernel_t)odt_softmax_xent_i8, 455, 6, 3},
    [ODT_MSE_I8] = {(odt_kernel_t)odt_mse_i8, 471, 8, 3},
    [ODT_MOMENTUM_I16] = {(odt_kernel_t)odt_momentum_i16, 491, 6, 6},
    [ODT_ADAM_I16] = {(odt_kernel_t)odt_adam_i16, 511, 7, 8},
    [ODT_MOMENTUM_I32] = {(odt_kernel_t)odt_momentum_i32, 536, 4, 4},
    [ODT_ADAM_I32] = {(odt_kernel_t)odt_adam_i32, 550, 6, 8},
    [ODT_PLAIN_I32] = {(odt_kernel_t)odt_plain_i32, 573, 2, 2},
    [ODT_APPLY_I8] = {(odt_kernel_t)odt_apply_i8, 579, 8, 6},
    [ODT_APPLY_I32] = {(odt_kernel_t)odt_apply_i32, 604, 4, 1},
    [ODT_GATHER_F32] = {(odt_kernel_t)odt_gather_f32, 613, 3, 2},
    [ODT_DENSE_F32] = {(odt_kernel_t)odt_dense_f32, 621, 4, 4},
    [ODT_DENSE_DX_F32] = {(odt_kernel_t)odt_dense_dx_f32, 636, 3, 3},
    [ODT_DENSE_DW_F32] = {(odt_kernel_t)odt_dense_dw_f32, 648, 3, 5},
    [ODT_BIAS_DW_F32] = {(odt_kernel_t)odt_bias_dw_f32, 662, 2, 2},
    [ODT_CONV2D_F32] = {(odt_kernel_t)odt_conv2d_f32, 669, 4, 14},
    [ODT_CONV2D_DX_F32] = {(odt_kernel_t)odt_conv2d_dx_f32, 700, 3, 13},
    [ODT_CONV2D_DW_F32] = {(odt_kernel_t)odt_conv2d_dw_f32, 728, 3, 15},
    [ODT_DEPTHWISE2D_F32] = {(odt_kernel_t)odt_depthwise2d_f32, 758, 4, 14},
    [ODT_DEPTHWISE2D_DX_F32] = {(odt_kernel_t)odt_depthwise2d_dx_f32, 788, 3, 13},
    [ODT_DEPTHWISE2D_DW_F32] = {(odt_kernel_t)odt_depthwise2d_dw_f32, 815, 3, 15},
    [ODT_RELU_F32] = {(odt_kernel_t)odt_relu_f32, 844, 2, 1},
    [ODT_RELU_DX_F32] = {(odt_kernel_t)odt_relu_dx_f32, 849, 3, 1},
    [ODT_MAXPOOL2D_F32] = {(odt_kernel_t)odt_maxpool2d_f32, 856, 2, 13},
    [ODT_UNPOOL2D_F32] = {(odt_kernel_t)odt_unpool2d_f32, 879, 3, 15},
    [ODT_GLOBALAVG_F32] = {(odt_kernel_t)odt_globalavg_f32, 906, 2, 3},
    [ODT_GLOBALAVG_DX_F32] = {(odt_kernel_t)odt_globalavg_dx_f32, 916, 2, 3},
    [ODT_ADD_F32] = {(odt_kernel_t)odt_add_f32, 926, 3, 2},
    [ODT_SOFTMAX_XENT_F32] = {(odt_kernel_t)odt_softmax_xent_f32, 934, 4, 2},
    [ODT_MSE_F32] = {(odt_kernel_t)odt_mse_f32, 945, 4, 2},
    [ODT_MOMENTUM_F32] = {(odt_kernel_t)odt_momentum_f32, 956, 2, 2},
    [ODT_ADAM_F32] = {(odt_kernel_t)odt_adam_f32, 962, 4, 6},
    [ODT_APPLY_F32] = {(odt_kernel_t)odt_apply_f32, 976, 3, 1},
    [ODT_CONCAT_I8] = {(odt_kernel_t)odt_concat_i8, 983, 4, 7},
    [ODT_PLACE] = {(odt_kernel_t)odt_place, 1000, 2, 4},
    [ODT_SLICE] = {(odt_kernel_t)odt_slice, 1010, 2, 4},
    [ODT_MULTIPLY_I8] = {(odt_kernel_t)odt_multiply_i8, 1020, 5, 5},
    [ODT_MULTIPLY_F32] = {(odt_kernel_t)odt_multiply_f32, 1035, 3, 1},
    [ODT_AVGPOOL2D_I8] = {(odt_kernel_t)odt_avgpool2d_i8, 1042, 2, 14},
    [ODT_AVGPOOL2D_DX_I8] = {(odt_kernel_t)odt_avgpool2d_dx_i8, 1066, 4, 15},
    [ODT_AVGPOOL2D_F32] = {(odt_kernel_t)odt_avgpool2d_f32, 1095, 2, 14},
    [ODT_AVGPOOL2D_DX_F32] = {(odt_kernel_t)odt_avgpool2d_dx_f32, 1119, 2, 14},
    [ODT_UPSAMPLE2D] = {(odt_kernel_t)odt_upsample2d, 1143, 2, 6},
    [ODT_UPSAMPLE2D_DX_I8] = {(odt_kernel_t)odt_upsample2d_dx_i8, 1161, 4, 6},
    [ODT_UPSAMPLE2D_DX_F32] = {(odt_kernel_t)odt_upsample2d_dx_f32, 1183, 2, 6},
    [ODT_RELU6_DX_I8] = {(odt_kernel_t)odt_relu6_dx_i8, 1201, 3, 1},
    [ODT_RELU6_F32] = {(odt_kernel_t)odt_relu6_f32, 1208, 2, 1},
    [ODT_RELU6_DX_F32] = {(odt_kernel_t)odt_relu6_dx_f32, 1213, 3, 1},
    [ODT_LEAKY_RELU_I8] = {(odt_kernel_t)odt_leaky_relu_i8, 1220, 2, 3},
    [ODT_LEAKY_RELU_DX_I8] = {(odt_kernel_t)odt_leaky_relu_dx_i8, 1227, 4, 4},
    [ODT_LEAKY_RELU_F32] = {(odt_kernel_t)odt_leaky_relu_f32, 1239, 2, 2},
    [ODT_LEAKY_RELU_DX_F32] = {(odt_kernel_t)odt_leaky_relu_dx_f32, 1245, 3, 2},
    [ODT_SIGMOID_I8] = {(odt_kernel_t)odt_sigmoid_i8, 1253, 3, 3},
    [ODT_SIGMOID_DX_I8] = {(odt_kernel_t)odt_sigmoid_dx_i8, 1262, 5, 1},
    [ODT_SIGMOID_F32] = {(odt_kernel_t)odt_sigmoid_f32, 1273, 2, 1},
    [ODT_SIGMOID_DX_F32] = {(odt_kernel_t)odt_sigmoid_dx_f32, 1278, 3, 1},
    [ODT_TANH_F32] = {(odt_kernel_t)odt_tanh_f32, 1285, 2, 1},
    [ODT_TANH_DX_F32] = {(odt_kernel_t)odt_tanh_dx_f32, 1290, 3, 1},
    [ODT_SOFTMAX_I8] = {(odt_kernel_t)odt_softmax_i8, 1297, 3, 3},
    [ODT_SOFTMAX_DX_I8] = {(odt_kernel_t)odt_softmax_dx_i8, 1308, 5, 2},
    [ODT_SOFTMAX_F32] = {(odt_kernel_t)odt_softmax_f32, 1323, 2, 2},
    [ODT_SOFTMAX_DX_F32] = {(odt_kernel_t)odt_softmax_dx_f32, 1331, 3, 2},
    [ODT_DECAY_F32] = {(odt_kernel_t)odt_decay_f32, 1342, 2, 2},
    [ODT_DECAY_I8] = {(odt_kernel_t)odt_decay_i8, 1348, 3, 3},
    [ODT_DECAY_I32] = {(odt_kernel_t)odt_decay_i32, 1357, 2, 3},
    [ODT_NESTEROV_F32] = {(odt_kernel_t)odt_nesterov_f32, 1364, 2, 2},
    [ODT_NESTEROV_I16] = {(odt_kernel_t)odt_nesterov_i16, 1370, 6, 6},
    [ODT_NESTEROV_I32] = {(odt_kernel_t)odt_nesterov_i32, 1390, 4, 4},
    [ODT_ACCUMULATE_I32] = {(odt_kernel_t)odt_accumulate_i32, 1404, 2, 1},
    [ODT_ACCUMULATE_F32] = {(odt_kernel_t)odt_accumulate_f32, 1409, 2, 1},
    [ODT_GROUP_CONV2D_I8] = {(odt_kernel_t)odt_group_conv2d_i8, 1414, 6, 17},
    [ODT_GROUP_CONV2D_DX_I8] = {(odt_kernel_t)odt_group_conv2d_dx_i8, 1453, 5, 14},
    [ODT_GROUP_CONV2D_DW_I8] = {(odt_kernel_t)odt_group_conv2d_dw_i8, 1487, 3, 17},
    [ODT_GROUP_CONV2D_F32] = {(odt_kernel_t)odt_group_conv2d_f32, 1520, 4, 15},
    [ODT_GROUP_CONV2D_DX_F32] = {(odt_kernel_t)odt_group_conv2d_dx_f32, 1553, 3, 14},
    [ODT_GROUP_CONV2D_DW_F32] = {(odt_kernel_t)odt_group_conv2d_dw_f32, 1583, 3, 16},
    [ODT_TRANSPOSED2D_I8] = {(odt_kernel_t)odt_transposed2d_i8, 1615, 6, 16},
    [ODT_TRANSPOSED2D_DX_I8] = {(odt_kernel_t)odt_transposed2d_dx_i8, 1652, 5, 13},
    [ODT_TRANSPOSED2D_DW_I8] = {(odt_kernel_t)odt_transposed2d_dw_i8, 1684, 3, 16},
    [ODT_TRANSPOSED2D_F32] = {(odt_kernel_t)odt_transposed2d_f32, 1715, 4, 14},
    [ODT_TRANSPOSED2D_DX_F32] = {(odt_kernel_t)odt_transposed2d_dx_f32, 1746, 3, 13},
    [ODT_TRANSPOSED2D_DW_F32] = {(odt_kernel_t)odt_transposed2d_dw_f32, 1774, 3, 15},
    [ODT_DROPOUT_I8] = {(odt_kernel_t)odt_dropout_i8, 1804, 6, 6},
    [ODT_DROPOUT_DX_I8] = {(odt_kernel_t)odt_dropout_dx_i8, 1824, 3, 4},
    [ODT_DROPOUT_F32] = {(odt_kernel_t)odt_dropout_f32, 1836, 4, 4},
    [ODT_DROPOUT_DX_F32] = {(odt_kernel_t)odt_dropout_dx_f32, 1850, 3, 4},
    [ODT_BINARY_XENT_I8] = {(odt_kernel_t)odt_binary_xent_i8, 1862, 6, 3},
    [ODT_BINARY_XENT_F32] = {(odt_kernel_t)odt_binary_xent_f32, 1878, 4, 2},
    [ODT_MAE_I8] = {(odt_kernel_t)odt_mae_i8, 1889, 6, 3},
    [ODT_MAE_F32] = {(odt_kernel_t)odt_mae_f32, 1905, 4, 2},
    [ODT_HUBER_I8] = {(odt_kernel_t)odt_huber_i8, 1916, 8, 4},
    [ODT_HUBER_F32] = {(odt_kernel_t)odt_huber_f32, 1937, 4, 3},
    [ODT_WEIGHTED_XENT_I8] = {(odt_kernel_t)odt_weighted_xent_i8, 1949, 7, 4},
    [ODT_WEIGHTED_XENT_F32] = {(odt_kernel_t)odt_weighted_xent_f32, 1968, 5, 3},
    [ODT_MAXPOOL2D_CHOICE_I8] = {(odt_kernel_t)odt_maxpool2d_choice_i8, 1982, 3, 15},
    [ODT_MAXPOOL2D_CHOICE_F32] = {(odt_kernel_t)odt_maxpool2d_choice_f32, 2009, 3, 15},
    [ODT_NORM_STATS_I8] = {(odt_kernel_t)odt_norm_stats_i8, 2036, 3, 7},
    [ODT_BATCH_STATS_I8] = {(odt_kernel_t)odt_batch_stats_i8, 2054, 5, 6},
    [ODT_RUNNING_STATS_I8] = {(odt_kernel_t)odt_running_stats_i8, 2073, 4, 3},
    [ODT_TRACK_I8] = {(odt_kernel_t)odt_track_i8, 2085, 5, 4},
    [ODT_AFFINE_I8] = {(odt_kernel_t)odt_affine_i8, 2100, 5, 1},
    [ODT_NORM_I8] = {(odt_kernel_t)odt_norm_i8, 2111, 6, 7},
    [ODT_NORM_DW_I8] = {(odt_kernel_t)odt_norm_dw_i8, 2140, 4, 6},
    [ODT_NORM_DX_I8] = {(odt_kernel_t)odt_norm_dx_i8, 2163, 10, 9},
    [ODT_AFFINE_DX_I8] = {(odt_kernel_t)odt_affine_dx_i8, 2204, 8, 3},
    [ODT_NORM_STATS_F32] = {(odt_kernel_t)odt_norm_stats_f32, 2226, 2, 5},
    [ODT_BATCH_STATS_F32] = {(odt_kernel_t)odt_batch_stats_f32, 2240, 4, 4},
    [ODT_RUNNING_STATS_F32] = {(odt_kernel_t)odt_running_stats_f32, 2255, 3, 2},
    [ODT_TRACK_F32] = {(odt_kernel_t)odt_track_f32, 2264, 4, 3},
    [ODT_NORM_F32] = {(odt_kernel_t)odt_norm_f32, 2276, 5, 5},
    [ODT_NORM_DW_F32] = {(odt_kernel_t)odt_norm_dw_f32, 2301, 4, 4},
    [ODT_NORM_DX_F32] = {(odt_kernel_t)odt_norm_dx_f32, 2322, 6, 5},
    [ODT_AFFINE_DX_F32] = {(odt_kernel_t)odt_affine_dx_f32, 2351, 4, 2},
    [ODT_SQUARES_I32] = {(odt_kernel_t)odt_squares_i32, 2364, 3, 2},
    [ODT_CLIP_I32] = {(odt_kernel_t)odt_clip_i32, 2372, 2, 1},
    [ODT_SQUARES_F32] = {(odt_kernel_t)odt_squares_f32, 2377, 2, 1},
    [ODT_CLIP_F32] = {(odt_kernel_t)odt_clip_f32, 2382, 2, 1},
    [ODT_SCALE_F32] = {(odt_kernel_t)odt_scale_f32, 2387, 2, 1},
    [ODT_STEP_KEY] = {(odt_kernel_t)odt_step_key, 2392, 2, 1},
    [ODT_FEW] = {0, 2397, 1, 2},
    [ODT_EACH] = {0, 2401, 2, 4},
    [ODT_RELATIVE_I8] = {(odt_kernel_t)odt_relative_i8, 2409, 5, 1},
    [ODT_RELATIVE_F32] = {(odt_kernel_t)odt_relative_f32, 2420, 4, 1},
    [ODT_RANK_I8] = {(odt_kernel_t)odt_rank_i8, 2429, 5, 5},
    [ODT_RANK_F32] = {(odt_kernel_t)odt_rank_f32, 2445, 5, 5},
    [ODT_PICK] = {(odt_kernel_t)odt_pick, 2461, 4, 4},
    [ODT_PUT] = {(odt_kernel_t)odt_put, 2477, 4, 4},
    [ODT_SETTLE_I8] = {(odt_kernel_t)odt_settle_i8, 2493, 4, 2},
    [ODT_OPEN_I8] = {(odt_kernel_t)odt_open_i8, 2505, 2, 4},
    [ODT_OPEN_F32] = {(odt_kernel_t)odt_open_f32, 2513, 2, 3},
    [ODT_MASKED_I8] = {(odt_kernel_t)odt_masked_i8, 2520, 3, 2},
    [ODT_MASKED_F32] = {(odt_kernel_t)odt_masked_f32, 2528, 3, 2},
    [ODT_FISHER_I8] = {(odt_kernel_t)odt_fisher_i8, 2536, 5, 5},
    [ODT_FISHER_F32] = {(odt_kernel_t)odt_fisher_f32, 2555, 3, 3},
    [ODT_ADAM_I8] = {(odt_kernel_t)odt_adam_i8, 2568, 11, 10},
    [ODT_RANGE_X_I8] = {(odt_kernel_t)odt_range_x_i8, 2605, 3, 1},
    [ODT_GATHER_NORM_I8] = {(odt_kernel_t)odt_gather_norm_i8, 2612, 7, 4},
    [ODT_GATHER_NORM_F32] = {(odt_kernel_t)odt_gather_norm_f32, 2631, 5, 3},
};

// The executor writes the pointers one after the other, then the immediates: so must they lie.
#define ODT_ASSERT_LAYOUT(name, operand, operands, immediate, immediates) \
    typedef char odt_layout_##name[(offsetof(odt_##name##_t, operand) \
        == ((operands) - 1) * sizeof(void *) && offsetof(odt_##name##_t, immediate) \
        == (operands) * sizeof(void *) + ((immediates) - 1) * sizeof(int32_t)) ? 1 : -1]

ODT_ASSERT_LAYOUT(clear, y, 1, N, 1);
ODT_ASSERT_LAYOUT(tick, c, 3, beta2, 2);
ODT_ASSERT_LAYOUT(gather_i8, s, 5, z, 3);
ODT_ASSERT_LAYOUT(rescale, sy, 4, factor, 2);
ODT_ASSERT_LAYOUT(ratio, sy, 3, factor, 1);
ODT_ASSERT_LAYOUT(rescale_dx, sdx, 5, factor, 2);
ODT_ASSERT_LAYOUT(product, b, 3, factor, 1);
ODT_ASSERT_LAYOUT(bias_i8, sw, 4, N, 1);
ODT_ASSERT_LAYOUT(range_i8, peak, 2, fine, 3);
ODT_ASSERT_LAYOUT(dense_i8, q, 6, lo, 6);
ODT_ASSERT_LAYOUT(dense_dx_i8, q, 5, N, 3);
ODT_ASSERT_LAYOUT(dense_dw_i8, x, 3, R, 6);
ODT_ASSERT_LAYOUT(bias_dw_i8, e, 2, N, 2);
ODT_ASSERT_LAYOUT(channel_scale_i8, c, 4, id, 3);
ODT_ASSERT_LAYOUT(conv2d_i8, q, 6, lo, 16);
ODT_ASSERT_LAYOUT(conv2d_dx_i8, q, 5, OW, 13);
ODT_ASSERT_LAYOUT(conv2d_dw_i8, x, 3, R, 16);
ODT_ASSERT_LAYOUT(depthwise2d_i8, q, 6, lo, 16);
ODT_ASSERT_LAYOUT(depthwise2d_dx_i8, q, 5, OW, 13);
ODT_ASSERT_LAYOUT(depthwise2d_dw_i8, x, 3, R, 16);
ODT_ASSERT_LAYOUT(relu_i8, x, 2, z, 2);
ODT_ASSERT_LAYOUT(relu_dx_i8, y, 3, lo, 2);
ODT_ASSERT_LAYOUT(maxpool2d_i8, x, 2, OW, 13);
ODT_ASSERT_LAYOUT(unpool2d_i8, choice, 4, bits, 15);
ODT_ASSERT_LAYOUT(globalavg_i8, q, 4, lo, 6);
ODT_ASSERT_LAYOUT(globalavg_dx_i8, e, 2, N, 3);
ODT_ASSERT_LAYOUT(add_i8, qb, 6, lo, 5);
ODT_ASSERT_LAYOUT(softmax_xent_i8, sx, 6, z, 3);
ODT_ASSERT_LAYOUT(mse_i8, se, 8, z, 3);
ODT_ASSERT_LAYOUT(momentum_i16, c, 6, at, 6);
ODT_ASSERT_LAYOUT(adam_i16, c, 7, at, 8);
ODT_ASSERT_LAYOUT(momentum_i32, gs, 4, mu, 4);
ODT_ASSERT_LAYOUT(adam_i32, rate, 6, eps, 8);
ODT_ASSERT_LAYOUT(plain_i32, gs, 2, factor, 2);
ODT_ASSERT_LAYOUT(apply_i8, c, 8, R, 6);
ODT_ASSERT_LAYOUT(apply_i32, rate, 4, N, 1);
ODT_ASSERT_LAYOUT(gather_f32, x, 3, F, 2);
ODT_ASSERT_LAYOUT(dense_f32, b, 4, relu, 4);
ODT_ASSERT_LAYOUT(dense_dx_f32, w, 3, N, 3);
ODT_ASSERT_LAYOUT(dense_dw_f32, x, 3, R, 5);
ODT_ASSERT_LAYOUT(bias_dw_f32, e, 2, N, 2);
ODT_ASSERT_LAYOUT(conv2d_f32, b, 4, relu, 14);
ODT_ASSERT_LAYOUT(conv2d_dx_f32, w, 3, OW, 13);
ODT_ASSERT_LAYOUT(conv2d_dw_f32, x, 3, R, 15);
ODT_ASSERT_LAYOUT(depthwise2d_f32, b, 4, relu, 14);
ODT_ASSERT_LAYOUT(depthwise2d_dx_f32, w, 3, OW, 13);
ODT_ASSERT_LAYOUT(depthwise2d_dw_f32, x, 3, R, 15);
ODT_ASSERT_LAYOUT(relu_f32, x, 2, N, 1);
ODT_ASSERT_LAYOUT(relu_dx_f32, y, 3, N, 1);
ODT_ASSERT_LAYOUT(maxpool2d_f32, x, 2, OW, 13);
ODT_ASSERT_LAYOUT(unpool2d_f32, choice, 3, bits, 15);
ODT_ASSERT_LAYOUT(globalavg_f32, x, 2, N, 3);
ODT_ASSERT_LAYOUT(globalavg_dx_f32, e, 2, N, 3);
ODT_ASSERT_LAYOUT(add_f32, b, 3, relu, 2);
ODT_ASSERT_LAYOUT(softmax_xent_f32, x, 4, N, 2);
ODT_ASSERT_LAYOUT(mse_f32, x, 4, N, 2);
ODT_ASSERT_LAYOUT(momentum_f32, v, 2, mu, 2);
ODT_ASSERT_LAYOUT(adam_f32, rate, 4, eps, 6);
ODT_ASSERT_LAYOUT(apply_f32, rate, 3, N, 1);
ODT_ASSERT_LAYOUT(concat_i8, q, 4, lo, 7);
ODT_ASSERT_LAYOUT(place, x, 2, at, 4);
ODT_ASSERT_LAYOUT(slice, x, 2, at, 4);
ODT_ASSERT_LAYOUT(multiply_i8, q, 5, lo, 5);
ODT_ASSERT_LAYOUT(multiply_f32, b, 3, N, 1);
ODT_ASSERT_LAYOUT(avgpool2d_i8, x, 2, adaptive, 14);
ODT_ASSERT_LAYOUT(avgpool2d_dx_i8, q, 4, top, 15);
ODT_ASSERT_LAYOUT(avgpool2d_f32, x, 2, adaptive, 14);
ODT_ASSERT_LAYOUT(avgpool2d_dx_f32, e, 2, adaptive, 14);
ODT_ASSERT_LAYOUT(upsample2d, x, 2, SW, 6);
ODT_ASSERT_LAYOUT(upsample2d_dx_i8, q, 4, SW, 6);
ODT_ASSERT_LAYOUT(upsample2d_dx_f32, e, 2, SW, 6);
ODT_ASSERT_LAYOUT(relu6_dx_i8, y, 3, N, 1);
ODT_ASSERT_LAYOUT(relu6_f32, x, 2, N, 1);
ODT_ASSERT_LAYOUT(relu6_dx_f32, y, 3, N, 1);
ODT_ASSERT_LAYOUT(leaky_relu_i8, x, 2, slope, 3);
ODT_ASSERT_LAYOUT(leaky_relu_dx_i8, c, 4, id, 4);
ODT_ASSERT_LAYOUT(leaky_relu_f32, x, 2, slope, 2);
ODT_ASSERT_LAYOUT(leaky_relu_dx_f32, y, 3, slope, 2);
ODT_ASSERT_LAYOUT(sigmoid_i8, sx, 3, factor, 3);
ODT_ASSERT_LAYOUT(sigmoid_dx_i8, q, 5, N, 1);
ODT_ASSERT_LAYOUT(sigmoid_f32, x, 2, N, 1);
ODT_ASSERT_LAYOUT(sigmoid_dx_f32, y, 3, N, 1);
ODT_ASSERT_LAYOUT(tanh_f32, x, 2, N, 1);
ODT_ASSERT_LAYOUT(tanh_dx_f32, y, 3, N, 1);
ODT_ASSERT_LAYOUT(softmax_i8, sx, 3, factor, 3);
ODT_ASSERT_LAYOUT(softmax_dx_i8, q, 5, N, 2);
ODT_ASSERT_LAYOUT(softmax_f32, x, 2, N, 2);
ODT_ASSERT_LAYOUT(softmax_dx_f32, y, 3, N, 2);
ODT_ASSERT_LAYOUT(decay_f32, c, 2, decay, 2);
ODT_ASSERT_LAYOUT(decay_i8, c, 3, id, 3);
ODT_ASSERT_LAYOUT(decay_i32, c, 2, id, 3);
ODT_ASSERT_LAYOUT(nesterov_f32, v, 2, mu, 2);
ODT_ASSERT_LAYOUT(nesterov_i16, c, 6, at, 6);
ODT_ASSERT_LAYOUT(nesterov_i32, gs, 4, mu, 4);
ODT_ASSERT_LAYOUT(accumulate_i32, d, 2, N, 1);
ODT_ASSERT_LAYOUT(accumulate_f32, d, 2, N, 1);
ODT_ASSERT_LAYOUT(group_conv2d_i8, q, 6, lo, 17);
ODT_ASSERT_LAYOUT(group_conv2d_dx_i8, q, 5, G, 14);
ODT_ASSERT_LAYOUT(group_conv2d_dw_i8, x, 3, R, 17);
ODT_ASSERT_LAYOUT(group_conv2d_f32, b, 4, relu, 15);
ODT_ASSERT_LAYOUT(group_conv2d_dx_f32, w, 3, G, 14);
ODT_ASSERT_LAYOUT(group_conv2d_dw_f32, x, 3, R, 16);
ODT_ASSERT_LAYOUT(transposed2d_i8, q, 6, lo, 16);
ODT_ASSERT_LAYOUT(transposed2d_dx_i8, q, 5, OW, 13);
ODT_ASSERT_LAYOUT(transposed2d_dw_i8, x, 3, R, 16);
ODT_ASSERT_LAYOUT(transposed2d_f32, b, 4, relu, 14);
ODT_ASSERT_LAYOUT(transposed2d_dx_f32, w, 3, OW, 13);
ODT_ASSERT_LAYOUT(transposed2d_dw_f32, x, 3, R, 15);
ODT_ASSERT_LAYOUT(dropout_i8, c, 6, factor, 6);
ODT_ASSERT_LAYOUT(dropout_dx_i8, c, 3, drop, 4);
ODT_ASSERT_LAYOUT(dropout_f32, c, 4, drop, 4);
ODT_ASSERT_LAYOUT(dropout_dx_f32, c, 3, drop, 4);
ODT_ASSERT_LAYOUT(binary_xent_i8, sx, 6, z, 3);
ODT_ASSERT_LAYOUT(binary_xent_f32, x, 4, N, 2);
ODT_ASSERT_LAYOUT(mae_i8, sx, 6, z, 3);
ODT_ASSERT_LAYOUT(mae_f32, x, 4, N, 2);
ODT_ASSERT_LAYOUT(huber_i8, se, 8, delta, 4);
ODT_ASSERT_LAYOUT(huber_f32, x, 4, delta, 3);
ODT_ASSERT_LAYOUT(weighted_xent_i8, weights, 7, id, 4);
ODT_ASSERT_LAYOUT(weighted_xent_f32, weights, 5, smooth, 3);
ODT_ASSERT_LAYOUT(maxpool2d_choice_i8, x, 3, bits, 15);
ODT_ASSERT_LAYOUT(maxpool2d_choice_f32, x, 3, bits, 15);
ODT_ASSERT_LAYOUT(norm_stats_i8, sx, 3, eps, 7);
ODT_ASSERT_LAYOUT(batch_stats_i8, c, 5, eps, 6);
ODT_ASSERT_LAYOUT(running_stats_i8, sx, 4, eps, 3);
ODT_ASSERT_LAYOUT(track_i8, sx, 5, rest, 4);
ODT_ASSERT_LAYOUT(affine_i8, sy, 5, N, 1);
ODT_ASSERT_LAYOUT(norm_i8, b, 6, lo, 7);
ODT_ASSERT_LAYOUT(norm_dw_i8, st, 4, bits, 6);
ODT_ASSERT_LAYOUT(norm_dx_i8, c, 10, F, 9);
ODT_ASSERT_LAYOUT(affine_dx_i8, sdx, 8, factor, 3);
ODT_ASSERT_LAYOUT(norm_stats_f32, x, 2, eps, 5);
ODT_ASSERT_LAYOUT(batch_stats_f32, c, 4, eps, 4);
ODT_ASSERT_LAYOUT(running_stats_f32, var, 3, eps, 2);
ODT_ASSERT_LAYOUT(track_f32, va, 4, rest, 3);
ODT_ASSERT_LAYOUT(norm_f32, beta, 5, relu, 5);
ODT_ASSERT_LAYOUT(norm_dw_f32, st, 4, C, 4);
ODT_ASSERT_LAYOUT(norm_dx_f32, c, 6, rows, 5);
ODT_ASSERT_LAYOUT(affine_dx_f32, gamma, 4, N, 2);
ODT_ASSERT_LAYOUT(squares_i32, gs, 3, factor, 2);
ODT_ASSERT_LAYOUT(clip_i32, total, 2, limit, 1);
ODT_ASSERT_LAYOUT(squares_f32, d, 2, N, 1);
ODT_ASSERT_LAYOUT(clip_f32, total, 2, limit, 1);
ODT_ASSERT_LAYOUT(scale_f32, factor, 2, N, 1);
ODT_ASSERT_LAYOUT(step_key, h, 2, ahead, 1);
ODT_ASSERT_LAYOUT(few, count, 1, mask, 2);
ODT_ASSERT_LAYOUT(each, rows, 2, place, 4);
ODT_ASSERT_LAYOUT(relative_i8, c, 5, N, 1);
ODT_ASSERT_LAYOUT(relative_f32, c, 4, N, 1);
ODT_ASSERT_LAYOUT(rank_i8, ratio, 5, high, 5);
ODT_ASSERT_LAYOUT(rank_f32, ratio, 5, high, 5);
ODT_ASSERT_LAYOUT(pick, rows, 4, U, 4);
ODT_ASSERT_LAYOUT(put, rows, 4, U, 4);
ODT_ASSERT_LAYOUT(settle_i8, limited, 4, K, 2);
ODT_ASSERT_LAYOUT(open_i8, y, 2, hi, 4);
ODT_ASSERT_LAYOUT(open_f32, y, 2, hi, 3);
ODT_ASSERT_LAYOUT(masked_i8, bits, 3, S, 2);
ODT_ASSERT_LAYOUT(masked_f32, bits, 3, S, 2);
ODT_ASSERT_LAYOUT(fisher_i8, sy, 5, factor, 5);
ODT_ASSERT_LAYOUT(fisher_f32, y, 3, N, 3);
ODT_ASSERT_LAYOUT(adam_i8, c, 11, R, 10);
ODT_ASSERT_LAYOUT(range_x_i8, peak, 3, limit, 1);
ODT_ASSERT_LAYOUT(gather_norm_i8, var, 7, z, 4);
ODT_ASSERT_LAYOUT(gather_norm_f32, var, 5, C, 3);
