// What loads pieces of the kernels from files: _odt.mpy (mod_mpy.c), and a firmware that leaves some to files
// (mod_odt.c).
//
// The binding defines piece_type, an object type without make_new; PIECE_ROWS, an array of ODT_PIECES pointers that the
// garbage collector searches; and BRING_PIECE(name), which imports a module of that name or raises an exception. It may
// define KEEP_PIECES(), which is called before a pointer is kept.

#ifndef ODT_PIECES_H
#define ODT_PIECES_H

#include "../core.h"
#include "../table.h"
#include "fast.h"
#include "piece.h"

// The fast ones have the last numbers.
enum { PIECES_AT_MOST = ODT_PIECES + (ODT_SMALL ? ODT_FAST_PIECES : 0) };

static int32_t piece_of(int32_t number) {
    int32_t piece = 0;
    while (odt_places[number] >= odt_firsts[piece + 1]) {
        piece++;
    }
    return piece;
}

const odt_opcode_t *odt_opcode(int32_t number) {
    #if !ODT_MPY
    const odt_opcode_t *row = &odt_table.rows[number];
    if (row->kernel || !(ODT_OUTSIDE >> piece_of(number) & 1)) { // or a prefix, which has none
        return row;
    }
    #endif
    int32_t piece = piece_of(number);
    return PIECE_ROWS[piece] ? PIECE_ROWS[piece] + (odt_places[number] - odt_firsts[piece]) : NULL;
}

#define SHARE(type, name, ...) odt_##name,
static const odt_shared_t shared = {ODT_SHARED(SHARE)};
#undef SHARE

// Kernels that are compiled for speed take the place of those that are loaded. Rows of files lie in RAM.
static inline void quicken(void) {
    #if ODT_SMALL
    for (int32_t i = 0; i < ODT_FAST_PIECES; i++) {
        const odt_faster_t *each = (const odt_faster_t *)(const void *)PIECE_ROWS[ODT_PIECES + i];
        for (; each && each->kernel; each++) {
            odt_opcode_t *row = (odt_opcode_t *)odt_opcode(each->number);
            if (row) {
                row->kernel = each->kernel;
            }
        }
    }
    #endif
}

// Called by a piece that is being imported. Python cannot make its argument: piece.h.
static mp_obj_t add_piece(mp_obj_t object) {
    if (mp_obj_get_type(object) != (const mp_obj_type_t *)&piece_type) {
        mp_raise_TypeError(MP_ERROR_TEXT("expected a piece"));
    }
    const odt_piece_t *piece = ((piece_object_t *)MP_OBJ_TO_PTR(object))->piece;
    if (piece->stamp != ODT_STAMP || piece->number >= PIECES_AT_MOST) {
        mp_raise_ValueError(MP_ERROR_TEXT("of another build than _odt"));
    }
    #ifdef KEEP_PIECES
    KEEP_PIECES();
    #endif
    *((piece_object_t *)MP_OBJ_TO_PTR(object))->shared = &shared;
    PIECE_ROWS[piece->number] = piece->rows;
    quicken();
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(object_add_piece, add_piece);

// Imports the piece that has an instruction; raises an exception where it does not come.
static void bring(int32_t number) {
    #define NAME(name) {sizeof(name) - 1, name},
    static const struct {
        uint8_t length;
        char text[19];
    } names[] = {ODT_PIECE_NAMES(NAME)};
    #undef NAME
    int32_t piece = piece_of(number);
    BRING_PIECE(mp_obj_new_str(names[piece].text, names[piece].length));
    if (!PIECE_ROWS[piece]) { // a module of the user's
        RAISE_VALUE_ERROR("%s is not odt's", names[piece].text);
    }
}

#define BRING bring

#endif
