// Outputs of loops that take few instructions for each: elements.h.

#include "../core.h"
#include "elements.h"

#if !ODT_SMALL

odt_outputs_t odt_outputs_from(int32_t z, int32_t lo, int32_t peak) {
    odt_outputs_t o = {
        .top = INT32_MIN, .bottom = INT32_MAX, .z = z, .lo = lo, .least = INT32_MAX, .most = INT32_MIN, .peak = peak};
    if (z == (int8_t)z && lo == (int8_t)lo && lo <= z && peak >= 0) { // else each v takes the long way
        o.most = peak;
        o.top = odt_min(127 - z, peak);
        o.least = lo == z ? INT32_MIN : -peak;
        o.bottom = odt_max(lo - z, o.least);
    }
    return o;
}

int8_t odt_output_of_peak(odt_outputs_t *o, int32_t v) {
    int32_t peak = o->peak;
    int8_t y = odt_clamp(v, o->z, o->lo, &peak);
    *o = odt_outputs_from(o->z, o->lo, peak);
    return y;
}

#endif
