// How a piece of the kernels for stock firmware gives the base, _odt.mpy, its table of pointers.
//
// A piece makes an object of the type _odt._Piece and calls _odt._add() with it. Python code can do neither harm: of
// that type it can make no object, as the type has no make_new, and for that no class inherits from it either; and a
// piece that is imported beside some other module _odt takes no type from there but one of this name without make_new,
// which no class of Python is. What is left is native code: another .mpy file, viper, machine.mem32.

#ifndef ODT_PIECE_H
#define ODT_PIECE_H

#include "../core.h"
#include "../cores/correlate.h"
#include "../table.h"

// X(arguments, name, names of these) for what pieces call in the base, as dense layers need these long loops too.
#if ODT_M4
#define ODT_SHARED(X) ODT_SHARED_BY_ALL(X)
#else
#define ODT_SHARED(X) \
    ODT_SHARED_BY_ALL(X) \
    X((const int32_t (*sums)[4], int32_t place, int32_t offset, const odt_multiplier_t *q, int32_t zy, int32_t lo, \
        int32_t count, int8_t *y, int32_t step, int32_t *peak), finish_i8, \
        (sums, place, offset, q, zy, lo, count, y, step, peak))
#endif
#define ODT_SHARED_BY_ALL(X) \
    X((const odt_correlation_t *a), correlate_part_i8, (a)) \
    X((const odt_correlation_dw_t *a), correlate_dw_part_i8, (a))

#define ODT_MEMBER(arguments, name, ...) void (*name) arguments;
typedef struct {
    ODT_SHARED(ODT_MEMBER)
} odt_shared_t;
#undef ODT_MEMBER

typedef struct {
    mp_obj_base_t base;
    const odt_piece_t *piece;
    const odt_shared_t **shared; // filled by the base
} piece_object_t;

#endif
