// The unix port's standard features, with object representation C: a float is an object of its own
// word, less the two low bits of its mantissa.

#include <stdint.h>

#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)
#define MICROPY_FLOAT_IMPL (MICROPY_FLOAT_IMPL_FLOAT)
#define MICROPY_OBJ_REPR (MICROPY_OBJ_REPR_C)

// The port declares these only for the default representation.
typedef int mp_int_t;
typedef unsigned int mp_uint_t;
#define UINT_FMT "%u"
#define INT_FMT "%d"

#include "ports/unix/variants/mpconfigvariant_common.h"
