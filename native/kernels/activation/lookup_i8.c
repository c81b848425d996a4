// Any function of one int8 number, given as a table; may work in place.

#include "../../opcodes.h"

void odt_lookup_i8(const odt_lookup_i8_t *a) {
    const int8_t *x = a->x, *middle = a->table + 128;
    int8_t *y = a->y;
    for (const int8_t *end = x + a->N; x != end;) {
        *y++ = middle[*x++];
    }
}
