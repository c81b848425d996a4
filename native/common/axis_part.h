// Part of an axis, as an instruction gives it.

#ifndef ODT_AXIS_PART_H
#define ODT_AXIS_PART_H

#include <stdint.h>

// Whether at .. at + count - 1 lie among `all`: no program may reach beside its operand.
static inline int odt_within(int32_t at, int32_t count, int32_t all) {
    return at >= 0 && count <= all && at <= all - count;
}

#endif
