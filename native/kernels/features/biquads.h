// A cascade of biquads over int16 samples (docs/reference/numerics.md, Features). odt/sensors/features/filter.py makes
// tables and work once; work keeps the state.

#ifndef ODT_FEATURES_BIQUADS_H
#define ODT_FEATURES_BIQUADS_H

#include "../../bytes.h"

enum { ODT_BIQUADS_MAGIC = 0x4649 };
enum { ODT_BIQUADS_DONE, ODT_BIQUADS_STATE, ODT_BIQUADS_SAMPLES, ODT_BIQUADS_OUT };

// Both are int32. Their elements, for S sections and C channels: tables: [MAGIC, S, C], b0, b1, b2, a1, a2 of each
// section (5 S), times 2^29 work, for each channel: the first section's last two inputs and each section's last two
// outputs (2 S + 2), remainders (S)
#define ODT_BIQUADS_TABLES(sections) (3 + 5 * (sections))
#define ODT_BIQUADS_WORK(sections, channels) ((channels) * (3 * (sections) + 2))

// samples and out are (n C) int16, channels interleaved; they may be the same buffer. If an argument is wrong, returns
// the ODT_BIQUADS_.. that says which and writes nothing.
int odt_biquads_i16(odt_bytes_t out, odt_bytes_t samples, odt_bytes_t tables, odt_bytes_t work);

#endif
